//! Data in and out of [`ragged`]: files, other libraries' memory, and datasets of batches.

#[cfg(feature = "arrow")]
pub mod arrow;
mod fault;
mod memory;
