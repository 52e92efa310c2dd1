//! Variances and norms of numerically difficult values, compared with exact arithmetic, on every device.

mod common;

use common::{devices, has};
use ragged::opt::with_nrows;
use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Result, Tensor};

/// A reduction of each row.
type Reduce = fn(&Tensor, i64) -> Result<Tensor>;

/// Lengths around subgroups, workgroups and tiles, empty rows, and one long row.
const LENGTHS: [usize; 14] = [0, 1, 2, 31, 32, 33, 0, 255, 256, 257, 5000, 3, 2048, 0];

/// Pseudorandom whole numbers with a fixed seed.
fn noise(n: usize, below: u64) -> Vec<i64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ n as u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..n).map(|_| next() as i64).collect()
}

/// Rows of these lengths, with values slightly above `base`.
fn shifted(base: i64, step: i64, below: u64) -> Vec<Vec<i64>> {
    let all = noise(LENGTHS.iter().sum(), below);
    let mut rest = all.iter().map(|v| base + step * v);
    LENGTHS.iter().map(|&n| rest.by_ref().take(n).collect()).collect()
}

fn tensor<T>(rows: &[Vec<T>], values: HostValues) -> HostTensor {
    let mut splits = vec![0u32];
    rows.iter().for_each(|r| splits.push(splits[splits.len() - 1] + r.len() as u32));
    HostTensor::from_row_splits(splits, values)
}

fn floats(values: &HostValues) -> Vec<f64> {
    match values {
        HostValues::F32(v) => v.iter().map(|&v| v.into()).collect(),
        HostValues::F64(v) => v.clone(),
        other => panic!("{} where floats belong", other.dtype()),
    }
}

/// The result of the reduction, after checking that every device with the dtype gives the same bits.
fn everywhere(x: &HostTensor, reduce: Reduce) -> Vec<f64> {
    let mut found: Option<(String, Vec<f64>)> = None;
    for (name, device) in devices() {
        if !has(&device, x.values.dtype()) {
            continue;
        }
        let got = x.to_device(&device).and_then(|x| reduce(&x, 1)).and_then(|t| t.to_host()).expect("a result");
        let got = floats(&got.values);
        if let Some((first, want)) = &found {
            let bits = |v: &[f64]| v.iter().map(|v| if v.is_nan() { 0 } else { v.to_bits() }).collect::<Vec<_>>();
            assert_eq!(bits(&got), bits(want), "{name} differs from {first}");
        } else {
            found = Some((name, got));
        }
    }
    found.expect("the CPU backend has every dtype").1
}

/// The population variance of whole numbers, rounded once.
fn variance(row: &[i64]) -> f64 {
    let n = row.len() as i128;
    // A shift does not change the variance, and makes the squares fit.
    let moved = row.iter().map(|&v| i128::from(v - row[0]));
    let (sum, squares) = moved.fold((0, 0), |(sum, squares), v| (sum + v, squares + v * v));
    (n * squares - sum * sum) as f64 / (n * n) as f64
}

/// The least positive f32.
const LEAST: f64 = 1.5e-45;

fn assert_near(got: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len());
    for (k, (g, w)) in got.iter().zip(want).enumerate() {
        // Subnormal numbers of f32 have few digits.
        let near = (g - w).abs() <= (tolerance * w.abs()).max(LEAST) || g.is_nan() && w.is_nan();
        assert!(near, "{what}, row {k} of {} values: {g:e} instead of {w:e}", LENGTHS[k]);
    }
}

