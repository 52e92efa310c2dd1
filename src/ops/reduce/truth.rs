//! Logical reductions: all and any.

use super::Reduction;
use crate::dtype::DType;
use crate::element::Number;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::ops::IntoReduceAxes;
use crate::ops::operations;
use crate::ops::options::ReduceAxes;
use crate::tensor::Tensor;

operations! {
    /// Logical reductions: all and any.
    const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Number;

    /// Whether all values over the axes are true: their logical AND.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// True where there are no values. The result is bool. Any number other than 0 is true, including NaN. Shapes as
    /// for all [reductions](crate::arguments::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; string values.
    ///
    /// # Cost
    /// One pass over the values, as for all [reductions](crate::arguments::Axes).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![true, false], vec![], vec![true]], &Device::cpu())?;
    /// assert_eq!(x.reduce_all(1)?.to_vec()?, [false, true, true]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_all(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> bool;
    alias "all";
    tensorflow "tf.math.reduce_all";
    awkward "ak.all";
    polars "list.all";
    waits "with `keep` of axis 0, for the longest row";
    gradient none "the result holds bools";

    /// Whether any value over the axes is true: their logical OR.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// False where there are no values. The result is bool. Any number other than 0 is true, including NaN. Shapes as
    /// for all [reductions](crate::arguments::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; string values.
    ///
    /// # Cost
    /// One pass over the values, as for all [reductions](crate::arguments::Axes).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![true, false], vec![], vec![true]], &Device::cpu())?;
    /// assert_eq!(x.reduce_any(1)?.to_vec()?, [true, false, true]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_any(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> bool;
    alias "any";
    tensorflow "tf.math.reduce_any";
    awkward "ak.any";
    polars "list.any";
    waits "with `keep` of axis 0, for the longest row";
    gradient none "the result holds bools";
}

#[track_caller]
fn reduce_all(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    truth(x.recorder("reduce_all"), x, ReduceOp::Min, &axis.into())
}

#[track_caller]
fn reduce_any(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    truth(x.recorder("reduce_any"), x, ReduceOp::Max, &axis.into())
}

/// Logical AND or OR of the values as bools, as the minimum or maximum of 0 and 1.
pub(in crate::ops) fn truth(rec: Recorder<'_>, x: &Tensor, op: ReduceOp, axes: &ReduceAxes) -> Result<Tensor> {
    let value = Expr::load(rec.numbers(x)?, Expr::index());
    let r = Reduction::new(rec, x, axes)?;
    let truth = r.fold(op, value.cast(DType::Bool).cast(DType::U32))?;
    r.tensor(truth.ne(Expr::u32(0)))
}
