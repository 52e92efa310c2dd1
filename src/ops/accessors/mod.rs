//! Accessors of a tensor: values, row partitions and sizes, and replacement of its values.

pub(super) mod nested;
pub(super) mod sizes;
mod typed;

use crate::device::Device;
use crate::element::Element;
use crate::error::{Result, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::ops::operations;
use crate::shape::RowPartition;
use crate::tensor::{Making, Tensor, Trust, Values};

operations! {
    /// Parts of a tensor.
    const OPERATIONS: family "Parts, sizes and copies" on RaggedTensor<T> where T: Element;

    /// The values of the rows: the tensor without its outermost partition.
    ///
    /// Any dtype, which stays. The rank is one less; partitions and inner dimensions below the rows stay. Empty rows
    /// contribute nothing.
    ///
    /// # Errors
    /// A dense tensor.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![], vec![vec![3]]], &Device::cpu())?;
    /// assert_eq!(x.values()?.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn values(&self) -> T;
    alias "explode";
    tensorflow "tf.RaggedTensor.values";
    awkward "ak.flatten";
    polars "Expr.explode";
    gradient yes;
    row none "the partitions are those of all rows";

    /// The flat values under all partitions, as a dense tensor.
    ///
    /// Any dtype, which stays. The shape is the number of values, then the inner dimensions. A dense tensor gives
    /// itself.
    ///
    /// # Errors
    /// None for a valid tensor.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &Device::cpu())?;
    /// assert_eq!(x.flat_values()?.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn flat_values(&self) -> T;
    alias "ravel", "content";
    tensorflow "tf.RaggedTensor.flat_values";
    awkward "ak.ravel";
    gradient yes;
    row none "the partitions are those of all rows";

    /// Row splits of the outermost dimension: the start of each row, and the end of the last one.
    ///
    /// A dense i64 vector of `nrows + 1` entries, of which the first is 0. An empty row has two equal splits.
    ///
    /// # Errors
    /// A dense tensor.
    ///
    /// # Cost
    /// One map, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.row_splits()?.to_vec()?, [0, 2, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn row_splits(&self) -> i64;
    alias "offsets";
    tensorflow "tf.RaggedTensor.row_splits";
    gradient none "the result holds offsets of rows";
    row none "the partitions are those of all rows";

    /// Start of each row of the outermost dimension, counted in values.
    ///
    /// A dense i64 vector with one entry per row. An empty row starts where the next row does.
    ///
    /// # Errors
    /// A dense tensor.
    ///
    /// # Cost
    /// One map, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.row_starts()?.to_vec()?, [0, 2, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn row_starts(&self) -> i64;
    tensorflow "tf.RaggedTensor.row_starts";
    gradient none "the result holds offsets of rows";
    row none "the partitions are those of all rows";

    /// End of each row of the outermost dimension, counted in values.
    ///
    /// A dense i64 vector with one entry per row. An empty row ends where it starts.
    ///
    /// # Errors
    /// A dense tensor.
    ///
    /// # Cost
    /// One map, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.row_limits()?.to_vec()?, [2, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn row_limits(&self) -> i64;
    tensorflow "tf.RaggedTensor.row_limits";
    gradient none "the result holds offsets of rows";
    row none "the partitions are those of all rows";

    /// Index of the row that holds each value of the outermost dimension.
    ///
    /// A dense i64 vector with one entry per value, in ascending order. Empty rows do not occur.
    ///
    /// # Errors
    /// A dense tensor.
    ///
    /// # Cost
    /// One map, with a search in the splits per value; no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.value_rowids()?.to_vec()?, [0, 0, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn value_rowids(&self) -> i64;
    alias "segment_ids";
    tensorflow "tf.RaggedTensor.value_rowids";
    gradient none "the result holds numbers of rows";
    row none "the partitions are those of all rows";

    /// Length of each row of dimension `axis`, in elements.
    ///
    /// Gives i64. Axis 0 gives a scalar (the number of rows) and axis 1 a dense vector. A deeper axis gives a tensor
    /// with the partitions above the axis. Empty rows have length 0.
    ///
    /// # Errors
    /// An axis that the tensor does not have; a dense tensor.
    ///
    /// # Cost
    /// One map, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![]], &Device::cpu())?;
    /// assert_eq!(x.row_lengths(0)?.to_vec()?, [2]);
    /// assert_eq!(x.row_lengths(1)?.to_vec()?, [2, 0]);
    /// assert_eq!(x.row_lengths(-1)?.to_string(), "<ragged.RaggedTensor [[2, 0], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn row_lengths(&self, axis: impl Integer as axis = 1) -> i64;
    alias "len", "count";
    tensorflow "tf.RaggedTensor.row_lengths";
    awkward "ak.num";
    polars "list.len";
    gradient none "the result holds counts";
    row hand;

    /// Replaces the values of the rows: the outermost partition over `values`.
    ///
    /// The new values may have any dtype, partitions and inner dimensions.
    ///
    /// # Errors
    /// A dense tensor; scalar values; another device; another number of values, at the read where only the device knows
    /// it.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?;
    /// let values = RaggedTensor::from_nested([0.5, 1.5, 2.5], &device)?;
    /// assert_eq!(x.erased().with_values(&values)?.to_string(), "<ragged.RaggedTensor [[0.5, 1.5], [], [2.5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn with_values(&self, values: &impl AsRef<Tensor> as tensor) -> {values};
    tensorflow "tf.RaggedTensor.with_values";
    gradient yes;
    typed hand;
    row none "the partitions are those of all rows";

    /// Replaces the flat values: all partitions over `flat_values`.
    ///
    /// The new values may have any dtype and inner dimensions.
    ///
    /// # Errors
    /// Scalar values; another device; another number of values, at the read where only the device knows it.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &device)?;
    /// let values = RaggedTensor::from_nested([0.5, 1.5, 2.5], &device)?;
    /// let y = x.erased().with_flat_values(&values)?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[[0.5, 1.5], []], [[2.5]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn with_flat_values(&self, flat_values: &impl AsRef<Tensor> as tensor) -> {flat_values};
    tensorflow "tf.RaggedTensor.with_flat_values";
    gradient yes;
    typed hand;
    row none "the partitions are those of all rows";
}

#[track_caller]
fn values(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("values");
    x.outermost(rec)?;
    x.values_below()
}

#[track_caller]
fn flat_values(x: &Tensor) -> Result<Tensor> {
    let (outer, inner) = (x.outer().cloned(), x.inner().clone());
    Tensor::new(x.backend(), Vec::new(), outer, inner, x.values_ref().clone())
}

#[track_caller]
fn row_splits(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("row_splits");
    x.outermost(rec)?.row_splits_on(x.backend())
}

#[track_caller]
fn row_starts(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("row_starts");
    x.outermost(rec)?.row_starts_on(x.backend())
}

#[track_caller]
fn row_limits(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("row_limits");
    x.outermost(rec)?.row_limits_on(x.backend())
}

#[track_caller]
fn value_rowids(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("value_rowids");
    x.outermost(rec)?.value_rowids_on(x.backend())
}

#[track_caller]
fn row_lengths(x: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let rec = x.recorder(OP);
    let axis = axis.saturating_i64();
    const OP: &str = "row_lengths";
    x.outermost(rec)?;
    let axis = x.axis(OP, axis)?;
    if axis == 0 {
        return x.nrows();
    }
    if let Some(p) = x.partitions().get(axis - 1) {
        let lengths = p.row_lengths_on(x.backend())?;
        let outer = Some(p.nrows_extent().clone());
        let above = x.partitions()[..axis - 1].to_vec();
        return rec.tensor(above, outer, [], lengths.values_ref().clone());
    }
    // An inner dimension: all its rows have the same length.
    let above = axis - x.ragged_rank();
    let len = Expr::scalar(i64::from(x.inner()[above - 1]));
    let inner = x.inner()[..above - 1].to_vec();
    let count = x.outer().cloned().unwrap_or_else(|| Extent::known(1));
    let numbers = count.times(OP, inner.iter().map(|&d| u64::from(d)).product())?;
    let node = rec.map(numbers, len, &[]);
    rec.tensor(x.partitions().to_vec(), Some(count), inner, Values::Numbers(node))
}

#[track_caller]
fn with_values(x: &Tensor, values: &impl AsRef<Tensor>) -> Result<Tensor> {
    let rec = x.recorder("with_values");
    let p = x.outermost(rec)?;
    x.replaced(rec, std::slice::from_ref(p), p.nvals_extent(), values.as_ref())
}

#[track_caller]
fn with_flat_values(x: &Tensor, flat_values: &impl AsRef<Tensor>) -> Result<Tensor> {
    let rec = x.recorder("with_flat_values");
    let flat_values = flat_values.as_ref();
    match x.partitions().last() {
        Some(p) => x.replaced(rec, x.partitions(), p.nvals_extent(), flat_values),
        None => Ok(flat_values.clone()),
    }
}

/// Parts of a tensor.
impl Tensor {
    /// The outermost partition.
    ///
    /// # Errors
    /// A dense tensor has none.
    fn outermost(&self, rec: Recorder<'_>) -> Result<&RowPartition> {
        self.partitions().first().ok_or_else(|| rec.argument("a dense tensor has no row partition"))
    }

    /// Row length of the outermost dimension, if its partition is uniform. `tf.RaggedTensor.uniform_row_length`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_uniform_row_length([1, 2, 3, 4], 2, &Device::cpu())?;
    /// assert_eq!(x.uniform_row_length(), Some(2));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn uniform_row_length(&self) -> Option<usize> {
        self.partitions().first().and_then(RowPartition::uniform_row_length)
    }

    #[track_caller]
    fn replaced(&self, rec: Recorder<'_>, partitions: &[RowPartition], nvals: &Extent, values: &Self) -> Result<Self> {
        Device::check_same(rec.op, self.backend(), values.backend())?;
        if values.rank() == 0 {
            return Err(rec.argument("values must have rank 1 or more, but are a scalar"));
        }
        let asserts = Making::new(self.backend(), rec.op, Trust::Check).same_count(nvals, &values.nrows_extent())?;
        let below = values.on_condition(rec.op, &asserts)?;
        partitions.iter().rev().try_fold(below, |below, p| below.under(p.clone())).map_err(here())
    }
}
