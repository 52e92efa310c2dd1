//! Inclusive scans of rows in the canonical order, over fused expressions. CPU counterpart of `shaders/row_scan.wgsl`,
//! which defines that order. It depends only on the position in the row and on whether there is one column, so that
//! results have the same bits on every backend.
//!
//! `identity` must be the identity element of `combine`, at least for all results of folds that start from it.

use super::array::{Array, ArrayElement};
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use super::number::Number;
use super::parallel;
use super::work_items::{RowStarts, WorkItem};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::canonical_order::row_scan::{CHUNK, INNER_GROUP, OUTER_GROUP, block_len};
use crate::graph::opcode::ReduceOp;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan, RowDomain};
use crate::graph::primitive;
use crate::graph::scalar::Scalar;
use affine::Affine;
use rows::{Scan, scan_rows};

mod affine;
mod rows;

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

/// Scans values of type `$t`.
macro_rules! typed {
    ($scan:expr, $inputs:expr, $out:expr, $t:ty, $v:ident) => {{
        let primitive::RowScan { op, on, value, decay } = $scan;
        let of_op = |op: ReduceOp| match op.identity(DType::$v) {
            Scalar::$v(identity) => identity,
            _ => unreachable!("bug: identity of another dtype"),
        };
        let (out, identity) = ($out.slice_mut::<$t>(), of_op(*op));
        if let Some(decay) = decay {
            let identity = Affine { factor: of_op(ReduceOp::Prod), term: identity };
            recurrence($inputs, on, (value, decay), identity, out)
        } else {
            match op {
                ReduceOp::Sum => scan($inputs, on, value, (identity, <$t>::IS_FLOAT), <$t as Number>::add, out),
                ReduceOp::Prod => scan($inputs, on, value, (identity, <$t>::IS_FLOAT), <$t as Number>::mul, out),
                ReduceOp::Min => scan($inputs, on, value, (identity, false), <$t as Number>::minimum, out),
                ReduceOp::Max => scan($inputs, on, value, (identity, false), <$t as Number>::maximum, out),
            }
        }
    }};
}
impl CpuPrimitive for primitive::RowScan<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let out = &mut outputs[0];
        match self.value.dtype() {
            DType::I32 => typed!(self, inputs, out, i32, I32),
            DType::U32 => typed!(self, inputs, out, u32, U32),
            DType::I64 => typed!(self, inputs, out, i64, I64),
            DType::U64 => typed!(self, inputs, out, u64, U64),
            DType::F32 => typed!(self, inputs, out, f32, F32),
            DType::F64 => typed!(self, inputs, out, f64, F64),
            d => unreachable!("bug: a row scan over {d} must be recorded over u32"),
        }
        let RowDomain { rows, nrows, inner, .. } = &self.on;
        out.zero_rest(RowStarts::new(inputs, rows).at(inputs.count(nrows)) * *inner as usize);
        Ok(())
    }
}

/// Scans the rows into `out[j * inner + d]`, for element `j` and column `d`.
fn scan<T: Number + ArrayElement>(
    inputs: &Inputs,
    on: &RowDomain,
    value: &Expr,
    (identity, ordered): (T, bool),
    combine: impl Fn(T, T) -> T + Copy + Sync,
    out: &mut [T],
) {
    let (starts, inner) = (RowStarts::new(inputs, &on.rows), on.inner as usize);
    let (nrows, value) = (inputs.count(&on.nrows), CompiledExpr::new(inputs, value));
    let scan = Scan { inner, identity, ordered, combine };
    let values = |start, len| Block::consecutive(&value, start, len).eval_as::<T>();
    let items = starts.work_items_of_values(nrows, inner, EVALUATED_NUMBERS, out);
    parallel::for_each(items, &|WorkItem { first, end, out }| scan_rows(scan, &values, &starts, first..end, out));
}

/// Scans rows by a linear recurrence: the term of each composed map.
fn recurrence<T: Number + ArrayElement>(
    inputs: &Inputs,
    on: &RowDomain,
    (value, decay): (&Expr, &Expr),
    identity: Affine<T>,
    out: &mut [T],
) {
    let (starts, inner) = (RowStarts::new(inputs, &on.rows), on.inner as usize);
    let nrows = inputs.count(&on.nrows);
    let [value, decay] = [value, decay].map(|e| CompiledExpr::new(inputs, e));
    let scan = Scan { inner, identity, ordered: true, combine: Affine::then };
    let values = |start, len| {
        let [terms, factors] = [&value, &decay].map(|e| Block::consecutive(e, start, len).eval_as::<T>());
        factors.iter().zip(terms.iter()).map(|(&factor, &term)| Affine { factor, term }).collect::<Vec<_>>()
    };
    let items = starts.work_items_of_values(nrows, inner, EVALUATED_NUMBERS, out);
    parallel::for_each(items, &|WorkItem { first, end, out }| {
        let mut prefixes = vec![identity; out.len()];
        scan_rows(scan, &values, &starts, first..end, &mut prefixes);
        out.iter_mut().zip(&prefixes).for_each(|(out, prefix)| *out = prefix.term);
    });
}

#[cfg(test)]
mod tests;
