//! The complementary error function, the inverses of both error functions, and the standard normal quantile.
//!
//! `erfc(x)` is `1 - erf(x)` below 1/2 and `exp(-x^2) q(u) u` with `u = 1 / (x + 2)` above, with every factor in two
//! parts. A single polynomial `q` covers all `x` (after Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x)
//! exp(x^2) erfc x", 1981).
//!
//! The inverses use `w = -log(1 - y^2)` and `s = sqrt(w)` (Giles, "Approximating the erfinv function", 2010): `y p(w)`
//! for `w < 6`, and `s` plus a small correction beyond. The tail is accurate for every `q = 1 - y` down to the smallest
//! float.

use super::coefficients::ERF;
use super::double_word::{product, quick_sum, reciprocal, sum, times};
use super::exp::Reduced;
use super::log::Argument;
use super::machine::{Float, Word};
use super::piecewise::evaluate;
use super::special_coefficients::{ERFCX, ERFINV, SQRT_2};

/// `erfc(x)`.
#[inline(always)]
pub(super) fn erfc<F: Float>(x: F) -> F {
    let (one, two) = (F::lit(1.0), F::lit(2.0));
    // Larger arguments give zero.
    let a = x.absolute().at_most(if F::P == 24 { 11.0 } else { 28.0 });
    let (square, rest) = product(a, a);
    let exp = Reduced::of(-square, -rest);
    let u = reciprocal(sum(a, two));
    let (high, low) = times(times(exp.significand_parts(), u), evaluate(&ERFCX, &[], u));
    let far = (high + low).scaled(exp.n);
    let far = F::select(x.negative(), two - far, far);
    let near = one - (x + x * (x * x).polynomial(&ERF));
    let result = F::select(x.within(F::lit(0.5)), near, far);
    F::select(x.unordered(), F::nan(), result)
}

/// `erfinv(y)` in two parts, for `y` and `m = 1 - y^2` in parts.
#[inline(always)]
fn inverse<F: Float>((y, y_low): (F, F), (m, m_low): (F, F)) -> (F, F) {
    let w = -Argument::of(m, m_low).log();
    let s = w.absolute().root();
    let three = F::lit(3.0);
    let here = [w.within(F::lit(6.0)), w.within(F::lit(37.0))];
    let centre = w.negative() | here[0];
    let at = F::select(centre, w, (s - three).over(s + three));
    let (p, p_low) = evaluate(&ERFINV, &[centre, here[1]], (at, F::lit(0.0)));
    let (x, x_low) = product(y, p);
    let (t, t_low) = quick_sum(s, p);
    let high = F::select(centre, x, t.flipped_as(y));
    let low = F::select(centre, x_low + (y * p_low + y_low * p), (t_low + p_low).flipped_as(y));
    (high, low)
}

/// The result inside the domain, an infinity with the sign of `sign` at its ends, NaN outside.
#[inline(always)]
fn bounded<F: Float>(result: F, inside: F::Mask, end: F::Mask, sign: F) -> F {
    let infinity = F::from_bits(F::infinity()).signed_as(sign);
    F::select(inside, result, F::select(end, infinity, F::nan()))
}

/// Derivative of `erfinv` at zero: `sqrt(pi) / 2`.
const SLOPE: f64 = 0.886_226_925_452_758;

/// Inverse of `erf`: the `x` with `erf(x) = y`.
#[inline(always)]
pub(super) fn erfinv<F: Float>(y: F) -> F {
    let (one, zero) = (F::lit(1.0), F::lit(0.0));
    let inside = y.within(one);
    let m = times(sum(one, -y), sum(one, y));
    let (high, low) = inverse((y, zero), (F::select(inside, m.0, one), F::select(inside, m.1, zero)));
    // For arguments this small the parts of a product would underflow.
    let tiny = y.within(F::two_to(-2 * i64::from(F::P)));
    let result = F::select(tiny, y * F::lit(SLOPE), high + low);
    bounded(result, inside, y.magnitude().is(one.bits()), y)
}

/// Inverse of `erfc`: the `x` with `erfc(x) = q`.
#[inline(always)]
pub(super) fn erfcinv<F: Float>(q: F) -> F {
    let (one, two) = (F::lit(1.0), F::lit(2.0));
    let inside = q.within(two) & !q.negative() & !q.magnitude().is_zero();
    let least = F::select(q.within(one), q, two - q);
    let least = F::select(inside, least, one);
    let (high, low) = inverse(sum(one, -q), times((least, F::lit(0.0)), sum(two, -least)));
    let end = q.magnitude().is_zero() | q.bits().is(two.bits());
    bounded(high + low, inside, end, one - q)
}

/// Standard normal quantile (inverse CDF) of the probability `p`.
#[inline(always)]
pub(super) fn ndtri<F: Float>(p: F) -> F {
    let (one, half) = (F::lit(1.0), F::lit(0.5));
    let inside = p.within(one) & !p.negative() & !p.magnitude().is_zero();
    let least = F::select(p.within(half), p, one - p);
    let least = F::select(inside, least, half);
    let four = F::lit(4.0) * least;
    let x = inverse(sum(p + p, -one), times((four, F::lit(0.0)), sum(one, -least)));
    let (high, low) = times(x, F::parts(&SQRT_2));
    let end = p.magnitude().is_zero() | p.bits().is(one.bits());
    bounded(high + low, inside, end, p - half)
}
