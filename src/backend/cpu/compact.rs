//! Stream compaction: gathers the values at marked positions. CPU counterpart of `shaders/compact.wgsl`.

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use super::parallel;
use super::rank_bitmap::{MarkedPositions, marked, ranks};
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan, Node};
use crate::graph::primitive::Compact;
use crate::graph::rank_bitmap::{TILE, TILE_WORDS};

/// Elements per evaluated block, for positions of several columns.
const BLOCK: usize = 8192;

/// Splits `out` into the outputs of each tile. `ranks` are the numbers of marked positions before each tile, and their
/// total. The output of a position has `size` bytes.
fn outputs<'o>(ranks: &[u32], size: usize, mut out: &'o mut [u8]) -> Vec<&'o mut [u8]> {
    let mut outputs = Vec::with_capacity(ranks.len());
    for w in ranks.windows(2) {
        let (own, rest) = out.split_at_mut(((w[1] - w[0]) as usize * size).min(out.len()));
        outputs.push(own);
        out = rest;
    }
    outputs
}

impl CpuPrimitive for Compact<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        compact(inputs, &self.bitmap, &self.value, self.inner as usize, &mut outputs[0]);
        Ok(())
    }
}

/// Fills `out` with the values at the marked positions, in order. A value has `inner` elements.
pub(crate) fn compact(inputs: &Inputs, marks: &Node, value: &Expr, inner: usize, out: &mut Array) {
    if out.len() == 0 {
        return;
    }
    let marks = inputs.array(marks);
    let ranks = ranks(marks);
    let words = &marks.slice::<u32>()[ranks.len()..];
    let (expr, dtype) = (CompiledExpr::new(inputs, value), value.dtype());
    let size = dtype.size() * inner;
    let tiles: Vec<_> =
        outputs(ranks, size, out.bytes_mut()).into_iter().zip(words.chunks(TILE_WORDS as usize)).enumerate().collect();
    parallel::for_each(tiles, &|(k, (out, words))| {
        let first = k as u32 * TILE;
        if inner == 1 {
            let block = match MarkedPositions::new(words, first, out.len() / size) {
                MarkedPositions::Positions(positions) => Block::positions(&expr, positions),
                MarkedPositions::Runs { ends, firsts } => Block::runs(&expr, ends, firsts),
            };
            block.store(dtype, out);
            return;
        }
        let positions = marked(words, first, out.len() / size);
        let positions_per_block = (BLOCK / inner).max(1);
        for (positions, out) in positions.chunks(positions_per_block).zip(out.chunks_mut(positions_per_block * size)) {
            let starts = positions.iter().map(|&position| position * inner as u32).collect();
            Block::sequences(&expr, starts, inner as u32).store(dtype, out);
        }
    });
    out.zero_rest(ranks.last().map_or(0, |&total| total as usize * inner));
}
