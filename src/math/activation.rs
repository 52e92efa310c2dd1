//! Activation functions of neural networks: sigmoid, its logarithm, softplus and the error function (for gelu).
//!
//! `sigmoid(x)` is `1 / (1 + e)` or `e / (1 + e)` with `e = exp(-|x|)`, and `softplus(x) = max(x, 0) + log(1 + e)`,
//! with `e` in two parts. `erf` is an odd polynomial below 1 and `1 - erfc(x)` above, with `erfc` as polynomials on
//! four intervals up to 6; from 6 on `erf` is 1. Error: below 2 ulp.

use super::coefficients::{ERF, ERFC};
use super::double_word::{quotient, sum};
use super::exp::{Reduced, clamped};
use super::log::Argument;
use super::machine::Float;

/// `exp(-|x|)` in two parts.
#[inline(always)]
fn decay<F: Float>(x: F) -> (F, F) {
    let e = Reduced::of(clamped(-x.absolute()), F::lit(0.0));
    let (high, low) = e.significand_parts();
    (high.scaled(e.n), low.scaled(e.n))
}

/// `1 / (1 + exp(-x))`.
#[inline(always)]
pub(super) fn sigmoid<F: Float>(x: F) -> F {
    let one = F::lit(1.0);
    let (e, e_low) = decay(x);
    let (d, d_low) = sum(one, e);
    let top = F::select(x.negative(), e, one);
    let top_low = F::select(x.negative(), e_low, F::lit(0.0));
    let (q, rest) = quotient((top, top_low), (d, d_low + e_low));
    F::select(x.unordered(), F::nan(), q + rest)
}

/// `log(1 + exp(x))`.
#[inline(always)]
pub(super) fn softplus<F: Float>(x: F) -> F {
    let (e, low) = decay(x);
    let log = Argument::one_plus(e, low).log();
    let result = F::select(x.negative(), log, x + log);
    F::select(x.unordered(), F::nan(), result)
}

/// `log(1 / (1 + exp(-x)))`.
#[inline(always)]
pub(super) fn log_sigmoid<F: Float>(x: F) -> F {
    let result = -softplus(-x);
    F::select(x.unordered(), F::nan(), result)
}

/// `erf(x)`.
#[inline(always)]
pub(super) fn erf<F: Float>(x: F) -> F {
    let a = x.absolute().at_most(6.0);
    let z = a * a;
    let small = a + a * z.polynomial(&ERF);

    let ends = [1.75, 2.75, 4.0].map(|end| a.within(F::lit(end)));
    let choose = |c: [f64; 4]| {
        let last = F::select(ends[2], F::lit(c[2]), F::lit(c[3]));
        F::select(ends[0], F::lit(c[0]), F::select(ends[1], F::lit(c[1]), last))
    };
    let d = a - choose([1.375, 2.25, 3.375, 5.0]);
    let pieces = [0, 1, 2, 3].map(|i| F::numbers(&ERFC[i]));
    let terms = pieces[0].len();
    let mut erfc = F::lit(0.0);
    for i in (0..terms).rev() {
        let c = choose(pieces.map(|piece| piece[i]));
        erfc = if i + 1 == terms { c } else { erfc * d + c };
    }
    let result = F::select(a.within(F::lit(1.0)), small, F::lit(1.0) - erfc);
    F::select(x.unordered(), F::nan(), result.signed_as(x))
}
