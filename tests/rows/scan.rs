//! Scans, `argmin` and `argmax` along every axis.

use std::collections::BTreeMap;

use ragged::opt::{ScanAxis, reversed};
use ragged::{Device, HostTensor, HostValues, Tensor};

use crate::common;
use crate::nest::{Nest, Random, both_devices, device_sized, ints, on, positions};

/// The lines along the axis: flat positions that differ only in their index along the axis, with that index.
fn lines(x: &HostTensor, axis: usize) -> Vec<Vec<(usize, usize)>> {
    fn walk(x: &Nest<usize>, path: &mut Vec<usize>, axis: usize, out: &mut BTreeMap<Vec<usize>, Vec<(usize, usize)>>) {
        match x {
            Nest::Leaf(at) => {
                let mut key = path.clone();
                let index = key.remove(axis);
                out.entry(key).or_default().push((index, *at));
            }
            Nest::List(items) => {
                for (k, item) in items.iter().enumerate() {
                    path.push(k);
                    walk(item, path, axis, out);
                    path.pop();
                }
            }
        }
    }
    let mut out = BTreeMap::new();
    walk(&positions(x), &mut Vec::new(), axis, &mut out);
    out.into_values().collect()
}

/// The scan by a loop over each line.
fn naive<T: Copy>(
    x: &HostTensor,
    values: &[T],
    axis: usize,
    (exclusive, reverse): (bool, bool),
    identity: T,
    combine: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut out = values.to_vec();
    for mut line in lines(x, axis) {
        if reverse {
            line.reverse();
        }
        let mut sum = identity;
        for (_, at) in line {
            let next = combine(sum, values[at]);
            out[at] = if exclusive { sum } else { next };
            sum = next;
        }
    }
    out
}

const FLAGS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

fn check(x: &HostTensor, t: &Tensor) {
    for axis in 0..x.nested_row_splits.len() + x.inner_shape.len() {
        let a = axis as i64;
        let read = |t: ragged::Result<Tensor>| t.and_then(|t| t.to_host()).expect("a scan");
        let v = ints(x);
        for flags in FLAGS {
            let (exclusive, reversed) = flags;
            let got = read(t.cumsum(ScanAxis::from(a).exclusive(exclusive).reversed(reversed)));
            assert_eq!(got.nested_row_splits, x.nested_row_splits);
            assert_eq!(
                ints(&got),
                naive(x, v, axis, flags, 0, i32::wrapping_add),
                "sum along {axis} {flags:?} of {x:?}"
            );
            let scan = ScanAxis::from(a).exclusive(exclusive).reversed(reversed);
            let step = |y: i32, x: i32| y.wrapping_mul(3).wrapping_add(x);
            let got = read(t.linear_recurrence(3, 5, scan));
            assert_eq!(ints(&got), naive(x, v, axis, flags, 5, step), "recurrence along {axis} {flags:?} of {x:?}");
            let got = read(t.linear_recurrence(t, 0, scan));
            let step = |y: i32, x: i32| y.wrapping_mul(x).wrapping_add(x);
            assert_eq!(ints(&got), naive(x, v, axis, flags, 0, step), "decays along {axis} {flags:?} of {x:?}");
            let got = read(t.cumprod(ScanAxis::from(a).exclusive(exclusive).reversed(reversed)));
            assert_eq!(ints(&got), naive(x, v, axis, flags, 1, i32::wrapping_mul), "product along {axis} of {x:?}");
        }
        for reversed in [false, true] {
            let want = naive(x, v, axis, (false, reversed), i32::MIN, i32::max);
            assert_eq!(
                ints(&read(t.cummax(ScanAxis::from(a).reversed(reversed)))),
                want,
                "maximum along {axis} of {x:?}"
            );
            let want = naive(x, v, axis, (false, reversed), i32::MAX, i32::min);
            assert_eq!(
                ints(&read(t.cummin(ScanAxis::from(a).reversed(reversed)))),
                want,
                "minimum along {axis} of {x:?}"
            );
        }
    }
}

