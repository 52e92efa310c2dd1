//! Lanes: the states of a row of one column of up to one block, or of several rows side by side.
//!
//! A row of one block is folded in [`LANES`] lanes, which are merged in a halving tree, in order if there are at most
//! `FOLD_LEN` of them, or in any order if the bits do not depend on it. The lanes beyond the end of a row
//! are masked: a loop of the row's length would mispredict its exit branch.

use bytemuck::Pod;

use super::CheapMonoid;
use crate::backend::cpu::accumulate::Reducible;
use crate::graph::canonical_order::reduction::LANES;

/// The states of `N` lanes, as a structure of arrays.
pub(super) trait LaneStates<V, const N: usize>: Copy {
    /// The state of one lane.
    type State: Copy;
    /// Identity elements.
    fn none() -> Self;
    /// The state of lane `k`.
    fn get(&self, k: usize) -> Self::State;
    /// Sets the state of lane `k`.
    fn set(&mut self, k: usize, state: Self::State);
    /// Adds a value to each state for which `is_present` holds.
    fn push(&mut self, values: &[V; N], is_present: impl Fn(usize) -> bool);
    /// Merges the first `n` of other states into these.
    fn merge(&mut self, other: &Self, n: usize);

    /// The states of single values where `is_present` holds, the identity element elsewhere.
    #[inline(always)]
    fn of(values: &[V; N], is_present: impl Fn(usize) -> bool) -> Self {
        let mut states = Self::none();
        states.push(values, is_present);
        states
    }

    /// Merges the [`LANES`] lanes of each of `rows` rows in a halving tree. The results are the first states.
    #[inline(always)]
    fn merge_lanes(&mut self, rows: usize) {
        self.halve::<16>(rows);
        self.halve::<8>(rows);
        self.halve::<4>(rows);
        self.halve::<2>(rows);
        self.halve::<1>(rows);
    }

    /// One level of the halving tree: merges the upper half of each row's `2 * REACH` states into the lower half. The
    /// stride between rows is `2 * REACH` states before and `REACH` states after.
    #[inline(always)]
    fn halve<const REACH: usize>(&mut self, rows: usize) {
        let mut upper = Self::none();
        for row in 0..rows {
            self.split::<REACH>(&mut upper, 2 * row * REACH, row * REACH);
        }
        self.merge(&upper, rows * REACH);
    }

    /// Moves the `REACH` states at `from` to `to`, and the following `REACH` states to index `to` of `upper`.
    fn split<const REACH: usize>(&mut self, upper: &mut Self, from: usize, to: usize);
}

/// Moves the `REACH` elements at `from` to `to`, and the following `REACH` elements to index `to` of `upper`.
#[inline(always)]
pub(super) fn split_halves<T: Copy, const REACH: usize>(of: &mut [T], upper: &mut [T], from: usize, to: usize) {
    let copy = |from: usize| -> [T; REACH] { std::array::from_fn(|k| of[from..from + REACH][k]) };
    let (low, high) = (copy(from), copy(from + REACH));
    of[to..to + REACH].copy_from_slice(&low);
    upper[to..to + REACH].copy_from_slice(&high);
}

/// The states of `N` lanes of a monoid whose states are numbers.
#[derive(Clone, Copy)]
pub(super) struct PlainLanes<M, S, const N: usize> {
    monoid: M,
    states: [S; N],
}

impl<V: Reducible, M: CheapMonoid<V>, const N: usize> LaneStates<V, N> for PlainLanes<M, M::State, N> {
    type State = M::State;

    #[inline(always)]
    fn none() -> Self {
        let monoid = M::default();
        Self { monoid, states: [monoid.identity(); N] }
    }
    #[inline(always)]
    fn get(&self, k: usize) -> M::State {
        self.states[k]
    }
    #[inline(always)]
    fn set(&mut self, k: usize, state: M::State) {
        self.states[k] = state;
    }
    #[inline(always)]
    fn push(&mut self, values: &[V; N], is_present: impl Fn(usize) -> bool) {
        // A loop of its own, so that both are vectorized.
        let mut lifted = [self.monoid.identity(); N];
        for (state, &x) in lifted.iter_mut().zip(values) {
            *state = self.monoid.lift(x);
        }
        for (k, (state, &x)) in self.states.iter_mut().zip(&lifted).enumerate() {
            let merged = self.monoid.merge(*state, x);
            *state = if is_present(k) { merged } else { *state };
        }
    }
    #[inline(always)]
    fn merge(&mut self, other: &Self, n: usize) {
        super::merge_each(&mut self.states[..n], &other.states[..n], self.monoid);
    }
    #[inline(always)]
    fn split<const REACH: usize>(&mut self, upper: &mut Self, from: usize, to: usize) {
        split_halves::<_, REACH>(&mut self.states, &mut upper.states, from, to);
    }
}

/// The values from `at` on for all lanes. Those beyond the first `len` belong to the next rows, or are padding.
#[inline(always)]
fn values_of_lanes<V: Pod>(values: &[V], at: usize, len: usize) -> [V; LANES] {
    match values[at..].first_chunk() {
        Some(lanes) => *lanes,
        None => {
            let mut lanes = [V::zeroed(); LANES];
            lanes[..len].copy_from_slice(&values[at..at + len]);
            lanes
        }
    }
}

/// Lane masks: all bits set in the first `n` lanes, none in the others.
#[inline(always)]
fn lane_masks(n: usize) -> &'static [u32; LANES] {
    static MASKS: [u32; 2 * LANES] = {
        let mut masks = [0; 2 * LANES];
        let mut k = 0;
        while k < LANES {
            masks[k] = u32::MAX;
            k += 1;
        }
        masks
    };
    MASKS[LANES - n..].first_chunk().expect("bug: a mask of too many lanes")
}

/// The lanes of a row of one block: the `len` values from `at` on.
#[inline(always)]
pub(super) fn lanes_of_block<V: Pod, S: LaneStates<V, LANES>>(values: &[V], at: usize, len: usize) -> S {
    let first = len.min(LANES);
    // Masks from memory: comparisons of lane numbers are compiled to vectors of 64-bit numbers.
    let masks = lane_masks(first);
    let mut states = S::of(&values_of_lanes(values, at, first), |k| masks[k] != 0);
    let (groups, rest) = values[at + first..at + len].as_chunks();
    // Not a closure, which might not be inlined into an AVX2 loop.
    for group in groups {
        states.push(group, |_| true);
    }
    if !rest.is_empty() {
        let group = values_of_lanes(values, at + len - rest.len(), rest.len());
        let masks = lane_masks(rest.len());
        states.push(&group, |k| masks[k] != 0);
    }
    states
}
