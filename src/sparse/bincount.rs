//! Sparse counts of integers.

use super::coordinates::indices_of;
use super::{Order, SparseTensor};
use crate::dtype::DType;
use crate::element::Number;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::ops::IntoAxes;
use crate::ops::{Bins, Occurrences};
use crate::tensor::{RaggedTensor, Tensor, Values};

/// Sparse counts of integers.
impl Tensor {
    /// The nonzero counts of [`Tensor::bincount`] along axis 0 or 1, as a sparse tensor sorted by row and value.
    ///
    /// Counts are i32. No bin takes memory: integers may be as large as 2^63 - 2. The result has at least one bin, also
    /// of no values, unless fewer are asked for. A row without values has no entries.
    ///
    /// # Errors
    /// Byte strings; an axis that is out of range or above 1, or several axes; a negative number of bins. At the read:
    /// negative values, floats that are not whole numbers; integers of 64 bits above 2^63 - 2.
    ///
    /// # Cost
    /// A sort of the values, the distinct values of each row, and the wait of [`Tensor::bincount`]; another wait where
    /// only the device knows the number of rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 1, 5], vec![], vec![0]], &Device::cpu())?;
    /// let counts = x.bincount_sparse(1, ..)?;
    /// assert_eq!(counts.dense_shape(), [3, 6]);
    /// assert_eq!(counts.indices().to_string(), "tensor([[0, 1], [0, 5], [2, 0]], shape=(3, 2), dtype=i64)");
    /// assert_eq!(counts.values().to_string(), "tensor([1, 2, 1], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.bincount`.
    #[track_caller]
    pub fn bincount_sparse(&self, axis: impl IntoAxes, bins: impl Into<Bins>) -> Result<SparseTensor> {
        let rec = self.recorder("bincount_sparse");
        let backend = self.backend();
        let Occurrences { values, counts, bins, by_row } = self.occurrences(rec, &axis.into(), bins.into())?;
        let found = values.count()?;
        let value = Expr::load(rec.numbers(&values)?, Expr::index());
        let (coordinates, dense_shape) = match values.partitions() {
            [rows] if by_row => {
                let nrows = rec.on_host(&self.nrows_extent())?;
                (vec![rows.row_of(Expr::index()), value], vec![nrows.into(), bins])
            }
            _ => (vec![value], vec![bins]),
        };
        let indices = indices_of(rec, &found, &coordinates, &[])?;
        let times = Expr::load(rec.numbers(&counts)?, Expr::index()).cast(DType::I32);
        let times = Values::Numbers(rec.map(found.clone(), times, &[]));
        let times = Self::new(backend, Vec::new(), Some(found), [], times)?;
        Ok(SparseTensor::of_parts(indices, times, dense_shape, Order::Distinct))
    }
}

/// Sparse counts of integers.
impl<T: Number> RaggedTensor<T> {
    /// The nonzero counts of [`bincount`](Self::bincount) along axis 0 or 1, as a sparse tensor sorted by row and
    /// value.
    ///
    /// Counts are i32. No bin takes memory: integers may be as large as 2^63 - 2. The result has at least one bin, also
    /// of no values, unless fewer are asked for. A row without values has no entries.
    ///
    /// # Errors
    /// An axis that is out of range or above 1, or several axes; a negative number of bins. At the read: negative
    /// values, floats that are not whole numbers; integers of 64 bits above 2^63 - 2.
    ///
    /// # Cost
    /// A sort of the values, the distinct values of each row, and the wait of [`bincount`](Self::bincount); another
    /// wait where only the device knows the number of rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 1, 5], vec![], vec![0]], &Device::cpu())?;
    /// let counts = x.bincount_sparse(1, ..)?;
    /// assert_eq!(counts.dense_shape(), [3, 6]);
    /// assert_eq!(counts.values().to_string(), "tensor([1, 2, 1], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.bincount`.
    #[track_caller]
    pub fn bincount_sparse(&self, axis: impl IntoAxes, bins: impl Into<Bins>) -> Result<SparseTensor> {
        self.erased().bincount_sparse(axis, bins)
    }
}
