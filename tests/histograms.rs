//! Counts of integers, histograms and crosses against plain loops, on every device.

mod common;

use common::random::Random;
use ragged::arguments::CrossInput;
use ragged::opt::{Bins, binary, clamped};
use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Tensor};

/// Rows of random numbers below `bound`: empty ones, one long one, more than a tile in all.
fn rows(bound: u32, seed: u64) -> Vec<Vec<i32>> {
    let mut random = Random(seed);
    let lengths = (0..200).map(|r| if r == 77 { 20_000 } else { (r * r) % 13 * u32::from(r % 5 != 0) });
    lengths.map(|n| (0..n).map(|_| random.below(bound) as i32).collect()).collect()
}

fn ints(x: &Tensor) -> Vec<i32> {
    match x.to_host().expect("read").values {
        HostValues::I32(values) => values,
        other => panic!("counts are {}", other.dtype()),
    }
}

#[test]
fn counts_are_those_of_a_loop() {
    for (name, device) in common::fused_and_not() {
        // Few bins and many: 2048 is the most that a workgroup counts by itself, 65,536 the most of a core.
        for bound in [1, 3, 100, 2048, 2049, 5000] {
            let nested = rows(bound, bound.into());
            let x = RaggedTensor::from_nested(nested.clone(), device).expect("valid");
            let needed = nested.iter().flatten().max().map_or(0, |&v| v as usize + 1);
            let count = |row: &[i32], bins: usize| -> Vec<i32> {
                let mut counts = vec![0; bins];
                row.iter().filter(|&&v| (v as usize) < bins).for_each(|&v| counts[v as usize] += 1);
                counts
            };
            let all = nested.concat();
            for (bins, number) in [(Bins::from(..), needed), (7.into(), 7), (Bins::from(70_000..), 70_000)] {
                let what = format!("{name} below {bound} in {bins:?}");
                assert_eq!(x.bincount(.., bins).expect(&what).to_vec().expect(&what), count(&all, number), "{what}");
                let occurs = x.bincount(0, binary(bins)).expect(&what).to_vec().expect(&what);
                assert_eq!(occurs, count(&all, number).iter().map(|&n| n.min(1)).collect::<Vec<_>>(), "{what}");
            }
            let by_row = x.bincount(1, ..=50).expect("recorded");
            let bins = needed.min(50);
            assert_eq!(by_row.shape(), [Some(200), Some(bins)], "{name}");
            let expected: Vec<i32> = nested.iter().flat_map(|row| count(row, bins)).collect();
            assert_eq!(by_row.to_vec().expect("read"), expected, "{name} below {bound} by row");
        }
    }
}

#[test]
fn every_dtype_of_integers_counts_alike() {
    for (name, device) in common::devices() {
        let nested = rows(100, 5);
        let x = RaggedTensor::from_nested(nested, &device).expect("valid");
        let expected = x.bincount(1, 90).expect("recorded").to_vec().expect("read");
        for dtype in common::numbers().filter(|&d| common::has(&device, d)) {
            let same = x.erased().cast(dtype).and_then(|x| x.bincount(1, 90)).expect("recorded");
            assert_eq!(ints(&same), expected, "{name} {dtype}");
        }
        for (bad, dtype) in [(-1.0, DType::F32), (0.5, DType::F32), (f64::NAN, DType::F32), (-1.0, DType::I64)] {
            let x = RaggedTensor::from_nested([1.0f32, bad as f32], &device).expect("valid");
            let x = x.erased().cast(dtype).expect("recorded");
            assert!(x.bincount(0, 3).expect("recorded").to_host().is_err(), "{name} {bad}");
            assert!(x.bincount(0, ..).is_err(), "{name} {bad}");
        }
        let far = RaggedTensor::from_nested([3i64, 1 << 40], &device).expect("valid");
        assert_eq!(far.bincount(0, 5).expect("recorded").to_vec().expect("read"), [0, 0, 0, 1, 0], "{name}");
        assert!(far.bincount(0, ..).is_err(), "{name}");
    }
}

