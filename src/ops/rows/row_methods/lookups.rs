//! Look-ups by indices, in the row or in a table that is the same for all rows.

use crate::error::{Error, Result};
use crate::ops::options::batched;
use crate::ops::{Row, RowOperand};
use crate::tensor::Tensor;

/// Elements by index, and embedding look-ups.
impl Row {
    /// The elements along the row's outermost dimension at the indices, a row of the same call.
    ///
    /// The result has the dimensions of the indices, then those of the row but the first. Any dtype, which stays. An
    /// empty row of indices gives an empty row.
    ///
    /// # Errors
    /// A row that is a scalar; indices that are not integers; a row of another call. At the read: an index that is
    /// negative or too large.
    ///
    /// # Cost
    /// A map over the values, which fuses into its consumer, and a scan per ragged dimension below the first of the
    /// row. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 1, 2], vec![], vec![5, 4]], &Device::cpu())?;
    /// let sorted: RaggedTensor<i32> = x.map_rows(|row| row.gather(&row.argsort(0)?))?;
    /// assert_eq!(sorted.to_string(), "<ragged.RaggedTensor [[1, 2, 3], [], [4, 5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.gather`.
    ///
    /// Awkward: `ak.Array.__getitem__`.
    ///
    /// Polars: `Expr.gather`.
    #[track_caller]
    pub fn gather(&self, indices: &Self) -> Result<Self> {
        const OP: &str = "gather";
        self.axis(OP, 0)?;
        Ok(self.with(self.all.gather(batched(&indices.clone().of_call(OP, &self.call)?, 1))?))
    }

    /// The elements (or rows, or tensors) of the row that vectors of indices name: the last dimension of the indices,
    /// which is uniform, holds an index into each of the first dimensions of the row.
    ///
    /// The indices are a row of the same call, or a tensor that is the same for all rows. The result has their other
    /// dimensions, then those of the row that are not indexed. Any dtype, which stays. Vectors of length 0 name the
    /// whole row.
    ///
    /// # Errors
    /// Indices that are no integers or a scalar, on another device, of another call, or whose last dimension is ragged or
    /// longer than the rank of the row. At the read: an index that is negative or too large.
    ///
    /// # Cost
    /// A map over the values, which fuses into its consumer, and a scan per ragged dimension below the indexed ones.
    /// Indices that are the same for all rows are copied for each row. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![vec![4, 5]]], &Device::cpu())?;
    /// let corner = RaggedTensor::from_nested([[0i64, 1]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| row.gather_nd(&corner))?;
    /// assert_eq!(y.to_vec()?, [2, 5]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.gather_nd`.
    #[track_caller]
    pub fn gather_nd<'a>(&self, indices: impl Into<RowOperand<'a>>) -> Result<Self> {
        const OP: &str = "gather_nd";
        let indices = self.rows_or_repeated(OP, &indices.into())?;
        if indices.rank() < 2 {
            return Err(Error::argument(OP, "indices must have a last dimension, but are a scalar"));
        }
        Ok(self.with(self.all.gather_nd(batched(&indices, 1))?))
    }

    /// Looks up rows of a dense table, which is the same for all rows, by the ids in this row.
    ///
    /// The result has the dimensions of the row, followed by those of the table but the first. The dtype is that of the
    /// table, which may be any. An empty row of ids gives an empty row.
    ///
    /// # Errors
    /// A table that is ragged or a scalar, or on another device; ids that are not integers. At the read: an id that is
    /// negative or too large.
    ///
    /// # Cost
    /// One map, which fuses into its consumers. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let table = RaggedTensor::from_nested([[0.5f32, 1.0], [1.5, 2.0]], &device)?;
    /// let ids = RaggedTensor::from_nested([vec![1, 0], vec![], vec![1]], &device)?;
    /// let bags: RaggedTensor<f32> = ids.map_rows(|ids| ids.embedding_lookup(&table)?.reduce_sum(0))?;
    /// assert_eq!(bags.to_vec()?, [2.0, 3.0, 0.0, 0.0, 1.5, 2.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.nn.embedding_lookup`.
    #[track_caller]
    pub fn embedding_lookup(&self, table: &impl AsRef<Tensor>) -> Result<Self> {
        Ok(self.with(table.as_ref().embedding_lookup(&self.all)?))
    }
}
