//! Minimum and maximum.

use super::Reduction;
use super::truth::truth;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::reducer::{Empty, Reducer};
use crate::graph::scalar::Scalar;
use crate::ops::IntoReduceAxes;
use crate::ops::operations;
use crate::ops::options::ReduceAxes;
use crate::ops::sorting::order_keys::OrderKeys;
use crate::record::axes::Axes;
use crate::tensor::Tensor;

operations! {
    /// Minimum and maximum.
    const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Element;

    /// The minimum of the values over the axes.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// Same dtype; NaN if any value is NaN; -0 is below +0. Without values: the greatest finite value of the dtype; for
    /// floats +infinity if all axes (`..`) or only inner dimensions are reduced. Of bools: their logical AND, true
    /// without values. Strings are ordered by their bytes; without any, the result is the empty string, which no string
    /// is below: [`Tensor::argmin`] tells them apart. Shapes and order as for all
    /// [reductions](crate::arguments::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice.
    ///
    /// # Cost
    /// One pass over the values, as for all [reductions](crate::arguments::Axes). Strings are first ranked, as for a
    /// [`Tensor::sort`], and those that are found are gathered.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3u8, 1], vec![], vec![2]], &Device::cpu())?;
    /// assert_eq!(x.reduce_min(1)?.to_vec()?, [1, u8::MAX, 2]);
    /// assert_eq!(x.reduce_min(0)?.to_vec()?, [2, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_min(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> T;
    alias "min", "amin", "minimum";
    tensorflow "tf.math.reduce_min";
    awkward "ak.min";
    polars "list.min";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;

    /// The maximum of the values over the axes.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// Same dtype; NaN if any value is NaN; -0 is below +0. Without values: the least finite value of the dtype; for
    /// floats -infinity if all axes (`..`) or only inner dimensions are reduced. Of bools: their logical OR, false
    /// without values. Strings are ordered by their bytes; without any, the result is the least string, the empty one.
    /// Shapes and order as for all [reductions](crate::arguments::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice.
    ///
    /// # Cost
    /// One pass over the values, as for all [reductions](crate::arguments::Axes). Strings are first ranked, as for a
    /// [`Tensor::sort`], and those that are found are gathered.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3u8, 1], vec![], vec![2]], &Device::cpu())?;
    /// assert_eq!(x.reduce_max(1)?.to_vec()?, [3, 0, 2]);
    /// assert_eq!(x.reduce_max(0)?.to_vec()?, [3, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_max(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> T;
    alias "max", "amax", "maximum";
    tensorflow "tf.math.reduce_max";
    awkward "ak.max";
    polars "list.max";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;
}

#[track_caller]
fn reduce_min(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    let rec = x.recorder("reduce_min");
    let keys = OrderKeys::new(rec, x)?;
    keys.values(extreme(rec, keys.tensor(), ReduceOp::Min, &axis.into())?)
}

#[track_caller]
fn reduce_max(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    let rec = x.recorder("reduce_max");
    let keys = OrderKeys::new(rec, x)?;
    keys.values(extreme(rec, keys.tensor(), ReduceOp::Max, &axis.into())?)
}

/// Converts the extreme `found` from its integer accumulator to `dtype`. An empty reduction gives the end of the
/// accumulator's range, which becomes the end of the range of `dtype`.
pub(in crate::ops) fn extreme_integer(dtype: DType, found: Expr) -> Expr {
    let wide = found.dtype();
    let (low, high) = (Scalar::lowest(dtype).widened(), Scalar::highest(dtype).widened());
    let fits = if wide == dtype.computes_in() && wide != dtype {
        found.max(Expr::scalar(low)).min(Expr::scalar(high))
    } else {
        found
    };
    fits.cast(dtype)
}

/// Converts the extreme `found` of floats to `dtype`. A reduction of no values gives the end of the accumulator's finite
/// range, which becomes the end of the range of `dtype`.
pub(in crate::ops) fn extreme_float(dtype: DType, op: ReduceOp, found: Expr) -> Expr {
    let wide = found.dtype();
    if wide == dtype {
        return found;
    }
    let [none, end] = [wide, dtype].map(|dtype| Expr::scalar(Empty::Finite.value(op, dtype).widened()));
    found.clone().eq(none).select(end, found).cast(dtype)
}

/// Minimum or maximum of numbers.
fn extreme(rec: Recorder<'_>, x: &Tensor, op: ReduceOp, axes: &ReduceAxes) -> Result<Tensor> {
    let dtype = x.dtype();
    if dtype == DType::Bool {
        return truth(rec, x, op, axes);
    }
    let wide = dtype.accumulator();
    let value = Expr::load(rec.numbers(x)?, Expr::index()).cast(wide);
    let r = Reduction::new(rec, x, axes)?;
    if !dtype.is_float() {
        return r.tensor(extreme_integer(dtype, r.fold(op, value)?));
    }
    if r.stages.is_empty() {
        return r.tensor(value.cast(dtype));
    }
    let axes_from_front = rec.axes(x, &axes.axes)?;
    let ragged = x.ragged_rank();
    let dense = axes.axes == Axes::All || ragged == 0 || axes_from_front.iter().all(|&a| a > ragged);
    if dense {
        return r.tensor(r.fold(Reducer::Extreme(op, Empty::Infinite), value)?.cast(dtype));
    }
    let found = extreme_float(dtype, op, r.fold(op, value)?);
    if !(0..=ragged).all(|a| axes_from_front.contains(&a)) {
        return r.tensor(found);
    }
    // Ragged axes are reduced first, to finite values. The dense reduction that follows is empty only without rows.
    let infinite = Expr::scalar(op.identity(wide)).cast(dtype);
    r.tensor(Expr::u32(0).lt(x.nrows_extent().expr()).select(found, infinite))
}
