//! Equality of whole tensors, shapes and row partitions (`equals`), compared with reads.

mod common;

use std::sync::{Mutex, MutexGuard};

use ragged::{
    DType, Device, Error, HostTensor, HostValues, RaggedShape, RaggedTensor, Result, RowPartition, Str, Tensor,
};

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The tensor with rows that only the device knows.
fn device_known(x: &Tensor) -> Result<Tensor> {
    let all = vec![true; x.len()?];
    x.boolean_mask(&RaggedTensor::from_nested(all, &x.device())?)
}

/// Tensors that differ from each other, in dtype, layout or values.
fn different(device: &Device) -> Result<Vec<Tensor>> {
    let long: Vec<i32> = (0..70_000).collect();
    let mut other_end = long.clone();
    other_end[69_999] += 1;
    Ok(vec![
        RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], device)?.into_erased(),
        RaggedTensor::from_nested([vec![1, 2], vec![], vec![4]], device)?.into_erased(),
        RaggedTensor::from_nested([vec![1, 2], vec![3], vec![]], device)?.into_erased(),
        RaggedTensor::from_nested([vec![1, 2], vec![3]], device)?.into_erased(),
        RaggedTensor::from_nested([vec![1i64, 2], vec![], vec![3]], device)?.into_erased(),
        RaggedTensor::from_nested([vec![vec![1, 2]], vec![], vec![vec![3]]], device)?.into_erased(),
        RaggedTensor::from_nested([vec![[1, 2]], vec![], vec![[3, 4]]], device)?.into_erased(),
        RaggedTensor::from_nested([1, 2, 3], device)?.into_erased(),
        RaggedTensor::<i32>::dense([], &[0], device)?.into_erased(),
        RaggedTensor::<i32>::dense([], &[2, 0], device)?.into_erased(),
        RaggedTensor::<i32>::dense([], &[3, 0], device)?.into_erased(),
        RaggedTensor::<Str>::from_nested([vec!["a", "bc"], vec![]], device)?.into_erased(),
        RaggedTensor::<Str>::from_nested([vec!["a", "bd"], vec![]], device)?.into_erased(),
        RaggedTensor::<Str>::from_nested([vec!["ab", "c"], vec![]], device)?.into_erased(),
        RaggedTensor::from_nested([true, false], device)?.into_erased(),
        RaggedTensor::from_nested(long, device)?.into_erased(),
        RaggedTensor::from_nested(other_end, device)?.into_erased(),
    ])
}

#[test]
fn only_equal_tensors_are_equal() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::devices_and_unfused_cpu() {
        let all = different(device)?;
        let again = different(device)?;
        for (i, a) in all.iter().enumerate() {
            // All pairs on the CPU; each pair is a plan, which a GPU compiles.
            let most = if device.is_cpu() { again.len() } else { 2 };
            for (j, b) in again.iter().enumerate().skip(if device.is_cpu() { 0 } else { i }).take(most) {
                assert_eq!(a.equals(b)?, i == j, "{label}: {a} and {b}");
            }
            let (there, later) = (device_known(a)?, device_known(&again[i])?);
            assert!(there.equals(&later)?, "{label}: {a}");
            assert!(a.equals(&there)?, "{label}: {a}");
            for b in again.iter().skip(i + 1).take(1) {
                assert!(!there.equals(b)?, "{label}: {a} and {b}");
                assert!(!b.equals(&device_known(a)?)?, "{label}: {a} and {b}");
            }
        }
    }
    Ok(())
}

#[test]
fn scalars_every_dtype_and_pending_work() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        for dtype in common::bools_and_numbers().filter(|&dtype| common::has(&device, dtype)) {
            let x = RaggedTensor::from_nested([vec![1, 0], vec![], vec![1]], &device)?.erased().cast(dtype)?;
            assert!(x.equals(&x.reverse(0)?.reverse(0)?)?, "{label} {dtype}");
            assert!(!x.equals(&x.reverse(1)?)?, "{label} {dtype}");
        }
        let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?;
        assert!(x.reduce_sum(..)?.equals(&x.reduce_max(..)?.multiply(2)?)?, "{label}");
        assert!(!x.reduce_sum(..)?.equals(&x.reduce_max(..)?)?, "{label}");
    }
    Ok(())
}

#[test]
fn floats_compare_as_numbers() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let vector = |v: [f32; 2]| RaggedTensor::from_nested(v, &device);
        assert!(vector([0.0, f32::INFINITY])?.equals(&vector([-0.0, f32::INFINITY])?)?, "{label}");
        let nan = vector([1.0, f32::NAN])?;
        assert!(!nan.equals(&nan)?, "{label}: a NaN equals nothing");
    }
    Ok(())
}

