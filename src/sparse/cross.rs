//! Feature crosses of sparse matrices.

use super::SparseTensor;
use crate::error::{Error, Result};
use crate::ops::{CrossInput, HashBuckets};
use crate::tensor::Tensor;

/// A row of a sparse matrix is its values in order.
impl From<&SparseTensor> for CrossInput {
    #[track_caller]
    fn from(x: &SparseTensor) -> Self {
        Self::of(x.values_in_rows(x.recorder("cross")))
    }
}

/// Crosses.
impl SparseTensor {
    /// The crosses of the inputs as strings, as a sparse matrix `[n, longest row]` with the crosses of each row from
    /// its start.
    ///
    /// The inputs are matrices: sparse, ragged or dense ([`CrossInput`]). A cross joins one element of each input's
    /// row, as in [`Tensor::cross`]; a row without elements in an input has none.
    ///
    /// # Errors
    /// No inputs; a rank other than 2; floats or bools; different devices; different numbers of rows, at the read where
    /// only the device knows them. At the read: coordinates outside of the dense shape of a sparse input, or rows that
    /// do not ascend; 2^32 - 1 crosses or more.
    ///
    /// # Cost
    /// That of [`Tensor::cross`] and of [`Tensor::to_sparse`], which waits for the longest row.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let device = Device::cpu();
    /// let x = SparseTensor::from_entries(&[[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2], &device)?;
    /// let y = SparseTensor::from_entries(&[[0, 0], [1, 0]], ["d", "e"], [2, 1], &device)?;
    /// let crosses = SparseTensor::cross([&x, &y])?;
    /// assert_eq!(crosses.values().to_string(), "tensor([b'a_X_d', b'b_X_e', b'c_X_e'], shape=(3,), dtype=str)");
    /// assert_eq!(crosses.dense_shape(), [2, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.cross`.
    #[track_caller]
    pub fn cross(inputs: impl IntoIterator<Item = impl Into<CrossInput>>) -> Result<Self> {
        let named = |error: Error| error.of("SparseTensor::cross");
        Tensor::cross(inputs).map_err(named)?.to_sparse().map_err(named)
    }

    /// The hashes of the crosses of the inputs, as a sparse matrix `[n, longest row]` with those of each row from its
    /// start.
    ///
    /// i64, modulo the number of buckets; 0 buckets give the hash itself, modulo 2^63 - 1.
    /// [`keyed`](crate::opt::keyed)`(buckets, key)` hashes with another key. The inputs are matrices: sparse, ragged or
    /// dense ([`CrossInput`]). A cross joins one element of each input's row, as in [`Tensor::cross_hashed`]; a row
    /// without elements in an input has none.
    ///
    /// # Errors
    /// No inputs; a rank other than 2; floats or bools; different devices; a negative number of buckets; different
    /// numbers of rows, at the read where only the device knows them. At the read: coordinates outside of the dense
    /// shape of a sparse input, or rows that do not ascend.
    ///
    /// # Cost
    /// That of [`Tensor::cross_hashed`] and of [`Tensor::to_sparse`], which waits for the longest row.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let device = Device::cpu();
    /// let x = SparseTensor::from_entries(&[[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2], &device)?;
    /// let y = SparseTensor::from_entries(&[[0, 0], [1, 0]], ["d", "e"], [2, 1], &device)?;
    /// let crosses = SparseTensor::cross_hashed([&x, &y], 100)?;
    /// assert_eq!(crosses.values().to_string(), "tensor([82, 61, 41], shape=(3,), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.cross_hashed`.
    #[track_caller]
    pub fn cross_hashed(
        inputs: impl IntoIterator<Item = impl Into<CrossInput>>,
        buckets: impl Into<HashBuckets>,
    ) -> Result<Self> {
        let named = |error: Error| error.of("SparseTensor::cross_hashed");
        Tensor::cross_hashed(inputs, buckets).map_err(named)?.to_sparse().map_err(named)
    }
}
