//! Modified Bessel functions of the first kind, orders 0 and 1, unscaled and scaled by `exp(-|x|)`.
//!
//! With `u = 1 / (|x| + 3)`, `exp(-|x|) I0(x) = sqrt(u) p(u)` and `exp(-|x|) I1(x) = x u sqrt(u) p(u)`, where `p`
//! varies little: three polynomial pieces cover all `x`. All factors are in two parts, including the exponential of the
//! unscaled functions.

use super::double_word::{product, reciprocal, sum, times};
use super::exp::Reduced;
use super::machine::{Float, Word};
use super::piecewise::{Piece, evaluate};
use super::special_coefficients::{BESSEL_I0, BESSEL_I1};

/// `exp(-a) I(a)` for `a >= 0` below `2^120`, in parts; `odd` for order 1.
#[inline(always)]
fn decayed<F: Float>(a: F, pieces: &[Piece; 3], odd: bool) -> (F, F) {
    let d = sum(a, F::lit(3.0));
    let u = reciprocal(d);
    let r = d.0.root();
    // The remainder of the root, divided by twice the root.
    let (square, e) = product(r, r);
    let r_low = (((d.0 - square) - e) + d.1) * (F::lit(0.5) * (u.0 * r));
    let p = evaluate(pieces, &[a.within(F::either(2.0, 3.0)), a.within(F::either(7.0, 10.0))], u);
    let result = times(times((r, r_low), u), p);
    if odd { times(result, times((a, F::lit(0.0)), u)) } else { result }
}

/// The function times `exp(-|x|)`.
#[inline(always)]
fn scaled<F: Float>(x: F, pieces: &[Piece; 3], odd: bool) -> F {
    let a = x.absolute();
    // For huge arguments the function is proportional to `1 / sqrt(a)`.
    let huge = !a.within(F::two_to(120));
    let (high, low) = decayed(F::select(huge, a * F::two_to(-60), a), pieces, odd);
    let result = high + low;
    let result = F::select(huge, result * F::two_to(-30), result);
    let result = F::select(x.infinite(), F::lit(0.0), result);
    let result = if odd { result.flipped_as(x) } else { result };
    F::select(x.unordered(), F::nan(), result)
}

/// The unscaled function; NaN for infinities, as in TensorFlow.
#[inline(always)]
fn unscaled<F: Float>(x: F, pieces: &[Piece; 3], odd: bool) -> F {
    // Larger arguments overflow.
    let a = x.absolute().at_most(if F::P == 24 { 100.0 } else { 720.0 });
    let exp = Reduced::of(a, F::lit(0.0));
    let (high, low) = times(decayed(a, pieces, odd), exp.significand_parts());
    let result = (high + low).scaled(exp.n);
    let result = if odd { result.flipped_as(x) } else { result };
    F::select(F::Word::below(x.magnitude(), F::infinity()), result, F::nan())
}

/// `I0(x)`.
#[inline(always)]
pub(super) fn i0<F: Float>(x: F) -> F {
    unscaled(x, &BESSEL_I0, false)
}

/// `exp(-|x|) I0(x)`.
#[inline(always)]
pub(super) fn i0e<F: Float>(x: F) -> F {
    scaled(x, &BESSEL_I0, false)
}

/// `I1(x)`.
#[inline(always)]
pub(super) fn i1<F: Float>(x: F) -> F {
    let tiny = x.within(F::two_to(-i64::from(F::P)));
    F::select(tiny, x * F::lit(0.5), unscaled(x, &BESSEL_I1, true))
}

/// `exp(-|x|) I1(x)`.
#[inline(always)]
pub(super) fn i1e<F: Float>(x: F) -> F {
    let tiny = x.within(F::two_to(-i64::from(F::P) - 2));
    F::select(tiny, x * F::lit(0.5), scaled(x, &BESSEL_I1, true))
}
