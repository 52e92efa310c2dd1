//! Inclusive scans of rows in the canonical order, over fused expressions. CPU counterpart of `shaders/row_scan.wgsl`,
//! which defines that order. It depends only on the position in the row and on whether there is one column, so that
//! results have the same bits on every backend.
//!
//! `identity` must be the identity element of `combine`, at least for all results of folds that start from it.

use std::ops::Range;

use super::array::{Array, ArrayElement};
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use super::number::Number;
use super::parallel;
use super::simd::{self, Loop};
use super::work_items::{RowStarts, WorkItem};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::canonical_order::row_scan::{CHUNK, INNER_GROUP, OUTER_GROUP, block_len};
use crate::graph::opcode::ReduceOp;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan, RowDomain, Rows};
use crate::graph::primitive;
use crate::graph::scalar::Scalar;

/// Numbers per evaluated block. A longer row is evaluated and scanned in several blocks.
const EVALUATED_NUMBERS: usize = 4096;

/// Totals before the current block of a row, with `inner` columns per value.
struct PrecedingTotals<T> {
    identity: T,
    /// Number of blocks so far.
    blocks: usize,
    /// Per column: the total before the current group of 128 blocks (`outer`), within it before the current group of 8
    /// blocks (`inner`), and within that before the current block (`block`).
    outer: Vec<T>,
    inner: Vec<T>,
    block: Vec<T>,
}

impl<T: Copy> PrecedingTotals<T> {
    /// The state at the start of a row.
    fn new(inner: usize, identity: T) -> Self {
        let columns = || vec![identity; inner];
        Self { identity, blocks: 0, outer: columns(), inner: columns(), block: columns() }
    }

    fn restart(&mut self) {
        if self.blocks > 0 {
            self.blocks = 0;
            self.outer.fill(self.identity);
            self.inner.fill(self.identity);
            self.block.fill(self.identity);
        }
    }

    /// The total before the current block, per column; `None` before the first block.
    fn totals(&self, combine: impl Fn(T, T) -> T) -> Option<impl Iterator<Item = T>> {
        let totals = self.outer.iter().zip(&self.inner).zip(&self.block);
        (self.blocks > 0).then(|| totals.map(move |((&outer, &inner), &block)| combine(combine(outer, inner), block)))
    }

    /// Advances to the next block; `totals` are those of the current one.
    fn push(&mut self, totals: &[T], combine: impl Fn(T, T) -> T) {
        self.blocks += 1;
        accumulate(&mut self.block, totals, &combine);
        if self.blocks.is_multiple_of(INNER_GROUP) {
            accumulate(&mut self.inner, &self.block, &combine);
            self.block.fill(self.identity);
        }
        if self.blocks.is_multiple_of(OUTER_GROUP) {
            accumulate(&mut self.outer, &self.inner, &combine);
            self.inner.fill(self.identity);
        }
    }
}

fn accumulate<T: Copy>(sums: &mut [T], values: &[T], combine: impl Fn(T, T) -> T) {
    for (sum, &x) in sums.iter_mut().zip(values) {
        *sum = combine(*sum, x);
    }
}

/// Incremental scan of a row, with `inner` columns per value.
pub struct RowScan<T> {
    identity: T,
    before: PrecedingTotals<T>,
    /// Per column: the total of the current block (`totals`), and the total before it (`offsets`).
    totals: Vec<T>,
    offsets: Vec<T>,
}

impl<T: Copy> RowScan<T> {
    /// The state at the start of a row.
    pub fn new(inner: usize, identity: T) -> Self {
        let columns = || vec![identity; inner];
        Self { identity, before: PrecedingTotals::new(inner, identity), totals: columns(), offsets: columns() }
    }

    /// Resets the state to the start of a row.
    pub fn restart(&mut self) {
        self.before.restart();
    }

    /// Computes the results for the next values. Every chunk but the last must hold a multiple of [`block_len`] values.
    pub fn push(&mut self, values: &[T], combine: impl Fn(T, T) -> T + Copy, out: &mut [T]) {
        debug_assert_eq!(values.len(), out.len(), "one result per value");
        let inner = self.totals.len();
        let numbers = block_len(inner) * inner;
        for (values, out) in values.chunks(numbers).zip(out.chunks_mut(numbers)) {
            scan_block(values, self.identity, combine, out, &mut self.totals);
            if let Some(before) = self.before.totals(combine) {
                self.offsets.iter_mut().zip(before).for_each(|(offset, before)| *offset = before);
                add_offsets(&self.offsets, combine, out);
            }
            self.before.push(&self.totals, combine);
        }
    }
}

/// Scans one block independently and stores the totals of its columns.
fn scan_block<T: Copy>(values: &[T], identity: T, combine: impl Fn(T, T) -> T, out: &mut [T], totals: &mut [T]) {
    if let [total] = totals {
        *total = scan_column(values, identity, combine, out);
        return;
    }
    totals.fill(identity);
    for (values, out) in values.chunks_exact(totals.len()).zip(out.chunks_exact_mut(totals.len())) {
        for ((total, &x), out) in totals.iter_mut().zip(values).zip(out) {
            *total = combine(*total, x);
            *out = *total;
        }
    }
}

