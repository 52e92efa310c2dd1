//! Floats: equal bits on every backend, and results close to those of wide floats.

use ragged::{DType, Device, HostTensor, HostValues, Result, SparseTensor, Tensor};

use crate::common::{self, outcome::bits, random::Random};
use crate::each_device;
use crate::twin::{Twin, Value};

/// Rows with these numbers of entries, at ascending columns of 5000; inexact values.
const LENGTHS: [usize; 12] = [3, 0, 1, 17, 64, 65, 300, 0, 2, 1030, 4500, 5];

fn matrix() -> Twin<f32> {
    let mut random = Random(7);
    let mut x = Twin { coordinates: Vec::new(), values: Vec::new(), shape: vec![LENGTHS.len() as u64, 5000] };
    for (row, &n) in LENGTHS.iter().enumerate() {
        for k in 0..n {
            x.coordinates.push(vec![row as i64, (k * 5000 / n) as i64]);
            x.values.push(random.below(1 << 20) as f32 / 1000.7 - 500.0);
        }
    }
    x
}

fn table(rows: usize, columns: usize) -> Vec<f32> {
    let mut random = Random(11);
    (0..rows * columns).map(|_| random.below(1 << 20) as f32 / 100_000.3 - 5.0).collect()
}

fn dense(shape: &[usize], values: &[f32], device: &Device) -> Tensor {
    HostTensor::dense(shape, HostValues::F32(values.to_vec())).to_device(device).expect("a tensor")
}

/// Checks that the bits are the same on every device, and returns the values.
#[track_caller]
fn same_everywhere(of: impl Fn(&Device) -> Result<Tensor>) -> Vec<f32> {
    let want = of(&Device::cpu()).and_then(|t| t.to_host()).expect("on the CPU");
    for (name, device) in each_device() {
        let got = of(device).and_then(|t| t.to_host()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(bits(&got), bits(&want), "{name}");
    }
    f32::of(want.values)
}

#[track_caller]
fn close(got: &[f32], want: &[f64], scale: f64) {
    assert_eq!(got.len(), want.len());
    for (k, (&got, &want)) in got.iter().zip(want).enumerate() {
        assert!((f64::from(got) - want).abs() <= 1e-5 * (scale + want.abs()), "{got} for {want} at {k}");
    }
}

#[test]
fn products() {
    let x = matrix();
    for columns in [1, 2, 8, 33, 64] {
        let b = table(5000, columns);
        let got = same_everywhere(|d| x.on(d).matmul(&dense(&[5000, columns], &b, d)));
        let mut want = vec![0f64; LENGTHS.len() * columns];
        for (c, &v) in x.entries() {
            for j in 0..columns {
                want[c[0] as usize * columns + j] += f64::from(v) * f64::from(b[c[1] as usize * columns + j]);
            }
        }
        close(&got, &want, 1e3);
        // A row alone has the bits of the row in the matrix.
        let row = 9;
        let alone = x.with(vec![1, 5000], |c| (c[0] == row).then(|| vec![0, c[1]]));
        let alone = same_everywhere(|d| alone.on(d).matmul(&dense(&[5000, columns], &b, d)));
        let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&alone), bits(&got[row as usize * columns..][..columns]), "{columns} columns");
    }
}

#[test]
fn products_of_other_dtypes() {
    let x = matrix();
    let b = table(5000, 16);
    let want = Device::cpu();
    for dtype in common::numbers() {
        let product = |d: &Device| {
            x.on(d).map_values(|v| v.cast(dtype))?.matmul(&dense(&[5000, 16], &b, d).cast(dtype)?)?.to_host()
        };
        let want = product(&want).expect("on the CPU");
        for (name, device) in each_device().filter(|(_, device)| common::has(device, dtype)) {
            assert_eq!(bits(&product(device).expect("a product")), bits(&want), "{dtype} on {name}");
        }
    }
}

#[test]
fn sums() {
    let x = matrix();
    let mut want = vec![0f64; LENGTHS.len()];
    x.entries().for_each(|(c, &v)| want[c[0] as usize] += f64::from(v));
    close(&same_everywhere(|d| x.on(d).reduce_sum(1)), &want, 1e6);
    let sparse = same_everywhere(|d| Ok(x.on(d).reduce_sum_sparse(1)?.values().clone()));
    let some: Vec<f64> = want.iter().zip(LENGTHS).filter(|(_, n)| *n > 0).map(|(v, _)| *v).collect();
    close(&sparse, &some, 1e6);
    // All entries at few coordinates.
    let few = x.with(vec![3, 2], |c| Some(vec![c[0] % 3, c[1] % 2]));
    let mut want = vec![0f64; 6];
    few.entries().for_each(|(c, &v)| want[few.position(c)] += f64::from(v));
    close(&same_everywhere(|d| Ok(few.on(d).coalesce()?.values().clone())), &want, 1e6);
    close(&same_everywhere(|d| few.on(d).reduce_sum([] as [i64; 0])), &want, 1e6);
}

