//! How far values deviate from their mean.

use super::accumulate::{Float, Monoid};

/// How many values, one of them, how far their mean is from it, and the sum of the squared deviations from the mean.
#[derive(Clone, Copy)]
pub(super) struct Moments<F> {
    count: F,
    near: F,
    off: F,
    pub(super) deviations: F,
}

/// The monoid of [`Moments`].
#[derive(Clone, Copy)]
pub(super) struct OfMoments;

impl<F: Float> Monoid<F> for OfMoments {
    type State = Moments<F>;
    #[inline(always)]
    fn identity(self) -> Moments<F> {
        Moments { count: F::ZERO, near: F::ZERO, off: F::ZERO, deviations: F::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: Moments<F>, next: F) -> Moments<F> {
        // The mean of what is not finite deviates from it by no number.
        let deviations = if next.is_finite() { F::ZERO } else { F::NAN };
        self.merge(so_far, Moments { count: F::ONE, near: next, off: F::ZERO, deviations })
    }
    #[inline(always)]
    fn merge(self, a: Moments<F>, b: Moments<F>) -> Moments<F> {
        let count = a.count.add(b.count);
        let share = b.count.div(if count < F::ONE { F::ONE } else { count });
        let near = if a.count < F::ONE { b.near } else { a.near };
        let apart = b.near.sub(near).add(b.off.sub(a.off));
        let squares = apart.mul(apart.mul(a.count.mul(share)));
        Moments {
            count,
            near,
            off: a.off.add(apart.mul(share)),
            deviations: a.deviations.add(b.deviations).add(squares),
        }
    }
}
