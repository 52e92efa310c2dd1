//! Accessors of all row partitions of a tensor.

use crate::element::Element;
use crate::error::{Result, here};
use crate::ops::operations;
use crate::tensor::Tensor;

operations! {
    /// Row partitions of all levels.
    const OPERATIONS: family "Parts, sizes and copies" on RaggedTensor<T> where T: Element;

    /// Row splits of every partition, outermost first.
    ///
    /// One dense i64 vector per partition: the starts of its rows, and the end of the last one. A dense tensor has
    /// none.
    ///
    /// # Errors
    /// None for a valid tensor.
    ///
    /// # Cost
    /// One map per partition, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &Device::cpu())?;
    /// let splits = x.nested_row_splits()?;
    /// assert_eq!((splits[0].to_vec()?, splits[1].to_vec()?), (vec![0, 2, 3], vec![0, 2, 2, 3]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn nested_row_splits(&self) -> [i64];
    tensorflow "tf.RaggedTensor.nested_row_splits";
    gradient none "the result holds offsets of rows";
    row none "the partitions are those of all rows";

    /// Row lengths of every partition, outermost first.
    ///
    /// One dense i64 vector per partition, with one entry per row. A dense tensor has none.
    ///
    /// # Errors
    /// None for a valid tensor.
    ///
    /// # Cost
    /// One map per partition, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &Device::cpu())?;
    /// let lengths = x.nested_row_lengths()?;
    /// assert_eq!((lengths[0].to_vec()?, lengths[1].to_vec()?), (vec![2, 1], vec![2, 0, 1]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn nested_row_lengths(&self) -> [i64];
    tensorflow "tf.RaggedTensor.nested_row_lengths";
    gradient none "the result holds counts";
    row none "the partitions are those of all rows";

    /// Index of the row that holds each value, of every partition, outermost first.
    ///
    /// One dense i64 vector per partition, with one entry per value of that partition. A dense tensor has none.
    ///
    /// # Errors
    /// None for a valid tensor.
    ///
    /// # Cost
    /// One map per partition, with a search in the splits per value; no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &Device::cpu())?;
    /// let ids = x.nested_value_rowids()?;
    /// assert_eq!((ids[0].to_vec()?, ids[1].to_vec()?), (vec![0, 0, 1], vec![0, 0, 2]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn nested_value_rowids(&self) -> [i64];
    tensorflow "tf.RaggedTensor.nested_value_rowids";
    gradient none "the result holds numbers of rows";
    row none "the partitions are those of all rows";
}

#[track_caller]
fn nested_row_splits(x: &Tensor) -> Result<Vec<Tensor>> {
    x.partitions().iter().map(|p| p.row_splits_on(x.backend())).collect::<Result<_>>().map_err(here())
}

#[track_caller]
fn nested_row_lengths(x: &Tensor) -> Result<Vec<Tensor>> {
    x.partitions().iter().map(|p| p.row_lengths_on(x.backend())).collect::<Result<_>>().map_err(here())
}

#[track_caller]
fn nested_value_rowids(x: &Tensor) -> Result<Vec<Tensor>> {
    x.partitions().iter().map(|p| p.value_rowids_on(x.backend())).collect::<Result<_>>().map_err(here())
}
