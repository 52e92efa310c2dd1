//! Ranges of starts, limits and steps.

use std::fmt::Debug;

use ragged::arguments::Operand;
use ragged::{DType, Device, Error, HostTensor, HostValues, Result, Tensor};

use crate::nest::{Random, on};
use crate::{common, devices, outcome};

/// The numbers of the row, in arithmetic that cannot overflow.
fn row(start: i64, limit: i64, delta: i64) -> Vec<i64> {
    let (mut at, limit, delta) = (i128::from(start), i128::from(limit), i128::from(delta));
    let mut out = Vec::new();
    while if delta > 0 { at < limit } else { at > limit } {
        out.push(at as i64);
        at += delta;
    }
    out
}

fn vector(values: HostValues, device: &Device) -> Tensor {
    on(&HostTensor::dense(&[values.len()], values), device)
}

fn splits<T>(rows: &[Vec<T>]) -> Vec<u32> {
    let mut out = vec![0];
    rows.iter().for_each(|r| out.push(out[out.len() - 1] + r.len() as u32));
    out
}

#[test]
fn integers_equal_naive_loops_up_to_the_limits() {
    let mut random = Random::new(4);
    let mut all: Vec<[i64; 3]> = (0..300)
        .map(|_| {
            let mut small = || i64::from(random.below(60)) - 30;
            let [a, b, d] = [small(), small(), small()];
            [a, b, if d == 0 { 7 } else { d }]
        })
        .collect();
    let (low, high) = (i64::from(i32::MIN), i64::from(i32::MAX));
    all.extend([
        [low, high, 1 << 30],
        [high, low, -(1 << 30)],
        [low, high, high],
        [high, low, low],
        [low, low, 1],
        [high, high, low],
        [high, low, 1],
        [low, high, -1],
        [high - 1, high, 1],
        [low + 5, low, -2],
    ]);
    let rows: Vec<Vec<i64>> = all.iter().map(|&[a, b, d]| row(a, b, d)).collect();
    for device in devices() {
        let narrow = |k: usize| vector(HostValues::I32(all.iter().map(|r| r[k] as i32).collect()), &device);
        let wide = |k: usize| vector(HostValues::I64(all.iter().map(|r| r[k] << 31).collect()), &device);
        let got = Tensor::ranges(&narrow(0), &narrow(1), &narrow(2)).and_then(|t| t.to_host()).expect("ranges");
        assert_eq!(got.nested_row_splits, [splits(&rows)]);
        assert_eq!(got.values, HostValues::I32(rows.concat().into_iter().map(|v| v as i32).collect()));
        let got = Tensor::ranges(&wide(0), &wide(1), &wide(2)).and_then(|t| t.to_host()).expect("ranges");
        assert_eq!(got.nested_row_splits, [splits(&rows)]);
        assert_eq!(got.values, HostValues::I64(rows.concat().into_iter().map(|v| v << 31).collect()));
    }
}

/// Checks that host-known and device-known starts and steps give the same results.
fn known_or_not<T: Copy + Debug + Into<Operand<'static>>>(
    device: &Device,
    values: fn(Vec<T>) -> HostValues,
    [start, limit, delta]: [T; 3],
) {
    let [starts, limits, deltas] = [start, limit, delta].map(|v| vector(values(vec![v]), device));
    let expected = outcome(Tensor::ranges(&starts, &limits, &deltas));
    let what = format!("from {start:?} to {limit:?} by {delta:?} on {}", device.name());
    let [start, delta] = [start, delta].map(T::into);
    for starts in [start, (&starts).into()] {
        for deltas in [delta.clone(), (&deltas).into()] {
            assert_eq!(outcome(Tensor::ranges(starts.clone(), &limits, deltas)), expected, "{what}");
        }
    }
}

#[test]
fn host_known_and_device_known_starts_and_steps_agree() {
    // Bounded by the memory.
    let near = |[a, b]: [i64; 2]| a.abs_diff(b) < 100;
    let edges = |low: i64, high: i64| {
        let starts = [0, 5, -3, 1, low, low + 4, high, high - 4];
        starts.into_iter().flat_map(move |a| starts.map(|b| [a, b])).chain([[0, 7], [7, 0], [-1, 1], [low, low + 9]])
    };
    let floats = [[0.0, 2.5], [-0.0, 1.0], [0.5, 0.5], [-1.25, 2.0], [0.0, -3.0], [16_777_216.0, 16_777_219.0]];
    let bad = [[0.0, f64::NAN], [f64::NAN, 2.0], [0.0, f64::INFINITY], [0.0, 1e11], [0.0, f64::NEG_INFINITY]];
    for device in devices() {
        for ([a, b], delta) in edges(i64::MIN, i64::MAX).flat_map(|ends| [1, -1, 2].map(|delta| (ends, delta))) {
            known_or_not(&device, HostValues::I64, [a, b, delta]);
        }
        for [a, b] in edges(i32::MIN.into(), i32::MAX.into()).filter(|&ends| near(ends)) {
            for delta in [1, -1, 2] {
                known_or_not(&device, HostValues::I32, [a as i32, b as i32, delta]);
            }
        }
        for [a, b] in edges(0, u32::MAX.into()).filter(|&[a, b]| near([a, b]) && a >= 0 && b >= 0) {
            known_or_not(&device, HostValues::U32, [a as u32, b as u32, 1]);
        }
        for [a, b] in floats.into_iter().chain(bad) {
            for delta in [1.0, -1.0, -0.5, 2.0] {
                known_or_not(&device, HostValues::F32, [a as f32, b as f32, delta as f32]);
                if common::has(&device, DType::F64) {
                    known_or_not(&device, HostValues::F64, [a, b, delta]);
                }
            }
        }
    }
}

