//! Rows of one column by monoids that are costly, sorted by length: short rows side by side, one row per lane. The first
//! values of the rows form one vector, their second values the next. The sort by length keeps most lanes busy.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::lanes::{LaneStates, lanes_of_block};
use super::{RowMonoid, reduce_long_row};
use crate::backend::cpu::simd::{self, LINE, Loop};
use crate::graph::canonical_order::reduction::{FOLD_LEN, LANES, block_len};

/// Short rows that are reduced side by side.
const ROWS: usize = 16;

/// Rows of one block whose trees are computed at a time.
const TREES: usize = 8;

/// A monoid whose merges cost more than a sort of the rows by length.
pub(super) trait CostlyMonoid<V: Pod>: RowMonoid<V> {
    /// The states of `N` lanes.
    type Lanes<const N: usize>: LaneStates<V, N, State = Self::State>;
}

/// Reduces consecutive rows. The values of row `k` begin at value `start(k)`.
pub(super) fn rows<V: Pod, M: CostlyMonoid<V>>(
    monoid: M,
    values: &[V],
    start: impl Fn(usize) -> usize,
    out: &mut [M::State],
) {
    simd::run(Rows { monoid, values, start, out });
}

/// The state of one block of a row of several blocks.
pub(super) fn block<V: Pod, M: CostlyMonoid<V>>(_: M, values: &[V]) -> M::State {
    simd::run(Block::<V, M::Lanes<LANES>> { values, states: PhantomData })
}

struct Block<'a, V, S> {
    values: &'a [V],
    states: PhantomData<S>,
}

impl<V: Pod, S: LaneStates<V, LANES>> Loop for Block<'_, V, S> {
    type Output = S::State;
    #[inline(always)]
    fn run(self) -> S::State {
        let mut states: S = lanes_of_block(self.values, 0, self.values.len());
        states.merge_lanes(1);
        states.get(0)
    }
}

struct Rows<'a, V: Pod, M: RowMonoid<V>, S> {
    monoid: M,
    values: &'a [V],
    start: S,
    out: &'a mut [M::State],
}

impl<V: Pod, M: CostlyMonoid<V>, S: Fn(usize) -> usize> Loop for Rows<'_, V, M, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { monoid, values, start, out } = self;
        out.fill(monoid.identity());
        let sorted = sort_by_length(values, start, out.len());
        let (folded, rest) = sorted.split_at(sorted.partition_point(|&(.., len)| len <= FOLD_LEN));
        let (short, rest) = rest.split_at(rest.partition_point(|&(.., len)| len <= LANES));
        let (one_block, long) = rest.split_at(rest.partition_point(|&(.., len)| len <= block_len(1)));
        let mut transposed = TransposedRows { values: [[V::zeroed(); ROWS]; LANES], lens: [0; ROWS], longest: 0 };
        for rows in folded.chunks(ROWS) {
            transposed.load(values, rows);
            store(&transposed.fold::<M::Lanes<ROWS>>(), rows, out);
        }
        let mut states = [(); LANES / 2].map(|()| M::Lanes::none());
        for rows in short.chunks(ROWS) {
            transposed.load(values, rows);
            store(transposed.tree(&mut states), rows, out);
        }
        for rows in one_block.chunks(TREES) {
            let mut states = M::Lanes::<{ TREES * LANES }>::none();
            for (&(_, from, len), at) in rows.iter().zip((0..).step_by(LANES)) {
                let lanes: M::Lanes<LANES> = lanes_of_block(values, from, len);
                for k in 0..LANES {
                    states.set(at + k, lanes.get(k));
                }
            }
            states.merge_lanes(TREES);
            store(&states, rows, out);
        }
        for &(row, from, len) in long {
            out[row] = reduce_long_row(monoid, &values[from..from + len]);
        }
    }
}

/// Stores the leading states as the results of `rows`.
#[inline(always)]
fn store<V, const N: usize, S: LaneStates<V, N>>(states: &S, rows: &[Row], out: &mut [S::State]) {
    for (k, &(row, ..)) in rows.iter().enumerate() {
        out[row] = states.get(k);
    }
}

/// A non-empty row: its number, start and length.
type Row = (usize, usize, usize);

/// The non-empty rows, in a counting sort by length: rows of up to [`LANES`] values in ascending order of length, then
/// rows of one block, then rows of several blocks.
///
/// Also prefetches all values in memory order, since the sorted rows are read in another order. The values fit the L2
/// cache.
#[inline(always)]
fn sort_by_length<V>(values: &[V], start: impl Fn(usize) -> usize, rows: usize) -> Vec<Row> {
    for k in (0..values.len()).step_by(LINE / size_of::<V>()) {
        simd::prefetch(values, k);
    }
    let class = |len: usize| if len <= LANES { len } else { LANES + 1 + usize::from(len > block_len(1)) };
    let mut places = [0; LANES + 3];
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
struct TransposedRows<V> {
    /// The k-th value of each row, for each k. Entries beyond a row's end are stale.
    values: [[V; ROWS]; LANES],
    /// Length of each row; 0 where there is no row.
    lens: [u32; ROWS],
    /// Length of the longest row.
    longest: usize,
}

impl<V: Copy> TransposedRows<V> {
    /// Transposes other rows, of up to [`LANES`] values each and in ascending order of length.
    #[inline(always)]
    fn load(&mut self, values: &[V], rows: &[Row]) {
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
    fn fold<S: LaneStates<V, ROWS>>(&self) -> S {
        let mut states = S::of(&self.values[0], |r| self.lens[r] > 0);
        for (k, column) in (0..self.longest as u32).zip(&self.values).skip(1) {
            states.push(column, |r| k < self.lens[r]);
        }
        states
    }

    /// Merges the states of the values in a halving tree per row, for rows of more than [`FOLD_LEN`] values. Returns
    /// the roots of the trees.
    #[inline(always)]
    fn tree<'s, S: LaneStates<V, ROWS>>(&self, states: &'s mut [S; LANES / 2]) -> &'s S {
        let of = |k: usize| S::of(&self.values[k], |r| k < FOLD_LEN || (k as u32) < self.lens[r]);
        for (k, low) in states.iter_mut().enumerate() {
            *low = of(k);
            if k + LANES / 2 < self.longest {
                low.merge(&of(k + LANES / 2), ROWS);
            }
        }
        let mut reach = LANES / 4;
        while reach > 0 {
            let (low, high) = states[..2 * reach].split_at_mut(reach);
            for (low, high) in low.iter_mut().zip(high) {
                low.merge(high, ROWS);
            }
            reach /= 2;
        }
        &states[0]
    }
}
