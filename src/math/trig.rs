//! Sine, cosine and tangent.
//!
//! Arguments are reduced by Payne and Hanek's method ("Radian reduction for trigonometric functions", 1983). The
//! integer significand is multiplied by those bits of `2 / pi` that are significant modulo 4; a barrel shifter of
//! selects extracts them from a table. The reduction uses integers only and is exact enough for every argument, however
//! large or close to a multiple of `pi / 2`. The remainder is in two parts, and polynomials on `[-pi/4, pi/4]` give the
//! results. Error: below 1 ulp; below 1.5 ulp for the tangent, a quotient of numbers in two parts.

use super::coefficients::{COS, PI_2, SIN, TWO_OVER_PI};
use super::double_word::{product, quick_sum, quotient};
use super::machine::{Float, Word};

/// `x - quadrant * pi / 2` in two parts, and the quadrant, of which only the low two bits are significant.
#[inline(always)]
fn reduce<F: Float>(x: F) -> (F, F, F::Word) {
    let (word, width) = (F::Word::lit, F::Word::BITS);
    let one = word(1);
    let hidden = one.left(F::P - 1);
    let m = (x.bits() & (hidden - one)) | hidden;
    // |x| = m 2^e. Bits of weight 2^(1 - e) and below are significant; a zero word precedes the binary point. The results for
    // small arguments are discarded, but their shift amounts must stay in range.
    let e = x.magnitude().right(F::P - 1) - F::Word::int(F::BIAS + i64::from(F::P) - 1);
    let offset = (e + F::Word::int(i64::from(width) - 2)).most(word(0));
    let mut words: [F::Word; 20] = std::array::from_fn(|i| match (i, width) {
        (0, _) => word(0),
        (i, 32) => word(if i < 8 { TWO_OVER_PI[(i - 1) / 2] >> (32 * (i % 2)) & 0xffff_ffff } else { 0 }),
        (i, _) => word(TWO_OVER_PI[i - 1]),
    });
    // `count` is the number of words, then of those still significant after a shifter stage that skips up to `skip`
    // words.
    let (mut count, stages, place): (usize, &[usize], u32) =
        if width == 32 { (8, &[4, 2, 1], 5) } else { (20, &[16, 8, 4, 2, 1], 6) };
    for &skip in stages {
        let skips = offset.has(word(skip as u64).left(place));
        count = count.min(skip + 3);
        for i in 0..count {
            if i + skip < words.len() {
                words[i] = F::Word::select(skips, words[i + skip], words[i]);
            }
        }
    }
    let shift = offset & word(u64::from(width) - 1);
    let across = |i: usize| words[i].shl(shift) | words[i + 1].right(1).shr(word(u64::from(width) - 1) - shift);
    let (w0, w1, w2) = (across(0), across(1), across(2));
    // The product modulo 4: two bits of quadrant, then the fraction.
    let (top, _) = m.wide_mul(w2);
    let (carry, middle) = m.wide_mul(w1);
    let low = middle + top;
    let high = m * w0 + carry + F::Word::flag(low.below(middle));
    let quadrant = (high + one.left(width - 3)).right(width - 2);
    let high = high - quadrant.left(width - 2);
    // The fraction's magnitude as three exact floats.
    let below = high.less(word(0));
    let flip = F::Word::select(below, !word(0), word(0));
    let low = low ^ flip;
    let low = low + F::Word::flag(below);
    let high = (high ^ flip) + F::Word::flag(below & low.is_zero());
    let (spare, third) = (width - F::P, 2 * width - 2 * F::P + 1);
    let a = high.right(spare);
    let b = (high & (one.left(spare) - one)).left(2 * F::P - 1 - width) | low.right(third);
    let c = low & (one.left(third) - one);
    let scale = |n: F::Word, weight: i64| F::whole_below_hidden(n) * F::two_to(weight);
    let p = i64::from(F::P);
    let (high, e) = quick_sum(scale(a, 2 - p), scale(b, 3 - 2 * p));
    let (high, low) = quick_sum(high, e + scale(c, 2 - 2 * i64::from(width)));
    let (pi_2, pi_2_low) = F::parts(&PI_2);
    let (r, e) = product(high, pi_2);
    let (r, r_low) = quick_sum(r, e + (high * pi_2_low + low * pi_2));

    let small = x.within(F::lit(0.78));
    let sign = F::from_bits(F::Word::select(below, F::sign_bit(), word(0)));
    let quadrant = F::Word::select(x.negative(), word(0) - quadrant, quadrant);
    let r = F::select(small, x, r.flipped_as(sign).flipped_as(x));
    let r_low = F::select(small, F::lit(0.0), r_low.flipped_as(sign).flipped_as(x));
    (r, r_low, F::Word::select(small, word(0), quadrant))
}

/// Sine of a reduced argument, in two parts.
#[inline(always)]
fn sine<F: Float>(x: F, low: F) -> (F, F) {
    let z = x * x;
    (x, x * z * z.polynomial(&SIN) + low)
}

/// Cosine of a reduced argument, in two parts.
#[inline(always)]
fn cosine<F: Float>(x: F, low: F) -> (F, F) {
    let z = x * x;
    let half = F::lit(0.5) * z;
    let w = F::lit(1.0) - half;
    (w, ((F::lit(1.0) - w) - half) + (z * z * z.polynomial(&COS) - x * low))
}

/// Selects one of two numbers in parts.
#[inline(always)]
fn either<F: Float>(mask: F::Mask, yes: (F, F), no: (F, F)) -> (F, F) {
    (F::select(mask, yes.0, no.0), F::select(mask, yes.1, no.1))
}

/// Replaces the result by NaN where the argument is an infinity or NaN.
#[inline(always)]
fn finite<F: Float>(x: F, result: F) -> F {
    F::select(x.magnitude().below(F::infinity()), result, F::nan())
}

/// `sin(x)`.
#[inline(always)]
pub(super) fn sin<F: Float>(x: F) -> F {
    let (r, low, quadrant) = reduce(x);
    let (high, low) = either(quadrant.has(F::Word::lit(1)), cosine(r, low), sine(r, low));
    let result = high + low;
    let result = F::select(quadrant.has(F::Word::lit(2)), -result, result);
    // A sum loses the sign of a zero argument.
    finite(x, F::select(x.magnitude().is_zero(), x, result))
}

/// `cos(x)`.
#[inline(always)]
pub(super) fn cos<F: Float>(x: F) -> F {
    let (r, low, quadrant) = reduce(x);
    let (high, low) = either(quadrant.has(F::Word::lit(1)), sine(r, low), cosine(r, low));
    let result = high + low;
    finite(x, F::select((quadrant + F::Word::lit(1)).has(F::Word::lit(2)), -result, result))
}

/// `tan(x)`.
#[inline(always)]
pub(super) fn tan<F: Float>(x: F) -> F {
    let (r, low, quadrant) = reduce(x);
    let (s, c) = (sine(r, low), cosine(r, low));
    let (s, c) = (quick_sum(s.0, s.1), quick_sum(c.0, c.1));
    let odd = quadrant.has(F::Word::lit(1));
    let (high, low) = quotient(either(odd, (-c.0, -c.1), s), either(odd, s, c));
    finite(x, F::select(x.magnitude().is_zero(), x, high + low))
}
