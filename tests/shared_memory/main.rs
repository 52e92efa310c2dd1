//! Tensors over memory of the program: adopted without a copy, never written, dropped once; and reads without a copy.

#[path = "../saved/allocations.rs"]
mod allocations;
#[path = "../common/mod.rs"]
mod common;
mod owner;
mod reads;
mod rows;
mod writes;

use std::sync::Arc;

use allocations::peak_of;
use common::{bools_and_numbers, devices, has};
use owner::Owner;
use ragged::{CpuOptions, DType, Device, Error, HostTensor, HostValues, RaggedTensor, Result, Tensor};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// On a device of its own, whose counters no other test changes.
#[test]
fn memory_is_adopted_without_a_copy() -> Result<()> {
    let n = 1 << 20;
    let device = Device::cpu_with(&CpuOptions::default());
    let owner = Owner::of_f32((0..n).map(|i| (i % 7) as f32));
    let before = device.stats();
    let shared = owner.shared();
    let (x, peak) = peak_of(|| Tensor::from_shared(shared, DType::F32, &[n / 4, 4], &device));
    let x = x?;
    assert!(peak < 16 << 10, "{peak} bytes are allocated for {} of memory", 4 * n);
    let spent = device.stats();
    assert_eq!((spent.buffer_bytes, spent.memory_bytes), (before.buffer_bytes, before.memory_bytes));
    // A copy in place of the adoption is seen: it takes memory of the pool.
    let copied = RaggedTensor::dense(owner.f32().to_vec(), &[n / 4, 4], &device)?;
    assert_eq!(device.stats().buffer_bytes - before.buffer_bytes, 4 * n as u64);
    let sums = |x: &Tensor| x.reduce_sum(1)?.to_host();
    assert_eq!(sums(&x)?, sums(copied.erased())?);
    // Bytes, for which the allocations above would be the same.
    let bytes = Tensor::from_shared(owner.shared(), DType::U8, &[4 * n], &device)?;
    assert_eq!(bytes.to_shared()?.values.as_ptr(), owner.bytes().as_ptr());
    Ok(())
}

#[test]
fn the_owner_is_dropped_once_after_everything_that_reads_it() -> Result<()> {
    for (name, device) in devices() {
        let owner = Owner::of_f32([1.0, 2.0, 3.0, 4.0]);
        let drops = owner.drops();
        let kept = if device.is_cpu() { 0 } else { 1 };
        let x = Tensor::from_shared(owner.shared(), DType::F32, &[4], &device)?;
        drop(owner);
        assert_eq!(drops.count(), kept, "{name}: a GPU has a copy");
        let doubled = x.multiply(2.0)?;
        let again = x.clone();
        drop(x);
        assert_eq!(drops.count(), kept, "{name}: recorded operations keep it");
        drop(again);
        assert_eq!(doubled.to_host()?.values, HostValues::F32(vec![2.0, 4.0, 6.0, 8.0]), "{name}");
        // The result is stored, and its recipe dropped.
        assert_eq!(drops.count(), 1, "{name}");
        assert_eq!(doubled.add(1.0)?.to_host()?.values, HostValues::F32(vec![3.0, 5.0, 7.0, 9.0]), "{name}");
        drop(doubled);
        assert_eq!(drops.count(), 1, "{name}");
    }
    Ok(())
}

/// Bytes that are no NaN and no number that loses bits, in every dtype: small integers.
fn small(dtype: DType, n: usize) -> Result<HostValues> {
    let ints = HostTensor::dense(&[n], HostValues::I32((0..n as i32).map(|i| i % 2).collect()));
    Ok(ints.to_device(&Device::cpu())?.cast(dtype)?.to_host()?.values)
}

#[test]
fn any_alignment_gives_the_values() -> Result<()> {
    for (name, device) in devices() {
        for dtype in bools_and_numbers().filter(|&dtype| has(&device, dtype)) {
            // Sizes that end within a word, and within 16 bytes.
            for n in [0usize, 1, 3, 5, 8, 257] {
                let values = small(dtype, n)?;
                let want = HostTensor::dense(&[n], values).to_device(&device)?;
                let bytes = want.to_shared()?.values.to_vec();
                for offset in [0, 1, 2, 4, 8, 9] {
                    let owner = Owner::at_offset(&bytes, offset);
                    let x = Tensor::from_shared(owner.shared(), dtype, &[n], &device)?;
                    let what = format!("{name} {dtype} {n} at {offset}");
                    assert_eq!(x.to_host()?, want.to_host()?, "{what}");
                    let adopted = device.is_cpu() && n > 0 && offset.is_multiple_of(dtype.size());
                    assert_eq!(owner.is_kept(), adopted, "{what}");
                    let mixed = |x: &Tensor| Tensor::concat(&[x, &x.reverse(0)?], 0)?.cast(DType::F32)?.to_host();
                    assert_eq!(mixed(&x)?, mixed(&want)?, "{what}");
                    let product = |x: &Tensor| (x.cast(DType::F32)? * 2f32)?.add(&want.cast(DType::F32)?)?.to_host();
                    assert_eq!(product(&x)?, product(&want)?, "{what}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn bools_are_bytes_0_or_not() -> Result<()> {
    for (name, device) in devices() {
        let owner = Owner::at_offset(&[0, 1, 2, 255, 128, 0, 7], 0);
        let x = Tensor::from_shared(owner.shared(), DType::Bool, &[7], &device)?;
        let want = vec![false, true, true, true, true, false, true];
        assert_eq!(x.to_host()?.values, HostValues::Bool(want), "{name}");
        assert_eq!(x.cast(DType::I32)?.reduce_sum(0)?.to_host()?.values, HostValues::I32(vec![5]), "{name}");
        assert_eq!(owner.bytes(), [0, 1, 2, 255, 128, 0, 7], "the memory is as it was");
    }
    Ok(())
}

#[test]
fn another_number_of_bytes_is_an_error() {
    let device = Device::cpu();
    let owner = Owner::of_f32([1.0, 2.0, 3.0]);
    let of = |dtype, shape: &[usize]| Tensor::from_shared(owner.shared(), dtype, shape, &device);
    for (dtype, shape, says) in [
        (DType::F32, &[4][..], "a shape of [4] of f32 takes 16 bytes, but the memory has 12"),
        (DType::F32, &[2], "a shape of [2] of f32 takes 8 bytes, but the memory has 12"),
        (DType::I64, &[], "a shape of [] of i64 takes 8 bytes, but the memory has 12"),
    ] {
        let e = of(dtype, shape).unwrap_err();
        assert!(matches!(e, Error::Argument { op: "from_shared", .. }) && e.to_string().contains(says), "{e}");
    }
    assert!(matches!(of(DType::F32, &[1 << 20, 1 << 20]), Err(Error::Limit { .. })));
    assert!(matches!(of(DType::F32, &[usize::MAX]), Err(Error::Limit { .. })));
    assert!(matches!(of(DType::Str, &[3]), Err(Error::Unsupported { .. })));
    assert!(!owner.is_kept(), "an error keeps nothing");
    // A dimension of 0 beside others.
    let none: Arc<Vec<u8>> = Arc::default();
    let x = RaggedTensor::<f32>::from_shared(none, &[0, 7], &device).expect("empty");
    assert_eq!(x.shape(), [Some(0), Some(7)]);
}
