//! Exponentially weighted moving averages along an axis.

use super::linear_recurrence::scanned;
use crate::dtype::DType;
use crate::element::FloatElement;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::UnaryOp;
use crate::integer::Integer;
use crate::math::MathFn;
use crate::ops::operations;
use crate::ops::options::{ScanAxis, Smoothing};
use crate::record::axis_rows::AxisRows;
use crate::record::elementwise::{Takes, math, parameter};
use crate::record::levels::Levels;
use crate::record::row_scan::Terms;
use crate::tensor::Tensor;

operations! {
    /// Exponentially weighted moving averages.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: FloatElement;

    /// The exponentially weighted moving average along an axis: the mean of the elements of the row up to each one,
    /// where the `k`-th element before it has the weight `(1 - alpha)^k`.
    ///
    /// `smoothing` is the weight `alpha` of the newest element, in `(0, 1]`, or what gives it: [`com`](crate::opt::com),
    /// the center of mass, for `1 / (1 + com)`; [`span`](crate::opt::span), for `2 / (span + 1)`;
    /// [`half_life`](crate::opt::half_life), the distance at which weights are halved, for `1 - exp(-ln 2 /
    /// half_life)`. The weights of each result are divided by their sum, as with Polars' `adjust=True`.
    /// [`unadjusted`](crate::opt::unadjusted) computes the recurrence `y[i] = (1 - alpha) * y[i - 1] + alpha * x[i]`,
    /// with `y[0] = x[0]`, as with `adjust=False`.
    ///
    /// Same shape and dtype; f16 and bf16 are computed in f32. `1 - alpha` is rounded to the dtype, and the weights are
    /// those of the rounded number. Empty rows stay empty. From an infinity or NaN on, the results of a row are
    /// infinite or NaN. A row has the same bits on every backend and in every batch. Polars ignores nulls, or counts
    /// their positions; this tensor has none.
    ///
    /// # Errors
    /// A dtype other than floats; `axis` out of range, or with ragged dimensions below it; `alpha` outside of `(0, 1]`,
    /// a negative center of mass, a span below 1, a half-life that is not positive, or NaN.
    ///
    /// # Cost
    /// That of [`linear_recurrence`](Self::linear_recurrence), and a map, which fuses into its consumer. No wait.
    ///
    /// ```
    /// use ragged::opt::{half_life, unadjusted};
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0, 4.0], vec![], vec![3.0, 3.0]], &Device::cpu())?;
    /// let means = x.ewm_mean(half_life(1.0), 1)?;
    /// assert!(means.to_vec()?.iter().zip([1.0, 3.0, 3.0, 3.0]).all(|(y, want)| f64::abs(y - want) < 1e-12));
    /// assert_eq!(x.ewm_mean(unadjusted(0.5), 1)?.to_vec()?, [1.0, 2.5, 3.0, 3.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn ewm_mean(&self, smoothing: impl Into<Smoothing> as Smoothing, axis: impl Integer as axis = -1) -> T;
    alias "exponential moving average", "ewma", "exponential smoothing";
    polars "Expr.ewm_mean";
    gradient yes;
}

#[track_caller]
fn ewm_mean(x: &Tensor, smoothing: impl Into<Smoothing>, axis: impl Integer) -> Result<Tensor> {
    let rec = x.recorder("ewm_mean");
    let smoothing: Smoothing = smoothing.into();
    let alpha = smoothing.checked_alpha().map_err(|what| rec.argument(what))?;
    rec.at(Takes::Floats.check(rec.op, x.dtype()))?;
    let axis = axis.saturating_i64();
    let along = AxisRows::new(rec, x, axis)?;
    along.check_uniform_elements()?;
    let dtype = x.dtype().accumulator();
    // The decay as it is rounded, so that the weights and their sums are those of one number.
    let decay = if dtype == DType::F32 { f64::from((1.0 - alpha) as f32) } else { 1.0 - alpha };
    let value = Expr::load(rec.numbers(x)?, Expr::index()).cast(dtype);
    let place = Levels::of(rec, x)?.place(along.axis);
    // A decay of 1 has equal weights, which need no factor.
    let scale = if decay == 1.0 && smoothing.adjust { 1.0 } else { 1.0 - decay };
    let weighted = value.clone().mul(parameter(dtype, scale));
    let terms = if smoothing.adjust { weighted } else { place.clone().eq(Expr::u32(0)).select(value, weighted) };
    let terms = Terms::of_recurrence(terms, parameter(dtype, decay), None);
    // Of a layout in the dtype in which the mean is computed.
    let layout = rec.at(x.cast(dtype))?;
    let sums = scanned(&layout, terms, ScanAxis::from(axis), rec.op)?;
    if !smoothing.adjust {
        return rec.at(sums.cast(x.dtype()));
    }
    // The sum of n weights (1 - decay) * decay^k is 1 - decay^n.
    let count = place.add(Expr::u32(1)).cast(dtype);
    let of_weights = if decay == 1.0 {
        count
    } else {
        math(MathFn::Expm1, count.mul(parameter(dtype, decay.ln()))).unary(UnaryOp::Neg)
    };
    let mean = sums.map_numbers(rec, |sum| sum.quotient(of_weights).cast(x.dtype()))?;
    Ok(mean)
}
