//! Powers: `exp(y log(x))` with the logarithm and the product in two parts. Error: below 1 ulp. Special cases as in C
//! and TensorFlow.

use super::double_word::product;
use super::exp::Reduced;
use super::log::precise;
use super::machine::{Float, Word};
use super::round::trunc;

/// `x^y`.
#[inline(always)]
pub(super) fn pow<F: Float>(x: F, y: F) -> F {
    let (one, zero, infinity) = (F::lit(1.0), F::lit(0.0), F::from_bits(F::infinity()));
    let ax = x.absolute();
    let (log, log_low) = precise(ax);
    let (p, e) = product(y, log);
    let limit = F::either(106.0, 750.0);
    let ordinary = p.within(limit);
    let low = F::select(ordinary, e + y * log_low, zero);
    let exp = Reduced::of(F::select(ordinary, p, limit.signed_as(p)), low);
    let result = exp.significand().scaled(exp.n);

    // A zero or infinite base, or an infinite exponent: the result is zero or infinity.
    let small_base = ax.within(one);
    let extreme = ax.magnitude().is_zero() | ax.infinite() | y.infinite();
    let grows = (small_base & y.negative()) | (!small_base & !y.negative());
    let result = F::select(extreme, F::select(grows, infinity, zero), result);

    let ay = y.absolute();
    let half = ay * F::lit(0.5);
    let whole = trunc(ay).bits().is(ay.bits());
    let even = trunc(half).bits().is(half.bits()) | y.infinite();
    let result = F::select(x.negative() & whole & !even, -result, result);
    let imaginary = x.negative() & !whole & !y.infinite() & !ax.magnitude().is_zero() & !ax.infinite();
    let result = F::select(imaginary | x.unordered() | y.unordered(), F::nan(), result);

    let unit = ax.bits().is(one.bits()) & (y.infinite() | !x.negative());
    F::select(unit | y.magnitude().is_zero(), one, result)
}
