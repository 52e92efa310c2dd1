//! What the integration tests share.
#![allow(dead_code, unused_imports, reason = "every test binary uses a part of it")]

mod devices;
pub mod naive;
pub mod outcome;
pub mod random;

pub use devices::{devices, devices_and_unfused_cpu, every_way, fused_and_not, gpus, has};
use ragged::DType;

/// Every dtype but strings.
pub fn bools_and_numbers() -> impl Iterator<Item = DType> + Clone {
    DType::ALL.into_iter().filter(|&dtype| dtype != DType::Str)
}

/// Every dtype of numbers.
pub fn numbers() -> impl Iterator<Item = DType> + Clone {
    bools_and_numbers().filter(|&dtype| dtype != DType::Bool)
}
