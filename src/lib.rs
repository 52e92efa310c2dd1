//! Ragged tensors.
#![forbid(unsafe_op_in_unsafe_fn)]
mod dtype;
mod error;
mod math;
pub use dtype::DType;
pub use error::{Error, Result};
