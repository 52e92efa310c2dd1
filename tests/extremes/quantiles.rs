//! Quantiles beside infinities and of values whose difference overflows.

use ragged::{DType, RaggedTensor, Tensor, bf16, f16};

use crate::common::{devices, has};
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

/// Integers of 8 bytes are rounded to f64 before they are interpolated.
#[test]
fn quantiles_of_integers_that_f64_does_not_represent() {
    const EDGE: i64 = 1 << 53;
    for (name, device) in devices().into_iter().filter(|(_, device)| has(device, DType::F64)) {
        let rows = [vec![i64::MIN, i64::MAX], vec![EDGE + 1], vec![EDGE + 1, EDGE + 3], vec![i64::MAX - 1, i64::MAX]];
        let x = RaggedTensor::from_nested(&rows, &device).expect("valid");
        let edge = EDGE as f64;
        let want = [0.0, edge, edge + 2.0, i64::MAX as f64];
        assert_eq!(x.median(1).and_then(|m| m.to_vec()).expect("reads"), want, "{name}");
        let x = RaggedTensor::from_nested([[0, u64::MAX]], &device).expect("valid");
        assert_eq!(x.median(1).and_then(|m| m.to_vec()).expect("reads"), [9_223_372_036_854_775_808.0], "{name}");
        // Integers of 4 bytes are exact.
        let x = RaggedTensor::from_nested([[i32::MIN, i32::MAX]], &device).expect("valid");
        assert_eq!(x.median(1).and_then(|m| m.to_vec()).expect("reads"), [-0.5], "{name}");
    }
}
