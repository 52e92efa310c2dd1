//! Differences, shifts and rotations along an axis, and positions along it.

use crate::dtype::DType;
use crate::element::{Arithmetic, Element};
use crate::error::{Result, on_behalf};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::integer::Integer;
use crate::ops::IntoOperand;
use crate::ops::indexing::index::Index;
use crate::ops::operations;
use crate::record::axis_rows::AxisRows;
use crate::record::elementwise::Takes;
use crate::record::levels::Levels;
use crate::record::operand::Operand;
use crate::record::rows::Repeats;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Fill, Pick, Tensor};

operations! {
    /// Differences, shifts, rotations and positions along an axis.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: Element;

    /// Differences of successive elements along `axis`: `x[i + 1] - x[i]`.
    ///
    /// Same dtype; integers wrap. A row of `n` elements gives `n - 1`, an empty row none; the rows of Polars begin with
    /// null instead. A difference with NaN is NaN. For differences of as many elements as the row has, subtract
    /// [`shift`](Self::shift).
    ///
    /// # Errors
    /// `axis` out of range, or with ragged dimensions below it; bools and strings.
    ///
    /// # Cost
    /// Index arithmetic: one map, which fuses into its consumer, and a prefix sum over the rows. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 4, 9], vec![], vec![7]], &Device::cpu())?;
    /// assert_eq!(x.diff(1)?.to_string(), "<ragged.RaggedTensor [[3, 5], [], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn diff(&self, axis: impl Integer as axis) -> T where T: Arithmetic;
    alias "ediff1d";
    polars "list.diff";
    gradient yes;

    /// Each row along `axis` moved by `by` positions to the back, with `fill` in the positions left.
    ///
    /// A negative `by` moves to the front. Shape and dtype stay; what is moved out of a row is dropped. A row of at
    /// most `|by|` elements is all `fill`; empty rows stay empty. Polars fills with null.
    ///
    /// # Errors
    /// `axis` out of range, or with ragged dimensions below it; a fill value that is not one value of the dtype.
    ///
    /// # Cost
    /// Index arithmetic: one map, which fuses into its consumer; strings add a prefix sum. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &Device::cpu())?;
    /// assert_eq!(x.shift(1, 0, 1)?.to_string(), "<ragged.RaggedTensor [[0, 1, 2], [], [0]]>");
    /// assert_eq!(x.shift(-2, 9, 1)?.to_string(), "<ragged.RaggedTensor [[3, 9, 9], [], [9]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn shift<'a>(
        &self,
        by: impl Integer as integer,
        fill: impl IntoOperand<'a> as value,
        axis: impl Integer as axis,
    ) -> T;
    alias "lag", "lead";
    polars "list.shift";
    gradient yes;

    /// Each row along `axis` rotated by `by` positions to the back: what is moved out of a row comes in at its other
    /// end.
    ///
    /// A negative `by` rotates to the front. A row is rotated by `by` modulo its length; empty rows stay empty. Any
    /// dtype. The shape stays, unless dimensions below the axis are ragged, which move with their elements. TensorFlow
    /// takes uniform dimensions.
    ///
    /// # Errors
    /// `axis` out of range; a distance of 2^32 or more in magnitude.
    ///
    /// # Cost
    /// Index arithmetic: one map, which fuses into its consumer, and a prefix sum per ragged dimension below. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], &Device::cpu())?;
    /// assert_eq!(x.roll(1, 1)?.to_string(), "<ragged.RaggedTensor [[3, 1, 2], [], [5, 4]]>");
    /// assert_eq!(x.roll(-4, 1)?.to_string(), "<ragged.RaggedTensor [[2, 3, 1], [], [4, 5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn roll(&self, by: impl Integer as integer, axis: impl Integer as axis) -> T;
    alias "rotate";
    tensorflow "tf.roll";
    gradient yes;

    /// The position of each value along `axis`, which for a ragged axis is the position in its row.
    ///
    /// i64, of the tensor's shape; empty rows stay empty. Any dtype. Awkward's result has no dimensions below the axis.
    ///
    /// # Errors
    /// `axis` out of range.
    ///
    /// # Cost
    /// Index arithmetic: one map, which fuses into its consumer. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![7, 7, 7], vec![], vec![7]], &Device::cpu())?;
    /// assert_eq!(x.local_index(1)?.to_string(), "<ragged.RaggedTensor [[0, 1, 2], [], [0]]>");
    /// assert_eq!(x.local_index(0)?.to_string(), "<ragged.RaggedTensor [[0, 0, 0], [], [2]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn local_index(&self, axis: impl Integer as axis = -1) -> i64;
    alias "cumcount", "indices";
    awkward "ak.local_index";
    gradient none "the result holds positions";
}

