//! Devices, naive reference implementations, random tensors and outcomes of errors, for the integration tests.
#![allow(dead_code, unused_imports, reason = "every test binary uses a part of it")]

#[cfg(feature = "gpu")]
mod adapter;
mod devices;
pub mod naive;
pub mod outcome;
pub mod random;

#[cfg(feature = "gpu")]
pub use adapter::gpu_with;
pub use devices::{devices, devices_and_unfused_cpu, every_way, fused_and_not, gpus, has, recomputing_gpu};
use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Result};

/// Every dtype except strings.
pub fn bools_and_numbers() -> impl Iterator<Item = DType> + Clone {
    DType::ALL.into_iter().filter(|&dtype| dtype != DType::Str)
}

/// Every numeric dtype.
pub fn numbers() -> impl Iterator<Item = DType> + Clone {
    bools_and_numbers().filter(|&dtype| dtype != DType::Bool)
}

/// `n` values in groups of 20, whose number only the device knows.
pub fn groups(n: i32, device: &Device) -> Result<RaggedTensor<i32>> {
    let values = RaggedTensor::dense((0..n).collect::<Vec<_>>(), &[-1], device)?;
    let keys = RaggedTensor::dense((0..n).map(|i| i / 20).collect::<Vec<_>>(), &[-1], device)?;
    Ok(values.group_by_key(&keys)?.1)
}

/// Rows of fewer than `bound` numbers, with lengths and values from `seed`.
pub fn seeded_rows(nrows: u32, bound: u32, seed: i32) -> HostTensor {
    let lengths: Vec<u32> = (0..nrows).map(|r| (r * 7 + seed as u32) % bound).collect();
    let splits = random::splits(&lengths);
    let n = splits[lengths.len()] as i32;
    HostTensor::from_row_splits(splits, HostValues::I32((0..n).map(|i| i.wrapping_mul(seed) % 1000).collect()))
}
