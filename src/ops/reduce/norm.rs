//! Euclidean norms over any axes.

use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::{ReduceOp, UnaryOp};
use crate::math::MathFn;
use crate::ops::Averaged;
use crate::ops::IntoReduceAxes;
use crate::ops::operations;
use crate::ops::reduce::{Reduction, mean_dtype};
use crate::record::scaling::Scaling;
use crate::tensor::Tensor;

operations! {
    /// Euclidean norms over any axes.
    const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Averaged;

    /// The Euclidean norm of the values over the axes: the square root of the sum of their squares.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// 0 where there are no values. Floats keep their dtype; f16 and bf16 are computed in f32 and rounded once.
    /// Integers of 8 and 16 bits give f32, wider ones f64. The values are scaled by a power of 2 near the greatest
    /// magnitude, so that no square overflows or underflows: the norm is as accurate for 1e30 or 1e-30 as for 1. NaN if
    /// any value is NaN. Shapes and order as for all [reductions](crate::arguments::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; bool or string values.
    ///
    /// # Cost
    /// Two passes over the values and a map over the result.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3e30f32, 4e30], vec![], vec![-2.0]], &Device::cpu())?;
    /// assert_eq!(x.reduce_euclidean_norm(1)?.to_vec()?, [5e30, 0.0, 2.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_euclidean_norm(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> (T::Mean);
    alias "norm", "l2_norm";
    tensorflow "tf.math.reduce_euclidean_norm";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;
}

#[track_caller]
fn reduce_euclidean_norm(input: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    const OP: &str = "reduce_euclidean_norm";
    let rec = input.recorder(OP);
    let float = mean_dtype(rec, input.dtype())?;
    let r = Reduction::new(rec, input, &axis.into())?;
    let wide = if float.size() < 4 { DType::F32 } else { float };
    let x = Expr::load(rec.numbers(input)?, Expr::index()).cast(wide);

    let scaling = Scaling::of(wide);
    let exponent = scaling.exponent(r.fold(ReduceOp::Max, scaling.magnitude(x.clone()))?);
    let exponent = Expr::load(&r.stored(exponent), Expr::index());
    let scaled = scaling.down(x, exponent.at(&r.target()));
    let sum = r.fold(ReduceOp::Sum, scaled.clone().mul(scaled))?;
    let norm = scaling.up(sum.unary(UnaryOp::Math(MathFn::Sqrt)), exponent);
    r.tensor(norm.cast(float))
}
