//! Online softmax (Milakov and Gimelshein 2018): the maximum of a row, and the sum of the exponentials of the
//! differences from it.
//!
//! The operations and their order are those of a fold per lane and a halving tree over the lanes. The exponentials, the
//! dominant cost, are vectorized: over several short rows, over the lanes of one row, or over the trees of several
//! rows.

use super::lanes::{LaneStates, split_halves};
use super::rows_by_length::{self, CostlyMonoid};
use super::{Monoid, RowMonoid};
use crate::backend::cpu::accumulate::Float;
use crate::graph::reducer::Reducer;

/// Online softmax state: the order key of the maximum, and the sum of the exponentials of the differences from it.
#[derive(Clone, Copy)]
pub(in super::super) struct SoftmaxState<F: Float> {
    greatest: F::Key,
    sum: F,
}

/// The monoid of [`SoftmaxState`].
#[derive(Clone, Copy)]
pub(in super::super) struct OnlineSoftmax;

impl<F: Float> Monoid<F> for OnlineSoftmax {
    type State = SoftmaxState<F>;
    #[inline(always)]
    fn identity(self) -> SoftmaxState<F> {
        SoftmaxState { greatest: F::NEG_INFINITY.key(), sum: F::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: SoftmaxState<F>, next: F) -> SoftmaxState<F> {
        self.merge(so_far, SoftmaxState::of(next))
    }
    #[inline(always)]
    fn merge(self, a: SoftmaxState<F>, b: SoftmaxState<F>) -> SoftmaxState<F> {
        a.merged(b, exponent::<F>(a.greatest, b.greatest).exp())
    }
}

impl<F: Float> RowMonoid<F> for OnlineSoftmax {
    fn results(self, reducer: Reducer) -> impl Fn(SoftmaxState<F>) -> F {
        move |state| match reducer {
            Reducer::Greatest => F::of_key(state.greatest),
            _ => state.sum,
        }
    }
    fn rows(self, values: &[F], start: impl Fn(usize) -> usize, out: &mut [SoftmaxState<F>]) {
        rows_by_length::rows(self, values, start, out);
    }
    fn block(self, values: &[F]) -> SoftmaxState<F> {
        rows_by_length::block(self, values)
    }
}

impl<F: Float> CostlyMonoid<F> for OnlineSoftmax {
    type Lanes<const N: usize> = States<F, N>;
}

/// The exponent by which a merge scales the sum of the lesser maximum: the lesser minus the greater maximum. Equal
/// values, infinities included, give 0.
#[inline(always)]
fn exponent<F: Float>(a: F::Key, b: F::Key) -> F {
    let (greatest, least) = (a.max(b), a.min(b));
    if least == greatest { F::ZERO } else { F::of_key(least).sub(F::of_key(greatest)) }
}

impl<F: Float> SoftmaxState<F> {
    /// The state of one value. The sum is NaN for +inf and NaN, whose difference from themselves is NaN.
    #[inline(always)]
    fn of(x: F) -> Self {
        let greatest = x.key();
        Self { greatest, sum: if greatest < F::INFINITY.key() { F::ONE } else { F::NAN } }
    }

    /// Merges two states. `scale` multiplies the sum of the state with the lesser maximum.
    #[inline(always)]
    fn merged(self, b: Self, scale: F) -> Self {
        let (sum, scaled) = if self.greatest < b.greatest { (b.sum, self.sum) } else { (self.sum, b.sum) };
        Self { greatest: self.greatest.max(b.greatest), sum: sum.add(scaled.mul(scale)) }
    }
}

/// Replaces each element by its exponential. -inf, the exponent of a lane without a value, gives 0 directly: the
/// evaluation would produce subnormal numbers, on which processors are slow.
#[inline(always)]
fn exponentials<F: Float>(x: &mut [F]) {
    for x in x {
        let is_zero = *x == F::NEG_INFINITY;
        let exp = if is_zero { F::ZERO } else { *x }.exp();
        *x = if is_zero { F::ZERO } else { exp };
    }
}

/// `N` states as a structure of arrays.
#[derive(Clone, Copy)]
pub(super) struct States<F: Float, const N: usize> {
    greatest: [F::Key; N],
    sums: [F; N],
}

impl<F: Float, const N: usize> LaneStates<F, N> for States<F, N> {
    type State = SoftmaxState<F>;

    #[inline(always)]
    fn none() -> Self {
        let none: SoftmaxState<F> = Monoid::<F>::identity(OnlineSoftmax);
        Self { greatest: [none.greatest; N], sums: [none.sum; N] }
    }

    #[inline(always)]
    fn get(&self, k: usize) -> SoftmaxState<F> {
        SoftmaxState { greatest: self.greatest[k], sum: self.sums[k] }
    }

    #[inline(always)]
    fn of(values: &[F; N], is_present: impl Fn(usize) -> bool) -> Self {
        let mut states = Self::none();
        for (k, &x) in values.iter().enumerate() {
            let of = SoftmaxState::of(x);
            states.set(k, if is_present(k) { of } else { states.get(k) });
        }
        states
    }

    #[inline(always)]
    fn push(&mut self, values: &[F; N], is_present: impl Fn(usize) -> bool) {
        let mut scales = [F::ZERO; N];
        for (k, (scale, &x)) in scales.iter_mut().zip(values).enumerate() {
            *scale = exponent(self.greatest[k], x.key());
        }
        exponentials(&mut scales);
        for (k, (&scale, &x)) in scales.iter().zip(values).enumerate() {
            let so_far = self.get(k);
            let merged = so_far.merged(SoftmaxState::of(x), scale);
            self.set(k, if is_present(k) { merged } else { so_far });
        }
    }

    #[inline(always)]
    fn set(&mut self, k: usize, to: SoftmaxState<F>) {
        (self.greatest[k], self.sums[k]) = (to.greatest, to.sum);
    }

    #[inline(always)]
    fn merge(&mut self, other: &Self, n: usize) {
        let (greatest, sums) = (&mut self.greatest[..n], &mut self.sums[..n]);
        let others = other.greatest[..n].iter().zip(&other.sums[..n]);
        let mut scales = [F::ZERO; N];
        for ((scale, &a), (&b, _)) in scales.iter_mut().zip(&*greatest).zip(others.clone()) {
            *scale = exponent(a, b);
        }
        exponentials(&mut scales[..n]);
        for (((greatest, sum), (&b, &of_b)), &scale) in greatest.iter_mut().zip(sums).zip(others).zip(&scales) {
            let merged =
                SoftmaxState { greatest: *greatest, sum: *sum }.merged(SoftmaxState { greatest: b, sum: of_b }, scale);
            (*greatest, *sum) = (merged.greatest, merged.sum);
        }
    }

    #[inline(always)]
    fn split<const REACH: usize>(&mut self, upper: &mut Self, from: usize, to: usize) {
        split_halves::<_, REACH>(&mut self.greatest, &mut upper.greatest, from, to);
        split_halves::<_, REACH>(&mut self.sums, &mut upper.sums, from, to);
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::check;
    use super::*;

    #[test]
    fn rows_have_the_bits_of_the_canonical_order() {
        check::<f32, _>(OnlineSoftmax, |x| x as f32);
        check::<f64, _>(OnlineSoftmax, |x| x);
        // Rows whose values are all -inf.
        check::<f32, _>(OnlineSoftmax, |x| if x < 0.0 { f32::NEG_INFINITY } else { x as f32 });
    }
}
