//! Accessors of a tensor: values, row partitions and sizes, and replacement of its values.

mod sizes;
mod typed;

use crate::device::Device;
use crate::error::{Error, Result, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::integer::Integer;
use crate::shape::RowPartition;
use crate::tensor::{Making, Tensor, Trust, Values};

impl Tensor {
    /// The outermost partition.
    ///
    /// # Errors
    /// A dense tensor has none.
    #[track_caller]
    fn outermost(&self, op: &'static str) -> Result<&RowPartition> {
        self.partitions()
            .first()
            .ok_or_else(|| Error::argument(op, "a dense tensor has no row partition"))
            .map_err(here())
    }

    /// The tensor without its outermost partition: the values of its rows. `tf.RaggedTensor.values`. No pass, no wait.
    ///
    /// # Errors
    /// A dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.values()?.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn values(&self) -> Result<Self> {
        self.outermost("values")?;
        self.values_below()
    }

    /// The flat values under all partitions, as a dense tensor. `tf.RaggedTensor.flat_values`. No pass, no wait.
    ///
    /// # Errors
    /// None for a valid tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &Device::cpu())?;
    /// assert_eq!(x.flat_values()?.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn flat_values(&self) -> Result<Self> {
        let (outer, inner) = (self.outer().cloned(), self.inner().clone());
        Self::new(self.backend(), Vec::new(), outer, inner, self.values_ref().clone())
    }

    /// Row splits of the outermost dimension: the start of each row and the end of the last one, as `nrows + 1` i64
    /// entries. `tf.RaggedTensor.row_splits`. One map, no wait.
    ///
    /// # Errors
    /// A dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.row_splits()?.to_vec()?, [0, 2, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn row_splits(&self) -> Result<Self> {
        self.outermost("row_splits")?.row_splits_on(self.backend())
    }

    /// Start of each row of the outermost dimension; i64. `tf.RaggedTensor.row_starts`. One map, no wait.
    ///
    /// # Errors
    /// A dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.row_starts()?.to_vec()?, [0, 2, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn row_starts(&self) -> Result<Self> {
        self.outermost("row_starts")?.row_starts_on(self.backend())
    }

    /// End of each row of the outermost dimension; i64. `tf.RaggedTensor.row_limits`. One map, no wait.
    ///
    /// # Errors
    /// A dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.row_limits()?.to_vec()?, [2, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn row_limits(&self) -> Result<Self> {
        self.outermost("row_limits")?.row_limits_on(self.backend())
    }

    /// Row index of each value of the outermost dimension; i64. `tf.RaggedTensor.value_rowids`. One map (a search in
    /// the splits per value), no wait.
    ///
    /// # Errors
    /// A dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.value_rowids()?.to_vec()?, [0, 0, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn value_rowids(&self) -> Result<Self> {
        self.outermost("value_rowids")?.value_rowids_on(self.backend())
    }

    /// Length of each row of dimension `axis`, in elements; i64. `tf.RaggedTensor.row_lengths`.
    ///
    /// Axis 0 gives a scalar (the number of rows) and axis 1 a dense vector. A deeper axis gives a tensor with the
    /// partitions above the axis. One map, no wait.
    ///
    /// # Errors
    /// An axis that the tensor does not have; a dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![]], &Device::cpu())?;
    /// assert_eq!(x.row_lengths(0)?.to_vec()?, [2]);
    /// assert_eq!(x.row_lengths(1)?.to_vec()?, [2, 0]);
    /// assert_eq!(x.row_lengths(-1)?.to_string(), "<ragged.RaggedTensor [[2, 0], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn row_lengths(&self, axis: impl Integer) -> Result<Self> {
        let axis = axis.saturating_i64();
        const OP: &str = "row_lengths";
        self.outermost(OP)?;
        let axis = self.axis(OP, axis)?;
        if axis == 0 {
            return self.nrows();
        }
        if let Some(p) = self.partitions().get(axis - 1) {
            let lengths = p.row_lengths_on(self.backend())?;
            let outer = Some(p.nrows_extent().clone());
            let above = self.partitions()[..axis - 1].to_vec();
            return Self::new(self.backend(), above, outer, [], lengths.values_ref().clone());
        }
        // An inner dimension: all its rows have the same length.
        let above = axis - self.ragged_rank();
        let len = Expr::scalar(i64::from(self.inner()[above - 1]));
        let inner = self.inner()[..above - 1].to_vec();
        let count = self.outer().cloned().unwrap_or_else(|| Extent::known(1));
        let numbers = count.times(OP, inner.iter().map(|&d| u64::from(d)).product())?;
        let node = Node::map(self.backend(), OP, numbers, len, &[]);
        Self::new(self.backend(), self.partitions().to_vec(), Some(count), inner, Values::Numbers(node))
    }

    /// [`Tensor::row_splits`] of every partition, outermost first. `tf.RaggedTensor.nested_row_splits`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &Device::cpu())?;
    /// let splits = x.nested_row_splits()?;
    /// assert_eq!((splits[0].to_vec()?, splits[1].to_vec()?), (vec![0, 2, 3], vec![0, 2, 2, 3]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn nested_row_splits(&self) -> Result<Vec<Self>> {
        self.partitions().iter().map(|p| p.row_splits_on(self.backend())).collect::<Result<_>>().map_err(here())
    }

    /// The row lengths of every partition, outermost first, as dense vectors. `tf.RaggedTensor.nested_row_lengths`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &Device::cpu())?;
    /// let lengths = x.nested_row_lengths()?;
    /// assert_eq!((lengths[0].to_vec()?, lengths[1].to_vec()?), (vec![2, 1], vec![2, 0, 1]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn nested_row_lengths(&self) -> Result<Vec<Self>> {
        self.partitions().iter().map(|p| p.row_lengths_on(self.backend())).collect::<Result<_>>().map_err(here())
    }

    /// [`Tensor::value_rowids`] of every partition, outermost first. `tf.RaggedTensor.nested_value_rowids`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &Device::cpu())?;
    /// let ids = x.nested_value_rowids()?;
    /// assert_eq!((ids[0].to_vec()?, ids[1].to_vec()?), (vec![0, 0, 1], vec![0, 0, 2]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn nested_value_rowids(&self) -> Result<Vec<Self>> {
        self.partitions().iter().map(|p| p.value_rowids_on(self.backend())).collect::<Result<_>>().map_err(here())
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

    /// Replaces the values of the rows: the outermost partition over `values`. `tf.RaggedTensor.with_values`. The new
    /// values may have any dtype, partitions and inner dimensions. No pass, no wait.
    ///
    /// # Errors
    /// A dense tensor; scalar values; another device; another number of values, at the read where only the device knows
    /// it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let values = RaggedTensor::from_nested([0.5, 1.5, 2.5], &device)?;
    /// assert_eq!(x.with_values(&values)?.to_string(), "<ragged.RaggedTensor [[0.5, 1.5], [2.5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn with_values(&self, values: &impl AsRef<Self>) -> Result<Self> {
        let p = self.outermost("with_values")?;
        self.replaced("with_values", std::slice::from_ref(p), p.nvals_extent(), values.as_ref())
    }

    /// Replaces the flat values: all partitions over `flat_values`. `tf.RaggedTensor.with_flat_values`. The new values
    /// may have any dtype and inner dimensions. No pass, no wait.
    ///
    /// # Errors
    /// Scalar values; another device; another number of values, at the read where only the device knows it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &device)?;
    /// let values = RaggedTensor::from_nested([0.5, 1.5, 2.5], &device)?;
    /// assert_eq!(x.with_flat_values(&values)?.to_string(), "<ragged.RaggedTensor [[[0.5, 1.5], []], [[2.5]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn with_flat_values(&self, flat_values: &impl AsRef<Self>) -> Result<Self> {
        const OP: &str = "with_flat_values";
        let flat_values = flat_values.as_ref();
        match self.partitions().last() {
            Some(p) => self.replaced(OP, self.partitions(), p.nvals_extent(), flat_values),
            None => Ok(flat_values.clone()),
        }
    }

    #[track_caller]
    fn replaced(&self, op: &'static str, partitions: &[RowPartition], nvals: &Extent, values: &Self) -> Result<Self> {
        Device::check_same(op, self.backend(), values.backend())?;
        if values.rank() == 0 {
            return Err(Error::argument(op, "values must have rank 1 or more, but are a scalar"));
        }
        let asserts = Making::new(self.backend(), op, Trust::Check).same_count(nvals, &values.nrows_extent())?;
        let below = values.on_condition(op, &asserts)?;
        partitions.iter().rev().try_fold(below, |below, p| below.under(p.clone())).map_err(here())
    }
}
