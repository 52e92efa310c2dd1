//! What row reductions keep of the values seen so far. Twin of `backend/gpu/codegen/accumulate.rs`: the same bits.

use super::lanes::{Lane, Number};
use crate::math;

/// A monoid over values of type `V`. Merging any state with that of no values leaves it as it is.
pub trait Monoid<V>: Copy + Sync {
    /// What is kept.
    type State: Copy + Send + Sync;
    /// That of no values.
    fn identity(self) -> Self::State;
    /// That of the values so far and the next one.
    fn push(self, so_far: Self::State, next: V) -> Self::State;
    /// That of the values of both.
    fn merge(self, a: Self::State, b: Self::State) -> Self::State;
}

/// Values that are combined as they are: the identity and the operation.
#[derive(Clone, Copy)]
pub struct Plain<V, F>(pub V, pub F);

impl<V: Copy + Send + Sync, F: Fn(V, V) -> V + Copy + Sync> Monoid<V> for Plain<V, F> {
    type State = V;
    #[inline(always)]
    fn identity(self) -> V {
        self.0
    }
    #[inline(always)]
    fn push(self, so_far: V, next: V) -> V {
        (self.1)(so_far, next)
    }
    #[inline(always)]
    fn merge(self, a: V, b: V) -> V {
        (self.1)(a, b)
    }
}

/// A float whose exponentials and moments are summed.
pub(super) trait Float: Lane + Number + Send + Sync {
    /// The integer of the same order: NaN above all.
    type Key: Copy + Ord + Send + Sync;
    const ONE: Self;
    const ZERO: Self;
    const NAN: Self;
    const LEAST: Self;
    const GREATEST: Self;
    fn key(self) -> Self::Key;
    fn of_key(key: Self::Key) -> Self;
    fn exp(self) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! float {
    ($t:ident, $key:ident, $exp:path) => {
        impl Float for $t {
            type Key = $key;
            const ONE: Self = 1.0;
            const ZERO: Self = 0.0;
            const NAN: Self = $t::NAN;
            const LEAST: Self = $t::NEG_INFINITY;
            const GREATEST: Self = $t::INFINITY;
            #[inline(always)]
            fn key(self) -> $key {
                let bits = self.to_bits() as $key;
                if self.is_nan() { $key::MAX } else { bits ^ ((bits >> ($key::BITS - 1)) & $key::MAX) }
            }
            #[inline(always)]
            fn of_key(key: $key) -> Self {
                $t::from_bits((key ^ ((key >> ($key::BITS - 1)) & $key::MAX)) as _)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
        }
    };
}
float!(f32, i32, math::exp_f32);
float!(f64, i64, math::exp_f64);

/// The greatest value and the sum of the exponentials relative to it.
#[derive(Clone, Copy)]
pub(super) struct Exps<F: Float> {
    pub(super) greatest: F::Key,
    pub(super) sum: F,
}

/// The monoid of [`Exps`].
#[derive(Clone, Copy)]
pub(super) struct OfExps;

impl<F: Float> Monoid<F> for OfExps {
    type State = Exps<F>;
    #[inline(always)]
    fn identity(self) -> Exps<F> {
        Exps { greatest: F::LEAST.key(), sum: F::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: Exps<F>, next: F) -> Exps<F> {
        let greatest = next.key();
        self.merge(so_far, Exps { greatest, sum: if greatest < F::GREATEST.key() { F::ONE } else { F::NAN } })
    }
    #[inline(always)]
    fn merge(self, a: Exps<F>, b: Exps<F>) -> Exps<F> {
        let (greatest, least) = (a.greatest.max(b.greatest), a.greatest.min(b.greatest));
        // Equal infinities have no difference.
        let scale = if least == greatest { F::ONE } else { F::of_key(least).sub(F::of_key(greatest)).exp() };
        let (stays, shrinks) = if a.greatest < b.greatest { (b.sum, a.sum) } else { (a.sum, b.sum) };
        Exps { greatest, sum: stays.add(shrinks.mul(scale)) }
    }
}

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

/// Runs `$body` with the monoid of an operation on a type.
macro_rules! plain {
    ($op:expr, $t:ty, $identity:expr, |$monoid:ident| $body:expr) => {{
        let identity: $t = $identity;
        match $op {
            ReduceOp::Sum => {
                let $monoid = Plain(identity, <$t as Number>::add);
                $body
            }
            ReduceOp::Prod => {
                let $monoid = Plain(identity, <$t as Number>::mul);
                $body
            }
            ReduceOp::Min => {
                let $monoid = Plain(identity, <$t as Number>::least);
                $body
            }
            ReduceOp::Max => {
                let $monoid = Plain(identity, <$t as Number>::greatest);
                $body
            }
        }
    }};
}
pub(super) use plain;
