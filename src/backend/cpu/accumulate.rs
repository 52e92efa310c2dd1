//! Float types of the row reductions. CPU counterpart of `backend/gpu/codegen/accumulate.rs`, with bit-identical
//! results.

use bytemuck::Pod;

use super::encoding::Value;
use super::number::Number;
use super::order_key::{key_of_f32, key_of_f64};
use crate::math;

/// Float type of sums, products, minima, maxima, softmax and moments of rows.
pub(super) trait Float: Pod + Value + Number + Send + Sync {
    /// Integer type of the order keys (see `order_key`).
    type Key: Pod + Ord + Send + Sync;
    const MIN_KEY: Self::Key;
    const MAX_KEY: Self::Key;
    const ONE: Self;
    const ZERO: Self;
    const NAN: Self;
    const NEG_INFINITY: Self;
    const INFINITY: Self;
    /// The order key of the float, or `nan` if the float is NaN.
    fn key_or(self, nan: Self::Key) -> Self::Key;
    /// The order key of the float. NaN has the greatest key.
    #[inline(always)]
    fn key(self) -> Self::Key {
        self.key_or(Self::MAX_KEY)
    }
    fn of_key(key: Self::Key) -> Self;
    fn exp(self) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! float {
    ($t:ident, $key:ident, $key_or:path, $exp:path) => {
        impl Float for $t {
            type Key = $key;
            const MIN_KEY: $key = $key::MIN;
            const MAX_KEY: $key = $key::MAX;
            const ONE: Self = 1.0;
            const ZERO: Self = 0.0;
            const NAN: Self = $t::NAN;
            const NEG_INFINITY: Self = $t::NEG_INFINITY;
            const INFINITY: Self = $t::INFINITY;
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