#[track_caller]
fn diff(x: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let rec = x.recorder("diff");
    rec.at(Takes::Numbers.check(rec.op, x.dtype()))?;
    let rows = AxisRows::new(rec, x, axis.saturating_i64())?;
    rows.check_uniform_elements()?;
    let part = |start, stop| {
        let mut index = vec![Index::ALL; rows.axis];
        index.push(Index::Slice { start, stop, step: 1 });
        x.slice(index)
    };
    let (next, own) = on_behalf(|| Ok((part(Some(1), None)?, part(None, Some(-1))?)))?;
    next.subtract(&own)
}

#[track_caller]
fn shift<'a>(x: &Tensor, by: impl Integer, fill: impl IntoOperand<'a>, axis: impl Integer) -> Result<Tensor> {
    let rec = x.recorder("shift");
    let by = by.saturating_i64();
    let fill = fill_value(rec, fill.into(), x.dtype())?;
    let along = AxisRows::new(rec, x, axis.saturating_i64())?;
    along.check_uniform_elements()?;
    // A greater distance than any row is long moves out all of it.
    let away = Expr::u32(u32::try_from(by.unsigned_abs()).unwrap_or(u32::MAX));
    let width = Expr::size(&along.elements.numbers_per_row()?);
    let (element, number) = (Expr::index().div(width.clone()), Expr::index().rem(width.clone()));
    let (row, offset) = (along.rows.row_of(element.clone()), along.rows.offset_of(element.clone()));
    let moved = |at: Expr| if by >= 0 { at.sub(away.clone()) } else { at.add(away.clone()) };
    let ok = if by >= 0 {
        away.clone().le(offset.clone())
    } else {
        away.clone().lt(along.rows.length(row.clone()).sub(offset.clone()))
    };
    // A place in a ragged row; in rows of one length a run, which needs no rows.
    let from = match along.rows.uniform_length() {
        None => along.rows.within(row, moved(offset)),
        Some(_) => moved(element),
    };
    let taken = Pick::From(x.values_ref(), from.mul(width).add(number));
    let pick = Pick::either(ok, taken, Pick::Fill(fill));
    let values = rec.rearranged(&x.count()?, &pick, BytesBound::Unknown, &[])?;
    x.holding(values)
}

#[track_caller]
fn roll(x: &Tensor, by: impl Integer, axis: impl Integer) -> Result<Tensor> {
    let rec = x.recorder("roll");
    let by = by.saturating_i64();
    let away = Expr::u32(distance(rec, by)?);
    let along = AxisRows::new(rec, x, axis.saturating_i64())?;
    let rows = &along.rows;
    let element = Expr::index();
    let row = rows.row_of(element.clone());
    let (length, offset) = (rows.length(row.clone()).max(Expr::u32(1)), rows.offset_of(element));
    let away = away.rem(length.clone());
    // Elements from `split` on come from the front of the row.
    let (split, front, back) = if by >= 0 {
        let rest = length.sub(away.clone());
        (away.clone(), offset.clone().sub(away), offset.clone().add(rest))
    } else {
        let rest = length.sub(away.clone());
        (rest.clone(), offset.clone().sub(rest), offset.clone().add(away))
    };
    let from = rows.within(row, offset.lt(split).select(back, front));
    let count = rows.nvals_extent().clone();
    let elements = along.elements.take_rows(rec, count, from, Repeats::Never, &[])?;
    along.with(rows.clone(), &elements)
}

#[track_caller]
fn local_index(x: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let rec = x.recorder("local_index");
    let axis = rec.axis(x, axis.saturating_i64())?;
    let position = Levels::of(rec, x)?.place(axis).cast(DType::I64);
    x.with_value_node(rec.map(x.count()?, position, &[]))
}

/// The number that a fill value is, or an error for a tensor.
pub(crate) fn fill_value(rec: Recorder<'_>, fill: Operand<'_>, dtype: DType) -> Result<Fill> {
    match rec.at(fill.of_dtype(rec.op, dtype))? {
        Operand::Value(fill) => Ok(fill),
        Operand::Tensor(_) => Err(rec.argument("the fill value must be one number or string, not a tensor")),
    }
}

/// The magnitude of a distance of rows, as a position.
fn distance(rec: Recorder<'_>, by: i64) -> Result<u32> {
    u32::try_from(by.unsigned_abs())
        .map_err(|_| rec.argument(format!("the distance must be below 2^32 in magnitude, but is {by}")))
}

impl Tensor {
    /// Numbers (or strings) per row of the outermost dimension of a tensor whose dimensions below are uniform; at
    /// least 1.
    #[track_caller]
    pub(crate) fn numbers_per_row(&self) -> Result<Size> {
        let dims = self.partitions().iter().filter_map(RowPartition::uniform_size).chain(self.inner().sizes());
        let width = dims.fold(Size::Const(1), |n, d| n.mul(d));
        Extent::known_u64("a row", width.capacity().into())?;
        Ok(width.max(1))
    }
}
