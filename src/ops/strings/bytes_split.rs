//! The bytes of byte strings, as strings.

use crate::element::Str;
use crate::error::Result;
use crate::shape::RowPartition;
use crate::tensor::{RaggedTensor, Tensor, Values};

impl Tensor {
    /// Each byte of each string, as a string of one byte. `[..]` gives `[.., (bytes)]`; a scalar gives a vector.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// Nothing: the bytes and the positions of the strings are shared. No wait.
    ///
    /// # Source
    /// `tf.strings.bytes_split`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["to", ""], &Device::cpu())?;
    /// assert_eq!(x.bytes_split()?.to_string(), "<ragged.RaggedTensor [[b't', b'o'], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn bytes_split(&self) -> Result<Self> {
        let (rows, bytes) = self.strings("bytes_split")?;
        let count = rows.nvals_extent().clone();
        let strings = RowPartition::uniform(1, count.clone())?;
        let values = Values::Strings { strings, bytes: bytes.clone() };
        if self.rank() == 0 {
            return Self::new(self.backend(), Vec::new(), Some(count), [], values);
        }
        let mut partitions = self.inner_to_partitions(self.inner().len())?.partitions().to_vec();
        partitions.push(rows.clone());
        Self::new(self.backend(), partitions, Some(count), [], values)
    }
}

impl RaggedTensor<Str> {
    /// As [`Tensor::bytes_split`].
    ///
    /// # Errors
    /// As [`Tensor::bytes_split`].
    #[track_caller]
    pub fn bytes_split(&self) -> Result<Self> {
        self.erased().bytes_split()?.try_into()
    }
}
