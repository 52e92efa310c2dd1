//! Variances: a monoid of count, mean and sum of squared deviations from the mean (Chan, Golub and LeVeque 1979).
//!
//! A merge contains a division and depends on the previous merge of its lane. Several lanes are therefore processed at
//! a time.

use super::lanes::{LaneStates, split_halves};
use super::rows_by_length::{self, CostlyMonoid};
use super::{Monoid, RowMonoid, ValuesOfColumns};
use crate::backend::cpu::accumulate::Float;
use crate::graph::reducer::Reducer;

/// Moments of a set of values: their count, one of the values (`pivot`), the mean minus the pivot (`offset`), and the
/// sum of the squared deviations from the mean.
#[derive(Clone, Copy)]
pub(in super::super) struct MomentsState<F> {
    count: F,
    pivot: F,
    offset: F,
    deviations: F,
}

/// The monoid of [`MomentsState`].
#[derive(Clone, Copy)]
pub(in super::super) struct Moments;

impl<F: Float> Monoid<F> for Moments {
    type State = MomentsState<F>;
    #[inline(always)]
    fn identity(self) -> MomentsState<F> {
        MomentsState { count: F::ZERO, pivot: F::ZERO, offset: F::ZERO, deviations: F::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: MomentsState<F>, next: F) -> MomentsState<F> {
        self.merge(so_far, MomentsState::of(next))
    }
    #[inline(always)]
    fn merge(self, a: MomentsState<F>, b: MomentsState<F>) -> MomentsState<F> {
        let count = a.count.add(b.count);
        let weight = b.count.div(if count < F::ONE { F::ONE } else { count });
        let pivot = if a.count < F::ONE { b.pivot } else { a.pivot };
        let delta = b.pivot.sub(pivot).add(b.offset.sub(a.offset));
        let squares = delta.mul(delta.mul(a.count.mul(weight)));
        MomentsState {
            count,
            pivot,
            offset: a.offset.add(delta.mul(weight)),
            deviations: a.deviations.add(b.deviations).add(squares),
        }
    }
}

impl<F: Float> RowMonoid<F> for Moments {
    fn results(self, _: Reducer) -> impl Fn(MomentsState<F>) -> F {
        |state| state.deviations
    }
    fn rows(self, values: &[F], start: impl Fn(usize) -> usize, out: &mut [MomentsState<F>]) {
        rows_by_length::rows(self, values, start, out);
    }
    fn block(self, values: &[F]) -> MomentsState<F> {
        rows_by_length::block(self, values)
    }

    #[inline(always)]
    fn fold_columns<const N: usize>(
        self,
        states: &mut [MomentsState<F>; N],
        n: usize,
        values: impl ValuesOfColumns<F, N>,
    ) {
        if n == 0 {
            return;
        }
        // All columns have equal counts: their values are those of the same elements. The weight of a value is therefore
        // computed once for all columns, and the other fields are vectorized.
        let mut count = states.first().map_or(F::ZERO, |state| state.count);
        let [mut pivots, mut offsets, mut deviations] = [[F::ZERO; N]; 3];
        // States of no values are identity elements and need not be loaded.
        if count < F::ONE {
            pivots = values.get(0);
        } else {
            // Not `map`, which might not be inlined into an AVX2 loop.
            for (k, state) in states.iter().enumerate() {
                (pivots[k], offsets[k], deviations[k]) = (state.pivot, state.offset, state.deviations);
            }
        }
        for k in 0..n {
            let value = values.get(k);
            let before = count;
            count = count.add(F::ONE);
            let weight = F::ONE.div(count);
            let share = before.mul(weight);
            for (k, x) in value.into_iter().enumerate() {
                // As in a merge, whose other offset is 0.
                let delta = x.sub(pivots[k]).sub(offsets[k]);
                let squares = delta.mul(delta.mul(share));
                let of_value = if x.is_finite() { F::ZERO } else { F::NAN };
                offsets[k] = offsets[k].add(delta.mul(weight));
                deviations[k] = deviations[k].add(of_value).add(squares);
            }
        }
        for (k, state) in states.iter_mut().enumerate() {
            *state = MomentsState { count, pivot: pivots[k], offset: offsets[k], deviations: deviations[k] };
        }
    }
}

impl<F: Float> CostlyMonoid<F> for Moments {
    type Lanes<const N: usize> = States<F, N>;
}

impl<F: Float> MomentsState<F> {
    /// The state of one value. The deviation of a finite value is 0, of any other value NaN.
    #[inline(always)]
    fn of(x: F) -> Self {
        let deviations = if x.is_finite() { F::ZERO } else { F::NAN };
        Self { count: F::ONE, pivot: x, offset: F::ZERO, deviations }
    }
}

/// `N` states as a structure of arrays.
#[derive(Clone, Copy)]
pub(super) struct States<F, const N: usize> {
    count: [F; N],
    pivot: [F; N],
    offset: [F; N],
    deviations: [F; N],
}

impl<F: Float, const N: usize> LaneStates<F, N> for States<F, N> {
    type State = MomentsState<F>;

    #[inline(always)]
    fn none() -> Self {
        let none = [F::ZERO; N];
        Self { count: none, pivot: none, offset: none, deviations: none }
    }

    #[inline(always)]
    fn get(&self, k: usize) -> MomentsState<F> {
        MomentsState {
            count: self.count[k],
            pivot: self.pivot[k],
            offset: self.offset[k],
            deviations: self.deviations[k],
        }
    }

    #[inline(always)]
    fn push(&mut self, values: &[F; N], is_present: impl Fn(usize) -> bool) {
        for (k, &x) in values.iter().enumerate() {
            let so_far = self.get(k);
            let merged = Moments.push(so_far, x);
            let is_present = is_present(k);
            self.count[k] = if is_present { merged.count } else { so_far.count };
            self.pivot[k] = if is_present { merged.pivot } else { so_far.pivot };
            self.offset[k] = if is_present { merged.offset } else { so_far.offset };
            self.deviations[k] = if is_present { merged.deviations } else { so_far.deviations };
        }
    }

    #[inline(always)]
    fn set(&mut self, k: usize, to: MomentsState<F>) {
        (self.count[k], self.pivot[k], self.offset[k], self.deviations[k]) =
            (to.count, to.pivot, to.offset, to.deviations);
    }

    #[inline(always)]
    fn merge(&mut self, other: &Self, n: usize) {
        for k in 0..n.min(N) {
            self.set(k, Moments.merge(self.get(k), other.get(k)));
        }
    }

    #[inline(always)]
    fn split<const REACH: usize>(&mut self, upper: &mut Self, from: usize, to: usize) {
        split_halves::<_, REACH>(&mut self.count, &mut upper.count, from, to);
        split_halves::<_, REACH>(&mut self.pivot, &mut upper.pivot, from, to);
        split_halves::<_, REACH>(&mut self.offset, &mut upper.offset, from, to);
        split_halves::<_, REACH>(&mut self.deviations, &mut upper.deviations, from, to);
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::check;
    use super::*;

    #[test]
    fn rows_have_the_bits_of_the_canonical_order() {
        check::<f32, _>(Moments, |x| x as f32);
        check::<f64, _>(Moments, |x| x);
    }
}
