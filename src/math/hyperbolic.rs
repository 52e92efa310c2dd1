//! Hyperbolic functions and their inverses, from the exponential and the logarithm.
//!
//! `sinh` and `cosh` are half of `exp(|x|) -+ exp(-|x|)`, with a polynomial for `sinh` below 1; `tanh` is a quotient of
//! `exp(2 x) - 1` in two parts. The inverses are logarithms whose arguments carry their rounding errors. Error: below 2
//! ulp; below 1 ulp for most functions.

use super::coefficients::SINH;
use super::double_word::{quick_sum, quotient, sum};
use super::exp::{Reduced, clamped, expm1_parts};
use super::log::{Argument, series};
use super::machine::{Float, Word};

/// `exp(|x|) / 2` and `exp(-|x|) / 2`.
#[inline(always)]
fn half_exponentials<F: Float>(x: F) -> (F, F) {
    let e = Reduced::of(clamped(x.absolute()), F::lit(0.0));
    let up = e.significand().scaled(e.n - F::Word::lit(1));
    (up, F::lit(0.25).over(up))
}

/// `sinh(x)`.
#[inline(always)]
pub(super) fn sinh<F: Float>(x: F) -> F {
    let (up, down) = half_exponentials(x);
    let z = x * x;
    let small = x + x * z * z.polynomial(&SINH);
    // The sign is set last, to preserve the sign of zeros.
    let result = F::select(x.within(F::lit(1.0)), small, up - down).signed_as(x);
    F::select(x.unordered(), F::nan(), result)
}

/// `cosh(x)`.
#[inline(always)]
pub(super) fn cosh<F: Float>(x: F) -> F {
    let (up, down) = half_exponentials(x);
    F::select(x.unordered(), F::nan(), up + down)
}

/// `tanh(x)`.
#[inline(always)]
pub(super) fn tanh<F: Float>(x: F) -> F {
    let a = x.absolute();
    let (n, high, low) = expm1_parts((a + a).at_most(f64::from(F::P)));
    let scale = F::power_of_two(n);
    let (high, low) = (high * scale, low * scale);
    let (d, e) = sum(high, F::lit(2.0));
    let (q, rest) = quotient((high, low), (d, e + low));
    let tiny = x.within(F::two_to(-i64::from(F::P) / 2 - 2));
    let result = F::select(tiny, a, q + rest).signed_as(x);
    F::select(x.unordered(), F::nan(), result)
}

/// `log(x + sqrt(x^2 +- 1))` for finite `x >= 2`; `square` is the radicand.
#[inline(always)]
fn far<F: Float>(x: F, square: F) -> Argument<F> {
    let huge = !x.within(F::two_to(i64::from(F::P) / 2 + 2));
    let near = x + F::select(huge, F::lit(0.0), square).root();
    let mut result = Argument::of(F::select(huge, x, near), F::lit(0.0));
    result.k = result.k + F::Word::flag(huge);
    result
}

/// `asinh(x)`.
#[inline(always)]
pub(super) fn asinh<F: Float>(x: F) -> F {
    let a = x.absolute();
    let one = F::lit(1.0);
    let square = a * a;
    let above = far(a, square + one);
    let square = F::select(x.within(F::lit(2.0)), square, one);
    let (y, low) = quick_sum(a, square.over(one + (one + square).root()));
    let below = Argument::one_plus(y, low);
    let result = Argument::select(x.within(F::lit(2.0)), below, above).log();
    let tiny = x.within(F::two_to(-i64::from(F::P) / 2 - 2));
    F::select(tiny | x.infinite() | x.unordered(), x, result.signed_as(x))
}

/// `acosh(x)`.
#[inline(always)]
pub(super) fn acosh<F: Float>(x: F) -> F {
    let one = F::lit(1.0);
    let near = x.within(F::lit(2.0));
    let above = far(x, x * x - one);
    let t = x - one;
    let root = F::select(near & !x.lt(one), t + t + t * t, one).root();
    let (y, low) = sum(t, root);
    let result = Argument::select(near, Argument::one_plus(y, low), above).log();
    let result = F::select(x.infinite() & !x.negative(), x, result);
    F::select(x.within(one) | x.negative() | x.unordered(), F::nan(), result)
}

/// `atanh(x)`.
#[inline(always)]
pub(super) fn atanh<F: Float>(x: F) -> F {
    let (one, half) = (F::lit(1.0), F::lit(0.5));
    let a = x.absolute();
    let small = a + a * (half * series(a * a));
    let inside = F::select(x.within(one), a, half);
    let (q, rest) = quotient(sum(one, inside), sum(one, -inside));
    let large = half * Argument::of(q, rest).log();
    let result = F::select(x.within(F::lit(0.17)), small, large).signed_as(x);
    let pole = x.magnitude().is(one.bits());
    let result = F::select(pole, F::from_bits(F::infinity()).signed_as(x), result);
    F::select(!x.within(one) & !pole, F::nan(), result)
}
