//! Sums of many terms: their order, their error, and the gradient of a layer over many rows.

use ragged::opt::Factor;
use ragged::{DType, Device, HostTensor, HostValues, Tensor};

use super::common;
use super::common::random::Random;
use super::matrix::{Matrix, Number, bits, dense, on, ragged};

const TRANSPOSES: [[bool; 2]; 4] = [[false, false], [true, false], [false, true], [true, true]];

/// The product of two dense matrices.
fn product<T: Number>(a: &Matrix<T>, b: &Matrix<T>, t: [bool; 2], device: &Device) -> HostTensor {
    let of = |m: &Matrix<T>, transposed: bool| {
        let m = m.stored(transposed);
        let shape = [m.rows, m.columns];
        HostTensor::dense(&shape, T::wrap(m.values)).to_device(device).expect("a matrix")
    };
    let (a, b) = (of(a, t[0]), of(b, t[1]));
    let product = Factor::from(&a).transposed(t[0]).matmul(Factor::from(&b).transposed(t[1]));
    product.and_then(|x| x.to_host()).expect("a product")
}

/// Compares the product on every device with the definition.
fn check<T: Number>([m, k, n]: [usize; 3], transposes: &[[bool; 2]], devices: &[(String, Device)]) {
    let mut random = Random((m * 31 + k * 7 + n) as u64);
    let (a, b) = (Matrix::<T>::random(&mut random, m, k), Matrix::<T>::random(&mut random, k, n));
    let want: Vec<u64> = a.times(&b).into_iter().flatten().map(T::bits).collect();
    for (name, device) in devices.iter().filter(|(_, d)| common::has(d, T::DTYPE)) {
        for &t in transposes {
            let got = bits::<T>(&product(&a, &b, t, device));
            let differs = got.iter().zip(&want).position(|(a, b)| a != b);
            assert!(differs.is_none(), "{m} x {k} x {n} {t:?} of {} on {name}: result {differs:?}", T::DTYPE);
        }
    }
}

#[test]
fn blocks_of_terms() {
    let devices = common::devices();
    for k in [1, 255, 256, 257, 511, 513] {
        for m in [1, 3, 16, 64] {
            // Each transpose with some of the sizes, and all of them with a few.
            for (i, n) in [1, 3, 16, 64].into_iter().enumerate() {
                let all = m * n <= 9;
                check::<f32>([m, k, n], if all { &TRANSPOSES } else { &TRANSPOSES[i..=i] }, &devices);
            }
        }
    }
    check::<f64>([3, 769, 5], &TRANSPOSES, &devices);
    check::<i32>([3, 769, 5], &TRANSPOSES[..1], &devices);
    check::<u64>([3, 3000, 5], &TRANSPOSES[..1], &devices);
    for k in [4095, 4096, 4097, 9000] {
        check::<f32>([3, k, 5], &TRANSPOSES, &devices);
    }
}

/// A fused product that is too small for a float is -0; no result is.
#[test]
fn sums_that_underflow_are_zero() {
    let mut devices = common::devices();
    // Arrays in parts, with one run for each sum and with several.
    let parts = common::gpu_with(&ragged::DeviceOptions::default().max_binding(8 << 10));
    devices.extend(parts.map(|device| ("parts".to_owned(), device)));
    for [m, k, n] in [[1, 1, 1], [2, 200, 3], [3, 256, 2], [1, 257, 5], [2, 300, 1], [64, 200, 48], [48, 700, 64]] {
        // Only the last term is no 0.
        let last = |at: usize, tiny: f32| if at == k - 1 { tiny } else { 0.0 };
        let a = Matrix { rows: m, columns: k, values: (0..m * k).map(|p| last(p % k, 1e-30)).collect() };
        let b = Matrix { rows: k, columns: n, values: (0..k * n).map(|p| last(p / n, -1e-30)).collect() };
        for (name, device) in &devices {
            for t in TRANSPOSES {
                let got = bits::<f32>(&product(&a, &b, t, device));
                assert!(got.iter().all(|&bits| bits == 0), "{m} x {k} x {n} {t:?} on {name}: {got:x?}");
            }
        }
    }
}

#[test]
fn groups_of_terms() {
    let devices = common::devices();
    for k in [65_535, 65_536, 65_537, 200_000] {
        check::<f32>([1, k, 1], &TRANSPOSES, &devices);
        check::<f32>([3, k, 1], &TRANSPOSES[..2], &devices);
        check::<f32>([1, k, 3], &TRANSPOSES[2..], &devices);
    }
    check::<f32>([16, 66_000, 3], &TRANSPOSES[1..2], &devices);
    check::<f64>([2, 131_073, 1], &TRANSPOSES[1..2], &devices);
    check::<i64>([1, 70_000, 2], &TRANSPOSES[..1], &devices);
}

