//! Means and quotients of integers on a device without 64-bit floats.

#[cfg(feature = "gpu")]
#[test]
fn means_of_integers_as_f32() -> ragged::Result<()> {
    use ragged::{DType, DeviceOptions, Error, RaggedTensor, Result, Tensor};

    let without = DeviceOptions::default().core_limits(true).no_int64(true).no_f64(true);
    let Some(device) = crate::common::gpu_with(&without) else { return Ok(()) };
    let digits = RaggedTensor::from_nested([vec![3, 1, 4, 1], vec![], vec![5, 9, 2], vec![6], vec![]], &device)?;
    let ids = RaggedTensor::from_nested([0, 0, 1, 1, 1], &device)?;
    let flat = digits.flat_values()?;
    let numbers = flat.erased().slice(ragged::s![..5])?;
    let wide: [(&str, Result<Tensor>); 7] = [
        ("reduce_mean", digits.erased().reduce_mean(1)),
        ("reduce_variance", digits.erased().reduce_variance(1)),
        ("reduce_std", digits.erased().reduce_std(1)),
        ("truediv", digits.erased().truediv(2)),
        ("divide_no_nan", digits.erased().divide_no_nan(2)),
        ("segment_mean", numbers.segment_mean(&ids)),
        ("reduce_mean", digits.row_lengths(1)?.into_erased().reduce_mean(0)),
    ];
    for (op, got) in wide {
        let error = got.expect_err("f64");
        assert!(matches!(&error, Error::Unsupported { op: of, .. } if *of == op), "{error}");
        let message = error.to_string();
        assert!(message.contains("`x.reduce_mean_as::<f32>(1)?` is f32, as is the quotient"), "{message}");
        assert!(message.contains("means.rs"), "{message}");
    }
    let means = digits.cast::<f32>()?.reduce_mean(1)?;
    assert_eq!(means.to_string(), "tensor([2.25, nan, 5.3333335, 6.0, nan], shape=(5,), dtype=f32)");
    assert_eq!(numbers.cast(DType::F32)?.segment_mean(&ids)?.to_nested()?.to_string(), "[2.0, 3.3333333]");
    assert_eq!(digits.row_lengths(1)?.cast::<f32>()?.reduce_mean(0)?.to_vec()?, [1.6]);
    Ok(())
}
