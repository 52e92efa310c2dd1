//! Partitions, values and tensors of a recording.

use crate::backend::upload::uploaded;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::record::axes::Axes;
use crate::shape::{Dims, RowPartition};
use crate::tensor::{BytesBound, Pick, Tensor, Values};

impl Recorder<'_> {
    /// The numbers of a tensor; an error if it holds strings.
    pub(crate) fn numbers(self, x: &Tensor) -> Result<&Node> {
        self.at(x.numbers(self.op))
    }

    /// The strings of a tensor and their bytes; an error if it holds numbers.
    pub(crate) fn strings(self, x: &Tensor) -> Result<(&RowPartition, &Node)> {
        self.at(x.strings(self.op))
    }

    /// See [`Tensor::index_node`].
    pub(crate) fn index_node(self, x: &Tensor, name: &str) -> Result<Node> {
        self.at(x.index_node(self.op, name))
    }

    /// An axis of a tensor, counted from the front; an error if the tensor has no such axis.
    pub(crate) fn axis(self, x: &Tensor, axis: i64) -> Result<usize> {
        self.at(x.axis(self.op, axis))
    }

    /// Axes of a tensor, counted from the front, in ascending order; an error for one out of range or named twice.
    pub(crate) fn axes(self, x: &Tensor, axes: &Axes) -> Result<Vec<usize>> {
        self.at(axes.resolve(self.op, x))
    }

    /// Number of numbers, or of strings, of a tensor.
    pub(crate) fn count(self, x: &Tensor) -> Result<Extent> {
        self.at(x.count())
    }

    /// See [`RowPartition::uniform`].
    pub(crate) fn uniform_rows(self, len: impl Into<Size>, nrows: Extent) -> Result<RowPartition> {
        self.at(RowPartition::uniform(len, nrows))
    }

    /// See [`RowPartition::from_lengths`].
    pub(crate) fn rows_of_lengths(
        self,
        nrows: &Extent,
        length: Expr,
        capacity: impl Into<Size>,
    ) -> Result<RowPartition> {
        RowPartition::from_lengths(self, nrows, length, capacity)
    }

    /// See [`RowPartition::from_starts`].
    pub(crate) fn rows_of_starts(
        self,
        nrows: &Extent,
        start: &Expr,
        capacity: impl Into<Size>,
        asserts: &[Node],
    ) -> Result<RowPartition> {
        RowPartition::from_starts(self, nrows, start, capacity, asserts)
    }

    /// See [`Values::rearranged`].
    pub(crate) fn rearranged(
        self,
        extent: &Extent,
        pick: &Pick<'_>,
        bound: BytesBound,
        asserts: &[Node],
    ) -> Result<Values> {
        Values::rearranged(self, extent, pick, bound, asserts)
    }

    /// See [`Tensor::new`].
    pub(crate) fn tensor(
        self,
        partitions: Vec<RowPartition>,
        outer: Option<Extent>,
        inner: impl Into<Dims>,
        values: Values,
    ) -> Result<Tensor> {
        self.at(Tensor::new(self.backend, partitions, outer, inner, values))
    }

    /// An array of constants, which the host uploads.
    pub(crate) fn uploaded(self, dtype: DType, bytes: &[u8]) -> Result<Node> {
        self.at(uploaded(self.backend, self.op, dtype, bytes))
    }
}
