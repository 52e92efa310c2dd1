//! Row splits and byte strings over memory of the program.

use ragged::{CpuOptions, DType, Device, Error, Result, RowPartition, Tensor};

use crate::allocations::peak_of;
use crate::common::devices;
use crate::owner::Owner;

#[test]
fn rows_and_strings_are_adopted() -> Result<()> {
    for (name, device) in devices() {
        for offset in [0, 1] {
            let (text, splits) = (Owner::at_offset(b"tobenot", 0), Owner::of_u32(&[0, 2, 4, 4, 7], offset));
            let rows = RowPartition::from_shared_row_splits(splits.shared(), &device)?;
            assert_eq!((rows.nrows(), rows.nvals()), (Some(4), Some(7)), "{name}");
            let bytes = Tensor::from_shared(text.shared(), DType::U8, &[7], &device)?;
            let words = Tensor::from_row_partitions(&bytes, &[rows])?.bytes_to_string()?;
            assert_eq!(words.to_string(), "tensor([b'to', b'be', b'', b'not'], shape=(4,), dtype=str)", "{name}");
            let shared = words.to_shared()?;
            if device.is_cpu() {
                assert_eq!(shared.values.as_ptr(), text.bytes().as_ptr());
                let at = shared.string_splits.expect("of strings").as_ptr();
                assert_eq!(at == splits.bytes().as_ptr(), offset == 0);
            }
            assert_eq!(splits.is_kept(), offset == 0, "{name}: the host looks splits up");
            drop((shared.values, words, bytes));
            assert!(!text.is_kept(), "{name}");
        }
    }
    Ok(())
}

/// On a device of its own, whose counters no other test changes.
#[test]
fn splits_are_not_copied() -> Result<()> {
    let device = Device::cpu_with(&CpuOptions::default());
    let splits: Vec<u32> = (0..=1 << 20).map(|row| 2 * row).collect();
    let owner = Owner::of_u32(&splits, 0);
    let before = device.stats();
    let shared = owner.shared();
    let (rows, peak) = peak_of(|| RowPartition::from_shared_row_splits(shared, &device));
    assert!(peak < 16 << 10, "{peak} bytes");
    assert_eq!(device.stats().buffer_bytes, before.buffer_bytes);
    let rows = rows?;
    let flat = ragged::RaggedTensor::dense(vec![1i32; 2 << 20], &[-1], &device)?;
    let sums = Tensor::from_row_partitions(&flat, &[rows])?.reduce_sum(1)?;
    assert_eq!(
        sums.equal(2)?.cast(DType::I64)?.reduce_sum(..)?.to_string(),
        format!("tensor({}, shape=(), dtype=i64)", 1 << 20)
    );
    Ok(())
}

#[test]
fn invalid_splits_are_errors() {
    let device = Device::cpu();
    let of = |owner: &Owner| RowPartition::from_shared_row_splits(owner.shared(), &device);
    for (splits, says) in [
        (&[][..], "row_splits must have at least one entry, but is empty"),
        (&[1, 2], "row_splits must start at 0, but row_splits[0] is 1"),
        (&[0, 4, 3], "row_splits must not decrease, but row_splits[2] = 3 is below row_splits[1] = 4"),
        // As i32, -1.
        (&[0, u32::MAX, 3], "row_splits must not decrease, but row_splits[2] = 3 is below row_splits[1] = 4294967295"),
    ] {
        let owner = Owner::of_u32(splits, 0);
        let e = of(&owner).unwrap_err();
        let is_named = matches!(e, Error::Partition { op: "RowPartition::from_shared_row_splits", .. });
        assert!(is_named && e.to_string().contains(says), "{e}");
        assert!(!owner.is_kept());
    }
    assert!(matches!(of(&Owner::of_u32(&[0, u32::MAX], 0)), Err(Error::Limit { .. })));
    let e = of(&Owner::at_offset(&[0; 7], 0)).unwrap_err();
    assert!(e.to_string().contains("whole entries of 4 bytes, but have 7 bytes"), "{e}");
}
