//! The bytes of byte strings, as strings.

use crate::element::Str;
use crate::error::Result;
use crate::ops::operations;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

operations! {
    /// Bytes of byte strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Each byte of each string, as a string of one byte.
    ///
    /// `[..]` gives `[.., (bytes)]`; a scalar gives a vector. An empty string gives an empty row.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// Nothing: the bytes and the positions of the strings are shared. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["to", ""], &Device::cpu())?;
    /// assert_eq!(x.bytes_split()?.to_string(), "<ragged.RaggedTensor [[b't', b'o'], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bytes_split(&self) -> Str;
    tensorflow "tf.strings.bytes_split";
    gradient none "it takes strings";
}

#[track_caller]
fn bytes_split(x: &Tensor) -> Result<Tensor> {
    let (rows, bytes) = x.strings("bytes_split")?;
    let count = rows.nvals_extent().clone();
    let strings = RowPartition::uniform(1, count.clone())?;
    let values = Values::Strings { strings, bytes: bytes.clone() };
    if x.rank() == 0 {
        return Tensor::new(x.backend(), Vec::new(), Some(count), [], values);
    }
    let mut partitions = x.inner_to_partitions(x.inner().len())?.partitions().to_vec();
    partitions.push(rows.clone());
    Tensor::new(x.backend(), partitions, Some(count), [], values)
}
