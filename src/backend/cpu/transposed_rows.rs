//! Short rows of one column, transposed: one row per lane, the rows' first values in one vector, their second values in
//! the next. Rows are grouped by length, so that no lane waits for another.

use super::accumulate::Float;
use super::simd::{self, LINE};
use crate::graph::canonical_order::reduction::{FOLD_LEN, LANES, block_len};

/// Longest row that is processed together with others, each row in a lane.
pub(super) const MAX_LEN: usize = LANES;

/// Number of rows processed together.
pub(super) const ROWS: usize = 16;

/// A non-empty row: its number, start and length.
pub(super) type Row = (usize, usize, usize);

/// The non-empty rows. Rows of up to [`MAX_LEN`] values come first, in ascending order of length, so that rows
/// processed together end together. Rows of one block follow, then rows of several.
///
/// Rows in this order are not read in memory order. This function therefore prefetches all values in memory order; they
/// fit a near cache.
#[inline(always)]
pub(super) fn rows_by_length<F: Float>(values: &[F], start: impl Fn(usize) -> usize, rows: usize) -> Vec<Row> {
    for k in (0..values.len()).step_by(LINE / size_of::<F>()) {
        simd::prefetch(values, k);
    }
    let class = |len: usize| if len <= MAX_LEN { len } else { MAX_LEN + 1 + usize::from(len > block_len(1)) };
    let mut places = [0; MAX_LEN + 3];
    let mut from = start(0);
    for k in 1..=rows {
        let to = start(k);
        places[class(to - from)] += 1;
        from = to;
    }
    places[0] = 0;
    let mut total = 0;
    for place in &mut places {
        total += std::mem::replace(place, total);
    }
    let mut sorted = vec![(0, 0, 0); total];
    let mut from = start(0);
    for k in 0..rows {
        let to = start(k + 1);
        if to > from {
            let place = &mut places[class(to - from)];
            sorted[*place] = (k, from, to - from);
            *place += 1;
        }
        from = to;
    }
    sorted
}

/// The values of up to [`ROWS`] rows, transposed.
pub(super) struct TransposedRows<F> {
    /// The k-th value of each row, for each k. Entries beyond a row's end are stale.
    pub(super) values: [[F; ROWS]; LANES],
    /// Length of each row; 0 where there is no row.
    pub(super) lens: [u32; ROWS],
    /// Length of the longest row.
    pub(super) longest: usize,
}

impl<F: Float> TransposedRows<F> {
    /// TransposedRows of no rows.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { values: [[F::ZERO; ROWS]; LANES], lens: [0; ROWS], longest: 0 }
    }

    /// Loads other rows, of up to [`MAX_LEN`] values each and in ascending order of length.
    #[inline(always)]
    pub(super) fn take(&mut self, values: &[F], rows: &[Row]) {
        self.lens = [0; ROWS];
        self.longest = rows.last().map_or(0, |&(.., len)| len);
        for (r, &(_, from, len)) in rows.iter().enumerate() {
            self.lens[r] = len as u32;
            for (&x, column) in values[from..from + len].iter().zip(&mut self.values) {
                column[r] = x;
            }
        }
    }

    /// Merges the states of the values in a halving tree, column by column, for rows of more than [`FOLD_LEN`] values.
    /// The returned first state holds the results.
    #[inline(always)]
    pub(super) fn merged<'s, S>(
        &self,
        states: &'s mut [S; LANES / 2],
        of: impl Fn(usize) -> S,
        merge: impl Fn(&mut S, &S),
    ) -> &'s S {
        for (k, low) in states.iter_mut().enumerate() {
            *low = of(k);
            if k + LANES / 2 < self.longest {
                merge(low, &of(k + LANES / 2));
            }
        }
        let mut reach = LANES / 4;
        while reach > 0 {
            let (low, high) = states[..2 * reach].split_at_mut(reach);
            for (low, high) in low.iter_mut().zip(high) {
                merge(low, high);
            }
            reach /= 2;
        }
        &states[0]
    }
}

/// Splits the rows of [`rows_by_length`] by algorithm: left fold, tree over single values, one block, several blocks.
#[inline(always)]
pub(super) fn classes(rows: &[Row]) -> [&[Row]; 4] {
    let (folded, rows) = rows.split_at(rows.partition_point(|&(.., len)| len <= FOLD_LEN));
    let (short, rows) = rows.split_at(rows.partition_point(|&(.., len)| len <= MAX_LEN));
    let (one_block, long) = rows.split_at(rows.partition_point(|&(.., len)| len <= block_len(1)));
    [folded, short, one_block, long]
}