#[test]
fn softmax() {
    let x = matrix();
    let shifted = x.map(|v| v / 50.0);
    let got = same_everywhere(|d| Ok(shifted.on(d).softmax()?.values().clone()));
    let exps: Vec<f64> = shifted.values.iter().map(|&v| f64::from(v).exp()).collect();
    let mut sums = vec![0f64; LENGTHS.len()];
    x.coordinates.iter().zip(&exps).for_each(|(c, e)| sums[c[0] as usize] += e);
    let want: Vec<f64> = x.coordinates.iter().zip(&exps).map(|(c, e)| e / sums[c[0] as usize]).collect();
    close(&got, &want, 0.1);
    // Rows of a tensor of rank 3 and of a vector.
    let deep = shifted.with(vec![4, 3, 5000], |c| Some(vec![c[0] / 3, c[0] % 3, c[1]]));
    assert_eq!(same_everywhere(|d| Ok(deep.on(d).softmax()?.values().clone())), got);
    let one = Twin::of(&[&[1], &[4]], &[2.0, 2.0], &[9]);
    assert_eq!(same_everywhere(|d| Ok(one.on(d).softmax()?.values().clone())), [0.5, 0.5]);
}

#[test]
fn special_values() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let x = Twin::of(&[&[0], &[1], &[2], &[3], &[5]], &[nan, -inf, -0.0, inf, -3.0], &[6]);
    let y = Twin::of(&[&[1], &[3], &[4]], &[inf, 1.0, -inf], &[6]);
    let of = |f: fn(&SparseTensor, &SparseTensor) -> Result<SparseTensor>| {
        same_everywhere(|d| Ok(f(&x.on(d), &y.on(d))?.values().clone()))
    };
    let text = |v: Vec<f32>| format!("{v:?}");
    // A sum begins at +0.
    assert_eq!(text(of(SparseTensor::add)), "[NaN, NaN, 0.0, inf, -inf, -3.0]");
    assert_eq!(text(of(SparseTensor::maximum)), "[NaN, inf, 0.0, inf, 0.0, 0.0]");
    assert_eq!(text(of(SparseTensor::minimum)), "[NaN, -inf, -0.0, 1.0, -inf, -3.0]");
    assert_eq!(text(same_everywhere(|d| x.on(d).reduce_max(..))), "[NaN]");
    let low = Twin::of(&[&[0, 0], &[0, 1]], &[-inf, -inf], &[2, 2]);
    assert_eq!(text(same_everywhere(|d| low.on(d).reduce_max(1))), "[-inf, 0.0]");
    // Absent elements do not meet the NaN of a dense matrix.
    let some = Twin::of(&[&[1, 1]], &[2.0], &[2, 2]);
    let got = same_everywhere(|d| some.on(d).matmul(&dense(&[2, 2], &[nan, nan, 3.0, inf], d)));
    assert_eq!(text(got), "[0.0, 0.0, 6.0, inf]");
    let got = same_everywhere(|d| some.on(d).add_dense(&dense(&[2, 2], &[-0.0, nan, 3.0, inf], d)));
    assert_eq!(text(got), "[-0.0, NaN, 3.0, inf]");
    let got =
        same_everywhere(|d| Ok(SparseTensor::from_dense(&dense(&[4], &[-0.0, nan, 0.0, -inf], d))?.values().clone()));
    assert_eq!(text(got), "[NaN, -inf]");
}

#[test]
fn every_dtype_of_values() {
    for dtype in DType::ALL {
        let x = Twin::of(&[&[1, 0], &[0, 2], &[0, 1], &[1, 0]], &[3, 1, 2, 4], &[2, 3]);
        for (name, device) in each_device().filter(|(_, device)| common::has(device, dtype)) {
            let x = match dtype {
                DType::Str => x.words().on(device),
                _ => x.on(device).map_values(|v| v.cast(dtype)).expect("a cast"),
            };
            let sorted = x.reorder().expect("sorted");
            let values = |x: &SparseTensor| x.values().to_host().expect("read").values;
            let taken = |at: [usize; 4]| {
                let index = HostTensor::dense(&[4], HostValues::I32(at.map(|k| k as i32).to_vec()));
                x.values().gather(&index.to_device(device).expect("indices")).expect("gathered")
            };
            let want = taken([2, 1, 0, 3]).to_host().expect("read").values;
            assert_eq!(values(&sorted), want, "{dtype} on {name}");
            let sums = x.coalesce();
            match dtype {
                DType::Bool | DType::Str => assert!(matches!(sums, Err(ragged::Error::Unsupported { .. })), "{dtype}"),
                _ => assert_eq!(values(&sums.expect("sums")).len(), 3, "{dtype} on {name}"),
            }
        }
    }
}
