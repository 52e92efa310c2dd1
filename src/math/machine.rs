//! The abstract machine that the functions of this module are written for.
//!
//! A function such as [`exp`](super::exp::exp) is generic over [`Float`]. Instantiated with numbers
//! ([`native`](super::native)) it computes; instantiated with shader registers ([`wgsl`](super::wgsl)) it emits text.
//! Both perform the same operations in the same order, so they give the same bits, provided that the function follows
//! three rules:
//!
//! * Floats are only added, subtracted and multiplied (IEEE 754, to nearest); [`Float::over`] and [`Float::root`] are
//!   correctly rounded on both sides.
//! * Results never depend on NaNs or infinities in intermediate values. Special cases are detected by their **bits**
//!   and selected at the end, because WGSL does not specify how NaNs are compared, added or folded.
//! * No branches: both sides of a [`select`](Float::select) are computed. Shift amounts must be below the width even
//!   where the result is discarded.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Neg, Not, Sub};

/// Constants that depend on the float width: polynomial coefficients from the constant term up, or a constant in parts.
pub(super) struct Coefficients {
    /// For f32.
    pub single: &'static [f64],
    /// For f64.
    pub double: &'static [f64],
}

/// A boolean, the result of a comparison.
pub(super) trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {}

/// An unsigned integer as wide as the float, with wrapping arithmetic.
pub(super) trait Word:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// Result of a comparison.
    type Mask: Mask;
    /// Bits in a word.
    const BITS: u32;

    /// A constant, truncated to the width.
    fn lit(value: u64) -> Self;
    /// Left shift by less than the width.
    fn shl(self, by: Self) -> Self;
    /// Right shift by less than the width.
    fn shr(self, by: Self) -> Self;
    /// Whether both words are equal.
    fn is(self, other: Self) -> Self::Mask;
    /// Unsigned less-than.
    fn below(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// A signed constant in two's complement.
    #[inline(always)]
    fn int(value: i64) -> Self {
        Self::lit(value as u64)
    }

    /// Left shift by a constant.
    #[inline(always)]
    fn left(self, by: u32) -> Self {
        self.shl(Self::lit(by.into()))
    }

    /// Right shift by a constant.
    #[inline(always)]
    fn right(self, by: u32) -> Self {
        self.shr(Self::lit(by.into()))
    }

    /// Whether this is zero.
    #[inline(always)]
    fn is_zero(self) -> Self::Mask {
        self.is(Self::lit(0))
    }

    /// Whether any bit of `bits` is set.
    #[inline(always)]
    fn has(self, bits: Self) -> Self::Mask {
        !(self & bits).is_zero()
    }

    /// Signed (two's complement) less-than.
    #[inline(always)]
    fn less(self, other: Self) -> Self::Mask {
        let top = Self::lit(1).left(Self::BITS - 1);
        (self ^ top).below(other ^ top)
    }

    /// Signed minimum.
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        Self::select(self.less(other), self, other)
    }

    /// Signed maximum.
    #[inline(always)]
    fn most(self, other: Self) -> Self {
        Self::select(self.less(other), other, self)
    }

    /// Half of this signed number, rounded down.
    #[inline(always)]
    fn halved(self) -> Self {
        let top = Self::lit(1).left(Self::BITS - 1);
        self.right(1) | (self & top)
    }

    /// One where the mask holds, else zero.
    #[inline(always)]
    fn flag(mask: Self::Mask) -> Self {
        Self::select(mask, Self::lit(1), Self::lit(0))
    }

    /// High and low word of the product.
    #[inline(always)]
    fn wide_mul(self, other: Self) -> (Self, Self) {
        let half = Self::BITS / 2;
        let low = Self::lit((1 << half) - 1);
        let (a1, a0, b1, b0) = (self.right(half), self & low, other.right(half), other & low);
        let (mid0, mid1) = (a1 * b0 + (a0 * b0).right(half), a0 * b1);
        let mid = (mid0 & low) + mid1;
        (a1 * b1 + mid0.right(half) + mid.right(half), self * other)
    }
}

