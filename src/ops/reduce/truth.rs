//! Logical reductions: all and any.

use super::Reduction;
use crate::dtype::DType;
use crate::element::Number;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::ReduceOp;
use crate::ops::IntoReduceAxes;
use crate::ops::operations;
use crate::ops::options::ReduceAxes;
use crate::tensor::Tensor;

operations! {
    /// Logical reductions: all and any.
    const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Number;

    /// Logical AND over the axes; true where there are no values.
    ///
    /// The result is bool. Any number other than 0 is true, including NaN. Shapes and cost as for all
    /// [reductions](crate::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; string values.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 2, 2, 3]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![3],
    ///     values: HostValues::Bool(vec![true, false, true]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.reduce_all(1)?.to_host()?.values, HostValues::Bool(vec![false, true, true]));
    /// # Ok(())
    /// # }
    /// ```
    fn reduce_all(&self, axis: impl IntoReduceAxes as reduce_axes) -> bool;
    alias "all";
    tensorflow "tf.math.reduce_all";
    awkward "ak.all";
    polars "list.all()";
    gradient none "bools";

    /// Logical OR over the axes; false where there are no values.
    ///
    /// The result is bool. Any number other than 0 is true, including NaN. Shapes and cost as for all
    /// [reductions](crate::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; string values.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 2, 2, 3]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![3],
    ///     values: HostValues::Bool(vec![true, false, true]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.reduce_any(1)?.to_host()?.values, HostValues::Bool(vec![true, false, true]));
    /// # Ok(())
    /// # }
    /// ```
    fn reduce_any(&self, axis: impl IntoReduceAxes as reduce_axes) -> bool;
    alias "any";
    tensorflow "tf.math.reduce_any";
    awkward "ak.any";
    polars "list.any()";
    gradient none "bools";
}

#[track_caller]
fn reduce_all(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    x.reduce_truth("reduce_all", ReduceOp::Min, &axis.into())
}

#[track_caller]
fn reduce_any(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    x.reduce_truth("reduce_any", ReduceOp::Max, &axis.into())
}

impl Tensor {
    /// Logical AND or OR of the values as bools, as the minimum or maximum of 0 and 1.
    #[track_caller]
    fn reduce_truth(&self, name: &'static str, op: ReduceOp, axes: &ReduceAxes) -> Result<Self> {
        let x = Expr::load(self.numbers(name)?, Expr::index());
        let r = Reduction::new(name, self, axes)?;
        let truth = r.fold(op, x.cast(DType::Bool).cast(DType::U32))?;
        r.tensor(truth.ne(Expr::u32(0)))
    }
}
