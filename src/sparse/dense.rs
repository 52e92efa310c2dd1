//! Conversion between sparse and dense tensors, and their sum.

use super::coordinates::{Coordinates, indices_of};
use super::position::DenseDims;
use super::{Order, SparseTensor};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::ops::IntoOperand;
use crate::ops::Operand;
use crate::shape::Repeats;
use crate::tensor::{BytesBound, Fill, Pick, Tensor, Values};

/// The entry of each element of a dense result.
struct Lookup {
    dims: DenseDims,
    /// Whether the element `Index` has an entry, and the entry.
    found: Expr,
    entry: Expr,
    conditions: Vec<Node>,
}

/// Conversion from and to dense tensors.
impl SparseTensor {
    /// The dense tensor with the values at their coordinates and `default` elsewhere.
    ///
    /// Has the shape [`dense_shape`](Self::dense_shape) and the values' dtype.
    ///
    /// # Errors
    /// A default of another dtype; a dense shape of 2^32 - 1 elements or more, or of more than 2^32 - 2 along a
    /// dimension. At the read: coordinates outside of the dense shape, repeated, or not in row-major order.
    ///
    /// # Cost
    /// One map over the values, and one over the result, each of whose elements searches for its value. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 6], vec![], vec![7]], &Device::cpu())?;
    /// let dense = x.to_sparse()?.to_dense(-1)?;
    /// assert_eq!(dense.to_string(), "tensor([[5, 6], [-1, -1], [7, -1]], shape=(3, 2), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.to_dense`.
    #[track_caller]
    pub fn to_dense(&self, default: impl Into<Fill>) -> Result<Tensor> {
        self.dense(self.recorder("to_dense"), default.into())
    }

    /// As [`to_dense`](Self::to_dense).
    #[track_caller]
    fn dense(&self, rec: Recorder<'_>, default: Fill) -> Result<Tensor> {
        let default = default.of_dtype(rec.op, self.dtype())?;
        let Lookup { dims, found, entry, conditions } = self.lookup(rec)?;
        let fill = match &default {
            Fill::String(s) => s.len() as u64 * u64::from(dims.total().capacity()),
            Fill::Number(_) => 0,
        };
        let values = self.values.values_ref();
        let bound = BytesBound::at_most(values.bytes_capacity() + fill);
        let pick = Pick::either(found, Pick::From(values, entry), Pick::Fill(default));
        let values = Values::rearranged(rec, dims.total(), &pick, bound, &conditions)?;
        dims.tensor(rec, values)
    }

    /// The sum of this tensor and a dense one of the same shape and dtype; dense.
    ///
    /// Elements without an entry are those of `dense`, bit for bit. Integers wrap; NaN propagates.
    ///
    /// # Errors
    /// Another shape, at the read where only the device knows the number of rows; another dtype or device; bools or
    /// byte strings; a dense shape of 2^32 - 1 elements or more. At the read: coordinates outside of the dense shape,
    /// repeated, or not in row-major order.
    ///
    /// # Cost
    /// One map over the values, and one over the result, each of whose elements searches for its entry. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SparseTensor};
    /// let device = Device::cpu();
    /// let x = SparseTensor::from_entries(&[[0, 1], [1, 0]], [10, 20], [2, 2], &device)?;
    /// let y = RaggedTensor::from_nested([[1, 2], [3, 4]], &device)?;
    /// assert_eq!(x.add_dense(&y)?.to_string(), "tensor([[1, 12], [23, 4]], shape=(2, 2), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.add` of a sparse and a dense tensor.
    #[track_caller]
    pub fn add_dense(&self, dense: &impl AsRef<Tensor>) -> Result<Tensor> {
        let rec = self.recorder("add_dense");
        let dense = dense.as_ref();
        Device::check_same(rec.op, self.backend(), dense.backend())?;
        if self.dtype() != dense.dtype() {
            return Err(Error::DTypes { op: rec.op, lhs: self.dtype(), rhs: dense.dtype(), location: caller() });
        }
        if self.dtype() == DType::Bool {
            return Err(rec.unsupported(DType::Bool, "cast both to numbers"));
        }
        let (value, own) = (rec.numbers(&self.values)?, Expr::load(rec.numbers(dense)?, Expr::index()));
        let sizes: Vec<Option<usize>> = self.dense_shape.iter().map(|&d| usize::try_from(d).ok()).collect();
        let Some(own_conditions) = dense.ragged_shape().has_sizes(rec.op, &sizes) else {
            let what = "the dense tensor must have the dense shape".into();
            let lhs = format!("{:?}", self.dense_shape);
            return Err(Error::Shape { op: rec.op, lhs, rhs: dense.shape_text(), what, location: caller() });
        };
        let Lookup { dims, found, entry, mut conditions } = self.lookup(rec)?;
        conditions.extend(own_conditions);
        let sum = found.select(own.clone().add(Expr::load(value, entry)), own);
        let values = Values::Numbers(rec.map(dims.total().clone(), sum, &conditions));
        dims.tensor(rec, values)
    }

