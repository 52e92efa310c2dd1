//! Numbers of rows on the host: known, or read from the device.

use super::Tensor;
use super::both::{futures_of_both, methods_of_both};
use super::read::first_word;
use crate::error::{Error, Result, here};
use crate::graph::backend::{BackendRef, Part, Wait};
use crate::graph::extent::{Count, Extent};
use crate::graph::run::diagnosis;

/// The value of a size: known to the host, or read from the device, with a wait. A size that was read is known from
/// then on.
pub(super) async fn read_size(size: &Extent, backend: &BackendRef, wait: Wait) -> Result<u32> {
    match size.count(backend) {
        Count::Known(n) => Ok(n),
        Count::At(node, at, most) => {
            // The array may be allocated by this read only, and its length with it: the index is a size.
            let read = diagnosis::read_parts(backend, vec![Part::at(node, at)], wait).await?;
            let n = read.first().and_then(|bytes| first_word(bytes)).map_or(0, |n| n.min(most));
            size.set_exact(n);
            Ok(n)
        }
    }
}

impl Tensor {
    pub(crate) async fn read_len(self, wait: Wait) -> Result<usize> {
        if self.rank() == 0 {
            return Err(Error::argument("len", "a scalar has no rows"));
        }
        Ok(read_size(&self.nrows_extent(), self.backend(), wait).await? as usize)
    }
}

methods_of_both! {
    /// Number of rows, on the host.
    impl;

    /// Number of rows of the outermost dimension, as a number of the host. [`Tensor::nrows`] is the same number as a
    /// tensor, without a wait, and [`Tensor::shape`] gives it where the host knows it.
    ///
    /// # Errors
    /// A scalar. Where the number is read: the first failed device-side check that it depends on; a lost device.
    ///
    /// # Cost
    /// None where the host knows the number. Otherwise evaluates the pending work that determines it, transfers 4 bytes
    /// and waits once.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let ids = RaggedTensor::from_nested([7, 3, 7, 9, 3], &Device::cpu())?;
    /// let vocabulary = ids.unique(0)?;
    /// assert_eq!((vocabulary.shape(), vocabulary.len()?), (vec![None], 3));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn len(&self) -> Result<usize> {
        pollster::block_on(self.clone().read_len(Wait::Blocking)).map_err(here())
    }

    /// Whether there are no rows; rows without values count.
    ///
    /// # Errors
    /// A scalar. Where the number of rows is read: the first failed device-side check that it depends on; a lost device.
    ///
    /// # Cost
    /// None where the host knows the number of rows. Otherwise evaluates the pending work that determines it, transfers 4
    /// bytes and waits once.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let none = x.boolean_mask(&x.row_lengths(1)?.greater(7)?)?;
    /// assert_eq!((x.is_empty()?, none.is_empty()?), (false, true));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len().map_err(|e| e.of("is_empty"))? == 0)
    }
}

futures_of_both! {
    /// Number of rows, on the host.
    impl;

    /// Number of rows of the outermost dimension, as a number of the host, without blocking; see [`Tensor::len`].
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`].
    ///
    /// # Errors
    /// A scalar. Where the number is read: the first failed device-side check that it depends on; a lost device.
    ///
    /// # Cost
    /// None where the host knows the number. Otherwise the pending work that determines it, and a transfer of 4 bytes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let long = x.boolean_mask(&x.row_lengths(1)?.greater(0)?)?;
    /// assert_eq!(pollster::block_on(long.len_async())?, 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn len_async(&self) -> Result<usize> {
        let (read, here) = (self.clone().read_len(Wait::Polled), here());
        async move { read.await.map_err(here) }
    }
}
