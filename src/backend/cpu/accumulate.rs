//! Float types of the row reductions. CPU counterpart of `backend/gpu/codegen/accumulate.rs`, with bit-identical
//! results.

use bytemuck::Pod;

use super::encoding::Value;
use super::number::Number;
use crate::dtype::DType;
use crate::graph::scalar::Scalar;
use crate::math;

/// Float type of sums, products, minima, maxima, softmax and moments of rows.
pub(super) trait Float: Pod + Value + Number + Send + Sync {
    /// Integer type of the order keys: integers in the order of the floats, -0 below +0.
    type Key: Pod + Ord + Send + Sync + Number + Value;
    const MIN_KEY: Self::Key;
    const MAX_KEY: Self::Key;
    const DTYPE: DType;
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
    /// The float of an order key.
    fn of_key(key: Self::Key) -> Self;
    /// The value of a scalar of the type.
    fn of_scalar(scalar: Scalar) -> Self;
    fn exp(self) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! float {
    ($t:ident, $v:ident, $key:ident, $exp:path) => {
        impl Float for $t {
            type Key = $key;
            const MIN_KEY: $key = $key::MIN;
            const MAX_KEY: $key = $key::MAX;
            const DTYPE: DType = DType::$v;
            const ONE: Self = 1.0;
            const ZERO: Self = 0.0;
            const NAN: Self = $t::NAN;
            const NEG_INFINITY: Self = $t::NEG_INFINITY;
            const INFINITY: Self = $t::INFINITY;
            #[inline(always)]
            fn key_or(self, nan: $key) -> $key {
                // NaN is detected by its bits, which needs no branch.
                let bits = self.to_bits() as $key;
                let key = bits ^ ((bits >> ($key::BITS - 1)) & $key::MAX);
                if bits & $key::MAX > $t::INFINITY.to_bits() as $key { nan } else { key }
            }
            #[inline(always)]
            fn of_key(key: $key) -> Self {
                $t::from_bits((key ^ ((key >> ($key::BITS - 1)) & $key::MAX)) as _)
            }
            fn of_scalar(scalar: Scalar) -> Self {
                let Scalar::$v(x) = scalar else { unreachable!("bug: a scalar of another dtype") };
                x
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
float!(f32, F32, i32, math::exp_f32);
float!(f64, F64, i64, math::exp_f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_their_floats() {
        let ascending = [f32::NEG_INFINITY, f32::MIN, -1., -1e-45, -0., 0., 1e-45, 1., f32::MAX, f32::INFINITY];
        let keys = ascending.map(|x| x.key());
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        assert!(keys[0] > f32::MIN_KEY && keys[9] < f32::MAX_KEY, "the ends stand for NaN and for no float");
        assert_eq!([f32::NAN, -f32::NAN].map(|x| x.key_or(7)), [7; 2]);
        assert_eq!(keys.map(|key| f32::of_key(key).to_bits()), ascending.map(f32::to_bits));
    }
}
