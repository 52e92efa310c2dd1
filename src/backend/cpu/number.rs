//! Scalar arithmetic: the CPU backend's definition of the opcodes.

use super::encoding::Value;
use crate::math::{self, MathFn};

/// Arithmetic of a numeric type, as the opcodes define it.
pub(crate) trait Number: Value + PartialEq + PartialOrd {
    /// Whether sums and products depend on the order of their terms.
    const IS_FLOAT: bool;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn div(self, o: Self) -> Self;
    fn rem(self, o: Self) -> Self;
    /// IEEE 754-2019 minimum: NaN if an operand is NaN; -0 is less than 0.
    fn minimum(self, o: Self) -> Self;
    /// IEEE 754-2019 maximum: NaN if an operand is NaN; -0 is less than 0.
    fn maximum(self, o: Self) -> Self;
    fn pow(self, o: Self) -> Self;
    /// `self + a * b`, as products of matrices add their terms: fused for f32, which is rounded once. `HAS_FMA`: the
    /// processor has the instruction.
    #[inline(always)]
    fn add_product<const HAS_FMA: bool>(self, a: Self, b: Self) -> Self {
        self.add(a.mul(b))
    }
}

macro_rules! integer {
    ($($t:ty, $abs:expr);*) => {$(
        impl Number for $t {
            const IS_FLOAT: bool = false;
            #[inline(always)]
            fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn abs(self) -> Self { let f: fn($t) -> $t = $abs; f(self) }
            #[inline(always)]
            fn add(self, o: Self) -> Self { self.wrapping_add(o) }
            #[inline(always)]
            fn sub(self, o: Self) -> Self { self.wrapping_sub(o) }
            #[inline(always)]
            fn mul(self, o: Self) -> Self { self.wrapping_mul(o) }
            #[inline(always)]
            fn div(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_div(o) } }
            #[inline(always)]
            fn rem(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_rem(o) } }
            #[inline(always)]
            fn minimum(self, o: Self) -> Self { self.min(o) }
            #[inline(always)]
            fn maximum(self, o: Self) -> Self { self.max(o) }
            fn pow(self, o: Self) -> Self {
                #[allow(unused_comparisons, reason = "one macro for signed and unsigned types")]
                if o < 0 { return 0; }
                let (mut base, mut e, mut out) = (self, o, 1 as $t);
                while e != 0 {
                    if e & 1 == 1 { out = out.wrapping_mul(base); }
                    base = base.wrapping_mul(base);
                    e >>= 1;
                }
                out
            }
        }
    )*};
}
integer!(u8, |x| x; i32, i32::wrapping_abs; u32, |x| x; i64, i64::wrapping_abs; u64, |x| x);

macro_rules! float {
    ($($t:ty, $binary:path $(, $add_product:item)?);*) => {$(
        impl Number for $t {
            const IS_FLOAT: bool = true;
            $($add_product)?
            #[inline(always)]
            fn neg(self) -> Self { -self }
            #[inline(always)]
            fn abs(self) -> Self { self.abs() }
            #[inline(always)]
            fn add(self, o: Self) -> Self { self + o }
            #[inline(always)]
            fn sub(self, o: Self) -> Self { self - o }
            #[inline(always)]
            fn mul(self, o: Self) -> Self { self * o }
            #[inline(always)]
            fn div(self, o: Self) -> Self { self / o }
            #[inline(always)]
            fn rem(self, o: Self) -> Self { self % o }
            #[inline(always)]
            fn minimum(self, o: Self) -> Self {
                // Of zeros of both signs, the union of the bits is -0.
                let equal = <$t>::from_bits(self.to_bits() | o.to_bits());
                let least = if self < o { self } else if self == o { equal } else { o };
                if self.is_nan() | o.is_nan() { <$t>::NAN } else { least }
            }
            #[inline(always)]
            fn maximum(self, o: Self) -> Self {
                // Of zeros of both signs, the common bits are those of +0.
                let equal = <$t>::from_bits(self.to_bits() & o.to_bits());
                let greatest = if self > o { self } else if self == o { equal } else { o };
                if self.is_nan() | o.is_nan() { <$t>::NAN } else { greatest }
            }
            fn pow(self, o: Self) -> Self { $binary(MathFn::Pow)(self, o) }
        }
    )*};
}
float!(
    f32,
    math::f32_binary,
    #[inline(always)]
    fn add_product<const HAS_FMA: bool>(self, a: Self, b: Self) -> Self {
        if HAS_FMA { a.mul_add(b, self) } else { math::fma_by_doubles(a, b, self) }
    };
    f64, math::f64_binary
);

/// Bit operations of an integer type.
pub(super) trait Bits: Number {
    fn not(self) -> Self;
    fn and(self, o: Self) -> Self;
    fn or(self, o: Self) -> Self;
    fn xor(self, o: Self) -> Self;
    fn shl(self, o: Self) -> Self;
    fn shr(self, o: Self) -> Self;
}

macro_rules! bits {
    ($($t:ty),*) => {$(
        impl Bits for $t {
            #[inline(always)]
            fn not(self) -> Self { !self }
            #[inline(always)]
            fn and(self, o: Self) -> Self { self & o }
            #[inline(always)]
            fn or(self, o: Self) -> Self { self | o }
            #[inline(always)]
            fn xor(self, o: Self) -> Self { self ^ o }
            #[inline(always)]
            fn shl(self, o: Self) -> Self {
                u32::try_from(o).ok().and_then(|o| self.checked_shl(o)).unwrap_or(0)
            }
            #[inline(always)]
            fn shr(self, o: Self) -> Self {
                let last = <$t>::BITS - 1;
                // A shift by the width or more gives 0, or -1 for negative numbers. `self >> last` is the sign of a
                // signed number; for unsigned types the second shift clears it.
                u32::try_from(o).ok().and_then(|o| self.checked_shr(o))
                    .unwrap_or((self >> last) >> (last.min(1)) & (self >> last))
            }
        }
    )*};
}
bits!(u8, i32, u32, i64, u64);