#[test]
fn counts_at_any_axis() {
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested(vec![vec![vec![1, 1], vec![]], vec![], vec![vec![0, 2, 2]]], &device);
        let x = x.expect("valid");
        let inner = x.bincount(2, ..).expect("recorded").erased().to_host().expect("read");
        assert_eq!(inner.nested_row_splits, [[0, 2, 2, 3]], "{name}");
        assert_eq!(inner.inner_shape, [3, 3], "{name}");
        assert_eq!(inner.values, HostValues::I32(vec![0, 2, 0, 0, 0, 0, 1, 0, 2]), "{name}");
        let rows = x.bincount(1, ..).expect("recorded").to_vec().expect("read");
        assert_eq!(rows, [0, 2, 0, 0, 0, 0, 1, 0, 2], "{name}");
        let dense = HostTensor::dense(&[2, 2, 2], HostValues::U8(vec![0, 1, 1, 1, 3, 3, 0, 0])).to_device(&device);
        let dense = dense.expect("valid");
        let inner = dense.bincount(-1, ..).expect("recorded").to_host().expect("read");
        assert_eq!(inner.inner_shape, [2, 2, 4], "{name}");
        assert_eq!(inner.values, HostValues::I32(vec![1, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0]), "{name}");
    }
}

#[test]
fn weights_are_added() {
    for (name, device) in common::devices() {
        let nested = rows(40, 11);
        let x = RaggedTensor::from_nested(nested.clone(), &device).expect("valid");
        let weights: Vec<Vec<i32>> = nested.iter().map(|row| (0..row.len() as i32).collect()).collect();
        let w = RaggedTensor::from_nested(weights, &device).expect("valid");
        let sums = x.bincount_weighted(&w, 1, 40).expect("recorded").to_vec().expect("read");
        for (r, row) in nested.iter().enumerate() {
            for bin in 0..40 {
                let expected: i32 = (0i32..).zip(row).filter(|&(_, &v)| v == bin).map(|(k, _)| k).sum();
                assert_eq!(sums[r * 40 + bin as usize], expected, "{name} row {r} bin {bin}");
            }
        }
        let other = RaggedTensor::from_nested([vec![1.0f32], vec![]], &device).expect("valid");
        assert!(x.bincount_weighted(&other, 1, 40).and_then(|y| y.to_vec()).is_err(), "{name}");
        assert!(x.bincount_weighted(&w, 1, binary(40)).is_err(), "{name}");
    }
}

#[test]
fn sparse_counts_are_the_nonzero_ones() {
    for (name, device) in common::devices() {
        let nested = rows(300, 2);
        let x = RaggedTensor::from_nested(nested, &device).expect("valid");
        for (axis, bins) in [(1, Bins::from(..)), (1, Bins::from(..=150)), (0, binary(400..)), (1, binary(..))] {
            let dense = x.bincount(axis, bins).expect("recorded").erased().to_host().expect("read");
            let HostValues::I32(dense_values) = dense.values else { unreachable!("counts are i32") };
            let sparse = x.bincount_sparse(axis, bins).expect("recorded");
            let width = *dense.inner_shape.last().expect("a dimension");
            let (mut indices, mut counts) = (Vec::new(), Vec::new());
            for (k, &n) in dense_values.iter().enumerate().filter(|&(_, &n)| n != 0) {
                if axis == 1 {
                    indices.push((k / width) as i64);
                }
                indices.push((k % width) as i64);
                counts.push(n);
            }
            let shape: Vec<usize> = sparse.dense_shape().iter().map(|&d| d as usize).collect();
            assert_eq!(shape, dense.inner_shape, "{name} {bins:?}");
            assert_eq!(sparse.indices().to_host().expect("read").values, HostValues::I64(indices), "{name} {bins:?}");
            assert_eq!(sparse.values().to_host().expect("read").values, HostValues::I32(counts), "{name} {bins:?}");
        }
    }
}