    /// Finds the entry of each element of the dense tensor.
    #[track_caller]
    fn lookup(&self, rec: Recorder<'_>) -> Result<Lookup> {
        let dims = DenseDims::new(rec, &self.dense_shape)?;
        let all: Vec<usize> = (0..self.rank()).collect();
        let mut conditions = self.require(rec, Order::Distinct, &all)?;
        conditions.extend(self.conditions.iter().cloned());
        let count = self.count();
        let position = dims.position(&Coordinates::new(rec, self)?, all);
        let place = rec.map(count.clone(), position, &[]);
        // The sorted array to search: the positions of the values, then the total as sentinel.
        let start = Expr::index().lt(count.expr());
        let start = start.select(Expr::load(&place, Expr::index()), dims.total().expr());
        let places = rec.splits(&count, &start, &conditions)?;
        let entry = Expr::row_of(&places, Expr::index());
        let found = Expr::load(&places, entry.clone()).eq(Expr::index());
        Ok(Lookup { dims, found, entry, conditions })
    }

    /// The sparse tensor of the elements of a dense tensor that are not 0, false or empty strings.
    ///
    /// The entries are in row-major order. -0 is 0; NaN is an entry. [`Tensor::to_sparse`] takes all values, of ragged
    /// tensors too.
    ///
    /// # Errors
    /// A ragged tensor; a scalar.
    ///
    /// # Cost
    /// A rank bitmap over the elements, and a compaction of those that stay. No wait, unless only the device knows the
    /// number of rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SparseTensor};
    /// let x = RaggedTensor::from_nested([[0, 5], [7, 0]], &Device::cpu())?;
    /// let sparse = SparseTensor::from_dense(&x)?;
    /// assert_eq!(sparse.indices().to_string(), "tensor([[0, 1], [1, 0]], shape=(2, 2), dtype=i64)");
    /// assert_eq!(sparse.values().to_string(), "tensor([5, 7], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.from_dense`.
    #[track_caller]
    pub fn from_dense(dense: &impl AsRef<Tensor>) -> Result<Self> {
        let dense = dense.as_ref();
        let rec = dense.recorder("SparseTensor::from_dense");
        if dense.rank() == 0 || dense.ragged_rank() > 0 {
            let what = format!("needs a dense tensor of rank 1 or more, but its shape is {}", dense.shape_text());
            return Err(rec.argument(what));
        }
        let count = dense.count()?;
        let stays = match dense.values_ref() {
            Values::Numbers(n) => {
                let value = Expr::load(n, Expr::index());
                let zero = Expr::scalar(Scalar::from_i64(n.dtype(), 0));
                value.ne(zero)
            }
            Values::Strings { strings, .. } => strings.length(Expr::index()).ne(Expr::u32(0)),
        };
        let marks = RankBitmap::new(rec, &count, stays);
        let found = marks.total();
        let element = Expr::load(&rec.kept(&marks, found.clone()), Expr::index());
        let mut rest = element.clone();
        let mut coordinates = Vec::with_capacity(dense.rank());
        for &dim in dense.inner().iter().rev() {
            let dim = Expr::u32(dim.max(1));
            coordinates.push(rest.clone().rem(dim.clone()));
            rest = rest.div(dim);
        }
        coordinates.push(rest);
        coordinates.reverse();
        let indices = indices_of(rec, &found, &coordinates, &[])?;
        let flat = rec.tensor(Vec::new(), Some(count), [], dense.values_ref().clone())?;
        let values = flat.take_rows(rec, found, element, Repeats::Never, &[])?;
        let mut dense_shape = vec![u64::from(rec.on_host(&dense.nrows_extent())?)];
        dense_shape.extend(dense.inner().iter().map(|&d| u64::from(d)));
        Ok(Self::of_parts(indices, values, dense_shape, Order::Distinct))
    }
}