#[test]
fn uniform_dimensions_equal_ragged_ones_with_the_same_rows() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let dense = RaggedTensor::from_nested([[1, 2], [3, 4]], &device)?;
        let ragged = RaggedTensor::from_nested([vec![1, 2], vec![3, 4]], &device)?;
        let uniform = RaggedTensor::from_uniform_row_length([1, 2, 3, 4], 2, &device)?;
        for a in [&dense, &ragged, &uniform] {
            for b in [&dense, &ragged, &uniform] {
                assert!(a.equals(b)?, "{label}: {a:?} {b:?}");
                assert!(a.ragged_shape().equals(b.ragged_shape())?, "{label}");
                assert!(device_known(a.erased())?.equals(b)?, "{label}: {a:?} {b:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn partitions_of_equal_rows_are_equal() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let lengths = |lengths: &[i64]| RowPartition::from_row_lengths(lengths, &device);
        let there = |lengths: &[i64]| {
            let t = HostTensor::dense(&[lengths.len()], HostValues::I64(lengths.to_vec())).to_device(&device)?;
            RowPartition::from_row_lengths(&t.add(0)?, &device)
        };
        let uniform = |len: i64, nvals: i64| RowPartition::from_uniform_row_length(len, nvals, &device);
        let all = [
            (0, lengths(&[2, 2])?),
            (0, there(&[2, 2])?),
            (0, uniform(2, 4)?),
            (1, lengths(&[1, 3])?),
            (1, there(&[1, 3])?),
            (2, lengths(&[4])?),
            (2, uniform(4, 4)?),
            (3, lengths(&[])?),
            (3, uniform(5, 0)?),
            (3, uniform(3, 0)?),
            (4, lengths(&[0, 0])?),
            (5, uniform(2, 6)?),
        ];
        for (i, a) in &all {
            for (j, b) in &all {
                assert_eq!(a.equals(b)?, i == j, "{label}: {a:?} and {b:?}");
            }
        }
        assert!(uniform(2, 4)?.is_uniform() && !lengths(&[2, 2])?.is_uniform());
    }
    Ok(())
}

#[test]
fn a_comparison_waits_once_where_the_host_knows_the_layouts() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        let x = common::seeded_rows(1000, 9, 3).to_device(&device)?;
        let y = common::seeded_rows(1000, 9, 3).to_device(&device)?;
        let waits = |a: &Tensor, b: &Tensor, want: bool| -> Result<u64> {
            let before = device.stats();
            assert_eq!(a.equals(b)?, want, "{label}");
            Ok((device.stats() - before).waits)
        };
        assert_eq!(waits(&x.add(1)?, &y.add(1)?, true)?, 1, "{label}");
        assert_eq!(waits(&x.add(1)?, &y, false)?, 1, "{label}");
        assert_eq!(waits(&x, &x.cast(DType::I64)?, false)?, 0, "{label}");
        assert_eq!(waits(&x, &common::seeded_rows(1000, 9, 4).to_device(&device)?, false)?, 0, "{label}");
        assert_eq!(waits(&device_known(&x)?, &device_known(&y)?, true)?, 2, "{label}");
    }
    Ok(())
}

#[test]
fn errors_of_the_operands_are_errors_of_the_comparison() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let x = RaggedTensor::from_nested([1, 1], &device)?;
        let failing = x.truncatediv(&RaggedTensor::from_nested([1, 0], &device)?)?;
        assert!(matches!(failing.equals(&x), Err(Error::Check { op: "truncatediv", .. })), "{label}");
        let other = RaggedTensor::from_nested([1, 1], &Device::cpu_unfused())?;
        assert!(matches!(x.equals(&other), Err(Error::Devices { op: "equals", .. })), "{label}");
        let lengths = HostTensor::dense(&[2], HostValues::I64(vec![2, -1])).to_device(&device)?.add(0)?;
        let broken = RowPartition::from_row_lengths(&lengths, &device)?;
        let whole = RowPartition::from_row_lengths([2, 1], &device)?;
        assert!(broken.equals(&whole).is_err() && whole.equals(&broken).is_err(), "{label}");
        let shape = RaggedShape::from_row_partitions(&[broken], &[-1], &device)?;
        let whole = RaggedShape::from_row_partitions(&[whole], &[-1], &device)?;
        assert!(whole.equals(&shape).is_err(), "{label}");
    }
    Ok(())
}
