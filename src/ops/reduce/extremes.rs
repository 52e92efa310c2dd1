//! Minimum and maximum.

use super::Reduction;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::opcode::ReduceOp;
use crate::graph::reducer::{Empty, Reducer};
use crate::graph::scalar::Scalar;
use crate::ops::Averaged;
use crate::ops::IntoReduceAxes;
use crate::ops::axes::Axes;
use crate::ops::operations;
use crate::ops::options::ReduceAxes;
use crate::tensor::Tensor;

operations! {
    /// Minimum and maximum.
    const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Averaged;

    /// The minimum over the axes; NaN if any value is NaN.
    ///
    /// Without values: the greatest finite value of the dtype; for floats +infinity if `axis` is `None` or only inner
    /// dimensions are reduced. Same dtype. -0 is below +0. Shapes and cost as for all [reductions](crate::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; bool or string values.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 2, 2, 3]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![3],
    ///     values: HostValues::U8(vec![3, 1, 2]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.reduce_min(1)?.to_host()?.values, HostValues::U8(vec![1, 255, 2]));
    /// # Ok(())
    /// # }
    /// ```
    fn reduce_min(&self, axis: impl IntoReduceAxes as reduce_axes) -> T;
    alias "min";
    tensorflow "tf.math.reduce_min";
    awkward "ak.min";
    polars "list.min()";
    gradient later;

    /// The maximum over the axes; NaN if any value is NaN.
    ///
    /// Without values: the least finite value of the dtype; for floats -infinity if `axis` is `None` or only inner
    /// dimensions are reduced. Same dtype. -0 is below +0. Shapes and cost as for all [reductions](crate::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; bool or string values.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 2, 2, 3]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![3],
    ///     values: HostValues::U8(vec![3, 1, 2]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.reduce_max(1)?.to_host()?.values, HostValues::U8(vec![3, 0, 2]));
    /// # Ok(())
    /// # }
    /// ```
    fn reduce_max(&self, axis: impl IntoReduceAxes as reduce_axes) -> T;
    alias "max";
    tensorflow "tf.math.reduce_max";
    awkward "ak.max";
    polars "list.max()";
    gradient later;
}

#[track_caller]
fn reduce_min(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    x.reduce_extreme("reduce_min", ReduceOp::Min, &axis.into())
}

#[track_caller]
fn reduce_max(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    x.reduce_extreme("reduce_max", ReduceOp::Max, &axis.into())
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

impl Tensor {
    /// Minimum or maximum.
    #[track_caller]
    fn reduce_extreme(&self, name: &'static str, op: ReduceOp, axes: &ReduceAxes) -> Result<Self> {
        let dtype = self.dtype();
        if dtype == DType::Bool {
            return Err(Error::unsupported(name, dtype, "use reduce_all or reduce_any"));
        }
        let wide = dtype.accumulator();
        let x = Expr::load(self.numbers(name)?, Expr::index()).cast(wide);
        let r = Reduction::new(name, self, axes)?;
        if !dtype.is_float() {
            return r.tensor(extreme_integer(dtype, r.fold(op, x)?));
        }
        if r.stages.is_empty() {
            return r.tensor(x.cast(dtype));
        }
        let axes_from_front = axes.axes.resolve(name, self)?;
        let ragged = self.ragged_rank();
        let dense = axes.axes == Axes::All || ragged == 0 || axes_from_front.iter().all(|&a| a > ragged);
        if dense {
            return r.tensor(r.fold(Reducer::Extreme(op, Empty::Infinite), x)?.cast(dtype));
        }
        let found = extreme_float(dtype, op, r.fold(op, x)?);
        if !(0..=ragged).all(|a| axes_from_front.contains(&a)) {
            return r.tensor(found);
        }
        // Ragged axes are reduced first, to finite values. The dense reduction that follows is empty only without rows.
        let infinite = Expr::scalar(op.identity(wide)).cast(dtype);
        r.tensor(Expr::u32(0).lt(self.nrows_extent().expr()).select(found, infinite))
    }
}
