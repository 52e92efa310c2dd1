//! Ragged tensors.
#![forbid(unsafe_op_in_unsafe_fn)]
mod backend;
mod dtype;
mod error;
pub use backend::gpu::runtime::{DeviceOptions, Stats};
pub use dtype::DType;
pub use error::{Error, Result};
