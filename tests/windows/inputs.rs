//! Devices with small bindings, tensors for them, and named operations.

use ragged::{Device, DeviceOptions, HostTensor, HostValues, Result, Tensor};

use crate::common;

/// The first adapter with bindings of that many bytes.
pub fn windowed(max_binding: u64) -> Option<Device> {
    let options = DeviceOptions::default().max_binding(max_binding);
    (!common::gpus().is_empty()).then(|| Device::gpu_with(&options).expect("the first adapter opens twice"))
}

/// The first adapter with no more bindings than the smallest has, of that many bytes each.
pub fn smallest(max_binding: u64) -> Option<Device> {
    let options = DeviceOptions::default().core_limits(true).max_binding(max_binding);
    (!common::gpus().is_empty()).then(|| Device::gpu_with(&options).expect("the first adapter opens with less"))
}

/// Row lengths of all kinds: some rows are empty, one is long.
fn lengths() -> Vec<u32> {
    let mut out: Vec<u32> = (0..700).map(|r| (r * r) % 23 * u32::from(r % 3 != 0)).collect();
    out[350] = 3000;
    out
}

pub fn ragged(values: impl Fn(u32) -> HostValues) -> HostTensor {
    ragged_of(&lengths(), values)
}

/// The rows, repeated.
pub fn repeated(times: usize, values: impl Fn(u32) -> HostValues) -> HostTensor {
    ragged_of(&lengths().repeat(times), values)
}

pub fn ragged_of(lengths: &[u32], values: impl Fn(u32) -> HostValues) -> HostTensor {
    let splits = common::random::splits(lengths);
    let n = splits[splits.len() - 1];
    HostTensor {
        nested_row_splits: vec![splits],
        uniform_row_lengths: vec![None],
        inner_shape: vec![n as usize],
        values: values(n),
    }
}

pub fn scrambled(k: u32) -> u32 {
    k.wrapping_mul(0x9e37_79b9) >> 7
}

pub fn floats(n: u32) -> HostValues {
    HostValues::F32((0..n).map(|k| scrambled(k) as f32 / 1024.0 - 7000.0).collect())
}

pub fn longs(n: u32) -> HostValues {
    HostValues::I64((0..n).map(|k| i64::from(scrambled(k)) * 0x1_0001 - 77).collect())
}

pub fn shorts(n: u32) -> HostValues {
    HostValues::I16((0..n).map(|k| scrambled(k) as i16).collect())
}

pub fn bytes(n: u32) -> HostValues {
    HostValues::U8((0..n).map(|k| scrambled(k) as u8).collect())
}

/// A named operation on a tensor.
pub type Op = (&'static str, fn(&Tensor) -> Result<Tensor>);

/// Scattered indices below `bound`.
pub fn indices(x: &Tensor, count: u32, bound: u32) -> Result<Tensor> {
    let ids = (0..count).map(|k| i64::from(k) * 1009 % i64::from(bound)).collect();
    HostTensor::dense(&[count as usize], HostValues::I64(ids)).to_device(&x.device())
}
