//! Scans of consecutive rows, with the values evaluated in blocks.

use std::ops::{Deref, Range};

use super::super::parallel;
use super::super::simd::{self, Loop};
use super::super::work_items::RowStarts;
use super::{EVALUATED_NUMBERS, PrecedingTotals, RowScan, add_offsets, scan_block};
use crate::graph::canonical_order::row_scan::{CHUNK, block_len};

/// A scan of rows of `inner` columns.
#[derive(Clone, Copy)]
pub(super) struct Scan<T, F> {
    pub(super) inner: usize,
    pub(super) identity: T,
    /// Whether results depend on the order of the operations.
    pub(super) ordered: bool,
    pub(super) combine: F,
}

/// Scans the rows of a work item into `out`. `values(start, len)` evaluates `len` numbers from number `start` on.
pub(super) fn scan_rows<T: Copy + Send + Sync, F: Fn(T, T) -> T + Copy + Sync, V: Deref<Target = [T]>>(
    scan: Scan<T, F>,
    values: &(impl Fn(u32, usize) -> V + Sync),
    starts: &RowStarts<'_>,
    rows: Range<usize>,
    out: &mut [T],
) {
    let Scan { inner, identity, ordered, combine } = scan;
    let (from, to) = (starts.at(rows.start), starts.at(rows.end));
    if (to - from) * inner > EVALUATED_NUMBERS && rows.len() == 1 {
        return scan_long_row(scan, values, from, out);
    }
    let mut scan = RowScan::new(inner, identity);
    let values = values((from * inner) as u32, (to - from) * inner);
    let start = |row: usize| starts.at(row) - from;
    if inner == 1 {
        simd::run(OneColumn { values: &values, rows, start, scan: &mut scan, combine, ordered, out });
    } else {
        for row in rows {
            let range = start(row) * inner..start(row + 1) * inner;
            scan.restart();
            scan.push(&values[range.clone()], combine, &mut out[range]);
        }
    }
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

impl<T: Copy, F: Fn(T, T) -> T + Copy, S: Fn(usize) -> usize> Loop for OneColumn<'_, T, F, S> {
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

/// Scans one long row of `out.len()` numbers, whose values start at value `from`. Its blocks are scanned on all cores,
/// then their totals in order. The total before each block is then added on all cores.
fn scan_long_row<T: Copy + Send + Sync, F: Fn(T, T) -> T + Copy + Sync, V: Deref<Target = [T]>>(
    Scan { inner, identity, combine, .. }: Scan<T, F>,
    values: &(impl Fn(u32, usize) -> V + Sync),
    from: usize,
    out: &mut [T],
) {
    let numbers = block_len(inner) * inner;
    let blocks = (EVALUATED_NUMBERS / numbers).max(1);
    let mut totals = vec![identity; out.len().div_ceil(numbers) * inner];
    let pieces = out.chunks_mut(blocks * numbers).zip(totals.chunks_mut(blocks * inner));
    parallel::for_each(pieces.enumerate().collect(), &|(k, (out, totals))| {
        let start = from * inner + k * blocks * numbers;
        let values = values(start as u32, out.len());
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