/// Many tiles, whose terms are not divided: several groups per sum.
#[test]
fn groups_of_terms_in_many_tiles() {
    let devices = common::devices();
    let batches: Vec<[usize; 3]> = (0..140).map(|g| [1, if g == 77 { 66_000 } else { g * 5 }, 2]).collect();
    let mut random = Random(3);
    let a: Vec<Matrix<f32>> = batches.iter().map(|&[m, k, _]| Matrix::random(&mut random, k, m)).collect();
    let b: Vec<Matrix<f32>> = batches.iter().map(|&[_, k, n]| Matrix::random(&mut random, k, n)).collect();
    let want: Vec<u64> = a.iter().zip(&b).flat_map(|(a, b)| a.transpose().times(b)).flatten().map(f32::bits).collect();
    for (name, device) in &devices {
        for hidden in [false, true] {
            let [x, y] = [&a, &b].map(|m| on(&ragged(m), device, hidden));
            // A matrix without rows has no columns.
            let got = x.t().matmul(&y).and_then(|x| x.to_host()).expect("a product");
            let skipped = 2;
            assert!(bits::<f32>(&got) == want[skipped..], "{name}, hidden {hidden}");
        }
    }
}

#[test]
fn ragged_batches_of_different_terms() {
    let devices = common::devices();
    let terms = [300, 0, 256, 5000, 1, 65_536, 257, 70_001, 2048];
    let mut random = Random(5);
    let a: Vec<Matrix<f32>> = terms.iter().map(|&k| Matrix::random(&mut random, 2, k)).collect();
    let b: Vec<Matrix<f32>> = terms.iter().map(|&k| Matrix::random(&mut random, k, 3)).collect();
    let want: Vec<u64> = a.iter().zip(&b).flat_map(|(a, b)| a.times(b)).flatten().map(f32::bits).collect();
    for (name, device) in &devices {
        for hidden in [false, true] {
            let left = on(&ragged(&a), device, hidden);
            let right: Vec<Matrix<f32>> = b.iter().map(Matrix::transpose).collect();
            let right = on(&ragged(&right), device, hidden);
            let got = left.matmul(right.t()).and_then(|x| x.to_host()).expect("a product");
            assert!(bits::<f32>(&got) == want, "{name}, hidden {hidden}");
        }
    }
}

/// The half types accumulate in f32, in the same order.
#[test]
fn half_floats_accumulate_in_f32() {
    let terms = 70_000;
    let value = |k: usize| ((k * 7919) % 201) as f32 / 64.0 - 1.5;
    let values: Vec<f32> = (0..terms).map(value).collect();
    for dtype in [DType::F16, DType::BF16] {
        for (name, device) in common::devices().iter().filter(|(_, d)| common::has(d, dtype)) {
            let x = HostTensor::dense(&[1, terms], HostValues::F32(values.clone())).to_device(device).expect("a row");
            let half = x.cast(dtype).expect("recorded");
            let wide = half.cast(DType::F32).expect("recorded");
            let product = |x: &Tensor| x.matmul(x.t()).and_then(|y| y.cast(dtype)).and_then(|y| y.to_host());
            assert_eq!(product(&half).expect("a product"), product(&wide).expect("a product"), "{dtype} on {name}");
        }
    }
}

/// The error of 1,000,000 terms is at most 1e-6 of the sum of their magnitudes: of random terms, and of equal ones,
/// whose rounding errors have one sign within a sum.
#[test]
fn a_million_terms_have_a_small_error() {
    const TERMS: usize = 1_000_000;
    let (m, n) = (2, 3);
    let mut random = Random(8);
    let mut random =
        |n: usize| -> Vec<f32> { (0..n * TERMS).map(|_| random.below(1 << 24) as f32 / (1 << 24) as f32).collect() };
    let positive = [random(m), random(n)];
    let of_both_signs = positive.clone().map(|values| values.into_iter().map(|x| 2.0 * x - 1.0).collect());
    // Each column of a factor has one value.
    let equal = |of: &[f32]| of.repeat(TERMS);
    let cases: [(&str, [Vec<f32>; 2]); 3] = [
        ("positive", positive),
        ("of both signs", of_both_signs),
        ("equal", [equal(&[0.1, 0.7]), equal(&[0.3, 1.1, 0.013])]),
    ];
    for (what, [x, y]) in cases {
        let mut bits = None;
        for (name, device) in common::devices() {
            let of = |values: &[f32], columns: usize| {
                let host = HostTensor::dense(&[TERMS, columns], HostValues::F32(values.to_vec()));
                host.to_device(&device).expect("a matrix")
            };
            let got = of(&x, m).t().matmul(&of(&y, n)).and_then(|x| x.to_host()).expect("a product");
            let HostValues::F32(got) = got.values else { panic!("floats") };
            for (p, &got) in got.iter().enumerate() {
                let terms = (0..TERMS).map(|l| f64::from(x[l * m + p / n]) * f64::from(y[l * n + p % n]));
                let (want, all) = terms.fold((0.0, 0.0), |(sum, all), term| (sum + term, all + term.abs()));
                let error = (f64::from(got) - want).abs() / all;
                assert!(error <= 1e-6, "{what} on {name}: result {p} has an error of {error:e}");
            }
            let got: Vec<u32> = got.iter().map(|x| x.to_bits()).collect();
            assert_eq!(*bits.get_or_insert_with(|| got.clone()), got, "{what} on {name}");
        }
    }
}