#[test]
fn variances_of_large_numbers_with_small_differences() {
    // Adjacent floats: at 1e8 they differ by 8 in f32, at 2^52 by 1 in f64.
    let narrow = shifted(100_000_000, 8, 5);
    let wide = shifted(1 << 52, 1, 7);
    let single = tensor(&narrow, HostValues::F32(narrow.iter().flatten().map(|&v| v as f32).collect()));
    let double = tensor(&wide, HostValues::F64(wide.iter().flatten().map(|&v| v as f64).collect()));
    let integer = tensor(&wide, HostValues::I64(wide.iter().flatten().copied().collect()));
    for (x, rows, tolerance) in [(&single, &narrow, 2e-6), (&double, &wide, 1e-14), (&integer, &wide, 1e-14)] {
        let want: Vec<_> = rows.iter().map(|r| variance(r)).collect();
        let what = format!("variance of {}", x.values.dtype());
        assert_near(&everywhere(x, Tensor::reduce_variance), &want, tolerance, &what);
        let want: Vec<_> = want.iter().map(|v| v.sqrt()).collect();
        assert_near(
            &everywhere(x, Tensor::reduce_std),
            &want,
            tolerance,
            &format!("deviation of {}", x.values.dtype()),
        );
    }
}

#[test]
fn a_constant_row_has_no_variance() {
    let rows: Vec<Vec<f32>> = LENGTHS.iter().map(|&n| vec![0.1; n]).collect();
    let x = tensor(&rows, HostValues::F32(rows.concat()));
    for (k, v) in everywhere(&x, Tensor::reduce_variance).iter().enumerate() {
        assert!(v.is_nan() && LENGTHS[k] == 0 || (0.0..1e-15).contains(v), "row {k}: {v:e}");
    }
}

/// The norm, with a scale that keeps squares in range.
fn norm(row: &[f64]) -> f64 {
    let most = row.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    if most == 0.0 { 0.0 } else { row.iter().map(|v| (v / most).powi(2)).sum::<f64>().sqrt() * most }
}

#[test]
fn norms_of_any_magnitude() {
    let numbers = shifted(-500, 1, 1000);
    for scale in [1.0f32, 1e30, 3.0e-39, 1e-42] {
        let rows: Vec<Vec<f32>> = numbers.iter().map(|r| r.iter().map(|&v| v as f32 * scale).collect()).collect();
        let want: Vec<_> = rows.iter().map(|r| norm(&r.iter().map(|&v| v.into()).collect::<Vec<_>>())).collect();
        let x = tensor(&rows, HostValues::F32(rows.concat()));
        assert_near(&everywhere(&x, Tensor::reduce_euclidean_norm), &want, 1e-6, &format!("norm at {scale:e}"));
    }
    for scale in [1.0f64, 1e300, 1e-300, 1e-312] {
        let rows: Vec<Vec<f64>> = numbers.iter().map(|r| r.iter().map(|&v| v as f64 * scale).collect()).collect();
        let want: Vec<_> = rows.iter().map(|r| norm(r)).collect();
        let x = tensor(&rows, HostValues::F64(rows.concat()));
        let tolerance = if scale == 1e-312 { 1e-8 } else { 1e-14 };
        let got = everywhere(&x, Tensor::reduce_euclidean_norm);
        // Larger than the absolute tolerance.
        let up = |v: &[f64]| v.iter().map(|v| v * if scale < 1.0 { 1e300 } else { 1.0 }).collect::<Vec<_>>();
        assert_near(&up(&got), &up(&want), tolerance, &format!("norm at {scale:e}"));
    }
    let want: Vec<_> = numbers.iter().map(|r| norm(&r.iter().map(|&v| v as f64).collect::<Vec<_>>())).collect();
    let x = tensor(&numbers, HostValues::I32(numbers.iter().flatten().map(|&v| v as i32).collect()));
    assert_near(&everywhere(&x, Tensor::reduce_euclidean_norm), &want, 1e-14, "norm of integers");
}

#[test]
fn norms_of_infinities_and_nan() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let rows = vec![vec![inf, 1.0], vec![-inf], vec![nan, 1.0], vec![inf, nan], vec![f32::MAX], vec![-0.0], vec![]];
    let x = tensor(&rows, HostValues::F32(rows.concat()));
    let got = everywhere(&x, Tensor::reduce_euclidean_norm);
    assert_eq!(got[..2], [f64::INFINITY; 2]);
    assert!(got[2].is_nan() && got[3].is_nan());
    assert_eq!(got[4..], [f32::MAX.into(), 0.0, 0.0]);
}

