//! `to_shared`: the bytes of tensors in the memory of their device.

use ragged::{CpuOptions, DType, Device, Program, RaggedTensor, Result, SharedRows, SharedTensor, Tensor, TensorSpec};

use crate::allocations::peak_of;
use crate::common::devices;

fn splits(shared: &SharedTensor, level: usize) -> &[u32] {
    match &shared.partitions[level] {
        SharedRows::Splits(splits) => splits.numbers().expect("aligned"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_read_gives_the_arrays() -> Result<()> {
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested([vec![vec![1i64, 2], vec![]], vec![], vec![vec![3]]], &device)?;
        let shared = x.multiply(2)?.to_shared()?;
        assert_eq!((shared.dtype, &shared.inner_shape[..]), (DType::I64, &[3][..]), "{name}");
        assert_eq!(shared.values.numbers::<i64>(), Some(&[2, 4, 6][..]), "{name}");
        assert_eq!((splits(&shared, 0), splits(&shared, 1)), (&[0, 2, 2, 3][..], &[0, 2, 2, 3][..]), "{name}");
        // Sizes that only the device knows.
        let kept = x.boolean_mask(&x.greater(1)?)?.to_shared()?;
        assert_eq!(kept.values.numbers::<i64>(), Some(&[2, 3][..]), "{name}");
        assert_eq!((splits(&kept, 0), splits(&kept, 1)), (&[0, 2, 2, 3][..], &[0, 1, 1, 2][..]), "{name}");
        let uniform = RaggedTensor::from_uniform_row_length([1u8, 2, 3, 4], 2, &device)?.to_shared()?;
        assert!(matches!(uniform.partitions[..], [SharedRows::Uniform { rows: 2, length: 2 }]), "{name}");
        let flags = RaggedTensor::from_nested([[true, false]], &device)?.logical_not()?.to_shared()?;
        assert_eq!((&*flags.values, &flags.inner_shape[..]), (&[0, 1][..], &[1, 2][..]), "{name}");
        let words = RaggedTensor::from_nested([vec!["to", "be"], vec![""]], &device)?.string_upper()?.to_shared()?;
        assert_eq!((&*words.values, words.dtype), (&b"TOBE"[..], DType::Str), "{name}");
        assert_eq!(words.string_splits.expect("of strings").numbers::<u32>(), Some(&[0, 2, 4, 4][..]), "{name}");
        // Strings of one length have a uniform partition.
        let pairs = RaggedTensor::from_nested([*b"ab", *b"cd"], &device)?.bytes_to_string()?.to_shared()?;
        assert_eq!(pairs.string_splits.expect("of strings").numbers::<u32>(), Some(&[0, 2, 4][..]), "{name}");
        assert!(x.floordiv(&x.multiply(0)?)?.to_shared().is_err(), "{name}: a failed check");
    }
    Ok(())
}

/// On a device of its own, whose counters no other test changes.
#[test]
fn a_read_on_the_cpu_copies_nothing() -> Result<()> {
    let n = 1 << 20;
    let device = Device::cpu_with(&CpuOptions::default());
    let x =
        RaggedTensor::from_row_splits(vec![1.0f32; n], (0..=n as i64 / 4).map(|r| 4 * r).collect::<Vec<_>>(), &device)?;
    let doubled = x.multiply(2.0)?;
    doubled.eval()?;
    let before = device.stats();
    let (shared, peak) = peak_of(|| doubled.to_shared());
    let shared = shared?;
    assert!(peak < 16 << 10, "{peak} bytes");
    assert_eq!(device.stats().memory_bytes, before.memory_bytes);
    assert_eq!(shared.values.as_ptr(), doubled.to_shared()?.values.as_ptr());
    assert_eq!(shared.values.numbers::<f32>().expect("f32")[n - 1], 2.0);
    Ok(())
}

/// A view keeps its values, whatever happens to the tensor.
#[test]
fn a_view_is_not_overwritten() -> Result<()> {
    let specs = [TensorSpec::new(DType::F32, [None, Some(4)]), TensorSpec::new(DType::I32, [None])];
    let program = Program::trace(&specs, |x| x[0].update_rows(&x[1], &x[0].gather(&x[1])?.multiply(2.0)?))?;
    for (name, device) in devices() {
        let n = 1 << 18;
        let table = RaggedTensor::dense(vec![1.0f32; n], &[-1, 4], &device)?.add(1.0)?.into_erased();
        let view = table.to_shared()?.values;
        let ids = RaggedTensor::dense([0, 5], &[2], &device)?.into_erased();
        let found: Tensor = program.run_donating(&mut vec![table, ids])?.remove(0);
        found.eval()?;
        // Another array of the same size, in the memory of the pool.
        RaggedTensor::dense(vec![7.0f32; n], &[-1], &device)?.add(1.0)?.eval()?;
        assert!(view.numbers::<f32>().expect("f32").iter().all(|&x| x == 2.0), "{name}");
    }
    Ok(())
}
