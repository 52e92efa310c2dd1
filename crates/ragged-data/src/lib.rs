//! Data in and out of [`ragged`]: files, other libraries' memory, and datasets of batches.

#[cfg(any(feature = "tf", feature = "dataset"))]
#[cfg_attr(
    not(all(feature = "tf", feature = "dataset")),
    allow(dead_code, reason = "each of the features uses a part of it")
)]
pub mod item;

#[cfg(feature = "tf")]
pub mod tf;

#[cfg(feature = "dataset")]
pub mod dataset;
