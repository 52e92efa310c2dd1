//! Number types of the row reductions. CPU counterpart of `backend/gpu/codegen/accumulate.rs`, with bit-identical
//! results.

use bytemuck::Pod;

use super::number::Number;
use crate::dtype::DType;
use crate::graph::scalar::Scalar;
use crate::math;

/// Number type of row reductions.
pub(super) trait Reducible: Pod + Number + Send + Sync {
    /// Type of the order keys: integers in the order of the numbers. Of floats, -0 is below +0.
    type Key: Ord + Copy + Send + Sync + 'static;
    const DTYPE: DType;
    const ONE: Self;
    const ZERO: Self;
    const MIN_KEY: Self::Key;
    const MAX_KEY: Self::Key;
    /// The order key of the number, or `nan` if it is NaN.
    fn key_or(self, nan: Self::Key) -> Self::Key;
    /// The number of an order key.
    fn of_key(key: Self::Key) -> Self;
    /// The value of a scalar of the type.
    fn of_scalar(scalar: Scalar) -> Self;
}

/// Float type of softmax and moments of rows.
pub(super) trait Float: Reducible {
    const NAN: Self;
    const NEG_INFINITY: Self;
    const INFINITY: Self;
    /// The order key of the float. NaN has the greatest key.
    #[inline(always)]
    fn key(self) -> Self::Key {
        self.key_or(Self::MAX_KEY)
    }
    fn exp(self) -> Self;
    fn is_finite(self) -> bool;
}

/// Implements [`Reducible`], given the key type and the conversions to and from keys.
macro_rules! reducible {
    ($t:ident, $v:ident, $key:ident, $zero:expr, $one:expr, $key_or:expr, $of_key:expr) => {
        impl Reducible for $t {
            type Key = $key;
            const DTYPE: DType = DType::$v;
            const ONE: Self = $one;
            const ZERO: Self = $zero;
            const MIN_KEY: $key = $key::MIN;
            const MAX_KEY: $key = $key::MAX;
            #[inline(always)]
            fn key_or(self, nan: $key) -> $key {
                let key_or: fn($t, $key) -> $key = $key_or;
                key_or(self, nan)
            }
            #[inline(always)]
            fn of_key(key: $key) -> Self {
                let of_key: fn($key) -> $t = $of_key;
                of_key(key)
            }
            fn of_scalar(scalar: Scalar) -> Self {
                let Scalar::$v(x) = scalar else { unreachable!("bug: a scalar of another dtype") };
                x
            }
        }
    };
}
reducible!(i32, I32, i32, 0, 1, |x, _| x, |key| key);
reducible!(u32, U32, u32, 0, 1, |x, _| x, |key| key);
reducible!(i64, I64, i64, 0, 1, |x, _| x, |key| key);
reducible!(u64, U64, u64, 0, 1, |x, _| x, |key| key);

macro_rules! float {
    ($t:ident, $v:ident, $key:ident, $exp:path) => {
        reducible!(
            $t,
            $v,
            $key,
            0.0,
            1.0,
            |x, nan| {
                // NaN is detected by its bits, which needs no branch.
                let bits = x.to_bits() as $key;
                let key = bits ^ ((bits >> ($key::BITS - 1)) & $key::MAX);
                if bits & $key::MAX > $t::INFINITY.to_bits() as $key { nan } else { key }
            },
            |key| $t::from_bits((key ^ ((key >> ($key::BITS - 1)) & $key::MAX)) as _)
        );

        impl Float for $t {
            const NAN: Self = $t::NAN;
            const NEG_INFINITY: Self = $t::NEG_INFINITY;
            const INFINITY: Self = $t::INFINITY;
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