/// As of 1,000,000 terms, of products of many columns: of `|X|ᵀ|Y|`, by loops in f64.
#[test]
fn wide_products_of_many_terms_have_a_small_error() {
    const TERMS: usize = 100_000;
    const COLUMNS: usize = 64;
    let mut random = Random(11);
    let mut random =
        || -> Vec<f32> { (0..COLUMNS * TERMS).map(|_| random.below(1 << 24) as f32 / (1 << 24) as f32).collect() };
    let positive = [random(), random()];
    let of_both_signs = positive.clone().map(|values| values.into_iter().map(|x| 2.0 * x - 1.0).collect());
    for (what, [x, y]) in [("positive", positive), ("of both signs", of_both_signs)] {
        let mut want = vec![(0.0, 0.0); COLUMNS * COLUMNS];
        for (x, y) in x.chunks(COLUMNS).zip(y.chunks(COLUMNS)) {
            for (sums, &x) in want.chunks_mut(COLUMNS).zip(x) {
                for ((sum, all), &y) in sums.iter_mut().zip(y) {
                    let term = f64::from(x) * f64::from(y);
                    *sum += term;
                    *all += term.abs();
                }
            }
        }
        let mut bits = None;
        for (name, device) in common::devices() {
            let of = |values: &[f32]| {
                let host = HostTensor::dense(&[TERMS, COLUMNS], HostValues::F32(values.to_vec()));
                host.to_device(&device).expect("a matrix")
            };
            let got = of(&x).t().matmul(&of(&y)).and_then(|x| x.to_host()).expect("a product");
            let HostValues::F32(got) = got.values else { panic!("floats") };
            assert_eq!(got.len(), want.len());
            for (p, (&got, (want, all))) in got.iter().zip(&want).enumerate() {
                let error = (f64::from(got) - want).abs() / all;
                assert!(error <= 1e-6, "{what} on {name}: result {p} has an error of {error:e}");
            }
            let got: Vec<u32> = got.iter().map(|x| x.to_bits()).collect();
            assert!(*bits.get_or_insert_with(|| got.clone()) == got, "{what} on {name}");
        }
    }
}

/// The cotangent of the weights is a product over all rows, whose terms are divided.
#[test]
fn gradient_of_a_layer_over_many_rows() {
    const ROWS: usize = 100_000;
    let (inputs, outputs) = (4, 3);
    let mut random = Random(4);
    let x = Matrix::<f32>::random(&mut random, ROWS, inputs);
    let c = Matrix::<f32>::random(&mut random, ROWS, outputs);
    let want: Vec<u64> = x.transpose().times(&c).into_iter().flatten().map(f32::bits).collect();
    for (name, device) in common::devices() {
        let of = |m: &Matrix<f32>| on(&dense(std::slice::from_ref(m), m.rows, m.columns), &device, false);
        let flat = |m: &Matrix<f32>| of(m).reshape([m.rows as i64, m.columns as i64]).expect("a matrix");
        let w = Matrix::<f32>::random(&mut random, inputs, outputs);
        let (x, c, w) = (flat(&x), flat(&c), flat(&w));
        let loss = |w: &[Tensor]| x.matmul(&w[0])?.multiply(&c)?.reduce_sum(1)?.reduce_sum(0);
        let gradient = ragged::grad(loss, [&w]).expect("a gradient").remove(0);
        let explained = gradient.explain().expect("explained");
        let kernel = explained.kernels.iter().find(|k| k.kind == "matmul").expect("a product");
        let dispatches = if device.is_cpu() { 1 } else { 3 };
        assert_eq!(kernel.dispatches, dispatches, "{name}: {explained}");
        let got = bits::<f32>(&gradient.to_host().expect("a read"));
        assert!(got == want, "{name}");
    }
}
