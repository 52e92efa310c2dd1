//! `lgamma`, the logarithm of the magnitude of the gamma function, and its derivatives `digamma` and `trigamma`.
//!
//! Below 7/2 `lgamma` is the sum of `z p(z)`, an expansion around 2 with `z` the distance from the nearest of 0, 1, 2
//! and 3, and the logarithm of the recurrence's factors. Above, it is Stirling's series with the logarithm in two
//! parts. The zeros at 1 and 2 are factors, so that the relative error stays below 2 ulp for all positive arguments.
//! Negative arguments are reflected, `|gamma(-a) gamma(a)| = pi / (a |sin(pi a)|)`. Their error is relative to the
//! terms, because the difference of the terms vanishes near the zeros.
//!
//! `digamma` is `d p(d)` on [1, 2], with `d` the distance from its positive root, which is stored in two parts. The
//! recurrence maps (0, 3) to that interval; above, the result is the logarithm and a series in `1 / x^2`. Negative
//! arguments are reflected by `pi cot(pi x)`, again with an error relative to the terms.
//!
//! `trigamma` is a polynomial on [1, 2] and on [2, 3], `1 / x^2` more below 1, and a series in `1 / x` above 3. Negative
//! arguments are reflected by `(pi / sin(pi x))^2`, which exceeds all other terms.

use super::double_word::{product, reciprocal, sum, times};
use super::log::Argument;
use super::machine::{Float, Word};
use super::piecewise::evaluate;
use super::round::rint;
use super::special_coefficients::{
    COSECANT, COT_PI, DIGAMMA, DIGAMMA_ROOT, DIGAMMA_TAIL, HALF_LOG_TAU, LGAMMA, SIN_PI, STIRLING, TRIGAMMA,
    TRIGAMMA_TAIL,
};

/// `log |gamma(x)|`.
#[inline(always)]
pub(super) fn lgamma<F: Float>(x: F) -> F {
    let (zero, one, half) = (F::lit(0.0), F::lit(1.0), F::lit(0.5));
    let a = x.absolute();
    let below = [0.5, 1.5, 2.5, 3.5].map(|end| a.within(F::lit(end)));
    let choose = |values: [F; 5]| (0..4).rev().fold(values[4], |rest, i| F::select(below[i], values[i], rest));
    let three = F::lit(3.0);
    let z = a - choose([zero, one, F::lit(2.0), three, three]);
    let (near, near_low) = times((z, zero), evaluate(&LGAMMA, &[], (z, zero)));

    // The argument of the logarithm: `gamma(a)` is `gamma(2 + z)` times or divided by it. For a small negative argument
    // the factor `a` cancels against the one of the reflection, so both are omitted.
    let (next, next_low) = sum(one, a);
    let (rising, e) = product(a, next);
    let first = F::select(x.negative(), next, rising);
    let first_low = F::select(x.negative(), next_low, e + a * next_low);
    let y = choose([first, a, one, a - one, a]);
    let y_low = F::select(below[0], first_low, zero);
    let (log, log_low) = Argument::of(y, y_low).log_parts();

    // `(a - 1/2) (log - 1) - 1/2 + ...`, computed without rounding `a - 1/2`.
    let (less, e) = sum(log, -one);
    let (main, main_low) = product(a, less);
    let inverse = one.over(F::select(below[3], three, a));
    let (tau, tau_low) = F::parts(&HALF_LOG_TAU);
    let series = inverse * (inverse * inverse).polynomial(&STIRLING);
    let rest = (tau - half * log) + (series + (tau_low + (main_low + a * (e + log_low))));
    let far = F::select(main.infinite(), main, main + rest);

    let sign = choose([-one, -one, zero, one, one]);
    let (high, low) = sum(sign * log, near);
    let positive = F::select(below[3], high + (low + (near_low + sign * log_low)), far);

    let r = (a - rint(a)).absolute();
    let sine = r * (r * r).polynomial(&SIN_PI);
    let reflected = F::select(below[0], sine, a * sine);
    let negative = -(positive + Argument::of(reflected, zero).log());
    let result = F::select(x.negative(), negative, positive);
    let pole = a.magnitude().is_zero() | (x.negative() & r.magnitude().is_zero()) | x.infinite();
    let result = F::select(pole, F::from_bits(F::infinity()), result);
    F::select(x.unordered(), F::nan(), result)
}

