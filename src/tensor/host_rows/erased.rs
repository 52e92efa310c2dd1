//! The rows of a tensor of run-time dtype in host memory.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::tensor::{HostTensor, HostValues, Tensor};

/// Rows in host memory.
impl Tensor {
    /// Reads the tensor, once, and iterates over the rows of its outermost dimension, each a tensor in host memory with
    /// one dimension fewer.
    ///
    /// Waits like [`Tensor::to_host`], and holds what it holds; a row is copied when the iterator comes to it.
    /// [`RaggedTensor::rows`](crate::RaggedTensor::rows) gives slices of values instead, [`Tensor::row_at`] a row on
    /// the device. TensorFlow: iteration over a tensor.
    ///
    /// # Errors
    /// A scalar; the first failed device-side check; a lost device; more memory than is available, or than the device's
    /// budget.
    ///
    /// ```
    /// use ragged::{Device, HostValues, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.into_erased();
    /// let mut sums = Vec::new();
    /// for row in x.rows()? {
    ///     if let HostValues::I32(values) = row.values {
    ///         sums.push(values.iter().sum::<i32>());
    ///     }
    /// }
    /// assert_eq!(sums, [3, 0, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn rows(&self) -> Result<impl DoubleEndedIterator<Item = HostTensor> + ExactSizeIterator + Send + use<>> {
        if self.rank() == 0 {
            return Err(Error::argument("rows", "a scalar has no rows"));
        }
        let host = self.to_host()?;
        let outer = host.inner_shape.first().copied().unwrap_or(1);
        let nrows = host.nested_row_splits.first().map_or(outer, |splits| splits.len() - 1);
        Ok((0..nrows).map(move |row| host.row(row)))
    }
}

impl HostTensor {
    /// A row of the outermost dimension of a tensor that was read.
    fn row(&self, row: usize) -> Self {
        let Some((outer, below)) = self.nested_row_splits.split_first() else {
            let rest = &self.inner_shape[1..];
            let width: usize = rest.iter().product();
            return Self::dense(rest, self.values.part(row * width..(row + 1) * width));
        };
        let mut at = outer[row] as usize..outer[row + 1] as usize;
        let mut nested_row_splits = Vec::with_capacity(below.len());
        for splits in below {
            let first = splits[at.start];
            nested_row_splits.push(splits[at.start..=at.end].iter().map(|split| split - first).collect());
            at = first as usize..splits[at.end] as usize;
        }
        let width: usize = self.inner_shape[1..].iter().product();
        Self {
            nested_row_splits,
            uniform_row_lengths: self.uniform_row_lengths[1..].to_vec(),
            inner_shape: [&[at.len()], &self.inner_shape[1..]].concat(),
            values: self.values.part(at.start * width..at.end * width),
        }
    }
}

impl HostValues {
    /// A copy of the values of a range.
    fn part(&self, at: Range<usize>) -> Self {
        match self {
            Self::Bool(v) => Self::Bool(v[at].to_vec()),
            Self::U8(v) => Self::U8(v[at].to_vec()),
            Self::I8(v) => Self::I8(v[at].to_vec()),
            Self::U16(v) => Self::U16(v[at].to_vec()),
            Self::I16(v) => Self::I16(v[at].to_vec()),
            Self::I32(v) => Self::I32(v[at].to_vec()),
            Self::U32(v) => Self::U32(v[at].to_vec()),
            Self::I64(v) => Self::I64(v[at].to_vec()),
            Self::U64(v) => Self::U64(v[at].to_vec()),
            Self::F16(v) => Self::F16(v[at].to_vec()),
            Self::BF16(v) => Self::BF16(v[at].to_vec()),
            Self::F32(v) => Self::F32(v[at].to_vec()),
            Self::F64(v) => Self::F64(v[at].to_vec()),
            Self::Str(v) => Self::Str(v[at].to_vec()),
        }
    }
}
