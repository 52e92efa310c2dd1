//! Quantiles beside infinities and of values whose difference overflows.

use ragged::{Tensor, bf16, f16};

use crate::everywhere::{Float, floats};

const INF: f64 = f64::INFINITY;

fn quantile<T: Float>(x: &[f64], q: f64) -> f64 {
    floats::<T>(&[x], |x| x.quantile(q, 1))[0]
}

fn beside_infinities<T: Float>() {
    for (x, q, want) in [
        (vec![4.0, 5.0, INF], 0.5, 5.0),
        (vec![4.0, 5.0, INF], 0.6, INF),
        (vec![4.0, 5.0, INF], 0.75, INF),
        (vec![4.0, 5.0, INF], 0.9, INF),
        (vec![4.0, 5.0, INF], 1.0, INF),
        (vec![-INF, 5.0, 4.0], 0.1, -INF),
        (vec![-INF, 5.0, 4.0], 0.4, -INF),
        (vec![-INF, 5.0, 4.0], 0.5, 4.0),
        (vec![INF, INF], 0.3, INF),
        (vec![-INF, -INF, 0.0], 0.25, -INF),
        (vec![-INF, INF], 0.0, -INF),
        (vec![-INF, INF], 1.0, INF),
    ] {
        assert_eq!(quantile::<T>(&x, q), want, "{} {q} of {x:?}", T::DTYPE);
    }
    assert!(quantile::<T>(&[-INF, INF], 0.5).is_nan(), "{}", T::DTYPE);
}

#[test]
fn quantiles_beside_infinities() {
    beside_infinities::<f32>();
    beside_infinities::<f64>();
    beside_infinities::<f16>();
    beside_infinities::<bf16>();
}

fn greatest_span<T: Float>(most: f64) {
    for (q, want) in [(0.0, -most), (0.25, -most / 2.0), (0.5, 0.0), (0.75, most / 2.0), (1.0, most)] {
        let (got, want) = (quantile::<T>(&[-most, most], q), T::of(want).wide());
        assert_eq!(got, want, "{} {q}", T::DTYPE);
    }
    assert_eq!(
        floats::<T>(&[&[most, -most], &[most, most], &[-most, -most]], |x: &Tensor| x.median(1)),
        [0.0, most, -most]
    );
}

#[test]
fn quantiles_of_values_whose_difference_overflows() {
    greatest_span::<f32>(f32::MAX.into());
    greatest_span::<f64>(f64::MAX);
    greatest_span::<f16>(f16::MAX.to_f64());
    greatest_span::<bf16>(bf16::MAX.to_f64());
    assert_eq!(floats::<f32>(&[&[-3e38, 3e38]], |x| x.median(1)), [0.0]);
}
