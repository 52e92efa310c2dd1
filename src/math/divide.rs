//! Correctly rounded division and square root from additions, multiplications and integer operations.
//!
//! A float estimate, from Newton's iteration started at a linear approximation (or at a shift of the bits), is accurate
//! to a few units of the last place. It is lowered slightly and then corrected by an exact integer remainder, so the
//! result does not depend on the precision of the estimate: a driver may contract or reorder its operations. Error: 0.5
//! ulp for all arguments, as in IEEE 754, so the native side uses the CPU's instructions.

use super::machine::{Float, Word};

/// WGSL source of the f32 remainder: C's `fmod`, exact. Long division, with as many bits per step as fit in a word.
pub(super) const REM_F32: &str = include_str!("rem_f32.wgsl");
/// WGSL source of the f64 remainder.
pub(super) const REM_F64: &str = include_str!("rem_f64.wgsl");

/// Rounds the magnitude `quotient * 2^(exponent - bias - P)`, plus a fraction of its last digit where `inexact`, to the
/// nearest float, ties to even, and packs it into bits. `quotient` has `P + 1` bits.
#[inline(always)]
fn pack<F: Float>(quotient: F::Word, exponent: F::Word, inexact: F::Mask) -> F::Word {
    let one = F::Word::lit(1);
    let digits = quotient.left(1) | F::Word::flag(inexact);
    // Drops two bits, and more for a subnormal.
    let missing = (one - exponent).most(F::Word::lit(0)).least(F::Word::lit(u64::from(F::P) + 1));
    let drop = missing + F::Word::lit(2);
    let half = one.shl(drop - one);
    let kept = digits.shr(drop);
    let odd_or_more = !(digits & (half - one)).is_zero() | kept.has(one);
    let up = F::Word::flag(odd_or_more) & digits.shr(drop - one);
    // The leading one of a normal number increments the exponent; a rounding carry may increment it too.
    let base = (exponent - one).most(F::Word::lit(0)).left(F::P - 1);
    let large = F::Word::int(2 * F::BIAS).less(exponent);
    F::Word::select(large, F::infinity(), base + kept + up)
}

/// `a / b`.
#[inline(always)]
pub(super) fn divide<F: Float>(a: F, b: F) -> F {
    let one = F::Word::lit(1);
    let ((fa, ea), (fb, eb)) = (a.unpacked(), b.unpacked());
    let hidden = F::Word::lit(1).left(F::P - 1);
    let significand = |f: F| (f.bits() & (hidden - one)) | hidden;
    let (ma, mb) = (significand(fa), significand(fb));
    // Normalizes the quotient to [1, 2).
    let small = ma.below(mb);
    let fa = F::select(small, fa + fa, fa);
    let ma = F::Word::select(small, ma.left(1), ma);
    let exponent = ea - eb - F::Word::flag(small) + F::Word::int(F::BIAS);

    let mut y = F::lit(24.0 / 17.0) - F::lit(8.0 / 17.0) * fb;
    for _ in 0..if F::P == 24 { 3 } else { 4 } {
        y = y + y * (F::lit(1.0) - fb * y);
    }
    // The bits of a float are almost linear in its value, near [1, 2) as well.
    let estimate = (fa * y).bits() - F::lit(1.0).bits();
    let mut quotient = estimate.left(1) + F::Word::lit(1).left(F::P) - F::Word::lit(8);
    let mut rest = ma.left(F::P) - quotient * mb;
    for step in [3, 2, 1, 0] {
        let part = mb.left(step);
        let fits = !rest.below(part);
        rest = F::Word::select(fits, rest - part, rest);
        quotient = F::Word::select(fits, quotient + F::Word::lit(1 << step), quotient);
    }
    let result = pack::<F>(quotient, exponent, !rest.is_zero());

    let zero = F::Word::lit(0);
    let result = F::Word::select(a.magnitude().is_zero() | b.infinite(), zero, result);
    let result = F::Word::select(b.magnitude().is_zero() | a.infinite(), F::infinity(), result);
    let undefined = (a.magnitude().is_zero() & b.magnitude().is_zero()) | (a.infinite() & b.infinite());
    let sign = (a.bits() ^ b.bits()) & F::sign_bit();
    F::select(undefined | a.unordered() | b.unordered(), F::nan(), F::from_bits(result | sign))
}

/// The square root.
#[inline(always)]
pub(super) fn square_root<F: Float>(x: F) -> F {
    let one = F::Word::lit(1);
    let (f, e) = x.unpacked();
    let hidden = F::Word::lit(1).left(F::P - 1);
    let m = (f.bits() & (hidden - one)) | hidden;
    // Normalizes the argument to [1, 4) times a power of 4.
    let odd = e.has(one);
    let f = F::select(odd, f + f, f);
    let m = F::Word::select(odd, m.left(1), m);
    let exponent = e.halved() + F::Word::int(F::BIAS);

    let seed = F::Word::lit(if F::P == 24 { 0x5f37_59df } else { 0x5fe6_eb50_c7b5_37a9 });
    let mut y = F::from_bits(seed - f.bits().right(1));
    for _ in 0..if F::P == 24 { 3 } else { 4 } {
        y = y + y * (F::lit(0.5) - F::lit(0.5) * f * y * y);
    }
    let estimate = (f * y).bits() - F::lit(1.0).bits();
    let mut root = estimate.left(1) + F::Word::lit(1).left(F::P) - F::Word::lit(8);
    let mut rest = m.left(F::P + 1) - root * root;
    for step in [3, 2, 1, 0] {
        let part = root.left(step + 1) + F::Word::lit(1 << (2 * step));
        let fits = !rest.below(part);
        rest = F::Word::select(fits, rest - part, rest);
        root = F::Word::select(fits, root + F::Word::lit(1 << step), root);
    }
    let result = F::from_bits(pack::<F>(root, exponent, !rest.is_zero()));
    let result = F::select(x.infinite(), x, result);
    let result = F::select(x.negative() | x.unordered(), F::nan(), result);
    F::select(x.magnitude().is_zero(), x, result)
}

/// `1 / sqrt(x)`: two roundings, below 1.5 ulp.
#[inline(always)]
pub(super) fn reciprocal_root<F: Float>(x: F) -> F {
    F::lit(1.0).over(x.root())
}
