//! Stream compaction: gathers the values at marked positions. CPU counterpart of `shaders/compact.wgsl`.

use rayon::prelude::*;

use super::array::{Array, Stored};
use super::eval::{Block, Inputs, Program};
use super::lanes::Lane;
use super::marks::{Marked, marked, ranks};
use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::{TILE, TILE_WORDS};

/// Elements evaluated at a time, where positions have several columns.
const BLOCK: usize = 8192;

/// Splits `out` into the elements of each tile, where `ranks` are the marked positions before each tile and their
/// total.
fn places<'o, S>(ranks: &[u32], inner: usize, mut out: &'o mut [S]) -> Vec<&'o mut [S]> {
    let mut places = Vec::with_capacity(ranks.len());
    for w in ranks.windows(2) {
        let (own, rest) = out.split_at_mut(((w[1] - w[0]) as usize * inner).min(out.len()));
        places.push(own);
        out = rest;
    }
    places
}

fn fill<T: Lane + Send + Sync, S: Stored>(
    inputs: &Inputs,
    marks: &Node,
    value: &Expr,
    inner: usize,
    out: &mut [S],
    store: impl Fn(T) -> S + Sync,
) {
    let marks = inputs.array(marks);
    let ranks = ranks(marks);
    let words = &marks.slice::<u32>()[ranks.len()..];
    let program = Program::new(inputs, value);
    let tiles = places(ranks, inner, out).into_par_iter().zip(words.par_chunks(TILE_WORDS as usize));
    tiles.enumerate().for_each(|(k, (out, words))| {
        let first = k as u32 * TILE;
        if inner == 1 {
            let block = match Marked::new(words, first, out.len()) {
                Marked::Positions(positions) => Block::list(&program, positions),
                Marked::Runs { ends, firsts } => Block::in_runs(&program, ends, firsts),
            };
            block.store::<T, S>(out, &store);
            return;
        }
        let positions: Vec<u32> = marked(words, first).collect();
        let together = (BLOCK / inner).max(1);
        for (positions, out) in positions.chunks(together).zip(out.chunks_mut(together * inner)) {
            let starts = positions.iter().map(|&position| position * inner as u32).collect();
            Block::ramps(&program, starts, inner as u32).store::<T, S>(out, &store);
        }
    });
}

/// Fills `out` with the values at the marked positions in order, `inner` elements each.
pub(crate) fn compact(inputs: &Inputs, marks: &Node, value: &Expr, inner: usize, out: &mut Array) {
    if out.len() == 0 {
        return;
    }
    match value.dtype() {
        DType::Bool => fill(inputs, marks, value, inner, out.slice_mut::<u8>(), |v: bool| u8::from(v)),
        DType::U8 => fill(inputs, marks, value, inner, out.slice_mut::<u8>(), |v: u8| v),
        DType::I8 => fill(inputs, marks, value, inner, out.slice_mut::<i8>(), |v: i8| v),
        DType::U16 => fill(inputs, marks, value, inner, out.slice_mut::<u16>(), |v: u16| v),
        DType::I16 => fill(inputs, marks, value, inner, out.slice_mut::<i16>(), |v: i16| v),
        DType::I32 => fill(inputs, marks, value, inner, out.slice_mut::<i32>(), |v: i32| v),
        DType::U32 => fill(inputs, marks, value, inner, out.slice_mut::<u32>(), |v: u32| v),
        DType::I64 => fill(inputs, marks, value, inner, out.slice_mut::<i64>(), |v: i64| v),
        DType::U64 => fill(inputs, marks, value, inner, out.slice_mut::<u64>(), |v: u64| v),
        DType::F16 => fill(inputs, marks, value, inner, out.slice_mut::<half::f16>(), |v: half::f16| v),
        DType::BF16 => fill(inputs, marks, value, inner, out.slice_mut::<half::bf16>(), |v: half::bf16| v),
        DType::F32 => fill(inputs, marks, value, inner, out.slice_mut::<f32>(), |v: f32| v),
        DType::F64 => fill(inputs, marks, value, inner, out.slice_mut::<f64>(), |v: f64| v),
        DType::Str => unreachable!("bug: strings are not arrays"),
    }
    out.clear_from(ranks(inputs.array(marks)).last().map_or(0, |&total| total as usize * inner));
}