/// Dense tensors from coordinates.
impl Tensor {
    /// The dense tensor of shape `output_shape` with `values` at the coordinates in this tensor, and `default`
    /// elsewhere.
    ///
    /// This tensor holds integers: a scalar, the coordinate of one value in a vector; a vector `[n]`, the coordinates
    /// of `n` values in a vector; or `[n, rank]`. `values` is a vector of `n` values, or one value for all coordinates.
    /// The result has its dtype.
    ///
    /// # Errors
    /// Coordinates that are no integers, or of another shape; values of another number or on another device; a
    /// `default` of another dtype; a negative size; a shape of 2^32 - 1 elements or more. At the read: coordinates
    /// outside of the shape, repeated, or not in row-major order.
    ///
    /// # Cost
    /// One map over the values, and one over the result, each of whose elements searches for its value. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let indices = RaggedTensor::from_nested([[1i64, 2], [2, 1]], &device)?.into_erased();
    /// let values = RaggedTensor::from_nested([2, 3], &device)?;
    /// let dense = indices.sparse_to_dense(&[3, 3], &values, 1)?;
    /// assert_eq!(dense.to_string(), "tensor([[1, 1, 1], [1, 1, 2], [1, 3, 1]], shape=(3, 3), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.compat.v1.sparse_to_dense`.
    #[track_caller]
    pub fn sparse_to_dense<'a, I: Integer>(
        &self,
        output_shape: &[I],
        values: impl IntoOperand<'a>,
        default: impl Into<Fill>,
    ) -> Result<Self> {
        let rec = self.recorder("sparse_to_dense");
        let values = values.into();
        if !self.dtype().is_integer() {
            return Err(rec.unsupported(self.dtype(), "indices must be integers"));
        }
        let indices = self.cast(DType::I64)?;
        let shape = output_shape.iter().map(|&d| rec.non_negative("a size of the output shape", d));
        let shape = shape.collect::<Result<Vec<_>>>().map_err(here())?;
        let (count, rank) = match (indices.ragged_rank(), indices.rank(), &indices.inner()[..]) {
            (0, 0, _) => (Extent::known(1), 1),
            (0, 1, _) => (indices.nrows_extent(), 1),
            (0, 2, &[rank]) => (indices.nrows_extent(), rank),
            _ => {
                let what = format!("indices must have the shape [], [n] or [n, rank], not {}", indices.shape_text());
                return Err(rec.argument(what));
            }
        };
        let backend = self.backend();
        let numbers = Values::Numbers(rec.numbers(&indices)?.clone());
        let indices = Self::new(backend, Vec::new(), Some(count.clone()), vec![rank], numbers)?;
        let one_for_all = |pick: &Pick<'_>, bytes: u64| {
            let bound = BytesBound::at_most(bytes.saturating_mul(count.capacity().into()));
            let values = Values::rearranged(rec, &count, pick, bound, &[])?;
            Self::new(backend, Vec::new(), Some(count.clone()), [], values)
        };
        let values = match values {
            Operand::Value(value) => {
                let bytes = if let Fill::String(s) = &value { s.len() as u64 } else { 0 };
                one_for_all(&Pick::Fill(value), bytes)?
            }
            Operand::Tensor(t) if t.rank() == 0 => {
                Device::check_same(rec.op, backend, t.backend())?;
                one_for_all(&Pick::From(t.values_ref(), Expr::u32(0)), t.values_ref().bytes_capacity())?
            }
            Operand::Tensor(t) => t.clone(),
        };
        SparseTensor::assembled(rec, &indices, &values, &shape)?.dense(rec, default.into())
    }
}
