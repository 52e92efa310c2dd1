//! Rows as sets: union, intersection and difference, and membership.

use crate::element::Element;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::ops::IntoOperand;
use crate::ops::reshaping::concat::check_alike;
use crate::ops::sorting::sort::Sorted;
use crate::record::operand::Operand;
use crate::record::sort_key::differ;
use crate::tensor::{Tensor, Values};

use crate::ops::operations;
use crate::ops::sorting::order_keys::OrderKeys;
use crate::record::axis_rows::AxisRows;

operations! {
    /// Set operations of rows, and membership.
    const OPERATIONS: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: Element;

    /// The distinct values of each row of this tensor, of `other`, or of both, in ascending order.
    ///
    /// Same dtype. Rows are those along the innermost axis, which becomes ragged; the dimensions above must be equal.
    /// Duplicates count once. Values of any dtype are ordered as in [`Tensor::sort`]: NaN equals NaN and comes last; -0
    /// equals +0. Of equal values, the first of this tensor's row is kept, or the first of the other's where this one
    /// has none. An empty row is the empty set. The same bits on every device. Polars keeps the order of occurrence.
    ///
    /// # Errors
    /// A scalar; different dtypes, ranks or devices; different dimensions above the innermost, at the
    /// read where only the device knows them.
    ///
    /// # Cost
    /// A concatenation, a [sort](Tensor::sort), a rank bitmap and a compaction. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let a = RaggedTensor::from_nested([vec![3, 1, 3], vec![], vec![2]], &device)?;
    /// let b = RaggedTensor::from_nested([vec![1, 4], vec![5], vec![2]], &device)?;
    /// assert_eq!(a.set_union(&b)?.to_string(), "<ragged.RaggedTensor [[1, 3, 4], [5], [2]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn set_union(&self, other: &impl AsRef<Tensor> as row) -> T;
    alias "union1d";
    tensorflow "tf.sets.union";
    polars "list.set_union";
    gradient yes;

    /// The distinct values of each row that are in this tensor and in `other`, in ascending order.
    ///
    /// Same dtype. Rows are those along the innermost axis, which becomes ragged; the dimensions above must be equal.
    /// Duplicates count once. Values of any dtype are ordered as in [`Tensor::sort`]: NaN equals NaN and comes last; -0
    /// equals +0, and the result has the sign of the first one in this tensor's row. An empty row is the empty set. The
    /// same bits on every device. Polars keeps the order of occurrence.
    ///
    /// # Errors
    /// A scalar; different dtypes, ranks or devices; different dimensions above the innermost, at the
    /// read where only the device knows them.
    ///
    /// # Cost
    /// A concatenation, a [sort](Tensor::sort), a rank bitmap and a compaction. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let a = RaggedTensor::from_nested([vec![3, 1, 3], vec![], vec![2]], &device)?;
    /// let b = RaggedTensor::from_nested([vec![1, 5], vec![4], vec![2]], &device)?;
    /// assert_eq!(a.set_intersection(&b)?.to_string(), "<ragged.RaggedTensor [[1], [], [2]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn set_intersection(&self, other: &impl AsRef<Tensor> as row) -> T;
    alias "intersect1d";
    tensorflow "tf.sets.intersection";
    polars "list.set_intersection";
    gradient yes;

    /// The distinct values of each row that are in this tensor and not in `other`, in ascending order.
    ///
    /// Same dtype. Rows are those along the innermost axis, which becomes ragged; the dimensions above must be equal.
    /// Duplicates count once. Values of any dtype are ordered as in [`Tensor::sort`]: NaN equals NaN and comes last; -0
    /// equals +0, and the result has the sign of the first one in this tensor's row. An empty row is the empty set. The
    /// same bits on every device. Polars keeps the order of occurrence.
    ///
    /// # Errors
    /// A scalar; different dtypes, ranks or devices; different dimensions above the innermost, at the
    /// read where only the device knows them.
    ///
    /// # Cost
    /// A concatenation, a [sort](Tensor::sort), a rank bitmap and a compaction. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let a = RaggedTensor::from_nested([vec![3, 1, 3], vec![], vec![2]], &device)?;
    /// let b = RaggedTensor::from_nested([vec![1, 5], vec![4], vec![2]], &device)?;
    /// assert_eq!(a.set_difference(&b)?.to_string(), "<ragged.RaggedTensor [[3], [], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn set_difference(&self, other: &impl AsRef<Tensor> as row) -> T;
    alias "setdiff1d";
    tensorflow "tf.sets.difference";
    polars "list.set_difference";
    gradient yes;

    /// Whether each row along `axis` contains the item.
    ///
    /// The item is one value, or a tensor of one item per row, which has this tensor's dimensions without the axis.
    /// Bools, of that shape. Any dtype. An empty row contains nothing. Numbers compare as in [`Tensor::equal`]: -0
    /// equals +0, and no row contains NaN.
    ///
    /// # Errors
    /// `axis` out of range; an item of another dtype; a tensor of items whose shape is not that without the axis.
    ///
    /// # Cost
    /// One row reduction; for strings also the comparison of [`Tensor::equal`]. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![3, 1], vec![], vec![2]], &device)?;
    /// assert_eq!(x.contains(1, 1)?.to_vec()?, [true, false, false]);
    /// let items = RaggedTensor::from_nested([3, 3, 2], &device)?;
    /// assert_eq!(x.contains(&items, 1)?.to_vec()?, [true, false, true]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn contains<'a>(&self, item: impl IntoOperand<'a> as value, axis: impl Integer as axis) -> bool;
    alias "isin", "in";
    polars "list.contains";
    gradient none "the result holds bools";
    row hand;
}

