//! Histograms whose range is wider than the greatest float, and of integers that floats cannot represent.

use ragged::opt::{HistogramRange, clamped};
use ragged::{DType, Device, RaggedTensor};

use crate::everywhere::{Float, rows, values, values_every_way};

fn counts<T: Float>(x: &[f64], range: impl Into<HistogramRange> + Clone, bins: u32) -> Vec<i32> {
    values::<i32>(|d| rows::<T>(&[x], d)?.erased().histogram(.., range.clone(), bins))
}

#[test]
fn ranges_wider_than_the_greatest_float() {
    let x = [-2.9e38, -1e38, 0.0, 1e38, 1.6e38, 2.9e38];
    assert_eq!(counts::<f32>(&x, -3e38f32..3e38f32, 4), [1, 1, 2, 2]);
    // The sign of the least magnitude decides between two bins.
    let least = f64::from(f32::from_bits(1));
    let x = [-3.4e38, -least, -0.0, 0.0, least, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::from(f32::MAX)];
    assert_eq!(counts::<f32>(&x, f32::MIN..=f32::MAX, 2), [2, 4]);
    assert_eq!(counts::<f32>(&x, f32::MIN..f32::MAX, 1), [5]);
    assert_eq!(counts::<f32>(&x, clamped(f32::MIN..f32::MAX), 2), [3, 5]);
    let x = [-1.7e308, -1.0, 1.0, 1.7e308];
    assert_eq!(counts::<f64>(&x, -1.75e308..1.75e308, 2), [2, 2]);
    assert_eq!(counts::<f64>(&x, -1.75e308..1.75e308, 7), [1, 0, 0, 2, 0, 0, 1]);
}

#[test]
fn integers_that_floats_cannot_represent() {
    let signed = |x: &[i64], range: HistogramRange, bins: u32| {
        values_every_way::<i32>(DType::F64, |d| {
            RaggedTensor::<i64>::from_nested(x.to_vec(), d)?.erased().histogram(.., range, bins)
        })
    };
    let most = 1i64 << 62;
    assert_eq!(signed(&[most, most + 1], (most..most + 2).into(), 2), [1, 1]);
    assert_eq!(signed(&[most - 1, most, most + 1, most + 2], (most..=most + 2).into(), 2), [1, 2]);
    assert_eq!(signed(&[most - 1, most, most + 1, most + 2], clamped(most..most + 2), 2), [2, 2]);
    let edge = 1i64 << 53;
    assert_eq!(signed(&[edge - 1, edge, edge + 1, edge + 2, edge + 3, edge + 4], (edge..edge + 4).into(), 2), [2, 2]);
    assert_eq!(signed(&[edge, edge + 1], (0..=edge).into(), 1), [1]);
    let ends = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
    assert_eq!(signed(&ends, (i64::MIN..=i64::MAX).into(), 2), [3, 4]);
    assert_eq!(signed(&ends, (i64::MIN..i64::MAX).into(), 2), [3, 3]);
    assert_eq!(signed(&ends, (-1e300..1e300).into(), 2), [3, 4]);
    let most = u64::MAX;
    let got = values_every_way::<i32>(DType::F64, |d| {
        let x = RaggedTensor::<u64>::from_nested([most - 4, most - 3, most - 2, most - 1, most], d)?;
        x.erased().histogram(.., most - 4..=most, 4)
    });
    assert_eq!(got, [1, 1, 1, 2]);
}

/// The counts of the bins of the values are the histogram, for each kind of range.
#[test]
fn bins_of_values_are_those_of_the_histogram() {
    let x = [-3.4e38, -1.0, -0.0, 0.0, 0.5, 0.999, 1.0, 1.5, 2.0, 3.4e38, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for (range, want) in [
        (HistogramRange::from(0.0f32..2.0), [-1, -1, 0, 0, 1, 1, 2, 3, -1, -1, -1, -1, -1]),
        (HistogramRange::from(0.0f32..=2.0), [-1, -1, 0, 0, 1, 1, 2, 3, 3, -1, -1, -1, -1]),
        (clamped(0.0f32..2.0), [0, 0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 0, -1]),
    ] {
        let bins = values::<i32>(|d| rows::<f32>(&[&x], d)?.erased().histogram_bins(range, 4));
        assert_eq!(bins, want, "{range:?}");
        let each = (0..4).map(|bin| bins.iter().filter(|&&b| b == bin).count() as i32);
        assert_eq!(counts::<f32>(&x, range, 4), each.collect::<Vec<_>>(), "{range:?}");
    }
    let most = 1i64 << 62;
    let integers = [most - 1, most, most + 1, most + 2, i64::MAX];
    let bins =
        values::<i32>(|d| RaggedTensor::<i64>::from_nested(integers, d)?.erased().histogram_bins(most..most + 2, 2));
    assert_eq!(bins, [-1, 0, 1, -1, -1]);
    let x = RaggedTensor::from_nested([1.0f32], &Device::cpu()).expect("valid");
    assert!(x.histogram_bins(0.0..1.0, 0).is_err() && x.histogram_bins(0.0..1.0, 1u64 << 31).is_err());
    let unbounded = x.histogram_bins(0.0..f64::INFINITY, 2).expect_err("a bound that is not finite");
    assert_eq!(unbounded.location().expect("a location").file(), file!());
}