/// A float: f32 or f64, or a register of a shader that holds one.
pub(super) trait Float:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// The word type that holds its bits.
    type Word: Word<Mask = Self::Mask>;
    /// Result of a comparison.
    type Mask: Mask;
    /// Bits of the significand, including the leading one: 24 or 53.
    const P: u32;

    /// A constant, rounded to the width.
    fn lit(value: f64) -> Self;
    /// The bits as a word.
    fn bits(self) -> Self::Word;
    /// The float with these bits.
    fn from_bits(bits: Self::Word) -> Self;
    /// Less-than; meaningless for NaNs.
    fn lt(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The quotient, rounded correctly.
    fn over(self, other: Self) -> Self;
    /// The square root, rounded correctly.
    fn root(self) -> Self;

    /// Selects the constants for this width.
    #[inline(always)]
    fn numbers(c: &Coefficients) -> &'static [f64] {
        if Self::P == 24 { c.single } else { c.double }
    }

    /// Selects one of two constants by width.
    #[inline(always)]
    fn either(single: f64, double: f64) -> Self {
        Self::lit(if Self::P == 24 { single } else { double })
    }

    /// Evaluates the polynomial with these coefficients at this point.
    #[inline(always)]
    fn polynomial(self, c: &Coefficients) -> Self {
        let (last, rest) = Self::numbers(c).split_last().expect("a polynomial has terms");
        rest.iter().rev().fold(Self::lit(*last), |sum, c| sum * self + Self::lit(*c))
    }

    /// High and low part of a constant.
    #[inline(always)]
    fn parts(c: &Coefficients) -> (Self, Self) {
        let parts = Self::numbers(c);
        (Self::lit(parts[0]), Self::lit(parts[1]))
    }

    /// Exponent bias: 127 or 1023.
    const BIAS: i64 = if Self::P == 24 { 127 } else { 1023 };

    /// The sign bit.
    #[inline(always)]
    fn sign_bit() -> Self::Word {
        Self::Word::lit(1).left(Self::Word::BITS - 1)
    }

    /// The bits of infinity; larger magnitudes are NaNs.
    #[inline(always)]
    fn infinity() -> Self::Word {
        Self::Word::int(2 * Self::BIAS + 1).left(Self::P - 1)
    }

    /// A NaN.
    #[inline(always)]
    fn nan() -> Self {
        Self::from_bits(Self::infinity() | Self::Word::lit(1).left(Self::P - 2))
    }

    /// The bits without the sign.
    #[inline(always)]
    fn magnitude(self) -> Self::Word {
        self.bits() & !Self::sign_bit()
    }

    /// The absolute value.
    #[inline(always)]
    fn absolute(self) -> Self {
        Self::from_bits(self.magnitude())
    }

    /// The magnitude of `self` with the sign of `other` (copysign).
    #[inline(always)]
    fn signed_as(self, other: Self) -> Self {
        Self::from_bits(self.magnitude() | (other.bits() & Self::sign_bit()))
    }

    /// `self` with its sign flipped where `other` is negative.
    #[inline(always)]
    fn flipped_as(self, other: Self) -> Self {
        Self::from_bits(self.bits() ^ (other.bits() & Self::sign_bit()))
    }

    /// Whether the sign bit is set.
    #[inline(always)]
    fn negative(self) -> Self::Mask {
        self.bits().has(Self::sign_bit())
    }

    /// Whether this is a NaN.
    #[inline(always)]
    fn unordered(self) -> Self::Mask {
        Self::infinity().below(self.magnitude())
    }

    /// Whether this is an infinity.
    #[inline(always)]
    fn infinite(self) -> Self::Mask {
        self.magnitude().is(Self::infinity())
    }

    /// Whether the magnitude is below a positive constant: exact, and false for NaNs.
    #[inline(always)]
    fn within(self, bound: Self) -> Self::Mask {
        self.magnitude().below(bound.bits())
    }

    /// `2^n` for a whole number `n` in two's complement, within the normal range.
    #[inline(always)]
    fn power_of_two(n: Self::Word) -> Self {
        Self::from_bits((n + Self::Word::int(Self::BIAS)).left(Self::P - 1))
    }

    /// The constant `2^n`.
    #[inline(always)]
    fn two_to(n: i64) -> Self {
        Self::power_of_two(Self::Word::int(n))
    }

    /// `self * 2^n`, rounded once, for `n` within twice the normal range.
    #[inline(always)]
    fn scaled(self, n: Self::Word) -> Self {
        let half = n.halved();
        self * Self::power_of_two(half) * Self::power_of_two(n - half)
    }

    /// Converts a signed whole number with magnitude below `2^(P - 2)` to a float.
    #[inline(always)]
    fn whole(n: Self::Word) -> Self {
        let magic = Self::two_to(i64::from(Self::P) - 1) + Self::two_to(i64::from(Self::P) - 2);
        Self::from_bits(magic.bits() + n) - magic
    }

    /// Converts a nonnegative whole number below `2^(P - 1)` to a float.
    #[inline(always)]
    fn whole_below_hidden(n: Self::Word) -> Self {
        let magic = Self::two_to(i64::from(Self::P) - 1);
        Self::from_bits(magic.bits() | n) - magic
    }

    /// Rounds to the nearest whole number, as a float and as a word; requires a magnitude below `2^(P - 3)`.
    #[inline(always)]
    fn nearest(self) -> (Self, Self::Word) {
        let magic = Self::two_to(i64::from(Self::P) - 1) + Self::two_to(i64::from(Self::P) - 2);
        let moved = self + magic;
        (moved - magic, moved.bits() - magic.bits())
    }

    /// Significand in `[1, 2)` and exponent (two's complement) of the magnitude of a finite nonzero number.
    #[inline(always)]
    fn unpacked(self) -> (Self, Self::Word) {
        let tiny = self.within(Self::two_to(1 - Self::BIAS));
        let normal = Self::select(tiny, self * Self::two_to(Self::P.into()), self).magnitude();
        let bias =
            Self::Word::select(tiny, Self::Word::int(Self::BIAS + i64::from(Self::P)), Self::Word::int(Self::BIAS));
        let fraction = Self::Word::lit(1).left(Self::P - 1) - Self::Word::lit(1);
        (Self::from_bits((normal & fraction) | Self::lit(1.0).bits()), normal.right(Self::P - 1) - bias)
    }

    /// Maximum of this and a constant; meaningless for NaNs.
    #[inline(always)]
    fn at_least(self, bound: f64) -> Self {
        let bound = Self::lit(bound);
        Self::select(self.lt(bound), bound, self)
    }

    /// Minimum of this and a constant; meaningless for NaNs.
    #[inline(always)]
    fn at_most(self, bound: f64) -> Self {
        let bound = Self::lit(bound);
        Self::select(bound.lt(self), bound, self)
    }
}