#[test]
fn rows_are_batch_invariant() {
    let rows: Vec<Vec<f32>> =
        shifted(-500, 1, 1000).iter().map(|r| r.iter().map(|&v| (v as f32) * 1.7e-3).collect()).collect();
    let crowd = tensor(&rows, HostValues::F32(rows.concat()));
    for reduce in [Tensor::reduce_variance, Tensor::reduce_std, Tensor::reduce_euclidean_norm] as [Reduce; 3] {
        let all = everywhere(&crowd, reduce);
        for (row, together) in rows.iter().zip(all) {
            let alone = tensor(std::slice::from_ref(row), HostValues::F32(row.clone()));
            let alone = alone.to_device(&Device::cpu()).and_then(|x| reduce(&x, 1)).expect("recorded");
            let alone = floats(&alone.to_host().expect("a read").values)[0];
            assert!(
                alone.to_bits() == together.to_bits() || alone.is_nan() && together.is_nan(),
                "{} values",
                row.len()
            );
        }
    }
}

#[test]
fn a_reduction_over_several_axes_is_one_set_of_values() {
    // Three outer rows of 2, 0 and 1 rows.
    let x = HostTensor {
        nested_row_splits: vec![vec![0, 2, 2, 3], vec![0, 3, 4, 6]],
        uniform_row_lengths: vec![None, None],
        inner_shape: vec![6],
        values: HostValues::F64(vec![3.0, 4.0, 12.0, 84.0, 5.0, 12.0]),
    };
    for (_, device) in devices() {
        if !has(&device, DType::F64) {
            continue;
        }
        let x = x.to_device(&device).expect("a tensor");
        let norm = |axes: &[i64]| floats(&x.reduce_euclidean_norm(axes).unwrap().to_host().unwrap().values);
        assert_eq!(norm(&[2]), [13.0, 84.0, 13.0]);
        assert_eq!(norm(&[1, 2]), [7225f64.sqrt(), 0.0, 13.0]);
        assert_eq!(norm(&[0, 1, 2]), [7394f64.sqrt()]);
        assert_eq!(norm(&[]), [3.0, 4.0, 12.0, 84.0, 5.0, 12.0]);
        let variance = floats(&x.reduce_variance([1, 2]).unwrap().to_host().unwrap().values);
        // 3, 4, 12 and 84 around 25.75.
        assert!((variance[0] - 1143.1875).abs() < 1e-9 && variance[1].is_nan() && variance[2] == 12.25, "{variance:?}");
    }
}

/// The first adapter, without f64 and i64.
#[cfg(feature = "gpu")]
fn smallest() -> Option<Device> {
    common::gpu_with(&ragged::DeviceOptions::default().core_limits(true).no_int64(true).no_f64(true))
}

#[cfg(not(feature = "gpu"))]
fn smallest() -> Option<Device> {
    None
}

/// All devices, with one that has neither f64 nor i64.
fn devices_with_the_smallest() -> Vec<(String, Device)> {
    devices().into_iter().chain(smallest().map(|device| ("without f64".to_owned(), device))).collect()
}

/// Rows whose sums exceed 24 bits, cancel, or exceed 64 bits.
fn demanding(dtype: DType) -> Vec<Vec<i64>> {
    let (low, high) = match dtype {
        DType::U16 => (0, i64::from(u16::MAX)),
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        DType::U64 => (0, i64::MAX),
        _ => (i64::MIN, i64::MAX),
    };
    let mut rows = vec![vec![high, low, high, low + 3], vec![], vec![low], vec![high; 5], vec![low, low, high]];
    rows.push(vec![high - 1, high, high - 2]);
    // Float sums in f32 lose all of the small values.
    rows.push([vec![high / 2], vec![1; 3000]].concat());
    if low < 0 {
        rows.extend([vec![-1], vec![-1, -1, 1], vec![high, -high, -3], vec![low; 9]]);
    }
    rows.push(noise(5000, high.unsigned_abs()).iter().map(|v| low / 2 + v).collect());
    rows
}

/// The tensor of the rows in a dtype.
fn of_dtype(rows: &[Vec<i64>], dtype: DType, device: &Device) -> Result<Tensor> {
    RaggedTensor::from_nested(rows.to_vec(), device)?.erased().cast(dtype)
}

