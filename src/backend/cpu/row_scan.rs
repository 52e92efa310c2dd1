//! Inclusive scans of rows in the canonical order, over fused expressions. Twin of `shaders/row_scan.wgsl`, which states
//! that order: it depends on the position in the row and on whether there is one column, so that results have the same
//! bits on every backend.
//!
//! `combine(v, identity)` and `combine(identity, v)` must be `v` for every `v` that a fold from `identity` can give.

use rayon::prelude::*;

use super::array::{Array, Stored};
use super::eval::{Block, Inputs, Program};
use super::lanes::{Lane, Number};
use super::runs::Starts;
use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::node::Rows;
use crate::graph::opcode::ReduceOp;
use crate::graph::scalar::Scalar;

/// Positions that are folded on their own, for one column.
const CHUNK: usize = 8;
/// Blocks that are added up on their own, and these.
const FEW_BLOCKS: usize = 8;
const MANY_BLOCKS: usize = 128;

/// Numbers evaluated at a time. A row longer than that is taken in pieces.
const PIECE: usize = 4096;

/// Values in a block, which is the part of a row that is scanned on its own. Rows that are given in chunks must be cut at
/// multiples of this, counted from the row's start.
pub const fn block_len(inner: usize) -> usize {
    if inner == 1 { 256 } else { 64 }
}

/// A row being scanned, `inner` columns a value.
pub struct RowScan<T> {
    inner: usize,
    identity: T,
    /// Blocks so far.
    blocks: usize,
    /// Of each column, the totals of what lies before the current 128 blocks, before the current 8 blocks in these, before
    /// the current block in these.
    before_many: Vec<T>,
    before_few: Vec<T>,
    before: Vec<T>,
    /// The totals of the current block.
    total: Vec<T>,
}

impl<T: Copy> RowScan<T> {
    /// At the start of a row.
    pub fn new(inner: usize, identity: T) -> Self {
        let columns = || vec![identity; inner];
        let (before_many, before_few, before, total) = (columns(), columns(), columns(), columns());
        Self { inner, identity, blocks: 0, before_many, before_few, before, total }
    }

    /// Back to the start of a row.
    pub fn restart(&mut self) {
        if self.blocks > 0 {
            self.blocks = 0;
            self.before_many.fill(self.identity);
            self.before_few.fill(self.identity);
            self.before.fill(self.identity);
        }
    }

    /// The results for the next values. Every chunk but the last holds a multiple of [`block_len`] values.
    pub fn push(&mut self, values: &[T], combine: impl Fn(T, T) -> T + Copy, out: &mut [T]) {
        debug_assert_eq!(values.len(), out.len(), "a result a value");
        let numbers = block_len(self.inner) * self.inner;
        for (values, out) in values.chunks(numbers).zip(out.chunks_mut(numbers)) {
            if self.inner == 1 {
                self.total[0] = scan_column(values, self.identity, combine, out);
            } else {
                self.total.fill(self.identity);
                for (values, out) in values.chunks_exact(self.inner).zip(out.chunks_exact_mut(self.inner)) {
                    for ((total, &x), out) in self.total.iter_mut().zip(values).zip(out) {
                        *total = combine(*total, x);
                        *out = *total;
                    }
                }
            }
            if self.blocks > 0 {
                for out in out.chunks_exact_mut(self.inner) {
                    for (d, out) in out.iter_mut().enumerate() {
                        let base = combine(self.before_many[d], self.before_few[d]);
                        *out = combine(combine(base, self.before[d]), *out);
                    }
                }
            }
            self.finish_block(combine);
        }
    }

    fn finish_block(&mut self, combine: impl Fn(T, T) -> T) {
        self.blocks += 1;
        accumulate(&mut self.before, &self.total, &combine);
        if self.blocks.is_multiple_of(FEW_BLOCKS) {
            accumulate(&mut self.before_few, &self.before, &combine);
            self.before.fill(self.identity);
        }
        if self.blocks.is_multiple_of(MANY_BLOCKS) {
            accumulate(&mut self.before_many, &self.before_few, &combine);
            self.before_few.fill(self.identity);
        }
    }
}

fn accumulate<T: Copy>(sums: &mut [T], values: &[T], combine: impl Fn(T, T) -> T) {
    for (sum, &x) in sums.iter_mut().zip(values) {
        *sum = combine(*sum, x);
    }
}

/// One block of one column; its total.
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

/// `out[j * inner + d]` for the elements of the first `nrows` rows.
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
            match op {
                ReduceOp::Sum => scan_rows(inputs, rows, inner, e, identity, <$t as Number>::add, out),
                ReduceOp::Prod => scan_rows(inputs, rows, inner, e, identity, <$t as Number>::mul, out),
                ReduceOp::Min => scan_rows(inputs, rows, inner, e, identity, <$t as Number>::least, out),
                ReduceOp::Max => scan_rows(inputs, rows, inner, e, identity, <$t as Number>::greatest, out),
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
    out.clear_from(Starts::new(inputs, rows).at(nrows) * inner);
}

