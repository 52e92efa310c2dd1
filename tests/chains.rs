//! Chains of operations that are fused to few passes over the rows: kernels, bytes and waits as `explain` counts them,
//! values compared with naive loops, and equal bits on every device, fused or not.

mod common;

use std::sync::{Mutex, MutexGuard};

use common::{fused_and_not, gpus};
use ragged::opt::keep;
use ragged::{Device, Explain, HostTensor, HostValues, Result, Tensor, explain, to_host};

/// Rows with a total of `values` values: short rows, empty rows and, if `with_long`, rows of several blocks.
fn rows(values: usize, with_long: bool) -> Vec<Vec<f32>> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (mut out, mut left) = (Vec::new(), values);
    while left > 0 {
        let len = match next() % 64 {
            0..8 => 0,
            8 if with_long => 3000,
            9 => 256,
            n => n as usize / 2,
        };
        let len = len.min(left);
        left -= len;
        out.push((0..len).map(|_| (next() >> 40) as f32 / (1 << 20) as f32 - 8.0).collect());
    }
    out
}

fn tensor(rows: &[Vec<f32>]) -> HostTensor {
    let mut splits = vec![0u32];
    rows.iter().for_each(|r| splits.push(splits[splits.len() - 1] + r.len() as u32));
    let values = rows.concat();
    HostTensor {
        nested_row_splits: vec![splits],
        uniform_row_lengths: vec![None],
        inner_shape: vec![values.len()],
        values: HostValues::F32(values),
    }
}

fn floats(t: &HostTensor) -> &[f32] {
    match &t.values {
        HostValues::F32(v) => v,
        other => panic!("{} where f32 belongs", other.dtype()),
    }
}

/// A chain of operations: from one tensor to several.
type Chain = fn(&Tensor) -> Result<Vec<Tensor>>;

/// The results of the chain, after checking that all devices give the same bits.
fn everywhere(rows: &[Vec<f32>], chain: Chain) -> Vec<Vec<f32>> {
    let mut found: Option<Vec<Vec<f32>>> = None;
    for (name, device) in fused_and_not() {
        let made = tensor(rows).to_device(device).and_then(|x| chain(&x)).expect("recorded");
        let read = to_host(made.iter().collect::<Vec<_>>()).expect("read");
        let got: Vec<Vec<f32>> = read.iter().map(|t| floats(t).to_vec()).collect();
        let bits = |all: &[Vec<f32>]| -> Vec<Vec<u32>> {
            let bits = |v: &f32| if v.is_nan() { u32::MAX } else { v.to_bits() };
            all.iter().map(|v| v.iter().map(bits).collect()).collect()
        };
        match &found {
            Some(want) => assert!(bits(want) == bits(&got), "{name}"),
            None => found = Some(got),
        }
    }
    found.expect("there is a CPU")
}

fn close(got: f32, want: f64, what: &str) {
    let near = (f64::from(got) - want).abs() <= 3e-6 + 3e-6 * want.abs();
    assert!(near || got.is_nan() && want.is_nan(), "{what}: {got}, not {want}");
}

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The plan of the chain on each GPU.
fn explained(rows: &[Vec<f32>], chain: Chain, check: impl Fn(&Explain)) {
    for (_, device) in gpus() {
        let made = tensor(rows).to_device(&device).and_then(|x| chain(&x)).expect("recorded");
        let e = explain(made.iter().collect::<Vec<_>>()).expect("explained");
        println!("{e}");
        assert_eq!(e.waits, 1);
        check(&e);
        // The run matches the plan, in one submission.
        let before = device.stats();
        ragged::eval(made.iter().collect::<Vec<_>>()).expect("computed");
        let done = device.stats() - before;
        assert_eq!((done.dispatches, done.submissions), (e.dispatches(), 1), "{e}");
    }
}

/// Bytes moved per byte of the lower bound, in hundredths, rounded up.
fn ratio(e: &Explain) -> u64 {
    (e.bytes() * 100).div_ceil(e.least_bytes)
}

const VALUES: usize = 1 << 18;

fn mean_and_deviations(row: &[f32]) -> (f64, f64) {
    let n = row.len() as f64;
    let mean = row.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
    (mean, row.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / n)
}

fn standardised(x: &Tensor) -> Result<Vec<Tensor>> {
    let (mean, std) = (x.reduce_mean(keep(1))?, x.reduce_std(keep(1))?);
    Ok(vec![((x - &mean)? / &std)?])
}

#[test]
fn standardised_rows_are_computed_in_the_pass_of_their_moments() {
    let _guard = exclusive();
    let short = rows(VALUES, false);
    explained(&short, standardised, |e| {
        assert_eq!((e.kernels.len(), e.dispatches()), (1, 1), "{e}");
        assert!(ratio(e) <= 102, "{e}");
    });
    let long = rows(VALUES, true);
    explained(&long, standardised, |e| {
        assert_eq!((e.kernels.len(), e.dispatches()), (1, 3), "{e}");
        assert!(ratio(e) <= 150, "{e}");
    });
    for rows in [short, long] {
        let got = everywhere(&rows, standardised).remove(0);
        let mut got = got.iter();
        for (k, row) in rows.iter().enumerate() {
            let (mean, variance) = mean_and_deviations(row);
            for &v in row {
                // A row of one value gives 0 / 0.
                close(*got.next().expect("a value"), (f64::from(v) - mean) / variance.sqrt(), &format!("row {k}"));
            }
        }
        assert_eq!(got.next(), None);
    }
}

