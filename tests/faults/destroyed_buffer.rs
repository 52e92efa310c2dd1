//! A wgpu buffer of a tensor that the program destroys: an error of that tensor alone.

use ragged::{DeviceOptions, RaggedTensor, Result};

use crate::common::gpu_with;

/// Elements whose array has a size class of its own.
const LEN: usize = 1000;

#[test]
fn a_destroyed_buffer_leaves_the_pool() -> Result<()> {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return Ok(()) };
    let ones = || RaggedTensor::from_nested(vec![1f32; LEN], &device);
    // More tensors than one, and destroyed before and after they are dropped.
    let all: Vec<RaggedTensor<f32>> = (0..3).map(|_| ones()?.add(1f32)).collect::<Result<_>>()?;
    for x in &all {
        x.eval()?;
    }
    let buffers = all.iter().map(|x| Ok(x.erased().values_buffer()?.buffer().clone())).collect::<Result<Vec<_>>>()?;
    buffers[0].destroy();
    buffers[1].destroy();
    drop(all);
    buffers[2].destroy();
    for _ in 0..4 {
        // Uploads and results of the same sizes, twice each, so that both kinds of reuse happen.
        let x = ones()?;
        assert_eq!(x.add(1f32)?.to_vec()?, vec![2f32; LEN]);
        assert_eq!(x.multiply(3f32)?.to_vec()?, vec![3f32; LEN]);
    }
    Ok(())
}

#[test]
fn a_buffer_that_the_program_leaves_intact_is_reused() -> Result<()> {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return Ok(()) };
    let x = RaggedTensor::from_nested(vec![1f32; LEN], &device)?;
    let buffer = x.erased().values_buffer()?.buffer().clone();
    drop(x);
    let y = RaggedTensor::from_nested(vec![2f32; LEN], &device)?;
    assert_eq!(&buffer, y.erased().values_buffer()?.buffer());
    assert_eq!(y.reduce_max(0)?.item()?, 2.0);
    Ok(())
}
