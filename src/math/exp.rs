//! The exponential function, and `exp(x) - 1`.
//!
//! `x = n ln(2) + r` with the constant in two parts (Cody and Waite) and `|r| <= ln(2) / 2`; `exp(r) = 1 + r + r^2
//! q(r)` with a polynomial `q`. The result is scaled by `2^n` in two steps, so that a subnormal result is rounded once.
//! Error: below 0.6 ulp (0.8 for a subnormal result), below 1.5 ulp for `expm1`, for all arguments.

use super::coefficients::{EXP, LN_2, LOG2_E};
use super::double_word::{quick_sum, sum};
use super::machine::{Float, Word};

/// `2^n (1 + r + rest)`.
pub(super) struct Reduced<F: Float> {
    pub n: F::Word,
    pub r: F,
    pub rest: F,
}

impl<F: Float> Reduced<F> {
    /// `exp(x + low)`, for a small correction `low` and an `x` for which `n` does not exceed twice the normal range.
    #[inline(always)]
    pub(super) fn of(x: F, low: F) -> Self {
        let (ln2, ln2_low) = F::parts(&LN_2);
        let (n, word) = (x * F::parts(&LOG2_E).0).nearest();
        let (r, e) = sum(x - n * ln2, low - n * ln2_low);
        Self { n: word, r, rest: e + r * r * r.polynomial(&EXP) }
    }

    /// `1 + r + rest`.
    #[inline(always)]
    pub(super) fn significand(&self) -> F {
        F::lit(1.0) + (self.r + self.rest)
    }

    /// `1 + r + rest` in two parts.
    #[inline(always)]
    pub(super) fn significand_parts(&self) -> (F, F) {
        let (s, e) = quick_sum(F::lit(1.0), self.r);
        quick_sum(s, e + self.rest)
    }
}

/// Clamps the argument to the range beyond which the result overflows or vanishes.
#[inline(always)]
pub(super) fn clamped<F: Float>(x: F) -> F {
    let (low, high) = if F::P == 24 { (-104.5, 90.0) } else { (-746.0, 711.0) };
    x.at_most(high).at_least(low)
}

/// `exp(x)`.
#[inline(always)]
pub(super) fn exp<F: Float>(x: F) -> F {
    let e = Reduced::of(clamped(x), F::lit(0.0));
    // In two parts, so that the sum is rounded once: below 0.6 ulp instead of below 1.
    let (significand, _) = e.significand_parts();
    F::select(x.unordered(), F::nan(), significand.scaled(e.n))
}

/// `exp(x) - 1` for an `x` that is clamped from above: `2^n` times a number in two parts.
#[inline(always)]
pub(super) fn expm1_parts<F: Float>(x: F) -> (F::Word, F, F) {
    let e = Reduced::of(x.at_least(-0.7 * f64::from(F::P) - 3.0), F::lit(0.0));
    // 1 - 2^-n, exact wherever the difference is significant.
    let digits = F::Word::lit(u64::from(F::P) + 2);
    let shift = F::select(digits.less(e.n), F::lit(0.0), F::power_of_two(F::Word::lit(0) - e.n.least(digits)));
    let (s, low) = sum(F::lit(1.0) - shift, e.r);
    let (high, low) = quick_sum(s, low + e.rest);
    (e.n, high, low)
}

/// `exp(x) - 1`.
#[inline(always)]
pub(super) fn expm1<F: Float>(x: F) -> F {
    let (n, high, _) = expm1_parts(clamped(x));
    let small = x.within(F::two_to(-i64::from(F::P) - 1));
    let result = F::select(small, x, high.scaled(n));
    F::select(x.unordered(), F::nan(), result)
}
