//! Rows of tables: replaced in place in runs that own the table, and gradients of look-ups as the rows that are used.

#[path = "../common/mod.rs"]
mod common;

mod donated;
mod gradients;
mod random;
mod steps;

use ragged::{CpuOptions, Device, DeviceOptions, RaggedTensor, Result, Tensor};

/// The CPU and the first GPU adapter, as devices of their own whose counters no other test changes.
fn own_devices() -> Vec<Device> {
    let gpu =
        (!common::gpus().is_empty()).then(|| Device::gpu_with(&DeviceOptions::default()).expect("it opens twice"));
    std::iter::once(Device::cpu_with(&CpuOptions::default())).chain(gpu).collect()
}

/// A dense tensor of `nrows` rows of `width` numbers that tell.
fn table(nrows: usize, width: usize, device: &Device) -> Result<Tensor> {
    let values: Vec<f32> = (0..nrows * width).map(|k| ((k * 7919) % 1013) as f32 / 64.0 - 7.0).collect();
    Ok(RaggedTensor::dense(values, &[nrows, width], device)?.into_erased())
}

fn ids(ids: &[i32], device: &Device) -> Result<Tensor> {
    Ok(RaggedTensor::dense(ids.to_vec(), &[ids.len()], device)?.into_erased())
}

fn bits(x: &Tensor) -> Result<String> {
    Ok(common::outcome::bits(&x.to_host()?))
}
