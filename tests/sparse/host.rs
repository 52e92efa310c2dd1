//! Sparse tensors in host memory.

use pollster::block_on;
use ragged::{Device, DeviceOptions, Error, HostSparseTensor, HostValues, RaggedTensor, Result, SparseTensor, Str};

use crate::common;

#[test]
fn host_forms_are_the_reads_of_the_parts() -> Result<()> {
    for (label, device) in common::devices() {
        let words = RaggedTensor::<Str>::from_nested(["a", "", "bc"], &device)?;
        let indices = RaggedTensor::from_nested([[1i64, 3], [0, 2], [1, 0]], &device)?;
        let all = [
            SparseTensor::new(&indices, &words, &[2, 4])?,
            SparseTensor::new(&indices, &words, &[2, 4])?.reorder()?,
            SparseTensor::from_entries(&[[7], [9]], [0.5f64, 1.5], [10], &Device::cpu())?.to_device(&Device::cpu())?,
            SparseTensor::from_entries(&[] as &[[i64; 3]], [0i32; 0], [1, 2, 3], &device)?,
            RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?.to_sparse()?,
        ];
        for x in all {
            let host = x.to_host()?;
            assert_eq!(HostValues::I64(host.indices.clone()), x.indices().to_host()?.values, "{label}");
            assert_eq!(host.values, x.values().to_host()?.values, "{label}");
            assert_eq!(host.dense_shape, x.dense_shape(), "{label}");
            assert_eq!(block_on(x.to_host_async())?, host, "{label}");
            assert_eq!(host.coordinates().len(), host.values.len(), "{label}");
            assert_eq!(host.coordinates().flatten().copied().collect::<Vec<_>>(), host.indices, "{label}");
            assert_eq!(host.to_device(&x.device())?.to_host()?, host, "{label}");
        }
    }
    Ok(())
}

#[test]
fn a_host_form_is_read_with_one_wait() -> Result<()> {
    if !common::gpus().is_empty() {
        // A separate device, so that its counters cover this test only.
        let (label, device) = ("gpu", Device::gpu_with(&DeviceOptions::default())?);
        let x = SparseTensor::from_entries(&[[1, 3], [0, 2]], [1, 2], [2, 4], &device)?.reorder()?;
        let before = device.stats();
        let host = x.to_host()?;
        assert_eq!((device.stats() - before).waits, 1, "{label}");
        assert_eq!(host.values, HostValues::I32(vec![2, 1]), "{label}");
        let before = device.stats();
        let there = x.to_device(&Device::cpu())?;
        assert_eq!((device.stats() - before).waits, 1, "{label}");
        // What is known about the order goes along.
        assert_eq!(there.to_dense(0)?.to_nested()?, x.to_dense(0)?.to_nested()?, "{label}");
    }
    Ok(())
}

#[test]
fn invalid_host_forms_are_errors() -> Result<()> {
    for (label, device) in common::devices() {
        let host = HostSparseTensor { indices: vec![0, 9], values: HostValues::I32(vec![1]), dense_shape: vec![2, 4] };
        let outside = host.to_device(&device)?;
        assert!(matches!(outside.to_host(), Err(Error::Check { .. })), "{label}");
        assert!(matches!(block_on(outside.to_host_async()), Err(Error::Check { .. })), "{label}");
        let short = HostSparseTensor { indices: vec![0], ..host };
        assert_eq!(short.coordinates().collect::<Vec<_>>(), [&[] as &[i64]], "{label}");
        let error = short.to_device(&device).expect_err("one coordinate");
        assert!(matches!(error, Error::Argument { op: "to_device", .. }), "{label}: {error}");
    }
    Ok(())
}
