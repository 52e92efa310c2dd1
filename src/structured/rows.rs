//! Rows of records at positions that are tensors.

use super::StructuredTensor;
use crate::error::{Error, Result, here};
use crate::tensor::{Integers, Tensor};

/// Slices of individual rows.
impl StructuredTensor {
    /// Record `index` of the outermost dimension, or row of records, where the index is itself a scalar tensor. A
    /// negative index counts from the end. [`get`](Self::get) takes indices of the host.
    ///
    /// TensorFlow: `StructuredTensor.__getitem__` of a scalar integer tensor.
    ///
    /// # Errors
    /// A single record; as [`Tensor::row_at`]: an index that is out of range is an error of the read.
    ///
    /// # Cost
    /// A [`Tensor::row_at`] of each field. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let device = Device::cpu();
    /// let (id, price) = (RaggedTensor::from_nested([7, 8, 9], &device)?, RaggedTensor::from_nested([4, 6, 5], &device)?);
    /// let records = StructuredTensor::from_fields([("id", &id), ("price", &price)], [3])?;
    /// let dearest = records.row_at(&price.argmax(0)?)?;
    /// assert_eq!((dearest.rank(), dearest.field_value("id")?.to_string()), (0, "tensor(8, shape=(), dtype=i32)".into()));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn row_at(&self, index: &impl AsRef<Tensor>) -> Result<Self> {
        self.check_rank("row_at", 1)?;
        self.each(&|t| t.row_at(index)).map_err(here())
    }

    /// A part of each row of records: `lengths[r]` successive records of row `r`, from record `starts[r]` on. Starts
    /// and lengths are lists of the host or vectors of the device, as of [`Tensor::slice_rows`].
    ///
    /// TensorFlow: `StructuredTensor.__getitem__` of a slice whose bounds are tensors.
    ///
    /// # Errors
    /// Records of fewer than 2 dimensions; as [`Tensor::slice_rows`].
    ///
    /// # Cost
    /// A [`Tensor::slice_rows`] of each field. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields_and_rank([("x", &x)], 2)?;
    /// let half = x.row_lengths(1)?.floordiv(2)?;
    /// let first = records.slice_rows(&half.zeros_like()?, &half)?;
    /// assert_eq!(first.field_value("x")?.to_string(), "<ragged.RaggedTensor [[1], [], [4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn slice_rows<'a>(&self, starts: impl Into<Integers<'a>>, lengths: impl Into<Integers<'a>>) -> Result<Self> {
        self.check_rank("slice_rows", 2)?;
        let (starts, lengths) = (starts.into(), lengths.into());
        self.each(&|t| t.slice_rows(starts.clone(), lengths.clone())).map_err(here())
    }

    #[track_caller]
    fn check_rank(&self, op: &'static str, least: usize) -> Result<()> {
        if self.rank() >= least {
            return Ok(());
        }
        let what = format!("the records have {} dimensions, but need {least}", self.rank());
        Err(Error::argument(op, what))
    }
}
