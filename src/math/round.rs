//! Rounding to whole numbers: floor, ceil, trunc and rint (halves to even). Exact, by integer operations on the bits; a
//! zero result keeps the sign of the argument. The native backend uses the standard library's functions, with equal
//! results.

use super::machine::{Float, Word};

/// Whether rounding is the identity: a number that is already whole, an infinity or a NaN.
#[inline(always)]
fn whole<F: Float>(x: F) -> F::Mask {
    !x.within(F::two_to(i64::from(F::P) - 1))
}

/// Rounds towards zero.
#[inline(always)]
pub(super) fn trunc<F: Float>(x: F) -> F {
    let exponent = x.magnitude().right(F::P - 1) - F::Word::int(F::BIAS);
    let fraction_bits = (F::Word::lit(u64::from(F::P) - 1) - exponent).least(F::Word::lit(u64::from(F::P) - 1));
    let fraction_bits = fraction_bits.most(F::Word::lit(0));
    let cut = x.bits().shr(fraction_bits).shl(fraction_bits);
    let cut = F::Word::select(x.within(F::lit(1.0)), x.bits() & F::sign_bit(), cut);
    F::select(whole(x), x, F::from_bits(cut))
}

/// Rounds towards minus infinity.
#[inline(always)]
pub(super) fn floor<F: Float>(x: F) -> F {
    let cut = trunc(x);
    let down = x.negative() & !cut.bits().is(x.bits());
    F::select(down, cut - F::lit(1.0), cut)
}

/// Rounds towards plus infinity.
#[inline(always)]
pub(super) fn ceil<F: Float>(x: F) -> F {
    let cut = trunc(x);
    let up = !x.negative() & !cut.bits().is(x.bits());
    F::select(up, cut + F::lit(1.0), cut)
}

/// Rounds to the nearest whole number, halves to even.
#[inline(always)]
pub(super) fn rint<F: Float>(x: F) -> F {
    let magic = F::two_to(i64::from(F::P) - 1);
    let near = (x.absolute() + magic) - magic;
    F::select(whole(x), x, near.signed_as(x))
}