#[test]
fn floats_are_a_product_and_a_sum() {
    let mut random = Random::new(5);
    let all: Vec<[f32; 3]> = (0..200)
        .map(|_| {
            let mut number = || (random.below(4000) as f32 - 2000.0) / 37.0;
            [number(), number(), if random.below(2) == 0 { 0.1 } else { -0.7 }]
        })
        .collect();
    let rows: Vec<Vec<f32>> = all
        .iter()
        .map(|&[a, b, d]| (0..((b - a) / d).ceil().max(0.0) as u32).map(|k| a + k as f32 * d).collect())
        .collect();
    for device in devices() {
        let column = |k: usize| vector(HostValues::F32(all.iter().map(|r| r[k]).collect()), &device);
        let got = Tensor::ranges(&column(0), &column(1), &column(2)).and_then(|t| t.to_host()).expect("ranges");
        assert_eq!(got.nested_row_splits, [splits(&rows)]);
        assert_eq!(got.values, HostValues::F32(rows.concat()));
        // Rows are batch-invariant.
        let alone = vector(HostValues::F32(vec![all[7][1]]), &device);
        let got = Tensor::ranges(all[7][0], &alone, all[7][2]).and_then(|t| t.to_host()).expect("a range");
        assert_eq!(got.values, HostValues::F32(rows[7].clone()));
    }
}

#[test]
fn infinite_ranges_are_errors() {
    // An error of the read: recording does not wait.
    let read = |ranges: Result<Tensor>| ranges.and_then(|ranges| ranges.to_host());
    for device in devices() {
        let f = |v: f32| vector(HostValues::F32(vec![0.0, v]), &device);
        for v in [f32::NAN, f32::INFINITY, 1e30] {
            assert!(matches!(read(Tensor::ranges(0f32, &f(v), 1f32)), Err(Error::Check { .. })), "{v}");
        }
        assert!(matches!(read(Tensor::ranges(0f32, &f(1.0), 0f32)), Err(Error::Check { .. })));
        assert_eq!(Tensor::ranges(0f32, &f(f32::NEG_INFINITY), 1f32).unwrap().count_of_values(), 0);
        let i = |v: i64| vector(HostValues::I64(vec![0, v]), &device);
        assert!(matches!(read(Tensor::ranges(0, &i(1 << 32), 1)), Err(Error::Check { .. })));
        assert!(matches!(read(Tensor::ranges(0, &i(1), &i(0))), Err(Error::Check { .. })));
        assert!(matches!(read(Tensor::ranges(0, &i((1 << 32) - 1), 1)), Err(Error::Check { .. })));
        assert!(matches!(
            read(Tensor::ranges(-5, &i((1 << 32) - 7), 1)),
            Err(Error::Limit { .. } | Error::Check { .. })
        ));
        let three = vector(HostValues::I64(vec![1, 2, 3]), &device);
        assert!(matches!(Tensor::ranges(&three, &i(1), 1), Err(Error::Shape { .. })));
        let square = on(&HostTensor::dense(&[1, 1], HostValues::I64(vec![1])), &device);
        assert!(matches!(square.range(), Err(Error::Argument { .. })));
        let bytes = vector(HostValues::U8(vec![1]), &device);
        assert!(matches!(bytes.range(), Err(Error::Unsupported { .. })));
    }
    assert!(matches!(Tensor::ranges(0, 1, 1), Err(Error::Argument { .. })));
}

trait CountOfValues {
    fn count_of_values(&self) -> usize;
}
impl CountOfValues for Tensor {
    fn count_of_values(&self) -> usize {
        self.to_host().expect("a read").values.len()
    }
}

#[test]
fn dtypes_are_promoted_to_a_common_one() {
    let device = Device::cpu();
    let (small, unsigned) = (vector(HostValues::I32(vec![2]), &device), vector(HostValues::U32(vec![3]), &device));
    let got = Tensor::ranges(&small, &unsigned, -1).expect("recorded");
    assert_eq!(got.to_host().expect("a read").values, HostValues::I64(vec![]));
    let got = Tensor::ranges(&unsigned, 5u32, 1u32).expect("recorded");
    assert_eq!(got.to_host().expect("a read").values, HostValues::U32(vec![3, 4]));
    // Numbers take the dtype of the tensors, which i32 has no 0.5 of.
    assert!(matches!(Tensor::ranges(&small, 3f32, 0.5f32), Err(Error::Argument { .. })));
    let floats = vector(HostValues::F32(vec![3.0]), &device);
    let got = Tensor::ranges(&small, &floats, 0.5f32).expect("recorded");
    assert_eq!(got.to_host().expect("a read").values, HostValues::F32(vec![2.0, 2.5]));
}