/// Scans one block of one column; returns its total.
fn scan_column<T: Copy>(values: &[T], identity: T, combine: impl Fn(T, T) -> T, out: &mut [T]) -> T {
    let mut before = identity;
    for (values, out) in values.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
        let mut sum = identity;
        for (&x, out) in values.iter().zip(out) {
            sum = combine(sum, x);
            *out = combine(before, sum);
        }
        before = combine(before, sum);
    }
    before
}

/// Consecutive rows of one column: the values of row `k` begin at value `start(k)`.
struct OneColumn<'a, T, F, S> {
    values: &'a [T],
    rows: Range<usize>,
    start: S,
    /// Scans rows of several blocks for operators that are not associative.
    scan: &'a mut RowScan<T>,
    combine: F,
    /// Whether results depend on the order of the operations.
    ordered: bool,
    out: &'a mut [T],
}

impl<T: Number, F: Fn(T, T) -> T + Copy, S: Fn(usize) -> usize> Loop for OneColumn<'_, T, F, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, rows, start, scan, combine, ordered, out } = self;
        let mut from = start(rows.start);
        for row in rows {
            let range = from..start(row + 1);
            from = range.end;
            if !ordered {
                scan_by_chunks(values, scan.identity, combine, range, out, recursive_doubling);
            } else if range.len() <= block_len(1) {
                scan_by_chunks(values, scan.identity, combine, range, out, |x, c| scan_in_order(x, scan.identity, c));
            } else {
                scan.restart();
                scan.push(&values[range.clone()], combine, &mut out[range]);
            }
        }
    }
}

/// Scans one row of one column, the values of `range`: at most one block if `combine` is not associative. `chunk` scans
/// each chunk; the total before the chunk is then combined with its results.
///
/// Whole chunks are scanned, past the row's end; the next rows overwrite the excess. A loop of the remaining length
/// would mispredict its exit branch.
#[inline(always)]
fn scan_by_chunks<T: Copy, F: Fn(T, T) -> T + Copy>(
    values: &[T],
    identity: T,
    combine: F,
    range: Range<usize>,
    out: &mut [T],
    chunk: impl Fn([T; CHUNK], F) -> [T; CHUNK],
) {
    let (mut at, mut before) = (range.start, identity);
    while at < range.end {
        let whole = values[at..].first_chunk().zip(out[at..].first_chunk_mut::<CHUNK>());
        let Some((&values, out)) = whole else { break };
        let mut sums = chunk(values, combine);
        sums.iter_mut().for_each(|sum| *sum = combine(before, *sum));
        *out = sums;
        before = sums[CHUNK - 1];
        at += CHUNK;
    }
    if at < range.end {
        // Less than a whole chunk is left of the values or of the output.
        let mut sum = identity;
        for (&x, out) in values[at..range.end].iter().zip(&mut out[at..range.end]) {
            sum = combine(sum, x);
            *out = combine(before, sum);
        }
    }
}

/// Inclusive scan of a chunk from left to right.
#[inline(always)]
fn scan_in_order<T: Copy>(mut x: [T; CHUNK], identity: T, combine: impl Fn(T, T) -> T) -> [T; CHUNK] {
    let mut sum = identity;
    for x in &mut x {
        sum = combine(sum, *x);
        *x = sum;
    }
    x
}

/// Inclusive scan of a chunk by an associative operator, by recursive doubling (Hillis and Steele 1986): three
/// vectorizable steps.
#[inline(always)]
fn recursive_doubling<T: Copy>(mut x: [T; CHUNK], combine: impl Fn(T, T) -> T) -> [T; CHUNK] {
    let mut reach = 1;
    while reach < CHUNK {
        let y = x;
        for k in reach..CHUNK {
            x[k] = combine(y[k - reach], y[k]);
        }
        reach *= 2;
    }
    x
}

/// Combines the totals before a block with the block's results, per column.
fn add_offsets<T: Copy>(offsets: &[T], combine: impl Fn(T, T) -> T, out: &mut [T]) {
    if let [offset] = offsets {
        for out in out {
            *out = combine(*offset, *out);
        }
        return;
    }
    for out in out.chunks_exact_mut(offsets.len()) {
        for (&offset, out) in offsets.iter().zip(out) {
            *out = combine(offset, *out);
        }
    }
}

impl CpuPrimitive for primitive::RowScan<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let RowDomain { rows, nrows, inner, .. } = &self.on;
        row_scan(inputs, self.op, rows, inputs.count(nrows), *inner as usize, &self.value, &mut outputs[0]);
        Ok(())
    }
}

