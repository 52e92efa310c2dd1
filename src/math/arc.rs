//! Inverse trigonometric functions.
//!
//! `atan` reduces its argument to within 7/16 of zero by `atan(x) = atan(c) + atan((x - c) / (1 + c x))` with a `c` of
//! 0, 1/2, 1, 3/2 or infinity (the scheme of fdlibm), then evaluates a polynomial. `asin` and `acos` use a polynomial
//! up to 1/2, and `asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2))` with the root in two parts beyond. Error: below 1 ulp;
//! below 2 ulp for `atan2`, which rounds a quotient first.

use super::coefficients::{ASIN, ATAN, ATAN_HALF, ATAN_THREE_HALVES, PI_2, PI_4};
use super::double_word::halves;
use super::machine::{Float, Word};

/// `atan(x)` for `x >= 0`, infinity included.
#[inline(always)]
fn positive<F: Float>(x: F) -> F {
    let (zero, one) = (F::lit(0.0), F::lit(1.0));
    // Intervals from last to first: upper end, centre, and arc tangent of the centre.
    let mut c = zero;
    let (mut high, mut low) = F::parts(&PI_2);
    let far = !x.within(F::lit(39.0 / 16.0));
    for (end, centre, parts) in
        [(39.0 / 16.0, 1.5, &ATAN_THREE_HALVES), (19.0 / 16.0, 1.0, &PI_4), (11.0 / 16.0, 0.5, &ATAN_HALF)]
    {
        let here = x.within(F::lit(end));
        let (a, a_low) = F::parts(parts);
        c = F::select(here, F::lit(centre), c);
        high = F::select(here, a, high);
        low = F::select(here, a_low, low);
    }
    let near = x.within(F::lit(7.0 / 16.0));
    let t = F::select(far, -one, x - c).over(F::select(far, x, one + c * x));
    let t = F::select(near, x, t);
    let z = t * t;
    let rest = t * z * z.polynomial(&ATAN);
    F::select(near, t + rest, high + (t + (rest + low)))
}

/// `atan(x)`.
#[inline(always)]
pub(super) fn atan<F: Float>(x: F) -> F {
    F::select(x.unordered(), F::nan(), positive(x.absolute()).signed_as(x))
}

/// Angle of the point `(x, y)`.
#[inline(always)]
pub(super) fn atan2<F: Float>(y: F, x: F) -> F {
    let (ay, ax) = (y.absolute(), x.absolute());
    let t = ay.over(ax);
    let t = F::select(y.infinite() & x.infinite(), F::lit(1.0), t);
    let t = F::select(y.magnitude().is_zero(), F::lit(0.0), t);
    let a = positive(t);
    let (pi_2, pi_2_low) = F::parts(&PI_2);
    let two = F::lit(2.0);
    let a = F::select(x.negative(), two * pi_2 - (a - two * pi_2_low), a);
    F::select(x.unordered() | y.unordered(), F::nan(), a.signed_as(y))
}

/// Common terms of `asin` and `acos` for the magnitude `a` of an argument.
struct Arc<F> {
    /// The argument up to 1/2, else `sqrt((1 - a) / 2)`; `lead` and `rest` are the leading and the other digits of that
    /// root.
    t: F,
    lead: F,
    rest: F,
    /// `asin(t) - t`.
    tail: F,
}

#[inline(always)]
fn arc<F: Float>(a: F, small: F::Mask) -> Arc<F> {
    let z = F::select(small, a * a, (F::lit(1.0) - a) * F::lit(0.5));
    let root =
        F::from_bits(F::Word::select(F::Word::less(z.bits(), F::Word::lit(0)), F::Word::lit(0), z.bits())).root();
    let t = F::select(small, a, root);
    let (lead, _) = halves(root);
    let twice = F::select(root.magnitude().is_zero(), F::lit(1.0), root + lead);
    Arc { t, lead, rest: (z - lead * lead).over(twice), tail: t * z * z.polynomial(&ASIN) }
}

/// `asin(x)`.
#[inline(always)]
pub(super) fn asin<F: Float>(x: F) -> F {
    let small = x.within(F::lit(0.5));
    let Arc { t, lead, rest, tail } = arc(x.absolute(), small);
    let two = F::lit(2.0);
    let (pi_2, pi_2_low) = F::parts(&PI_2);
    let (pi_4, _) = F::parts(&PI_4);
    let large = pi_4 - ((two * tail - (pi_2_low - two * rest)) - (pi_4 - two * lead));
    let large = F::select(x.magnitude().is(F::lit(1.0).bits()), pi_2, large);
    domain(x, F::select(small, t + tail, large).signed_as(x))
}

/// `acos(x)`.
#[inline(always)]
pub(super) fn acos<F: Float>(x: F) -> F {
    let small = x.within(F::lit(0.5));
    let Arc { t, lead, rest, tail } = arc(x.absolute(), small);
    let two = F::lit(2.0);
    let (pi_2, pi_2_low) = F::parts(&PI_2);
    let middle = pi_2 - (t.signed_as(x) - (pi_2_low - tail.signed_as(x)));
    let above = two * (lead + (rest + tail));
    let below = two * (pi_2 - (lead + (rest + tail - pi_2_low)));
    domain(x, F::select(small, middle, F::select(x.negative(), below, above)))
}

/// Replaces the result by NaN for arguments beyond 1.
#[inline(always)]
fn domain<F: Float>(x: F, result: F) -> F {
    F::select(F::lit(1.0).bits().below(x.magnitude()), F::nan(), result)
}