/// The derivative of `log |gamma(x)|`. NaN at 0, -1, -2, ...
#[inline(always)]
pub(super) fn digamma<F: Float>(x: F) -> F {
    let (zero, one, half) = (F::lit(0.0), F::lit(1.0), F::lit(0.5));
    let a = x.absolute();
    let below = [1.0, 2.0, 3.0].map(|end| a.within(F::lit(end)));
    let choose = |values: [F; 4]| (0..3).rev().fold(values[3], |rest, i| F::select(below[i], values[i], rest));
    let (root, root_low) = F::parts(&DIGAMMA_ROOT);
    let d = sum(a - choose([root - one, root, root + one, root + one]), -root_low);

    // The recurrence's term, plus `1 / a` for a reflection; for the series, half of `1 / a`.
    let positive = choose([-one, zero, one, -half]);
    let negative = choose([zero, one, (a + a) - one, half]);
    let factor = F::select(x.negative(), negative, positive);
    let before = a - one;
    let divisor = F::select(below[2] & !below[1], F::select(x.negative(), a * before, before), a);
    let (inverse, inverse_low) = reciprocal((divisor, zero));
    let (q, q_low) = (factor * inverse, factor * inverse_low);

    let v = inverse * inverse;
    let (log, log_low) = Argument::of(a, zero).log_parts();
    let (near, near_low) = times(d, evaluate(&DIGAMMA, &[], d));
    let (high, low) = sum(q, F::select(below[2], near, log));
    let far_low = log_low - v * v.polynomial(&DIGAMMA_TAIL);
    let forward = high + (low + F::select(below[2], near_low + q_low, far_low));

    let r = a - rint(a);
    let reflected = (one.over(r) - r * (r * r).polynomial(&COT_PI)) + forward;
    let result = F::select(x.negative(), reflected, forward);
    // The parts of such a large reciprocal would be infinite.
    let tiny = x.within(F::two_to(-i64::from(F::P) - 2));
    let result = F::select(tiny, -one.over(x), result);
    let result = F::select(x.infinite(), x, result);
    let whole = x.negative() & (r.magnitude().is_zero() | x.infinite());
    F::select(a.magnitude().is_zero() | whole | x.unordered(), F::nan(), result)
}

/// The second derivative of `log |gamma(x)|`. Infinite at 0, -1, -2, ...
#[inline(always)]
pub(super) fn trigamma<F: Float>(x: F) -> F {
    let (zero, one, half) = (F::lit(0.0), F::lit(1.0), F::lit(0.5));
    let a = x.absolute();
    let below = [1.0, 2.0, 3.0].map(|end| a.within(F::lit(end)));
    let (inverse, inverse_low) = reciprocal((a, zero));
    let (square, square_low) = times((inverse, inverse_low), (inverse, inverse_low));
    let (next, next_low) = sum(one, a);
    let at = (F::select(below[0], next, a), F::select(below[0], next_low, zero));
    let (near, near_low) = evaluate(&TRIGAMMA, &[below[1]], at);
    let v = inverse * inverse;
    let (far, far_low) = sum(inverse, v * (half + inverse * v.polynomial(&TRIGAMMA_TAIL)));

    // The recurrence's term `1 / a^2`: of `a` for a positive argument, of `1 + a` for a reflection.
    let positive = F::select(below[0], one, zero);
    let factor = F::select(x.negative(), positive - one, positive);
    let (high, low) = sum(F::select(below[2], near, far), factor * square);
    let low = low + (F::select(below[2], near_low, far_low) + factor * square_low);

    let r = a - rint(a);
    let (inverse, inverse_low) = reciprocal((r, zero));
    let (pole, pole_low) = times((inverse, inverse_low), (inverse, inverse_low));
    let (sine, sine_low) = sum(pole, (r * r).polynomial(&COSECANT));
    let (reflected, reflected_low) = sum(sine, -high);
    let reflected = reflected + (reflected_low + ((sine_low + pole_low) - low));
    let result = F::select(x.negative(), reflected, high + low);
    // The parts of such a large reciprocal would be infinite.
    let tiny = x.within(F::two_to(-i64::from(F::P) - 2));
    let inverse = one.over(x);
    let result = F::select(tiny, inverse * inverse, result);
    let is_pole = a.magnitude().is_zero() | (x.negative() & r.magnitude().is_zero());
    let result = F::select(is_pole, F::from_bits(F::infinity()), result);
    let result = F::select(x.infinite(), zero, result);
    F::select((x.negative() & x.infinite()) | x.unordered(), F::nan(), result)
}
