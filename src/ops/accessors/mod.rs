//! Accessors of a tensor: values, row partitions and sizes, and replacement of its values.

mod typed;

use super::axes::Axes;
use super::levels::longest;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, here};
use crate::graph::backend::Part;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recording::read_now;
use crate::integer::Integer;
use crate::shape::RowPartition;
use crate::tensor::{Making, Tensor, Trust, Values, positions};

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

    /// Length of the longest row of each partition. Waits once, and only if the host does not know all of them. A
    /// uniform partition counts with its row length where the host does not know its number of rows.
    #[track_caller]
    pub(crate) fn longest_rows(&self, op: &'static str) -> Result<Vec<u32>> {
        let backend = self.backend();
        let size = |p: &RowPartition| match (p.uniform_length(), p.nrows()) {
            (Some(len), None) => Ok(Extent::known(len)),
            _ => longest(backend, op, p),
        };
        let sizes: Vec<Extent> = self.partitions().iter().map(size).collect::<Result<_>>().map_err(here())?;
        let lives: Vec<Option<Expr>> = sizes.iter().map(Extent::live).collect();
        let read: Vec<Node> =
            lives.iter().flatten().map(|size| Node::map(backend, op, Extent::known(1), size.clone(), &[])).collect();
        let mut read = if read.is_empty() {
            Vec::new()
        } else {
            read_now(backend, op, read.into_iter().map(Part::whole).collect())?
        }
        .into_iter();
        let mut next = || read.next().map_or(0, |bytes| bytemuck::pod_read_unaligned(&bytes));
        let known = |(size, live): (&Extent, &Option<Expr>)| if live.is_some() { next() } else { size.capacity() };
        Ok(sizes.iter().zip(&lives).map(known).collect())
    }

    /// Size of each dimension of the smallest dense tensor that holds all values, as expressions.
    #[track_caller]
    fn bounding_exprs(&self, op: &'static str) -> Result<Vec<Expr>> {
        if self.rank() == 0 {
            return Ok(Vec::new());
        }
        let mut sizes = vec![self.nrows_extent().expr()];
        for p in self.partitions() {
            sizes.push(longest(self.backend(), op, p)?.expr());
        }
        sizes.extend(self.inner().iter().map(|&d| Expr::u32(d)));
        Ok(sizes)
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
    #[track_caller]
    pub fn flat_values(&self) -> Result<Self> {
        let (outer, inner) = (self.outer().cloned(), self.inner().to_vec());
        Self::new(self.backend(), Vec::new(), outer, inner, self.values_ref().clone())
    }

    /// Row splits of the outermost dimension: the start of each row and the end of the last one, as `nrows + 1` i64
    /// entries. `tf.RaggedTensor.row_splits`. One map, no wait.
    ///
    /// # Errors
    /// A dense tensor.
    #[track_caller]
    pub fn row_splits(&self) -> Result<Self> {
        self.outermost("row_splits")?.row_splits_on(self.backend())
    }

    /// Start of each row of the outermost dimension; i64. `tf.RaggedTensor.row_starts`. One map, no wait.
    ///
    /// # Errors
    /// A dense tensor.
    #[track_caller]
    pub fn row_starts(&self) -> Result<Self> {
        self.outermost("row_starts")?.row_starts_on(self.backend())
    }

    /// End of each row of the outermost dimension; i64. `tf.RaggedTensor.row_limits`. One map, no wait.
    ///
    /// # Errors
    /// A dense tensor.
    #[track_caller]
    pub fn row_limits(&self) -> Result<Self> {
        self.outermost("row_limits")?.row_limits_on(self.backend())
    }

    /// Row index of each value of the outermost dimension; i64. `tf.RaggedTensor.value_rowids`. One map (a search in
    /// the splits per value), no wait.
    ///
    /// # Errors
    /// A dense tensor.
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
            return Self::new(self.backend(), above, outer, Vec::new(), lengths.values_ref().clone());
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

    /// Number of rows of the outermost dimension, as an i64 scalar. `tf.RaggedTensor.nrows`. One map, no wait.
    /// [`Tensor::shape`] gives the sizes that the host knows.
    ///
    /// # Errors
    /// A scalar.
    #[track_caller]
    pub fn nrows(&self) -> Result<Self> {
        if self.rank() == 0 {
            return Err(Error::argument("nrows", "a scalar has no rows"));
        }
        self.scalar("nrows", self.nrows_extent().expr())
    }

    /// Number of values, inner dimensions included, as an i64 scalar. `tf.size`. One map, no wait.
    ///
    /// # Errors
    /// More than 2^32 - 2 values.
    #[track_caller]
    pub fn size(&self) -> Result<Self> {
        self.scalar("size", self.count()?.expr())
    }

    /// A count as an i64 scalar.
    #[track_caller]
    fn scalar(&self, op: &'static str, e: Expr) -> Result<Self> {
        let node = Node::map(self.backend(), op, Extent::known(1), e.cast(DType::I64), &[]);
        Self::new(self.backend(), Vec::new(), None, Vec::new(), Values::Numbers(node))
    }

    /// [`Tensor::row_splits`] of every partition, outermost first. `tf.RaggedTensor.nested_row_splits`.
    #[track_caller]
    pub fn nested_row_splits(&self) -> Result<Vec<Self>> {
        self.partitions().iter().map(|p| p.row_splits_on(self.backend())).collect()
    }

    /// The row lengths of every partition, outermost first, as dense vectors. `tf.RaggedTensor.nested_row_lengths`.
    #[track_caller]
    pub fn nested_row_lengths(&self) -> Result<Vec<Self>> {
        self.partitions().iter().map(|p| p.row_lengths_on(self.backend())).collect()
    }

    /// [`Tensor::value_rowids`] of every partition, outermost first. `tf.RaggedTensor.nested_value_rowids`.
    #[track_caller]
    pub fn nested_value_rowids(&self) -> Result<Vec<Self>> {
        self.partitions().iter().map(|p| p.value_rowids_on(self.backend())).collect()
    }

    /// Row length of the outermost dimension, if its partition is uniform. `tf.RaggedTensor.uniform_row_length`.
    pub fn uniform_row_length(&self) -> Option<usize> {
        self.partitions().first().and_then(RowPartition::uniform_row_length)
    }

    /// Shape of the smallest dense tensor that holds all values: an i64 vector of `rank` entries.
    /// `tf.RaggedTensor.bounding_shape`.
    ///
    /// The size of a ragged or uniform dimension is the length of its longest row, or 0 without rows. Costs one row
    /// reduction per ragged dimension whose longest row the host does not know; no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.bounding_shape()?.to_vec()?, [3, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn bounding_shape(&self) -> Result<Self> {
        self.bounding_shape_of(..)
    }

    /// The entries of [`Tensor::bounding_shape`] for the given axes, in their order.
    ///
    /// # Errors
    /// An axis that the tensor does not have.
    #[track_caller]
    pub fn bounding_shape_of(&self, axes: impl Into<Axes>) -> Result<Self> {
        const OP: &str = "bounding_shape";
        let axes = match axes.into() {
            Axes::All => (0..self.rank() as i64).collect(),
            Axes::List(axes) => axes,
        };
        let sizes = self.bounding_exprs(OP)?;
        let mut e = Expr::u32(0);
        for (place, &axis) in axes.iter().enumerate() {
            let size = sizes[self.axis(OP, axis)?].clone();
            e = Expr::index().eq(Expr::u32(place as u32)).select(size, e);
        }
        positions(self.backend(), OP, Extent::known_u64(OP, axes.len() as u64)?, e)
    }

    /// The entry of [`Tensor::bounding_shape`] for one axis, as a scalar.
    ///
    /// # Errors
    /// An axis that the tensor does not have.
    #[track_caller]
    pub fn bounding_size(&self, axis: impl Integer) -> Result<Self> {
        let axis = axis.saturating_i64();
        const OP: &str = "bounding_shape";
        let axis = self.axis(OP, axis)?;
        self.scalar(OP, self.bounding_exprs(OP)?.swap_remove(axis))
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
        partitions.iter().rev().try_fold(values.on_condition(op, &asserts)?, |below, p| below.under(p.clone()))
    }
}