#[test]
fn equal_naive_loops() {
    for seed in 0..40 {
        let mut random = Random::new(700 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let x = random.tensor(ragged, inner);
        for device in both_devices() {
            check(&x, &on(&x, &device));
        }
    }
}

#[test]
fn device_known_sizes_equal_naive_loops() {
    for seed in 0..20 {
        let mut random = Random::new(900 + seed);
        let (ragged, inner) = (1 + random.below(2) as usize, random.below(2) as usize);
        for device in both_devices() {
            let (x, host) = device_sized(&mut random, ragged, inner, &device);
            check(&host, &x);
        }
    }
}

/// Row lengths around the sizes of chunks, blocks, passes over partials and tiles; one giant row, many empty rows.
const LENGTHS: [u32; 32] = [
    0, 1, 7, 8, 9, 0, 15, 16, 17, 25, 63, 64, 65, 0, 0, 0, 255, 256, 257, 511, 513, 2047, 2048, 2049, 3, 34_000, 2, 0,
    1, 1, 300, 0,
];

fn rows(lengths: &[u32], inner: usize, values: HostValues) -> HostTensor {
    let mut splits = vec![0];
    lengths.iter().for_each(|&l| splits.push(splits[splits.len() - 1] + l));
    let mut inner_shape = vec![splits[lengths.len()] as usize];
    if inner > 1 {
        inner_shape.push(inner);
    }
    HostTensor { nested_row_splits: vec![splits], uniform_row_lengths: vec![None], inner_shape, values }
}

macro_rules! every_integer {
    ($($name:ident $t:ty, $v:ident;)*) => {$(
        #[test]
        fn $name() {
            let mut random = Random::new(3);
            for inner in [1, 3] {
                let n = LENGTHS.iter().sum::<u32>() as usize * inner;
                let values: Vec<$t> =
                    (0..n).map(|_| (random.below(1 << 20) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as $t).collect();
                let x = rows(&LENGTHS, inner, HostValues::$v(values.clone()));
                for (name, device) in common::devices().into_iter().filter(|(_, d)| common::has(d, x.values.dtype())) {
                    let t = on(&x, &device);
                    for flags in FLAGS {
                        let want = naive(&x, &values, 1, flags, 0, <$t>::wrapping_add);
                        let got = t.cumsum(ScanAxis::from(1).exclusive(flags.0).reversed(flags.1)).and_then(|t| t.to_host()).expect("a scan");
                        assert!(got.values == HostValues::$v(want), "{flags:?} of {inner} columns on {name}");
                    }
                    let want = naive(&x, &values, 1, (false, true), <$t>::MIN, <$t>::max);
                    let got = t.cummax(reversed(1)).and_then(|t| t.to_host()).expect("a scan");
                    assert!(got.values == HostValues::$v(want), "maximum of {inner} columns on {name}");
                }
            }
        }
    )*};
}
every_integer! {
    bytes u8, U8;
    signed_words i32, I32;
    words u32, U32;
    signed_longs i64, I64;
    longs u64, U64;
}

/// Floats of many magnitudes, whose sums depend on the order of addition.
fn floats(n: usize) -> Vec<f32> {
    let mut random = Random::new(n as u64);
    (0..n).map(|_| (random.below(2000) as f32 - 1000.0) * f32::powi(10.0, random.below(9) as i32 - 4)).collect()
}

fn bits(t: &Tensor) -> Vec<u64> {
    match t.to_host().expect("a read").values {
        HostValues::F32(v) => v.iter().map(|v| v.to_bits().into()).collect(),
        HostValues::F64(v) => v.iter().map(|v| v.to_bits()).collect(),
        other => panic!("{} where floats belong", other.dtype()),
    }
}

#[test]
fn floats_have_the_same_bits_everywhere_and_are_accurate() {
    for inner in [1, 3] {
        let values = floats(LENGTHS.iter().sum::<u32>() as usize * inner);
        let doubles: Vec<f64> = values.iter().map(|&v| f64::from(v) / 3.0).collect();
        for values in [HostValues::F32(values), HostValues::F64(doubles)] {
            let x = rows(&LENGTHS, inner, values);
            let all: Vec<f64> = match &x.values {
                HostValues::F32(v) => v.iter().map(|&v| v.into()).collect(),
                HostValues::F64(v) => v.clone(),
                other => panic!("{}", other.dtype()),
            };
            for flags in FLAGS {
                let run = |device: &Device| {
                    bits(
                        &on(&x, device)
                            .cumsum(ScanAxis::from(1).exclusive(flags.0).reversed(flags.1))
                            .expect("recorded"),
                    )
                };
                let want = run(&Device::cpu());
                for (name, device) in common::devices().iter().filter(|(_, d)| common::has(d, x.values.dtype())) {
                    assert!(run(device) == want, "{flags:?} of {inner} columns on {name}");
                }
                assert_eq!(run(&Device::cpu_unfused()), want);
                let exact = naive(&x, &all, 1, flags, 0.0, |a, b| a + b);
                let size = naive(&x, &all, 1, flags, 0.0, |a, b| a + b.abs());
                for ((&got, exact), size) in want.iter().zip(exact).zip(size) {
                    let got = match x.values {
                        HostValues::F32(_) => f32::from_bits(got as u32).into(),
                        _ => f64::from_bits(got),
                    };
                    assert!((got - exact).abs() <= size * 1e-6, "{got} for {exact}");
                }
            }
        }
    }
}

#[test]
fn rows_are_batch_invariant() {
    let lengths = [3, 0, 700, 1, 64, 257, 9000, 33, 0];
    for inner in [1, 2] {
        let values = floats(lengths.iter().sum::<u32>() as usize * inner);
        let run = |x: &HostTensor, device: &Device| bits(&on(x, device).cumsum(1).expect("recorded"));
        for (name, device) in common::devices() {
            let crowd = run(&rows(&lengths, inner, HostValues::F32(values.clone())), &device);
            let mut start = 0;
            for (k, &len) in lengths.iter().enumerate() {
                let end = start + len as usize * inner;
                let alone = rows(&[len], inner, HostValues::F32(values[start..end].to_vec()));
                assert!(run(&alone, &device) == crowd[start..end], "row {k} of {inner} columns on {name}");
                start = end;
            }
        }
    }
}

#[test]
fn infinities_and_nan_stay_in_their_row() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let x = rows(&[2, 0, 3, 2, 1], 1, HostValues::F32(vec![1.0, inf, 2.0, nan, 3.0, -inf, 4.0, -0.0]));
    for (name, device) in common::devices() {
        let x = on(&x, &device);
        let read = |t: ragged::Result<Tensor>| -> Vec<f32> {
            bits(&t.expect("recorded")).into_iter().map(|b| f32::from_bits(b as u32)).collect()
        };
        let sum = read(x.cumsum(1));
        assert_eq!((sum[0], sum[1], sum[2], sum[5], sum[6]), (1.0, inf, 2.0, -inf, -inf), "{name}");
        assert!(sum[3].is_nan() && sum[4].is_nan());
        assert_eq!(sum[7].to_bits(), 0, "a sum starts from 0.0 on {name}");
        let max = read(x.cummax(1));
        assert_eq!((max[1], max[2], max[5], max[6]), (inf, 2.0, -inf, 4.0), "{name}");
        assert!(max[3].is_nan() && max[4].is_nan());
        assert_eq!(max[7].to_bits(), (-0.0f32).to_bits());
        let min = read(x.cummin(reversed(1)));
        assert_eq!((min[0], min[1], min[4], min[5]), (1.0, inf, 3.0, -inf), "{name}");
    }
}

#[test]
fn invalid_arguments_are_errors() {
    let x = on(&HostTensor::dense(&[2], HostValues::Bool(vec![true, false])), &Device::cpu());
    assert!(matches!(x.cumsum(0), Err(ragged::Error::Unsupported { .. })));
    assert!(matches!(x.cumsum(1), Err(ragged::Error::Axis { .. })));
    let x = on(&HostTensor::dense(&[], HostValues::I32(vec![1])), &Device::cpu());
    assert!(matches!(x.cummax(0), Err(ragged::Error::Axis { .. })));
    assert!(matches!(x.argmin(0), Err(ragged::Error::Axis { .. })));
}

#[test]
fn argmin_and_argmax_equal_naive_loops() {
    for seed in 0..40 {
        let mut random = Random::new(1300 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let x = random.tensor(ragged, inner);
        let v = ints(&x);
        for axis in 0..1 + ragged + inner {
            // The longest line determines the number of results; a result without values belongs to no line.
            let first = |better: fn(i32, i32) -> bool| -> Vec<i64> {
                let line = |line: Vec<(usize, usize)>| {
                    line.into_iter().reduce(|a, b| if better(v[b.1], v[a.1]) { b } else { a }).map(|(k, _)| k as i64)
                };
                lines(&x, axis).into_iter().filter_map(line).collect()
            };
            for device in both_devices() {
                let t = on(&x, &device);
                let read = |t: ragged::Result<Tensor>| match t.and_then(|t| t.to_host()).expect("recorded").values {
                    HostValues::I64(v) => v,
                    other => panic!("{}", other.dtype()),
                };
                let found = |t| read(t).into_iter().filter(|&k| k >= 0).collect::<Vec<_>>();
                assert_eq!(found(t.argmin(axis as i64)), first(|a, b| a < b), "least along {axis} of {x:?}");
                assert_eq!(found(t.argmax(axis as i64)), first(|a, b| a > b), "greatest along {axis} of {x:?}");
                let counts: Vec<i64> = read(t.count_nonzero(axis as i64));
                assert_eq!(counts.iter().sum::<i64>() as usize, v.iter().filter(|&&v| v != 0).count());
                assert_eq!(counts.len(), read(t.argmax(axis as i64)).len());
            }
        }
    }
}

#[test]
fn argmin_and_argmax_of_floats() {
    let nan = f32::NAN;
    let x = rows(&[3, 0, 3, 2], 1, HostValues::F32(vec![0.0, -0.0, 0.0, 1.0, nan, nan, 5.0, 5.0]));
    for (_, device) in common::devices().into_iter().filter(|(_, d)| common::has(d, ragged::DType::I64)) {
        let t = on(&x, &device);
        for found in [t.argmin(1), t.argmax(1)] {
            assert_eq!(found.and_then(|t| t.to_host()).expect("read").values, HostValues::I64(vec![0, -1, 1, 0]));
        }
    }
}
