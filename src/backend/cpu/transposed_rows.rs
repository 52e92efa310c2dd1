//! Short rows of one column, transposed: one row per lane. The first values of the rows form one vector, their second
//! values the next. Rows are sorted by length, so that few lanes idle.

use super::accumulate::Float;
use super::simd::{self, LINE};
use crate::graph::canonical_order::reduction::{FOLD_LEN, LANES, block_len};

/// Longest row that is transposed.
pub(super) const MAX_LEN: usize = LANES;

/// Rows transposed at a time.
pub(super) const ROWS: usize = 16;

/// A non-empty row: its number, start and length.
pub(super) type Row = (usize, usize, usize);

/// The non-empty rows, in a counting sort by length: rows of up to [`MAX_LEN`] values in ascending order of length,
/// then rows of one block, then rows of several blocks.
///
/// Also prefetches all values in memory order, since the sorted rows are read in another order. The values fit the L2
/// cache.
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

/// The states of `N` lanes, as a structure of arrays.
pub(super) trait LaneStates<F, const N: usize>: Sized {
    /// The state of one lane.
    type State: Copy;
    /// Identity elements.
    fn none() -> Self;
    /// The state of lane `k`.
    fn get(&self, k: usize) -> Self::State;
    /// Adds a value to each state for which `is_present` holds.
    fn push(&mut self, values: &[F; N], is_present: impl Fn(usize) -> bool);
    /// Merges other states into these.
    fn merge(&mut self, other: &Self);

    /// The states of single values where `is_present` holds, the identity element elsewhere.
    #[inline(always)]
    fn of(values: &[F; N], is_present: impl Fn(usize) -> bool) -> Self {
        let mut states = Self::none();
        states.push(values, is_present);
        states
    }

    /// Stores the leading states as the results of `rows`.
    #[inline(always)]
    fn store(&self, rows: &[Row], out: &mut [Self::State]) {
        for (k, &(row, ..)) in rows.iter().enumerate() {
            out[row] = self.get(k);
        }
    }
}

/// Reduces the rows of the first two classes of [`by_algorithm`].
#[inline(always)]
pub(super) fn reduce_short_rows<F: Float, S: LaneStates<F, ROWS>>(
    values: &[F],
    folded: &[Row],
    short: &[Row],
    out: &mut [S::State],
) {
    let mut columns = TransposedRows::new();
    for rows in folded.chunks(ROWS) {
        columns.load(values, rows);
        columns.fold::<S>().store(rows, out);
    }
    let mut states = [(); LANES / 2].map(|()| S::none());
    for rows in short.chunks(ROWS) {
        columns.load(values, rows);
        columns.tree(&mut states).store(rows, out);
    }
}

/// The values of up to [`ROWS`] rows, transposed.
struct TransposedRows<F> {
    /// The k-th value of each row, for each k. Entries beyond a row's end are stale.
    values: [[F; ROWS]; LANES],
    /// Length of each row; 0 where there is no row.
    lens: [u32; ROWS],
    /// Length of the longest row.
    longest: usize,
}

impl<F: Float> TransposedRows<F> {
    /// No rows.
    #[inline(always)]
    fn new() -> Self {
        Self { values: [[F::ZERO; ROWS]; LANES], lens: [0; ROWS], longest: 0 }
    }

    /// Transposes other rows, of up to [`MAX_LEN`] values each and in ascending order of length.
    #[inline(always)]
    fn load(&mut self, values: &[F], rows: &[Row]) {
        self.lens = [0; ROWS];
        self.longest = rows.last().map_or(0, |&(.., len)| len);
        for (r, &(_, from, len)) in rows.iter().enumerate() {
            self.lens[r] = len as u32;
            for (&x, column) in values[from..from + len].iter().zip(&mut self.values) {
                column[r] = x;
            }
        }
    }

    /// Folds each row of up to [`FOLD_LEN`] values from left to right.
    #[inline(always)]
    fn fold<S: LaneStates<F, ROWS>>(&self) -> S {
        let mut states = S::of(&self.values[0], |r| self.lens[r] > 0);
        for (k, column) in (0..self.longest as u32).zip(&self.values).skip(1) {
            states.push(column, |r| k < self.lens[r]);
        }
        states
    }

    /// Merges the states of the values in a halving tree per row, for rows of more than [`FOLD_LEN`] values. Returns
    /// the roots of the trees.
    #[inline(always)]
    fn tree<'s, S: LaneStates<F, ROWS>>(&self, states: &'s mut [S; LANES / 2]) -> &'s S {
        let of = |k: usize| S::of(&self.values[k], |r| k < FOLD_LEN || (k as u32) < self.lens[r]);
        for (k, low) in states.iter_mut().enumerate() {
            *low = of(k);
            if k + LANES / 2 < self.longest {
                low.merge(&of(k + LANES / 2));
            }
        }
        let mut reach = LANES / 4;
        while reach > 0 {
            let (low, high) = states[..2 * reach].split_at_mut(reach);
            for (low, high) in low.iter_mut().zip(high) {
                low.merge(high);
            }
            reach /= 2;
        }
        &states[0]
    }
}

/// Splits the rows of [`rows_by_length`] by algorithm: left fold, tree over the values, one block, several blocks.
#[inline(always)]
pub(super) fn by_algorithm(rows: &[Row]) -> [&[Row]; 4] {
    let (folded, rows) = rows.split_at(rows.partition_point(|&(.., len)| len <= FOLD_LEN));
    let (short, rows) = rows.split_at(rows.partition_point(|&(.., len)| len <= MAX_LEN));
    let (one_block, long) = rows.split_at(rows.partition_point(|&(.., len)| len <= block_len(1)));
    [folded, short, one_block, long]
}
