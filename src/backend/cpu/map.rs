//! Maps and assertions, evaluated in blocks on all cores.

use super::array::Array;
use super::column_blocks::ColumnTemplates;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use super::parallel;
use super::template::Prepared;
use crate::error::Result;
use crate::graph::opcode::BinaryOp;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, ExprKind, InPlan};
use crate::graph::primitive::{Assert, Map};
use crate::graph::program::CheckId;
use crate::graph::walk::for_each_expr;

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
        let n = out.len();
        let columns = inputs.step.of_primitive(|| columns_of(&inputs.step, &self.value));
        match columns {
            Some(columns) if holds(columns, inputs, n) => map_columns(inputs, columns, out),
            _ => map(inputs, &self.value, n, out),
        }
        Ok(())
    }
}

/// Least cost of an expression that is divided by ranges of columns.
const LEAST_DIVIDED_COST: u32 = 64;

/// Least columns per range.
const LEAST_COLUMNS: usize = 16;

/// Most positions of a map that is divided: positions near the end of u32 may wrap.
const MOST_DIVIDED: usize = 1 << 31;

/// The expression by ranges of columns, if that saves choices: the map of a concatenation of columns.
fn columns_of(step: &Prepared, e: &Expr) -> Option<ColumnTemplates> {
    let (mut width, mut has_choices) = (None, false);
    for_each_expr(e, &mut |e| match e.kind() {
        ExprKind::Binary(BinaryOp::IndexRem, a, by) if a.has_index() => width = width.max(by.as_u32()),
        ExprKind::Select(condition, ..) => has_choices |= condition.has_index(),
        _ => {}
    });
    let is_worth = has_choices && e.cost() >= LEAST_DIVIDED_COST;
    let width = width.filter(|&width| is_worth && width as usize >= 2 * LEAST_COLUMNS)?;
    let columns = ColumnTemplates::new(step, e, (width, true), |_| 0)?;
    let ranges = 2..=columns.width / LEAST_COLUMNS;
    ranges.contains(&columns.count()).then_some(columns)
}

/// Whether `n` positions are evaluated by ranges of columns.
fn holds(columns: &ColumnTemplates, inputs: &Inputs, n: usize) -> bool {
    n <= MOST_DIVIDED && n.is_multiple_of(columns.width) && columns.hold(inputs, n / columns.width)
}

/// Fills `out`, which has whole elements only, with the values of an expression.
fn map_columns(inputs: &Inputs, columns: &ColumnTemplates, out: &mut Array) {
    let (exprs, each) = (columns.in_run(inputs), (BLOCK / columns.width).max(1));
    let bytes = each * columns.width * columns.dtype.size();
    let n = out.len() * columns.dtype.size();
    parallel::for_each_chunk(&mut out.bytes_mut()[..n], bytes, &|k, out| {
        let elements = out.len() / (columns.width * columns.dtype.size());
        let first = (k * each) as u32;
        exprs.store(&(first..first + elements as u32).collect::<Vec<_>>(), &[], out);
    });
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
