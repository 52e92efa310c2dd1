//! Symbolic row, on which a closure of [`Tensor::map_rows`] records its operations.
//!
//! A [`Row`] holds the whole tensor and hides its outermost dimension: axis `k` of the row is axis `k + 1` of the
//! tensor. To match an operand of higher rank, a row gets dimensions of size 1 behind the hidden dimension, not in
//! front of it. An operation on one row is therefore the same operation on all rows.

use std::fmt;
use std::sync::Arc;

use crate::dtype::DType;
use crate::error::{Error, Result, caller, here, on_behalf};
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::ops::options::{ReduceAxes, ScanAxis, SortAxis};
use crate::ops::{Axes, Index, Operand};
use crate::record::operand::of_numbers;
use crate::tensor::{Fill, Tensor, Values};

/// Symbolic row that represents every row of a tensor; see [`Tensor::map_rows`].
///
/// Has the operations of a [`Tensor`] that are listed here, with axes counted in the row. A second operand is another
/// row of the same call, a number, or a tensor from outside the call, which applies as a whole to every row. Operators
/// are those of tensors: `2.0 * &row`, `&row - &tensor`, `&row << 1`.
///
/// Shapes, axes and coordinates in the text of an error count in the tensor of all rows, whose outermost dimension the
/// row does not have.
#[derive(Clone)]
pub struct Row {
    pub(crate) all: Tensor,
    /// Identity of the call that created the row.
    pub(crate) call: Arc<()>,
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Row({} of {})", self.all.dtype(), self.all.shape_text())
    }
}

/// Second operand of an operation on a row.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RowOperand<'a> {
    /// A row of the same call.
    Row(Row),
    /// An operand that is the same for all rows.
    Same(Operand<'a>),
}

impl From<&Row> for RowOperand<'_> {
    fn from(row: &Row) -> Self {
        Self::Row(row.clone())
    }
}
impl From<Row> for RowOperand<'_> {
    fn from(row: Row) -> Self {
        Self::Row(row)
    }
}
impl<'a, X: AsRef<Tensor>> From<&'a X> for RowOperand<'a> {
    fn from(x: &'a X) -> Self {
        Self::Same(x.into())
    }
}
of_numbers!(RowOperand);
impl From<Scalar> for RowOperand<'_> {
    fn from(v: Scalar) -> Self {
        Self::Same(v.into())
    }
}
impl From<&str> for RowOperand<'_> {
    fn from(v: &str) -> Self {
        Self::Same(v.into())
    }
}

impl<'a> RowOperand<'a> {
    /// Number of dimensions per row.
    pub(crate) fn rank(&self) -> usize {
        match self {
            Self::Row(row) => row.rank(),
            Self::Same(Operand::Tensor(t)) => t.rank(),
            Self::Same(Operand::Value(_)) => 0,
        }
    }

    /// `rows` if given, otherwise the operand that is the same for all rows.
    pub(crate) fn or_rows<'b>(&self, rows: Option<&'b Tensor>) -> Operand<'b>
    where
        'a: 'b,
    {
        match (self, rows) {
            (_, Some(rows)) => Operand::Tensor(rows),
            (Self::Same(other), None) => other.clone(),
            (Self::Row(_), None) => unreachable!("bug: a row without its tensor"),
        }
    }
}

/// Rank, dtype and shape.
impl Row {
    pub(crate) fn new(all: Tensor, call: &Arc<()>) -> Self {
        Self { all, call: call.clone() }
    }

    /// The tensor of all rows.
    pub(crate) fn all(&self) -> &Tensor {
        &self.all
    }

    /// Another row of the same call.
    pub(crate) fn with(&self, all: Tensor) -> Self {
        Self { all, call: self.call.clone() }
    }

    /// The tensor of all rows. Fails if the row belongs to another call.
    #[track_caller]
    pub(crate) fn of_call(self, op: &'static str, call: &Arc<()>) -> Result<Tensor> {
        if Arc::ptr_eq(&self.call, call) { Ok(self.all) } else { Err(another_call(op)) }
    }

    /// The tensor of all rows, for an operation with another row.
    ///
    /// # Errors
    /// `other` is a row of another call.
    #[track_caller]
    pub(crate) fn of_same_call(&self, op: &'static str, other: &Self) -> Result<&Tensor> {
        if Arc::ptr_eq(&self.call, &other.call) { Ok(&self.all) } else { Err(another_call(op)) }
    }

