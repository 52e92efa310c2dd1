//! Maps and assertions, evaluated in blocks on all cores.

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use super::parallel;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan};
use crate::graph::primitive::{Assert, Map};
use crate::graph::program::CheckId;

/// Positions per block. A dozen arrays of this length fit a core's L2 cache, and their computation takes much longer
/// than the fixed cost per block.
const BLOCK: usize = 8192;

/// Largest block if the values are copied run by run. Such a block computes only a few numbers per row, so that the
/// fixed cost per block matters more.
const MAX_COPY_BLOCK: usize = 8 * BLOCK;

/// Fills `out`, whose elements have `size` bytes, block by block. `f` fills the block that starts at a position, and
/// returns whether it copied runs. The result for the first block determines the size of the others.
fn for_each_block(out: &mut [u8], size: usize, f: &(dyn Fn(u32, &mut [u8]) -> bool + Sync)) {
    let n = out.len() / size;
    let (first, rest) = out.split_at_mut(n.min(BLOCK) * size);
    let per_task = n / (4 * rayon::current_num_threads());
    let block = if f(0, first) { per_task.clamp(BLOCK, MAX_COPY_BLOCK) } else { BLOCK };
    parallel::for_each_chunk(rest, block * size, &|k, out| {
        f((BLOCK + k * block) as u32, out);
    });
}

impl CpuPrimitive for Assert<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, _: &mut [Array]) -> Result<()> {
        assert(inputs, &self.ok, &self.check, inputs.count(&self.count));
        Ok(())
    }
}

impl CpuPrimitive for Map<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let out = &mut outputs[0];
        map(inputs, &self.value, out.len(), out);
        Ok(())
    }
}

/// Fills the first `n` elements of `out` with the expression's values.
pub(crate) fn map(inputs: &Inputs, e: &Expr, n: usize, out: &mut Array) {
    let (expr, dtype) = (CompiledExpr::new(inputs, e), e.dtype());
    let size = dtype.size();
    for_each_block(&mut out.bytes_mut()[..n * size], size, &|start, out| {
        Block::consecutive(&expr, start, out.len() / size).store(dtype, out)
    });
}

/// Records the first of `n` positions at which the condition `ok` fails.
pub(crate) fn assert(inputs: &Inputs, ok: &Expr, check: &CheckId, n: usize) {
    let expr = CompiledExpr::new(inputs, ok);
    parallel::for_each_index(n.div_ceil(BLOCK), &|k| {
        let start = k * BLOCK;
        Block::consecutive(&expr, start as u32, BLOCK.min(n - start)).check(inputs, check);
    });
}
