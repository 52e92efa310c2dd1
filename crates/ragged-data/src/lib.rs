//! Data in and out of [`ragged`]: files, other libraries' memory, and datasets of batches.
//!
//! Each format is a feature and a module of the same name; `arrow` is on by default. One call reads, and one writes; files are
//! replaced once the new one is whole. On the CPU a tensor adopts the memory that it is made of
//! ([`Tensor::from_shared`](ragged::Tensor::from_shared)), so that arrays of Arrow, mapped files and tensors of DLPack are not
//! copied; on a GPU the upload is the only copy.
//!
//! Errors are [`ragged::Error`]s that begin with the function, such as `parquet::read`, and name the file, the column or the byte,
//! the reason, and the line of the call. Damaged files do not panic, and take no memory that their size does not justify.

#![cfg_attr(
    not(all(
        feature = "parquet",
        feature = "json",
        feature = "npy",
        feature = "safetensors",
        feature = "dlpack",
        feature = "ndarray",
        feature = "tf",
        feature = "dataset"
    )),
    allow(dead_code, unused_imports, reason = "formats share code, of which each uses a part")
)]

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "dataset")]
pub mod dataset;
#[cfg(feature = "dlpack")]
pub mod dlpack;
mod fault;
#[cfg(any(feature = "npy", feature = "safetensors", feature = "parquet", feature = "json"))]
mod file;
#[cfg(any(feature = "tf", feature = "dataset"))]
pub mod item;
#[cfg(feature = "json")]
pub mod json;
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
#[cfg(feature = "tf")]
pub mod tf;

pub use fault::MAX_VALUES;
#[cfg(feature = "ndarray")]
pub use rows::{from_ndarray_rows, to_ndarray_rows};

/// Checks the README's example.
#[cfg(all(doctest, feature = "parquet"))]
#[doc = include_str!("../README.md")]
struct Readme;
