//! Data in and out of [`ragged`]: files, other libraries' memory, and datasets of batches.

#[cfg(any(feature = "tf", feature = "dataset"))]
pub mod item;

#[cfg(feature = "tf")]
pub mod tf;

#[cfg(feature = "dataset")]
pub mod dataset;
