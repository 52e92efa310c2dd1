//! Data in and out of [`ragged`]: files, other libraries' memory, and datasets of batches.