const INTEGERS: [DType; 4] = [DType::U16, DType::I32, DType::I64, DType::U64];

/// Fails unless the means have a relative error of at most 2^-23.
#[track_caller]
fn assert_means(what: &str, got: &Tensor, rows: &[Vec<i64>], of_none: f32) {
    let got = RaggedTensor::<f32>::try_from(got.clone()).and_then(|mean| mean.to_vec()).expect(what);
    assert_eq!(got.len(), rows.len(), "{what}");
    for (k, (got, row)) in got.iter().zip(rows).enumerate() {
        let (sum, n) = (row.iter().map(|&v| i128::from(v)).sum::<i128>(), row.len() as i128);
        if n == 0 {
            assert!(got.to_bits() == of_none.to_bits() || got.is_nan() && of_none.is_nan(), "{what}, row {k}: {got}");
            continue;
        }
        // Exact where the float is not huge: the distance of got * n from the sum.
        let want = sum as f64 / n as f64;
        let near = (f64::from(*got) - want).abs() <= want.abs() * 2f64.powi(-23);
        assert!(near, "{what}, row {k}: {got:e} instead of {want:e}");
    }
}

#[test]
fn means_in_f32_are_of_exact_sums() -> Result<()> {
    for dtype in INTEGERS {
        let rows = demanding(dtype);
        for (name, device) in devices_with_the_smallest() {
            let x = of_dtype(&rows, dtype, &device)?;
            let mean = x.reduce_mean_as(DType::F32, 1)?;
            assert_means(&format!("{name}, mean of {dtype}"), &mean, &rows, f32::NAN);
            let all = rows.concat();
            let total = x.reduce_mean_as(DType::F32, ..)?;
            assert_means(&format!("{name}, mean of all {dtype}"), &total, std::slice::from_ref(&all), f32::NAN);
            let of_rows = x.map_rows(|row| row.reduce_mean_as(DType::F32, 0))?;
            assert_eq!(of_rows.to_string(), mean.to_string(), "{name}, {dtype}: in map_rows");
            let ids: Vec<i32> = (0..).zip(&rows).flat_map(|(k, row)| vec![k; row.len()]).collect();
            let every = RaggedTensor::from_nested((0..ids.len() as i64).collect::<Vec<_>>(), &device)?;
            let ids = RaggedTensor::from_nested(ids, &device)?;
            let values = x.flat_values()?;
            let segments = values.segment_mean_as(DType::F32, &ids)?;
            assert_means(&format!("{name}, segments of {dtype}"), &segments, &rows, 0.0);
            let unsorted = values.unsorted_segment_mean_as(DType::F32, &ids, rows.len())?;
            assert_means(&format!("{name}, unsorted segments of {dtype}"), &unsorted, &rows, 0.0);
            let gathered = values.sparse_segment_mean_as(DType::F32, &every, with_nrows(&ids, rows.len()))?;
            assert_means(&format!("{name}, gathered segments of {dtype}"), &gathered, &rows, 0.0);
        }
    }
    Ok(())
}

#[test]
fn means_in_other_floats_are_those_of_the_cast_values() -> Result<()> {
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested([vec![1.5f32, 2.25, 0.1], vec![], vec![3e38, 3e38]], &device)?;
        if has(&device, DType::F64) {
            let wide = x.reduce_mean_as::<f64>(1)?.to_vec()?;
            let want = x.cast::<f64>()?.reduce_mean(1)?.to_vec()?;
            assert_eq!(wide[0].to_bits(), want[0].to_bits(), "{name}");
            assert!(wide[2].is_finite() && x.reduce_mean(1)?.to_vec()?[2].is_infinite(), "{name}: {wide:?}");
        }
        let halves = x.cast::<half::f16>()?;
        let (kept, wide) = (halves.reduce_mean(1)?, halves.reduce_mean_as::<f32>(1)?);
        assert_eq!(wide.cast::<half::f16>()?.to_vec()?[0], kept.to_vec()?[0], "{name}");
        assert_ne!(wide.to_vec()?[0], kept.cast::<f32>()?.to_vec()?[0], "{name}: one rounding to f16");
        let counts = RaggedTensor::from_nested([vec![1, 2, 4], vec![5]], &device)?;
        assert_eq!(counts.reduce_mean_as::<f32>(1)?.to_vec()?, [7.0 / 3.0, 5.0], "{name}");
        assert_eq!(counts.reduce_mean_as::<half::f16>(1)?.to_vec()?[1].to_f32(), 5.0, "{name}");
    }
    Ok(())
}