fn scan_rows<T: Lane + Stored>(
    inputs: &Inputs,
    (rows, nrows): (&Rows, usize),
    inner: usize,
    e: &Expr,
    identity: T,
    combine: impl Fn(T, T) -> T + Copy + Sync,
    out: &mut [T],
) {
    let (starts, program) = (Starts::new(inputs, rows), Program::new(inputs, e));
    cut(&starts, nrows, inner, out).into_par_iter().for_each(|(first, last, out)| {
        let (from, to) = (starts.at(first), starts.at(last));
        let mut scan = RowScan::new(inner, identity);
        if (to - from) * inner <= PIECE || last - first > 1 {
            let values = Block::run(&program, (from * inner) as u32, (to - from) * inner).eval_as::<T>();
            for row in first..last {
                let range = (starts.at(row) - from) * inner..(starts.at(row + 1) - from) * inner;
                scan.restart();
                scan.push(&values[range.clone()], combine, &mut out[range]);
            }
        } else {
            // One long row, in pieces of whole blocks.
            let step = (PIECE / inner).next_multiple_of(block_len(inner)).max(block_len(inner));
            for (at, out) in (from..to).step_by(step).zip(out.chunks_mut(step * inner)) {
                let values = Block::run(&program, (at * inner) as u32, out.len()).eval_as::<T>();
                scan.push(&values, combine, out);
            }
        }
    });
}

/// Runs of whole rows with their values' piece of `out`, of at most `PIECE` values where no single row has more.
fn cut<'o, T>(starts: &Starts<'_>, nrows: usize, inner: usize, out: &'o mut [T]) -> Vec<(usize, usize, &'o mut [T])> {
    let mut runs = Vec::new();
    let (mut first, mut rest) = (0, out);
    while first < nrows {
        let numbers = |last: usize| (starts.at(last) - starts.at(first)) * inner;
        let mut last = first + 1;
        while last < nrows && numbers(last + 1) <= PIECE {
            last += 1;
        }
        let (run, tail) = rest.split_at_mut(numbers(last));
        if !run.is_empty() {
            runs.push((first, last, run));
        }
        (first, rest) = (last, tail);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(values: &[f32], inner: usize) -> Vec<f32> {
        let mut out = vec![f32::NAN; values.len()];
        RowScan::new(inner, 0.0).push(values, |a, b| a + b, &mut out);
        out
    }

    fn floats(n: usize) -> Vec<f32> {
        (0..n).map(|k| 1.0 / (1.0 + (k * 7919 % 1009) as f32)).collect()
    }

    /// The canonical order of one column, spelled out for one position.
    fn literal(values: &[f32], at: usize) -> f32 {
        let fold = |totals: &mut dyn Iterator<Item = f32>| totals.fold(0.0, |a, b| a + b);
        /// The total of the unit of `size` positions that starts at `start`, made of parts of `sizes`, smallest last.
        fn total(values: &[f32], start: usize, size: usize, parts: &[usize]) -> f32 {
            match parts {
                [] => values[start..start + size].iter().fold(0.0, |a, b| a + b),
                [part, smaller @ ..] => (start..start + size)
                    .step_by(*part)
                    .map(|start| total(values, start, *part, smaller))
                    .fold(0.0, |a, b| a + b),
            }
        }
        let units = [128 * 256, 8 * 256, 256, 8];
        let mut before = [0.0; 4];
        let mut start = 0;
        for (k, &unit) in units.iter().enumerate() {
            let end = at / unit * unit;
            before[k] = fold(&mut (start..end).step_by(unit).map(|s| total(values, s, unit, &units[k + 1..])));
            start = end;
        }
        let own = fold(&mut values[start..=at].iter().copied());
        let in_block = before[3] + own;
        if at < 256 { in_block } else { ((before[0] + before[1]) + before[2]) + in_block }
    }

    #[test]
    fn one_column_follows_the_stated_order() {
        let values = floats(300_000);
        let got = sums(&values, 1);
        let edges = [0usize, 7, 8, 255, 256, 2047, 2048, 32_767, 32_768, 65_535, 65_536, 299_990];
        for at in edges.into_iter().flat_map(|e| [e, e + 1, e + 9]).chain((0..300).map(|k| k * 997)) {
            assert_eq!(got[at].to_bits(), literal(&values, at).to_bits(), "{at}");
        }
    }

    #[test]
    fn a_prefix_of_a_row_has_a_prefix_of_the_results() {
        for inner in [1, 2, 5] {
            let values = floats(40_000 * inner);
            let whole = sums(&values, inner);
            for len in [1, 7, 9, 64, 65, 256, 257, 2049, 33_000] {
                assert_eq!(sums(&values[..len * inner], inner), whole[..len * inner], "{len} x {inner}");
            }
        }
    }

    #[test]
    fn negative_zeros_give_zero() {
        for inner in [1, 3] {
            assert!(sums(&vec![-0.0; 700 * inner], inner).iter().all(|x| x.to_bits() == 0));
        }
    }

    #[test]
    fn pieces_give_the_bits_of_the_whole_row() {
        for inner in [1, 2, 16, 40] {
            let values = floats(70_001 / inner * inner);
            let whole = sums(&values, inner);
            let mut out = vec![0.0; values.len()];
            let mut scan = RowScan::new(inner, 0.0);
            let numbers = 3 * block_len(inner) * inner;
            for (values, out) in values.chunks(numbers).zip(out.chunks_mut(numbers)) {
                scan.push(values, |a, b| a + b, out);
            }
            assert_eq!(out, whole, "{inner}");
        }
    }

    #[test]
    fn several_columns_agree_with_exact_sums() {
        for inner in [2usize, 3, 8, 33] {
            let len = 20_000;
            let values: Vec<u64> = (0..len * inner).map(|k| (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let mut out = vec![1; values.len()];
            RowScan::new(inner, 0).push(&values, u64::wrapping_add, &mut out);
            let mut sums = vec![0u64; inner];
            for (k, &x) in values.iter().enumerate() {
                sums[k % inner] = sums[k % inner].wrapping_add(x);
                assert_eq!(out[k], sums[k % inner], "{k}, inner {inner}");
            }
        }
    }
}
