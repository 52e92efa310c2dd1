//! Numbers of records on the host.

use std::future::Future;

use super::StructuredTensor;
use crate::error::{Error, Result, here};
use crate::tensor::Tensor;

/// Number of records.
impl StructuredTensor {
    /// Number of records of the outermost dimension, as a number of the host.
    ///
    /// [`nrows`](Self::nrows) is the same number as a tensor, without a wait, and [`shape`](Self::shape) gives it where
    /// the host knows it.
    ///
    /// # Errors
    /// A single record. A failed check of what the number depends on.
    ///
    /// # Cost
    /// None where the host knows the number; otherwise one wait and a read of 4 bytes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let id = RaggedTensor::from_nested([7, 8, 9], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields_and_rank([("id", &id)], 1)?;
    /// assert_eq!(records.len()?, 3);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn len(&self) -> Result<usize> {
        self.one_per_record()?.len()
    }

    /// Whether there are no records in the outermost dimension.
    ///
    /// # Errors
    /// A single record. A failed check of what the number depends on.
    ///
    /// # Cost
    /// None where the host knows the number of records; otherwise one wait and a read of 4 bytes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let id = RaggedTensor::from_nested([7, 8, 9], &Device::cpu())?;
    /// assert!(!StructuredTensor::from_fields_and_rank([("id", &id)], 1)?.is_empty()?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len().map_err(|e| e.of("is_empty"))? == 0)
    }

    /// Number of records of the outermost dimension, as a number of the host, without blocking.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped. It is ready at once where the host
    /// knows the number; otherwise it reads 4 bytes.
    ///
    /// # Errors
    /// A single record. A failed check of what the number depends on.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let id = RaggedTensor::from_nested([7, 8, 9], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields_and_rank([("id", &id)], 1)?;
    /// assert_eq!(pollster::block_on(records.len_async())?, 3);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn len_async(&self) -> impl Future<Output = Result<usize>> + Send + use<> {
        let (read, here) = (self.one_per_record().map(|records| records.len_async()), here());
        async move { read?.await.map_err(here) }
    }

    /// A tensor with one element per record, of records that have rows.
    #[track_caller]
    fn one_per_record(&self) -> Result<Tensor> {
        if self.rank() == 0 { Err(Error::argument("len", "a single record has no rows")) } else { self.skeleton() }
    }
}