/// Scans the first `nrows` rows into `out[j * inner + d]`, for element `j` and column `d`.
pub(crate) fn row_scan(
    inputs: &Inputs,
    op: ReduceOp,
    rows: &Rows,
    nrows: usize,
    inner: usize,
    e: &Expr,
    out: &mut Array,
) {
    macro_rules! typed {
        ($t:ty, $v:ident) => {{
            let Scalar::$v(identity) = op.identity(DType::$v) else { unreachable!("bug: identity of another dtype") };
            let out = out.slice_mut::<$t>();
            let rows = (rows, nrows);
            let ordered = <$t>::IS_FLOAT && matches!(op, ReduceOp::Sum | ReduceOp::Prod);
            match op {
                ReduceOp::Sum => scan_rows(inputs, rows, inner, e, (identity, ordered), <$t as Number>::add, out),
                ReduceOp::Prod => scan_rows(inputs, rows, inner, e, (identity, ordered), <$t as Number>::mul, out),
                ReduceOp::Min => scan_rows(inputs, rows, inner, e, (identity, ordered), <$t as Number>::minimum, out),
                ReduceOp::Max => scan_rows(inputs, rows, inner, e, (identity, ordered), <$t as Number>::maximum, out),
            }
        }};
    }
    match e.dtype() {
        DType::I32 => typed!(i32, I32),
        DType::U32 => typed!(u32, U32),
        DType::I64 => typed!(i64, I64),
        DType::U64 => typed!(u64, U64),
        DType::F32 => typed!(f32, F32),
        DType::F64 => typed!(f64, F64),
        d => unreachable!("bug: a row scan over {d} must be recorded over u32"),
    }
    out.zero_rest(RowStarts::new(inputs, rows).at(nrows) * inner);
}

fn scan_rows<T: Number + ArrayElement>(
    inputs: &Inputs,
    (rows, nrows): (&Rows, usize),
    inner: usize,
    e: &Expr,
    (identity, ordered): (T, bool),
    combine: impl Fn(T, T) -> T + Copy + Sync,
    out: &mut [T],
) {
    let (starts, expr) = (RowStarts::new(inputs, rows), CompiledExpr::new(inputs, e));
    parallel::for_each(
        starts.work_items_of_values(nrows, inner, EVALUATED_NUMBERS, out),
        &|WorkItem { first, end, out }| {
            let (from, to) = (starts.at(first), starts.at(end));
            let mut scan = RowScan::new(inner, identity);
            if (to - from) * inner <= EVALUATED_NUMBERS || end - first > 1 {
                let values = Block::consecutive(&expr, (from * inner) as u32, (to - from) * inner).eval_as::<T>();
                let start = |row: usize| starts.at(row) - from;
                let rows = first..end;
                if inner == 1 {
                    simd::run(OneColumn { values: &values, rows, start, scan: &mut scan, combine, ordered, out });
                } else {
                    for row in rows {
                        let range = start(row) * inner..start(row + 1) * inner;
                        scan.restart();
                        scan.push(&values[range.clone()], combine, &mut out[range]);
                    }
                }
            } else {
                scan_long_row(&expr, from, inner, identity, combine, out);
            }
        },
    );
}

/// Scans one long row of `out.len()` numbers, whose values start at value `from`. Its blocks are scanned on all cores,
/// then their totals in order. The total before each block is then added on all cores.
fn scan_long_row<T: Number + ArrayElement>(
    expr: &CompiledExpr<'_>,
    from: usize,
    inner: usize,
    identity: T,
    combine: impl Fn(T, T) -> T + Copy + Sync,
    out: &mut [T],
) {
    let numbers = block_len(inner) * inner;
    let blocks = (EVALUATED_NUMBERS / numbers).max(1);
    let mut totals = vec![identity; out.len().div_ceil(numbers) * inner];
    let pieces = out.chunks_mut(blocks * numbers).zip(totals.chunks_mut(blocks * inner));
    parallel::for_each(pieces.enumerate().collect(), &|(k, (out, totals))| {
        let start = from * inner + k * blocks * numbers;
        let values = Block::consecutive(expr, start as u32, out.len()).eval_as::<T>();
        let of_blocks = values.chunks(numbers).zip(out.chunks_mut(numbers)).zip(totals.chunks_exact_mut(inner));
        for ((values, out), totals) in of_blocks {
            scan_block(values, identity, combine, out, totals);
        }
    });
    let mut before = PrecedingTotals::new(inner, identity);
    let mut total = vec![identity; inner];
    for offsets in totals.chunks_exact_mut(inner) {
        total.copy_from_slice(offsets);
        if let Some(before) = before.totals(combine) {
            offsets.iter_mut().zip(before).for_each(|(offset, before)| *offset = before);
        }
        before.push(&total, combine);
    }
    let pieces = out.chunks_mut(blocks * numbers).zip(totals.chunks(blocks * inner));
    parallel::for_each(pieces.enumerate().collect(), &|(k, (out, totals))| {
        // The first block has no offset.
        let first = usize::from(k == 0);
        for (out, offsets) in out.chunks_mut(numbers).zip(totals.chunks_exact(inner)).skip(first) {
            add_offsets(offsets, combine, out);
        }
    });
}

#[cfg(test)]
mod tests;
