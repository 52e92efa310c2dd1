//! Evaluates maps and assertions over positions, in blocks, on all cores.

use std::sync::Arc;

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::eval::Block;
use super::parallel;
use crate::graph::expr::{Check, Expr};

/// Positions per block. A dozen arrays of this length fit a core's private cache, and the fixed cost per block is small
/// in comparison.
const BLOCK: usize = 8192;

/// Most positions per block whose values are copied in runs. Such a block computes only a few numbers per row, so the
/// fixed cost per block weighs more, the shorter the rows are.
const COPIED: usize = 8 * BLOCK;

/// Fills `out`, elements of `size` bytes, block by block. `f` fills one block from a position on and returns whether
/// the block was copied in runs. The result for the first block sets the size of the others.
fn by_blocks(out: &mut [u8], size: usize, f: &(dyn Fn(u32, &mut [u8]) -> bool + Sync)) {
    let n = out.len() / size;
    let (first, rest) = out.split_at_mut(n.min(BLOCK) * size);
    let fair = n / (4 * rayon::current_num_threads());
    let block = if f(0, first) { fair.clamp(BLOCK, COPIED) } else { BLOCK };
    parallel::for_each_chunk(rest, block * size, &|k, out| {
        f((BLOCK + k * block) as u32, out);
    });
}

/// Fills the first `n` elements of `out` with the expression's values.
pub(crate) fn map(inputs: &Inputs, e: &Expr, n: usize, out: &mut Array) {
    let (program, dtype) = (CompiledExpr::new(inputs, e), e.dtype());
    let size = dtype.size();
    by_blocks(&mut out.bytes_mut()[..n * size], size, &|start, out| {
        Block::run(&program, start, out.len() / size).store(dtype, out)
    });
}

/// Records the first of `n` positions at which the condition fails.
pub(crate) fn assert(inputs: &Inputs, ok: &Expr, check: &Arc<Check>, n: usize) {
    let program = CompiledExpr::new(inputs, ok);
    parallel::for_each_index(n.div_ceil(BLOCK), &|k| {
        let start = k * BLOCK;
        Block::run(&program, start as u32, BLOCK.min(n - start)).check(inputs, check);
    });
}
