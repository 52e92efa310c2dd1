//! Means and quotients of integers on a device without 64-bit floats.

#[cfg(feature = "gpu")]
#[test]
fn means_of_integers() -> ragged::Result<()> {
    use ragged::{DType, DeviceOptions, RaggedTensor};

    let without = DeviceOptions::default().core_limits(true).no_int64(true).no_f64(true);
    let Some(device) = crate::common::gpu_with(&without) else { return Ok(()) };
    let digits = RaggedTensor::from_nested([vec![3, 1, 4, 1], vec![], vec![5, 9, 2], vec![6], vec![]], &device)?;
    let ids = RaggedTensor::from_nested([0, 0, 1, 1, 1], &device)?;
    let flat = digits.flat_values()?;
    let numbers = flat.erased().slice(ragged::s![..5])?;
    let mean = digits.erased().reduce_mean(1)?;
    let explained = mean.explain()?;
    assert_eq!(mean.to_string(), "tensor([2.25, nan, 5.333333333333333, 6.0, nan], shape=(5,), dtype=f64)");
    assert!(explained.kernels.iter().any(|kernel| kernel.emulates_f64), "{explained}");
    assert!(
        explained.to_string().contains("[1] 64-bit floats are pairs of words, computed in integers; "),
        "{explained}"
    );
    assert!(explained.detailed().to_string().contains("64-bit floats are pairs of words"), "{explained}");
    assert_eq!(numbers.segment_mean(&ids)?.to_nested()?.to_string(), "[2.0, 3.3333333333333335]");
    assert_eq!(digits.row_lengths(1)?.into_erased().reduce_mean(0)?.to_string(), "tensor(1.6, shape=(), dtype=f64)");
    // Doubles that are moved only take no more than elsewhere.
    let wide = RaggedTensor::from_nested([vec![1.5f64, -0.0], vec![], vec![1e-310]], &device)?;
    let moved = wide.reverse(1)?;
    assert!(moved.explain()?.kernels.iter().all(|kernel| !kernel.emulates_f64));
    assert_eq!(moved.to_nested()?.to_string(), "[[-0.0, 1.5], [], [1e-310]]");
    let means = digits.cast::<f32>()?.reduce_mean(1)?;
    assert_eq!(means.to_string(), "tensor([2.25, nan, 5.3333335, 6.0, nan], shape=(5,), dtype=f32)");
    assert_eq!(numbers.cast(DType::F32)?.segment_mean(&ids)?.to_nested()?.to_string(), "[2.0, 3.3333333]");
    assert_eq!(digits.row_lengths(1)?.cast::<f32>()?.reduce_mean(0)?.to_vec()?, [1.6]);
    Ok(())
}
