//! Sums and products.

use super::Reduction;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::ops::Averaged;
use crate::ops::IntoReduceAxes;
use crate::ops::operations;
use crate::ops::options::ReduceAxes;
use crate::tensor::Tensor;

operations! {
    /// Sums and products.
    const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Averaged;

    /// The sum of the values over the axes.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// 0 where there are no values. Same dtype; integers wrap, f16 and bf16 are summed in f32 and rounded once. Awkward
    /// widens integers to 64 bits, Polars those of 8 and 16 bits. Shapes and order as for all
    /// [reductions](crate::arguments::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; bool or string values.
    ///
    /// # Cost
    /// One pass over the values, as for all [reductions](crate::arguments::Axes).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 1], vec![], vec![2]], &Device::cpu())?;
    /// assert_eq!(x.reduce_sum(1)?.to_vec()?, [4, 0, 2]);
    /// assert_eq!(x.reduce_sum(0)?.to_vec()?, [5, 1]);
    /// assert_eq!(x.reduce_sum(..)?.to_vec()?, [6]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_sum(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> T;
    alias "sum";
    tensorflow "tf.math.reduce_sum";
    awkward "ak.sum";
    polars "list.sum";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;

    /// The product of the values over the axes.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// 1 where there are no values. Same dtype; integers wrap, f16 and bf16 are multiplied in f32 and rounded once.
    /// Shapes and order as for all [reductions](crate::arguments::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; bool or string values.
    ///
    /// # Cost
    /// One pass over the values, as for all [reductions](crate::arguments::Axes).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 4], vec![], vec![2]], &Device::cpu())?;
    /// assert_eq!(x.reduce_prod(-1)?.to_vec()?, [12, 1, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_prod(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> T;
    alias "prod", "product";
    tensorflow "tf.math.reduce_prod";
    awkward "ak.prod";
    polars "Expr.product";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;
}

#[track_caller]
fn reduce_sum(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    arithmetic(x.recorder("reduce_sum"), x, ReduceOp::Sum, &axis.into())
}

#[track_caller]
fn reduce_prod(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    arithmetic(x.recorder("reduce_prod"), x, ReduceOp::Prod, &axis.into())
}

/// Sum or product in the accumulator; narrow integers wrap in its low bits, narrow floats round once.
fn arithmetic(rec: Recorder<'_>, x: &Tensor, op: ReduceOp, axes: &ReduceAxes) -> Result<Tensor> {
    let dtype = x.dtype();
    if dtype == DType::Bool {
        return Err(rec.unsupported(dtype, "cast it to a number, or use reduce_all or reduce_any"));
    }
    let value = Expr::load(rec.numbers(x)?, Expr::index());
    let r = Reduction::new(rec, x, axes)?;
    r.tensor(r.fold(op, value.cast(dtype.accumulator()))?.cast(dtype))
}