/// Rows of numbers that differ little from one another, or very much.
fn close_and_far(dtype: DType) -> Vec<Vec<i64>> {
    let (low, high) = match dtype {
        DType::U16 => (0, i64::from(u16::MAX)),
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        DType::U32 => (0, i64::from(u32::MAX)),
        DType::U64 => (0, i64::MAX),
        _ => (i64::MIN, i64::MAX),
    };
    let near = noise(3000, 1000).iter().map(|v| high - v).collect();
    let few = [vec![high / 2], vec![1; 50]].concat();
    vec![vec![high, high - 1, high - 3], vec![], vec![low, low + 1, low + 7], vec![low, high], vec![high], few, near]
}

/// The exact differences from the least value, as f64, have the same variance.
fn variance_of(row: &[i64]) -> f64 {
    let least = row.iter().min().copied().map_or(0, i128::from);
    let above: Vec<f64> = row.iter().map(|&v| (i128::from(v) - least) as f64).collect();
    let n = row.len() as f64;
    let mean = above.iter().sum::<f64>() / n;
    above.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n
}

#[test]
fn variances_in_f32_keep_what_large_integers_differ_by() -> Result<()> {
    for dtype in [DType::U16, DType::I32, DType::U32, DType::I64, DType::U64] {
        let rows = close_and_far(dtype);
        for (name, device) in devices_with_the_smallest() {
            let what = format!("{name}, {dtype}");
            let x = of_dtype(&rows, dtype, &device)?;
            let variance = x.reduce_variance_as(DType::F32, 1)?;
            let std = x.reduce_std_as(DType::F32, 1)?;
            let both = [floats(&variance.to_host()?.values), floats(&std.to_host()?.values)];
            for (k, row) in rows.iter().enumerate() {
                let want = variance_of(row);
                let near = |got: f64, want: f64| {
                    (got - want).abs() <= want * 2f64.powi(-21) * (row.len() as f64).sqrt()
                        || got.is_nan() && want.is_nan()
                };
                assert!(near(both[0][k], want), "{what}, row {k}: {:e} instead of {want:e}", both[0][k]);
                assert!(near(both[1][k], want.sqrt()), "{what}, row {k}: {:e}, root of {want:e}", both[1][k]);
            }
            let of_rows = x.map_rows(|row| row.reduce_variance_as(DType::F32, 0))?;
            assert_eq!(of_rows.to_string(), variance.to_string(), "{what}: in map_rows");
        }
    }
    Ok(())
}

#[test]
fn variances_in_other_floats() -> Result<()> {
    for (name, device) in devices_with_the_smallest() {
        let h = i32::MAX;
        let x = RaggedTensor::from_nested([vec![vec![h, h - 1], vec![h - 4]], vec![vec![h - 2]]], &device)?;
        let apart = x.reduce_variance_as::<f32>([0, 2])?.to_vec()?;
        assert!((apart[0] - 2.0 / 3.0).abs() < 1e-6 && apart[1] == 0.0, "{name}: {apart:?}");
        assert_eq!(x.reduce_std_as::<half::f16>(2)?.to_vec()?[0].to_f32(), 0.5, "{name}");
        let halves = RaggedTensor::from_nested([vec![1.0f32, 1000.0]], &device)?.cast::<half::f16>()?;
        assert!(halves.reduce_variance(1)?.to_vec()?[0].is_infinite(), "{name}");
        assert_eq!(halves.reduce_variance_as::<f32>(1)?.to_vec()?, [499.5f32 * 499.5], "{name}");
    }
    Ok(())
}