#[test]
fn a_bin_holds_what_lies_between_its_bounds() {
    let mut random = Random(8);
    let mut values: Vec<f32> = (0..9000).map(|_| random.below(1 << 20) as f32 / 65536.0 - 3.0).collect();
    values.extend([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, -2.0, 9.3, 9.299_999]);
    for (low, high, bins) in [(-2.0f32, 9.3f32, 100u32), (0.0, 1.0, 3), (-2.5, 12.75, 1), (0.1, 0.7, 6)] {
        let width = ((f64::from(high) - f64::from(low)) / f64::from(bins)) as f32;
        let bound = |k: u32| if k == bins { high } else { low + k as f32 * width };
        values.extend((0..=bins).flat_map(|k| [bound(k), bound(k).next_down(), bound(k).next_up()]));
        let inside = |v: f32| (0..bins).find(|&k| bound(k) <= v && v < bound(k + 1));
        let counts = |bin: &dyn Fn(f32) -> Option<u32>| {
            let mut out = vec![0; bins as usize];
            values.iter().filter_map(|&v| bin(v)).for_each(|k| out[k as usize] += 1);
            out
        };
        let open = counts(&inside);
        let closed = counts(&|v| if v == high { Some(bins - 1) } else { inside(v) });
        let all = counts(&|v| match v {
            v if v.is_nan() => None,
            v if v < low => Some(0),
            v if v >= high => Some(bins - 1),
            v => inside(v),
        });
        for (name, device) in common::fused_and_not() {
            let x = RaggedTensor::from_nested(values.clone(), device).expect("valid");
            let read = |y: ragged::Result<RaggedTensor<i32>>| y.expect("recorded").to_vec().expect("read");
            assert_eq!(read(x.histogram(.., low..high, bins)), open, "{name} {low}..{high}");
            assert_eq!(read(x.histogram(0, low..=high, bins)), closed, "{name} {low}..={high}");
            assert_eq!(read(x.histogram(.., clamped(low..high), bins)), all, "{name} {low}..{high} clamped");
        }
    }
    let x = RaggedTensor::from_nested([1.0f32], &Device::cpu()).expect("valid");
    for (low, high) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (1e30, 1.000_000_1e30)] {
        assert!(x.histogram(.., low..high, 1000).is_err(), "{low}..{high}");
    }
    assert!(x.histogram(.., 0.0..1.0, 0).is_err());
    assert!(x.histogram(.., 0.0..1.0, -1).is_err());
}

#[test]
fn crosses_are_those_of_loops() {
    for (name, device) in common::devices() {
        let lengths: [[usize; 3]; 6] = [[1, 2, 3], [0, 4, 1], [5, 1, 2], [3, 3, 0], [2, 2, 2], [1, 1, 1]];
        let mut random = Random(21);
        let column = |k: usize, random: &mut Random| -> Vec<Vec<i64>> {
            let number = |random: &mut Random| match random.below(6) {
                0 => i64::MIN,
                1 => i64::MAX,
                2 => 0,
                _ => i64::from(random.below(2000)) - 1000,
            };
            lengths.iter().map(|row| (0..row[k]).map(|_| number(random)).collect()).collect()
        };
        let columns: Vec<Vec<Vec<i64>>> = (0..3).map(|k| column(k, &mut random)).collect();
        let tensors: Vec<RaggedTensor<i64>> =
            columns.iter().map(|c| RaggedTensor::from_nested(c.clone(), &device).expect("valid")).collect();
        let mut expected = Vec::new();
        let mut splits = vec![0u32];
        for ((first, second), third) in columns[0].iter().zip(&columns[1]).zip(&columns[2]) {
            for a in first {
                for b in second {
                    expected.extend(third.iter().map(|c| format!("{a}_X_{b}_X_{c}").into_bytes()));
                }
            }
            splits.push(expected.len() as u32);
        }
        let crosses = Tensor::cross(&tensors).expect("recorded").to_host().expect("read");
        assert_eq!(crosses.nested_row_splits, [splits.clone()], "{name}");
        assert_eq!(crosses.values, HostValues::Str(expected), "{name}");
        let hashed = |device: &Device| {
            let columns = columns.iter().map(|c| RaggedTensor::from_nested(c.clone(), device).expect("valid"));
            let columns: Vec<_> = columns.collect();
            Tensor::cross_hashed(&columns, 0).expect("recorded").to_host().expect("read")
        };
        let hashes = hashed(&device);
        assert_eq!(hashes, hashed(&Device::cpu()), "{name}");
        assert_eq!(hashes.nested_row_splits, [splits], "{name}");
    }
}

#[test]
fn misuse_of_crosses_is_an_error() {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![1], vec![2]], &device).expect("valid");
    let floats = RaggedTensor::from_nested([vec![1.0f32], vec![2.0]], &device).expect("valid");
    let one = RaggedTensor::from_nested([vec![1]], &device).expect("valid");
    let vector = RaggedTensor::from_nested([1, 2], &device).expect("valid");
    assert!(Tensor::cross(&[] as &[RaggedTensor<i32>]).is_err());
    assert!(Tensor::cross([CrossInput::from(&x), CrossInput::from(&floats)]).is_err());
    assert!(Tensor::cross([&x, &one]).is_err());
    assert!(Tensor::cross([&x, &vector]).is_err());
    assert!(Tensor::cross_hashed([&x, &x], -1).is_err());
    let long = RaggedTensor::from_nested([vec![1; 70_000]], &device).expect("valid");
    assert!(Tensor::cross_hashed([&long, &long], 5).and_then(|y| y.to_host()).is_err());
}