    /// Number of dimensions of a row.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| {
    ///     assert_eq!(row.rank(), 1);
    ///     row.negative()
    /// })?;
    /// assert_eq!(y.to_vec()?, [-1, -2, -3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.all.rank() - 1
    }
    /// The element type.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let y: RaggedTensor<f32> = x.map_rows(|row| {
    ///     assert_eq!(row.dtype(), DType::I32);
    ///     row.cast(DType::F32)
    /// })?;
    /// assert_eq!(y.to_vec()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        self.all.dtype()
    }
    /// The shape of a row. `None` stands for a size that differs between rows, or that the host does not know.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![[1, 2]], vec![]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| {
    ///     assert_eq!(row.shape(), [None, Some(2)]);
    ///     row.reduce_sum(-1)
    /// })?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[3], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn shape(&self) -> Vec<Option<usize>> {
        self.all.shape().split_off(1)
    }

    /// Converts an axis of the row to the axis of the tensor.
    #[track_caller]
    pub(crate) fn axis(&self, op: &'static str, axis: i64) -> Result<i64> {
        let rank = self.rank() as i64;
        if axis < -rank || axis >= rank {
            return Err(Error::Axis { op, axis, rank: rank as usize, location: caller() });
        }
        Ok(axis.rem_euclid(rank) + 1)
    }

    /// Converts axes of the row to axes of the tensor.
    #[track_caller]
    pub(crate) fn axes(&self, op: &'static str, axes: Axes) -> Result<Axes> {
        Ok(Axes::List(match axes {
            Axes::All => (1..self.all.rank() as i64).collect(),
            Axes::List(list) => {
                list.into_iter().map(|axis| self.axis(op, axis)).collect::<Result<_>>().map_err(here())?
            }
        }))
    }

    /// Converts the axes of a reduction of the row to those of the tensor.
    #[track_caller]
    pub(crate) fn reduce_axes(&self, op: &'static str, reduce: ReduceAxes) -> Result<ReduceAxes> {
        Ok(ReduceAxes { axes: self.axes(op, reduce.axes)?, ..reduce })
    }

    /// Converts the axis of a scan of the row to that of the tensor.
    #[track_caller]
    pub(crate) fn scan_axis(&self, op: &'static str, scan: ScanAxis) -> Result<ScanAxis> {
        Ok(ScanAxis { axis: self.axis(op, scan.axis)?, ..scan })
    }

    /// Converts the axis of a sort of the row to that of the tensor.
    #[track_caller]
    pub(crate) fn sort_axis(&self, op: &'static str, sort: SortAxis) -> Result<SortAxis> {
        Ok(SortAxis { axis: self.axis(op, sort.axis)?, ..sort })
    }

    /// The tensor of all rows, each extended to `rank` dimensions by leading dimensions of size 1.
    #[track_caller]
    pub(crate) fn lifted(&self, rank: usize) -> Result<Tensor> {
        match rank.checked_sub(self.rank()) {
            None | Some(0) => Ok(self.all.clone()),
            Some(missing) => {
                let mut items = vec![Index::ALL];
                items.extend(std::iter::repeat_n(Index::NewAxis, missing));
                items.push(Index::Ellipsis);
                self.all.slice(items)
            }
        }
    }

    /// Applies an elementwise binary operation.
    #[track_caller]
    pub(crate) fn meet(
        &self,
        op: &'static str,
        other: &RowOperand<'_>,
        apply: impl FnOnce(Operand<'_>, Operand<'_>) -> Result<Tensor>,
    ) -> Result<Self> {
        let rank = self.rank().max(other.rank());
        let (own, rows) = (self.lifted(rank)?, self.rows_of(op, other, rank)?);
        Ok(self.with(on_behalf(|| apply(Operand::Tensor(&own), other.or_rows(rows.as_ref())))?))
    }

    /// If the operand is a row, the tensor of all rows, each extended to `rank` dimensions. Fails if the row belongs to
    /// another call.
    #[track_caller]
    pub(crate) fn rows_of(&self, op: &'static str, other: &RowOperand<'_>, rank: usize) -> Result<Option<Tensor>> {
        let RowOperand::Row(row) = other else { return Ok(None) };
        row.clone().of_call(op, &self.call)?;
        row.lifted(rank).map(Some)
    }

    /// The tensor of all rows, for an operation along rows with another row.
    ///
    /// # Errors
    /// `other` is a row of another call; this row is a scalar.
    #[track_caller]
    pub(crate) fn vector_of_same_call(&self, op: &'static str, other: &Self) -> Result<&Tensor> {
        self.axis(op, -1)?;
        self.of_same_call(op, other)
    }

    /// One value of the dtype of the row for every row.
    #[track_caller]
    pub(crate) fn filled(&self, op: &'static str, value: &Fill) -> Result<Self> {
        match value {
            Fill::Number(number) => self.constant(*number),
            Fill::String(_) => Err(Error::unsupported(op, DType::Str, "it takes numbers")),
        }
    }

    /// The same number for every row.
    #[track_caller]
    pub(crate) fn constant(&self, value: impl Into<Scalar>) -> Result<Self> {
        let (backend, rows) = (self.all.backend(), self.all.nrows_extent());
        let rec = Recorder::new(backend, "constant");
        let node = rec.map(rows.clone(), Expr::number(value), &[]);
        Ok(self.with(rec.tensor(Vec::new(), Some(rows), [], Values::Numbers(node))?))
    }
}

#[track_caller]
fn another_call(op: &'static str) -> Error {
    Error::argument(op, "a row of another call of map_rows; hand all tensors to one call of map_rows_of")
}
