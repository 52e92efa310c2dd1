//! Data in and out of [`ragged`]: files, other libraries' memory, and datasets of batches.

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "dlpack")]
pub mod dlpack;
mod fault;
#[cfg(any(feature = "npy", feature = "safetensors", feature = "parquet"))]
mod file;
mod memory;
#[cfg(feature = "npy")]
pub mod npy;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(any(feature = "npy", feature = "safetensors"))]
mod parts;
#[cfg(feature = "ndarray")]
mod rows;
#[cfg(feature = "safetensors")]
pub mod safetensors;

pub use memory::MAX_VALUES;
#[cfg(feature = "ndarray")]
pub use rows::{from_ndarray_rows, to_ndarray_rows};