#[track_caller]
fn set_union(x: &Tensor, other: &impl AsRef<Tensor>) -> Result<Tensor> {
    x.as_sets(x.recorder("set_union"), other, SetOp::Union)
}

#[track_caller]
fn set_intersection(x: &Tensor, other: &impl AsRef<Tensor>) -> Result<Tensor> {
    x.as_sets(x.recorder("set_intersection"), other, SetOp::Intersection)
}

#[track_caller]
fn set_difference(x: &Tensor, other: &impl AsRef<Tensor>) -> Result<Tensor> {
    x.as_sets(x.recorder("set_difference"), other, SetOp::Difference)
}

#[track_caller]
fn contains<'a>(x: &Tensor, item: impl IntoOperand<'a>, axis: impl Integer) -> Result<Tensor> {
    const OP: &str = "contains";
    let axis = x.axis(OP, axis.saturating_i64())?;
    let item = item.into().of_dtype(OP, x.dtype())?;
    let equal = match item {
        Operand::Tensor(items) if items.rank() + 1 == x.rank() => x.equal(&items.expand_dims(axis as i64)?)?,
        Operand::Tensor(items) if items.rank() > 0 => {
            let what = "there must be one item per row: the tensor's dimensions without the axis".into();
            return Err(Error::Shape {
                op: OP,
                lhs: x.shape_text(),
                rhs: items.shape_text(),
                what,
                location: caller(),
            });
        }
        item => x.equal(item)?,
    };
    equal.reduce_any(axis as i64)
}

/// A set operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SetOp {
    Union,
    Intersection,
    Difference,
}

impl Tensor {
    /// Both rows are concatenated and sorted, stably: equal values are contiguous, in the order of concatenation. Each
    /// group of equal values keeps one element or none, which a comparison of neighbours decides: the first of this
    /// tensor's. A union concatenates this tensor's rows first and keeps the first of a group. The others concatenate
    /// them last: the first of a group is this tensor's if the other row lacks the value.
    fn as_sets(&self, rec: Recorder<'_>, other: &impl AsRef<Self>, set_op: SetOp) -> Result<Self> {
        let other = other.as_ref();
        if self.rank() == 0 {
            return Err(rec.argument("a scalar has no rows"));
        }
        // Before the operands change places.
        check_alike(rec, &[self, other])?;
        let both = if set_op == SetOp::Union { [self, other] } else { [other, self] };
        let both = Self::concatenated(rec, &both, -1)?;
        let keys = OrderKeys::new(rec, &both)?;
        let both = keys.tensor();
        let (along, others) = (AxisRows::innermost(rec, both)?, AxisRows::innermost(rec, other)?);
        let sorted = Sorted::new(rec, both, (-1).into(), false)?;
        let (at, one) = (Expr::index(), Expr::u32(1));
        let (rows, count) = (&along.rows, along.rows.nvals_extent());
        let row = rows.row_of(at.clone());
        let is_own = |place: Expr| {
            let from = sorted.order.at(&place);
            others.rows.length(row.clone()).le(from.sub(rows.start(row.clone())))
        };
        let previous = at.clone().max(one.clone()).sub(one.clone());
        let is_first = at.clone().eq(rows.start(row.clone()));
        let begins = is_first.or(differ(sorted.at(at.clone()), sorted.at(previous.clone())));
        let keep = match set_op {
            SetOp::Union => begins,
            // The first value of this tensor, after one of the other.
            SetOp::Intersection => begins.not().and(is_own(at.clone())).and(is_own(previous).not()),
            SetOp::Difference => begins.and(is_own(at.clone())),
        };
        let marks = RankBitmap::new(rec, count, keep);
        let (rows, stay) = if along.axis == 0 {
            (None, marks.total())
        } else {
            let start = marks.rank(&rows.start(at.clone()));
            let kept = rec.rows_of_starts(rows.nrows_extent(), &start, count.size(), &[])?;
            let kept = kept.with_lengths(rows.known_lengths().map(|(_, longest)| (0, longest)));
            let stay = kept.nvals_extent().clone();
            (Some(kept), stay)
        };
        let place = rec.kept(&marks, stay.clone());
        let value = sorted.at(Expr::load(&place, at));
        let values = Values::Numbers(rec.map(stay.clone(), value, &[]));
        let parts = rows.map_or_else(Vec::new, |rows| along.partitions(rows));
        keys.values(rec.tensor(parts, Some(stay), [], values)?)
    }
}
