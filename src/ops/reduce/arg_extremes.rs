//! Indices of minima and maxima, and counts of nonzero values.

use crate::dtype::DType;
use crate::element::{Element, Number};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::integer::Integer;
use crate::ops::IntoReduceAxes;
use crate::ops::operations;
use crate::ops::reduce::Reduction;
use crate::ops::sorting::order_keys::OrderKeys;
use crate::record::levels::Levels;
use crate::tensor::Tensor;

operations! {
    /// Positions of extremes, and counts of nonzero values.
    const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Element;

    /// Index of the minimum along an axis; the first one of equal minima.
    ///
    /// Gives i64 in the shape of a [reduction](crate::arguments::Axes), and -1 where there are no values. NaN is less
    /// than every number, as in NumPy; zeros of either sign are equal. Strings are ordered by their bytes. With ragged
    /// dimensions below the axis, the index counts all positions along the axis, including rows that are too short to
    /// have a value.
    ///
    /// # Errors
    /// `axis` out of range.
    ///
    /// # Cost
    /// Two passes over the values, and a map of the size of the result. Strings are first ranked, as for a
    /// [`Tensor::sort`]. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 1, 1], vec![], vec![5, 4]], &Device::cpu())?;
    /// assert_eq!(x.argmin(1)?.to_vec()?, [1, -1, 1]);
    /// assert_eq!(x.argmin(0)?.to_vec()?, [0, 0, 0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn argmin(&self, axis: impl Integer as axis) -> i64;
    alias "arg_min";
    tensorflow "tf.argmin";
    awkward "ak.argmin";
    polars "list.arg_min";
    gradient none "the result holds positions";

    /// Index of the maximum along an axis; the first one of equal maxima.
    ///
    /// Gives i64 in the shape of a [reduction](crate::arguments::Axes), and -1 where there are no values. NaN is
    /// greater than every number, as in NumPy; zeros of either sign are equal. Strings are ordered by their bytes. With
    /// ragged dimensions below the axis, the index counts all positions along the axis, including rows that are too
    /// short to have a value.
    ///
    /// # Errors
    /// `axis` out of range.
    ///
    /// # Cost
    /// Two passes over the values, and a map of the size of the result. Strings are first ranked, as for a
    /// [`Tensor::sort`]. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3.0, f32::NAN, 9.0], vec![], vec![5.0, 4.0]], &Device::cpu())?;
    /// assert_eq!(x.argmax(1)?.to_vec()?, [1, -1, 0]);
    /// assert_eq!(x.argmax(0)?.to_vec()?, [2, 0, 0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn argmax(&self, axis: impl Integer as axis) -> i64;
    alias "arg_max";
    tensorflow "tf.argmax";
    awkward "ak.argmax";
    polars "list.arg_max";
    gradient none "the result holds positions";

    /// Number of nonzero values over the axes.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// Gives i64 in the shape of a [reduction](crate::arguments::Axes), and 0 where there are no values. NaN counts as
    /// nonzero, a zero of either sign does not, and a bool counts if it is true.
    ///
    /// # Errors
    /// `axis` out of range or named twice; string values.
    ///
    /// # Cost
    /// That of a [reduction](crate::arguments::Axes), and a map of the size of the result.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 0, 1], vec![], vec![0, 0]], &Device::cpu())?;
    /// assert_eq!(x.count_nonzero(1)?.to_vec()?, [2, 0, 0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn count_nonzero(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> i64 where T: Number;
    alias "nnz";
    tensorflow "tf.math.count_nonzero";
    awkward "ak.count_nonzero";
    waits "with `keep` of axis 0, for the longest row";
    gradient none "the result holds counts";
}

#[track_caller]
fn argmin(x: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let axis = axis.saturating_i64();
    let rec = x.recorder("argmin");
    arg_extreme(rec, OrderKeys::new(rec, x)?.tensor(), ReduceOp::Min, axis)
}

#[track_caller]
fn argmax(x: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let axis = axis.saturating_i64();
    let rec = x.recorder("argmax");
    arg_extreme(rec, OrderKeys::new(rec, x)?.tensor(), ReduceOp::Max, axis)
}

#[track_caller]
fn count_nonzero(input: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    const OP: &str = "count_nonzero";
    let rec = input.recorder(OP);
    let x = Expr::load(rec.numbers(input)?, Expr::index());
    let r = Reduction::new(rec, input, &axis.into())?;
    let one = x.cast(DType::Bool).cast(DType::U32);
    r.tensor(r.fold(ReduceOp::Sum, one)?.cast(DType::I64))
}

/// Index along the axis of the first minimum (maximum); -1 where there are no values.
fn arg_extreme(rec: Recorder<'_>, of: &Tensor, op: ReduceOp, axis: i64) -> Result<Tensor> {
    /// Index of no value: the identity element of `Min`.
    const NONE: u32 = u32::MAX;
    let axis = rec.axis(of, axis)?;
    let x = Expr::load(rec.numbers(of)?, Expr::index()).cast(of.dtype().accumulator());
    let key = match x.dtype() {
        d if d.is_float() => {
            // Zeros of either sign are equal.
            let zero = Expr::scalar(Scalar::from_i64(d, 0));
            x.clone().eq(zero.clone()).select(zero, x)
        }
        DType::Bool => x.cast(DType::U32),
        _ => x,
    };
    let levels = Levels::of(rec, of)?;
    let (stage, left) = levels.reduce(rec, (axis, axis), false)?;
    let extreme = stage.reduce(rec, op, key.clone())?;
    // Separate maps, so that the planner can store them where one kernel cannot bind all their inputs.
    let own = |value: Expr| Expr::load(&rec.map(levels.numbers(), value, &[]), Expr::index());
    let is_found = |key: Expr, extreme: Expr| match key.dtype().is_float() {
        // The extreme of a group with a NaN is NaN, which equals nothing.
        true => {
            let are_nan = key.clone().unary(UnaryOp::IsNan).and(extreme.clone().unary(UnaryOp::IsNan));
            key.eq(extreme).binary(BinaryOp::Or, are_nan)
        }
        false => key.eq(extreme),
    };
    let found = own(is_found(key, Expr::load(&extreme, stage.target())));
    let place = own(found.select(own(levels.place(axis)), Expr::u32(NONE)));
    let first = Expr::load(&stage.reduce(rec, ReduceOp::Min, place)?, Expr::index());
    let index = first.clone().eq(Expr::u32(NONE)).select(Expr::scalar(-1i64), first.cast(DType::I64));
    left.tensor(rec, rec.map(left.numbers(), index, &[]))
}
