//! Accuracy of the special functions, and their values at the ends of their domains.

use super::super::{f32_unary, f64_unary};
use super::accuracy::{documented, ulps_f32};
use super::special_values::{
    BESSEL_I0, BESSEL_I0E, BESSEL_I1, BESSEL_I1E, DIGAMMA, ERFC, ERFCINV, ERFINV, LGAMMA, NDTRI, TRIGAMMA,
};
use super::{MathFn, edges_f32};

pub(super) type Values = &'static [(f64, f64, f64)];

pub(super) const VALUES: &[(MathFn, Values)] = &[
    (MathFn::Erfc, &ERFC),
    (MathFn::Erfinv, &ERFINV),
    (MathFn::Erfcinv, &ERFCINV),
    (MathFn::Ndtri, &NDTRI),
    (MathFn::Lgamma, &LGAMMA),
    (MathFn::Digamma, &DIGAMMA),
    (MathFn::Trigamma, &TRIGAMMA),
    (MathFn::BesselI0, &BESSEL_I0),
    (MathFn::BesselI0e, &BESSEL_I0E),
    (MathFn::BesselI1, &BESSEL_I1),
    (MathFn::BesselI1e, &BESSEL_I1E),
];

/// Unit in the last place of a double.
fn last_place(y: f64) -> f64 {
    let exponent = (y.to_bits() >> 52 & 0x7ff).max(1) as i32;
    f64::from_bits(1) * 2f64.powi(exponent - 1)
}

#[test]
fn doubles_agree_with_long_computations() {
    for &(f, values) in VALUES {
        let mut worst = (0.0, 0.0);
        for &(x, y, rest) in values {
            let found = f64_unary(f)(x);
            let ulps = (((found - y) - rest) / last_place(y)).abs();
            assert!(ulps.is_finite(), "{} of {x:e}: {found:e}", f.name());
            worst = if ulps > worst.0 { (ulps, x) } else { worst };
        }
        println!("{} f64: {:.3} ulp at {:e}", f.name(), worst.0, worst.1);
        assert!(worst.0 <= documented(f), "{} {worst:?}", f.name());
    }
}

#[test]
fn floats_agree_with_doubles() {
    let mut x: Vec<f32> = (0..=u32::MAX).step_by(60_013).chain(edges_f32()).map(f32::from_bits).collect();
    x.extend((0..60_000).map(|i| (i as f32 - 20_000.0) * 4.3e-4));
    // Near zeros and poles of the gamma function.
    x.extend((-8..9).flat_map(|n| (0..200).map(move |k| n as f32 + (k - 100) as f32 * 1.3e-6)));
    x.extend((0..2000).map(|k| 1.461_632_1 + (k - 1000) as f32 * 1.2e-7));
    for &(f, _) in VALUES {
        let (own, truth) = (f32_unary(f), f64_unary(f));
        let reflected = |x: f32| x < 0.0 && matches!(f, MathFn::Lgamma | MathFn::Digamma);
        let error = |x: f32| {
            let y = truth(x.into());
            if !reflected(x) || !y.is_finite() {
                return ulps_f32(own(x), y);
            }
            // A reflected result is as accurate as its terms, and overflows where they do.
            let terms = y.abs() + truth((-x).into()).abs() + 1.0;
            let fits = terms < f32::MAX.into();
            if fits { (f64::from(own(x)) - y).abs() / 2f64.powi(terms.log2() as i32 - 23) } else { 0.0 }
        };
        for (part, bound) in [(false, documented(f)), (true, if f == MathFn::Digamma { 3.0 } else { documented(f) })] {
            let errors = x.iter().filter(|x| reflected(**x) == part).map(|&x| (error(x), x));
            let (worst, at) = errors.fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
            println!("{} f32: {worst:.3} ulp at {at:e}: {:e}, {:e}", f.name(), own(at), truth(at.into()));
            assert!(worst <= bound, "{} {worst} at {at:e}: {:e}", f.name(), own(at));
        }
    }
}