fn moments_and_extremes(x: &Tensor) -> Result<Vec<Tensor>> {
    Ok(vec![x.reduce_mean(1)?, x.reduce_variance(1)?, x.reduce_max(1)?, x.reduce_min(1)?])
}

#[test]
fn mean_variance_minimum_and_maximum_are_one_pass() {
    let _guard = exclusive();
    let short = rows(VALUES, false);
    explained(&short, moments_and_extremes, |e| {
        assert_eq!((e.kernels.len(), e.dispatches()), (1, 1), "{e}");
        assert!(ratio(e) <= 101, "{e}");
    });
    let long = rows(VALUES, true);
    explained(&long, moments_and_extremes, |e| {
        assert_eq!((e.kernels.len(), e.dispatches()), (1, 2), "{e}");
        // 28 bytes of partials per 128 values.
        assert!(ratio(e) <= 112, "{e}");
    });
    for rows in [short, long] {
        let got = everywhere(&rows, moments_and_extremes);
        for (k, row) in rows.iter().enumerate() {
            let (mean, variance) = mean_and_deviations(row);
            close(got[0][k], mean, &format!("mean of row {k}"));
            close(got[1][k], variance, &format!("variance of row {k}"));
            let most = row.iter().copied().fold(f32::MIN, f32::max);
            assert_eq!((got[2][k], got[3][k]), (most, row.iter().copied().fold(f32::MAX, f32::min)), "row {k}");
        }
    }
}

#[test]
fn fused_reductions_have_the_bits_of_separate_ones() {
    let _guard = exclusive();
    let rows = rows(1 << 15, true);
    let together = everywhere(&rows, moments_and_extremes);
    let alone: [Chain; 4] = [
        |x| Ok(vec![x.reduce_mean(1)?]),
        |x| Ok(vec![x.reduce_variance(1)?]),
        |x| Ok(vec![x.reduce_max(1)?]),
        |x| Ok(vec![x.reduce_min(1)?]),
    ];
    let bits = |v: &[f32]| v.iter().map(|v| if v.is_nan() { 0 } else { v.to_bits() }).collect::<Vec<_>>();
    for (want, chain) in together.iter().zip(alone) {
        assert!(bits(want) == bits(&everywhere(&rows, chain)[0]));
    }
}

fn pooled(x: &Tensor) -> Result<Vec<Tensor>> {
    Ok(vec![(&x.softmax(1)? * &(x * 0.5f32)?)?.reduce_sum(1)?])
}

#[test]
fn the_weighted_sum_of_a_softmax_does_not_store_the_softmax() {
    let _guard = exclusive();
    let short = rows(VALUES, false);
    explained(&short, pooled, |e| {
        assert_eq!((e.kernels.len(), e.dispatches()), (2, 2), "{e}");
        // Two passes over the values, and two numbers per row between them.
        assert!(ratio(e) <= 215, "{e}");
    });
    let long = rows(VALUES, true);
    explained(&long, pooled, |e| {
        assert_eq!((e.kernels.len(), e.dispatches()), (2, 4), "{e}");
        assert!(ratio(e) <= 210, "{e}");
    });
    for rows in [short, long] {
        let got = everywhere(&rows, pooled).remove(0);
        for (k, row) in rows.iter().enumerate() {
            let exp = |v: f32| f64::from(v).exp();
            let sum: f64 = row.iter().map(|&v| exp(v)).sum();
            let weighted: f64 = row.iter().map(|&v| exp(v) * f64::from(v) / 2.0).sum();
            close(got[k], if row.is_empty() { 0.0 } else { weighted / sum }, &format!("row {k}"));
        }
    }
}

#[test]
fn a_failed_condition_does_not_affect_tensors_of_the_same_submission() {
    let _guard = exclusive();
    for (name, device) in fused_and_not() {
        let x = tensor(&[vec![1.0, 2.0], vec![3.0]]).to_device(device).expect("a tensor");
        let ids = HostTensor::dense(&[3], HostValues::I32(vec![0, 9, 1])).to_device(device).expect("ids");
        // The device checks the ids: 9 is out of range.
        let bad = x.flat_values().and_then(|v| v.gather(&ids)).expect("recorded");
        let bad = bad.reduce_sum(0).expect("recorded");
        let (good, max) = (x.reduce_sum(1).expect("recorded"), x.reduce_max(1).expect("recorded"));
        ragged::eval([&bad, &good, &max]).expect("conditions are looked at by reads");
        assert_eq!(floats(&good.to_host().expect("no condition of its own")), [3.0, 3.0], "{name}");
        assert_eq!(floats(&max.to_host().expect("no condition of its own")), [2.0, 3.0], "{name}");
        assert!(bad.to_host().is_err(), "{name}");
        assert!(to_host([&good, &bad]).is_err(), "{name}");
    }
}

#[test]
fn evaluating_tensors_of_two_devices_together_is_an_error() {
    let _guard = exclusive();
    assert!(ragged::eval(&[] as &[Tensor]).is_ok());
    assert_eq!(explain(&[] as &[Tensor]).expect("nothing").kernels.len(), 0);
    for (_, device) in gpus() {
        let rows = tensor(&[vec![1.0]]);
        let (a, b) = (rows.to_device(&device).expect("a"), rows.to_device(&Device::cpu()).expect("b"));
        assert!(matches!(ragged::eval([&a, &b]), Err(ragged::Error::Devices { .. })));
    }
}
