//! Logarithms: natural, of `1 + x`, and to base 2.
//!
//! `x = 2^k (1 + f)` with `1 + f` between `sqrt(1/2)` and `sqrt(2)`. With `s = f / (2 + f)` and `w = s^2`, `log(1 + f)
//! = 2 s + s w (2 / 3 + w p(w))`, evaluated as `f - (f^2/2 - s (f^2/2 + ...))` so that the leading term is exact (the
//! scheme of fdlibm's `log` with another polynomial). Corrections of the argument enter through the derivative `1 / (1
//! + f)`, which needs an accuracy of only a few percent. Error: below 1 ulp for all arguments. Powers use a variant in
//! two parts, accurate to about `2^-(P + 10)`.

use super::coefficients::{LN_2, LOG, LOG2_E, RECIPROCAL, TWO_THIRDS};
use super::double_word::{product, quick_sum, quotient, sum};
use super::machine::{Float, Word};

/// `log(2^k (1 + f + rest))`, where `f` is between `sqrt(1/2) - 1` and `sqrt(2) - 1`, and `rest` is below its last
/// place.
pub(super) struct Argument<F: Float> {
    pub k: F::Word,
    pub f: F,
    pub rest: F,
}

impl<F: Float> Argument<F> {
    /// A positive finite number, and a correction.
    #[inline(always)]
    pub(super) fn of(x: F, low: F) -> Self {
        let (m, k) = x.unpacked();
        let large = F::lit(std::f64::consts::SQRT_2).lt(m);
        let m = F::select(large, m * F::lit(0.5), m);
        let k = k + F::Word::flag(large);
        // Where the scale of the correction is out of range, the correction is insignificant.
        let scale =
            F::power_of_two(F::Word::lit(0) - k.least(F::Word::int(F::BIAS - 1)).most(F::Word::int(1 - F::BIAS)));
        Self { k, f: m - F::lit(1.0), rest: low * scale }
    }

    /// One plus a finite number, and a correction.
    #[inline(always)]
    pub(super) fn one_plus(x: F, low: F) -> Self {
        let near = F::lit(-0.2928).lt(x) & x.lt(F::lit(0.4142));
        let (u, e) = sum(F::lit(1.0), x);
        let far = Self::of(u, e + low);
        let here = Self { k: F::Word::lit(0), f: x, rest: low };
        Self::select(near, here, far)
    }

    /// Selects one of two arguments.
    #[inline(always)]
    pub(super) fn select(mask: F::Mask, yes: Self, no: Self) -> Self {
        Self {
            k: F::Word::select(mask, yes.k, no.k),
            f: F::select(mask, yes.f, no.f),
            rest: F::select(mask, yes.rest, no.rest),
        }
    }

    /// The high part of `k ln(2)`, and the term to subtract from `f`.
    #[inline(always)]
    fn terms(&self) -> (F, F) {
        let Self { f, rest, .. } = *self;
        let k = F::whole(self.k);
        let (ln2, ln2_low) = F::parts(&LN_2);
        let s = f.over(F::lit(2.0) + f);
        let half_square = F::lit(0.5) * f * f;
        let tail = k * ln2_low + rest * f.polynomial(&RECIPROCAL);
        (k * ln2, half_square - (s * (half_square + series(s * s)) + tail))
    }

    /// The logarithm.
    #[inline(always)]
    pub(super) fn log(&self) -> F {
        let (whole, less) = self.terms();
        whole - (less - self.f)
    }

    /// The logarithm in two parts. The low part is accurate to a few bits: its error is below a tenth of the last place
    /// of `f`.
    #[inline(always)]
    pub(super) fn log_parts(&self) -> (F, F) {
        let (whole, less) = self.terms();
        let (high, low) = sum(whole, self.f);
        quick_sum(high, low - less)
    }
}

/// `w (2 / 3 + w p(w))`.
#[inline(always)]
pub(super) fn series<F: Float>(w: F) -> F {
    w * (F::lit(2.0 / 3.0) + w * w.polynomial(&LOG))
}

/// Special cases of every logarithm: zero, infinity, NaN and negative arguments.
#[inline(always)]
fn special<F: Float>(x: F, result: F) -> F {
    let result = F::select(x.infinite(), x, result);
    let result = F::select(x.unordered() | x.negative(), F::nan(), result);
    F::select(x.magnitude().is_zero(), -F::from_bits(F::infinity()), result)
}

/// `log(x)`.
#[inline(always)]
pub(super) fn log<F: Float>(x: F) -> F {
    special(x, Argument::of(x, F::lit(0.0)).log())
}

/// `log(1 + x)`.
#[inline(always)]
pub(super) fn log1p<F: Float>(x: F) -> F {
    let one = F::lit(1.0);
    let result = Argument::one_plus(x, F::lit(0.0)).log();
    let result = F::select(x.infinite() | x.within(F::two_to(-i64::from(F::P) - 1)), x, result);
    let pole = x.bits().is((-one).bits());
    let result = F::select(pole, -F::from_bits(F::infinity()), result);
    let outside = x.negative() & !x.within(one) & !pole;
    F::select(outside | x.unordered(), F::nan(), result)
}

/// `log(x) = k ln(2) + high + low` for a positive finite `x`: `k` and the two parts.
#[inline(always)]
fn log_parts<F: Float>(x: F) -> (F, F, F) {
    let Argument { k, f, .. } = Argument::of(x, F::lit(0.0));
    let (s, s_low) = quotient((f, F::lit(0.0)), sum(F::lit(2.0), f));
    let (w, e) = product(s, s);
    let w_low = e + F::lit(2.0) * s * s_low;
    let (cube, e) = product(s, w);
    let cube_low = e + (s * w_low + s_low * w);
    let (c, c_low) = F::parts(&TWO_THIRDS);
    let (second, e) = product(cube, c);
    let second_low = e + (cube * c_low + cube_low * c);
    let (high, e) = quick_sum(F::lit(2.0) * s, second);
    let low = e + (F::lit(2.0) * s_low + (second_low + s * w * w * w.polynomial(&LOG)));
    let (high, low) = quick_sum(high, low);
    (F::whole(k), high, low)
}

/// `log(x)` in two parts, for a positive finite `x`.
#[inline(always)]
pub(super) fn precise<F: Float>(x: F) -> (F, F) {
    let (k, high, low) = log_parts(x);
    let (ln2, ln2_low) = F::parts(&LN_2);
    let (high, e) = sum(k * ln2, high);
    quick_sum(high, e + (low + k * ln2_low))
}

/// `log2(x)`; exact for powers of two.
#[inline(always)]
pub(super) fn log2<F: Float>(x: F) -> F {
    let (k, high, low) = log_parts(x);
    let (c, c_low) = F::parts(&LOG2_E);
    let (p, e) = product(high, c);
    let (result, rest) = sum(k, p);
    special(x, result + (rest + (e + (high * c_low + low * c))))
}
