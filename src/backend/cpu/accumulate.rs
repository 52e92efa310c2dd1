//! Accumulators of row reductions, as monoids. CPU counterpart of `backend/gpu/codegen/accumulate.rs`, with
//! bit-identical results.

use bytemuck::Pod;

use super::encoding::Value;
use super::number::Number;
use super::order_key::{key_of_f32, key_of_f64};
use super::row_reduce::{reduce_block, reduce_columns, reduce_row};
use crate::math;

/// A monoid over values of type `V`. Merging any state with the identity element leaves that state unchanged.
pub trait Monoid<V>: Copy + Sync {
    /// The accumulator of a row.
    type State: Copy + Send + Sync;
    /// Identity element: the state of no values.
    fn identity(self) -> Self::State;
    /// Adds the next value to a state.
    fn push(self, so_far: Self::State, next: V) -> Self::State;
    /// Merges two states into the state of the values of both.
    fn merge(self, a: Self::State, b: Self::State) -> Self::State;

    /// Reduces consecutive rows of `inner` columns each to their states, in the order of [`reduce_row`]. The values of
    /// row `k` begin at value `start(k)`. A monoid may override this with a faster loop.
    fn rows(self, values: &[V], inner: usize, start: impl Fn(usize) -> usize, out: &mut [Self::State])
    where
        V: Copy,
    {
        if inner > 1 {
            return reduce_columns(values, inner, self, start, out);
        }
        for (k, out) in out.iter_mut().enumerate() {
            reduce_row(&values[start(k)..start(k + 1)], 1, self, std::slice::from_mut(out));
        }
    }

    /// Reduces one block of a row of several blocks.
    fn block(self, values: &[V], inner: usize, out: &mut [Self::State])
    where
        V: Copy,
    {
        reduce_block(values, inner, self, out);
    }
}

/// Monoid whose states are values, merged by a plain function.
#[cfg(test)]
#[derive(Clone, Copy)]
pub struct Plain<V, F> {
    /// Identity element of `combine`, for every value that a fold from it can give.
    pub identity: V,
    /// The operator.
    pub combine: F,
}

#[cfg(test)]
impl<V: Pod + Send + Sync, F: Fn(V, V) -> V + Copy + Sync> Monoid<V> for Plain<V, F> {
    type State = V;
    fn identity(self) -> V {
        self.identity
    }
    fn push(self, so_far: V, next: V) -> V {
        (self.combine)(so_far, next)
    }
    fn merge(self, a: V, b: V) -> V {
        (self.combine)(a, b)
    }
}

/// Float type of row reductions, with the constants and functions of totals, extremes, exponentials and moments.
pub(super) trait Float: Pod + Value + Number + Send + Sync {
    /// Integer type of the order keys (see `order_key`), which sort as the floats do.
    type Key: Pod + Ord + Send + Sync;
    const LEAST_KEY: Self::Key;
    const GREATEST_KEY: Self::Key;
    const ONE: Self;
    const ZERO: Self;
    const NAN: Self;
    const LEAST: Self;
    const GREATEST: Self;
    /// The order key of the float, or `nan` if the float is NaN.
    fn key_or(self, nan: Self::Key) -> Self::Key;
    /// The order key of the float. NaN has the greatest key.
    #[inline(always)]
    fn key(self) -> Self::Key {
        self.key_or(Self::GREATEST_KEY)
    }
    fn of_key(key: Self::Key) -> Self;
    fn exp(self) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! float {
    ($t:ident, $key:ident, $key_or:path, $exp:path) => {
        impl Float for $t {
            type Key = $key;
            const LEAST_KEY: $key = $key::MIN;
            const GREATEST_KEY: $key = $key::MAX;
            const ONE: Self = 1.0;
            const ZERO: Self = 0.0;
            const NAN: Self = $t::NAN;
            const LEAST: Self = $t::NEG_INFINITY;
            const GREATEST: Self = $t::INFINITY;
            #[inline(always)]
            fn key_or(self, nan: $key) -> $key {
                $key_or(self, nan)
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
float!(f32, i32, key_of_f32, math::exp_f32);
float!(f64, i64, key_of_f64, math::exp_f64);