#[test]
fn negative_arguments_of_doubles_are_as_good_as_the_terms() {
    // The reference applies the recurrence up to a positive argument: few operations, small errors.
    let mut worst: f64 = 0.0;
    for k in 0..60_000 {
        let x = -f64::from(k) * 1.234_5e-4 - 1e-5;
        let steps = (-x).floor() + 1.0;
        let (mut product, mut sum) = (1.0f64, 0.0);
        for n in 0..steps as u32 {
            product *= x + f64::from(n);
            sum += 1.0 / (x + f64::from(n));
        }
        let lgamma = f64_unary(MathFn::Lgamma);
        let want = lgamma(x + steps) - product.abs().ln();
        let terms = want.abs() + lgamma(-x).abs() + 1.0;
        worst = worst.max((lgamma(x) - want).abs() / terms);
        let digamma = f64_unary(MathFn::Digamma);
        let want = digamma(x + steps) - sum;
        let terms = want.abs() + digamma(-x).abs() + 1.0;
        worst = worst.max((digamma(x) - want).abs() / terms);
    }
    println!("reflections: {worst:e}");
    assert!(worst < 2e-14, "{worst:e}");
}

/// Checks a function's values at the ends of its domain and beyond, in both widths.
fn ends(f: MathFn, cases: &[(f64, f64)]) {
    for &(x, want) in cases {
        let single = f64::from(f32_unary(f)(x as f32));
        let double = f64_unary(f)(x);
        for found in [single, double] {
            let same = found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan();
            assert!(same, "{} of {x:e}: {found:e} instead of {want:e}", f.name());
        }
    }
}

#[test]
fn ends_of_domains() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    ends(MathFn::Erfc, &[(0.0, 1.0), (-0.0, 1.0), (inf, 0.0), (-inf, 2.0), (nan, nan), (40.0, 0.0), (-40.0, 2.0)]);
    let outside = [(2.5, nan), (-2.5, nan), (inf, nan), (-inf, nan), (nan, nan)];
    ends(MathFn::Erfinv, &[(0.0, 0.0), (-0.0, -0.0), (1.0, inf), (-1.0, -inf)]);
    ends(MathFn::Erfcinv, &[(1.0, 0.0), (0.0, inf), (-0.0, inf), (2.0, -inf)]);
    ends(MathFn::Ndtri, &[(0.5, 0.0), (0.0, -inf), (-0.0, -inf), (1.0, inf)]);
    for f in [MathFn::Erfinv, MathFn::Erfcinv, MathFn::Ndtri] {
        ends(f, &outside);
    }
    ends(
        MathFn::Lgamma,
        &[
            (0.0, inf),
            (-0.0, inf),
            (-1.0, inf),
            (-1e30, inf),
            (inf, inf),
            (-inf, inf),
            (nan, nan),
            (1.0, 0.0),
            (2.0, 0.0),
        ],
    );
    ends(MathFn::Digamma, &[(0.0, nan), (-0.0, nan), (-1.0, nan), (-1e30, nan), (inf, inf), (-inf, nan), (nan, nan)]);
    ends(MathFn::Trigamma, &[(0.0, inf), (-0.0, inf), (-1.0, inf), (-1e30, inf), (inf, 0.0), (-inf, nan), (nan, nan)]);
    let edge = [(0.0, 1.0), (-0.0, 1.0), (nan, nan)];
    ends(MathFn::BesselI0, &edge);
    ends(MathFn::BesselI0, &[(inf, nan), (-inf, nan), (1000.0, inf), (-1000.0, inf), (1e30, inf)]);
    ends(MathFn::BesselI0e, &edge);
    ends(MathFn::BesselI0e, &[(inf, 0.0), (-inf, 0.0)]);
    let edge = [(0.0, 0.0), (-0.0, -0.0), (nan, nan)];
    ends(MathFn::BesselI1, &edge);
    ends(MathFn::BesselI1, &[(inf, nan), (-inf, nan), (1000.0, inf), (-1000.0, -inf), (-1e30, -inf)]);
    ends(MathFn::BesselI1e, &edge);
    ends(MathFn::BesselI1e, &[(inf, 0.0), (-inf, -0.0)]);
}

#[test]
fn inverses_undo() {
    for k in 1..2000 {
        let x = f64::from(k) * 0.002_9;
        let [erf, erfc, erfinv, erfcinv] = [MathFn::Erf, MathFn::Erfc, MathFn::Erfinv, MathFn::Erfcinv].map(f64_unary);
        let back = erfcinv(erfc(x));
        assert!((back - x).abs() <= 1e-14 * x, "{x}: {back}");
        if x < 2.0 {
            // For larger arguments `1 - erf(x)` has too few digits.
            let back = erfinv(erf(x));
            assert!((back - x).abs() <= 1e-13 * x, "{x}: {back}");
        }
    }
}
