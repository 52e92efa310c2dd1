//! Means, variances and standard deviations.

use super::Reduction;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::recorder::Recorder;
use crate::graph::reducer::Reducer;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::math::MathFn;
use crate::ops::Averaged;
use crate::ops::IntoReduceAxes;
use crate::ops::operations;
use crate::tensor::Tensor;

operations! {
    /// Means, variances and standard deviations.
    const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Averaged;

    /// The mean of the values over the axes.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// NaN where there are no values. Floats keep their dtype; integers of 8 and 16 bits give f32, wider ones f64, of
    /// an exact sum; [`reduce_mean_as`](Self::reduce_mean_as) gives f32, also where a GPU emulates f64. Floats are summed
    /// in their dtype, f16 and bf16 in f32, and the mean is rounded once: it is infinite or NaN where a partial sum
    /// overflows, as of two values of 3e38, although the mean is in range. Scale such values down first. Several axes
    /// give the sum over all of them divided by the count over all of them. Shapes and order as for all
    /// [reductions](crate::arguments::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; bool or string values.
    ///
    /// # Cost
    /// One pass over the values, as for all [reductions](crate::arguments::Axes): the division is an epilogue of the
    /// sum.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3.0f32, 1.0], vec![], vec![2.0]], &Device::cpu())?;
    /// assert_eq!(x.reduce_mean(1)?.to_string(), "tensor([2.0, nan, 2.0], shape=(3,), dtype=f32)");
    /// assert_eq!(x.reduce_mean(..)?.to_vec()?, [2.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_mean(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> (T::Mean);
    alias "mean", "average";
    tensorflow "tf.math.reduce_mean";
    awkward "ak.mean";
    polars "list.mean";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;

    /// The population variance of the values over the axes.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// NaN where there are no values, or where one is not finite. Floats keep their dtype; f16 and bf16 are computed in
    /// f32 and rounded once. Integers of 8 and 16 bits give f32, wider ones f64. Infinite where the variance exceeds
    /// the dtype. Polars divides by `n - 1` instead, unless `ddof=0`. Shapes and order as for all
    /// [reductions](crate::arguments::Axes).
    ///
    /// Computed as the mean of the squared deviations from the mean, so that it is never negative and free of
    /// cancellation. TensorFlow's difference of means of squares loses all digits where the mean is large.
    ///
    /// # Errors
    /// `axis` out of range or named twice; bool or string values.
    ///
    /// # Cost
    /// Adjacent axes take one pass, which other reductions over the same rows share ([`eval`](crate::eval)). It merges
    /// counts, means and deviations of parts (Chan, Golub and LeVeque 1979), and keeps the rounding error of each mean.
    /// Axes that are not adjacent take two passes, or three for floats and 64-bit integers.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3.0f32, 1.0], vec![], vec![2.0]], &Device::cpu())?;
    /// assert_eq!(x.reduce_variance(1)?.to_string(), "tensor([1.0, nan, 0.0], shape=(3,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_variance(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> (T::Mean);
    alias "var", "variance";
    tensorflow "tf.math.reduce_variance";
    awkward "ak.var";
    polars "list.var(ddof=0)";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;

    /// The population standard deviation of the values over the axes.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// The square root of [`reduce_variance`](Self::reduce_variance): NaN where there are no values, or where one is
    /// not finite. Floats keep their dtype; f16 and bf16 are computed in f32 and rounded once. Integers of 8 and 16
    /// bits give f32, wider ones f64. Polars divides by `n - 1` instead, unless `ddof=0`. Shapes and order as for all
    /// [reductions](crate::arguments::Axes).
    ///
    /// The sum of the squares of the deviations must be in the range of the dtype (f32 for f16 and bf16): n deviations
    /// above 1.8e19 / √n in f32 or 1.3e154 / √n in f64 give infinity, those below 1e-19 or 1e-154 lose digits, and the
    /// least give 0. Scale such values by a power of 2 first, which is exact.
    ///
    /// # Errors
    /// `axis` out of range or named twice; bool or string values.
    ///
    /// # Cost
    /// Adjacent axes take one pass, which other reductions over the same rows share ([`eval`](crate::eval)). Axes that
    /// are not adjacent take two passes, or three for floats and 64-bit integers.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5.0f32, 1.0], vec![], vec![2.0]], &Device::cpu())?;
    /// assert_eq!(x.reduce_std(1)?.to_string(), "tensor([2.0, nan, 0.0], shape=(3,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_std(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> (T::Mean);
    alias "std", "stddev", "standard deviation";
    tensorflow "tf.math.reduce_std";
    awkward "ak.std";
    polars "list.std(ddof=0)";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;
}

#[track_caller]
fn reduce_mean(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    let axes = axis.into();
    let rec = x.recorder("reduce_mean");
    let dtype = mean_dtype(rec, x.dtype())?;
    let r = Reduction::new(rec, x, &axes)?;
    if r.stages.is_empty() {
        return r.tensor(Expr::load(rec.numbers(x)?, Expr::index()).cast(dtype));
    }
    let (mean, _) = x.mean_of(&r, dtype.accumulator())?;
    r.tensor(mean.cast(dtype))
}

#[track_caller]
fn reduce_variance(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    let rec = x.recorder("reduce_variance");
    let dtype = mean_dtype(rec, x.dtype())?;
    let r = Reduction::new(rec, x, &axis.into())?;
    r.tensor(x.variance_of(&r, dtype.accumulator())?.cast(dtype))
}

#[track_caller]
fn reduce_std(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    let rec = x.recorder("reduce_std");
    let dtype = mean_dtype(rec, x.dtype())?;
    let r = Reduction::new(rec, x, &axis.into())?;
    r.tensor(root(x.variance_of(&r, dtype.accumulator())?).cast(dtype))
}

/// The square root.
pub(super) fn root(x: Expr) -> Expr {
    x.unary(UnaryOp::Math(MathFn::Sqrt))
}

/// Float dtype of the mean of values of `dtype`.
pub(in crate::ops) fn mean_dtype(rec: Recorder<'_>, dtype: DType) -> Result<DType> {
    let hint = if dtype == DType::Bool { "cast it to a number" } else { "it needs numbers" };
    dtype.quotient().ok_or_else(|| rec.unsupported(dtype, hint))
}

/// Totals of the numbers `x` as floats of dtype `float`. `most` bounds the count of the numbers. Sums of integers are
/// exact.
pub(in crate::ops) fn total(sum: impl Fn(Expr) -> Result<Expr>, most: u32, x: &Expr, float: DType) -> Result<Expr> {
    Ok(match x.dtype() {
        narrow @ (DType::U8 | DType::I8 | DType::U16 | DType::I16) => {
            // A sum of up to 2^24 8-bit numbers, or 2^16 16-bit numbers, fits 32 bits.
            let few = most <= 1u32 << (32 - 8 * narrow.size());
            let wide = match (few, narrow.is_signed()) {
                (true, _) => narrow.accumulator(),
                (false, true) => DType::I64,
                (false, false) => DType::U64,
            };
            sum(x.clone().cast(wide))?.cast(float)
        }
        DType::I32 => sum(x.clone().cast(DType::I64))?.cast(float),
        DType::U32 => sum(x.clone().cast(DType::U64))?.cast(float),
        wide @ (DType::I64 | DType::U64) => {
            // Sums the 32-bit halves separately, so that neither overflows, and joins them.
            let (half, low_bits) = (Scalar::from_i64(wide, 32), Scalar::U64(u64::from(u32::MAX)));
            let high = sum(x.clone().binary(BinaryOp::Shr, Expr::scalar(half)))?;
            let low = sum(x.clone().bitcast(DType::U64).and(Expr::scalar(low_bits)))?;
            let carry = low.clone().binary(BinaryOp::Shr, Expr::scalar(32u64)).bitcast(wide);
            let (high, low) = (high.add(carry), low.and(Expr::scalar(low_bits)));
            if float == DType::F32 {
                return Ok(nearest_f32(high, low));
            }
            high.cast(float).mul(Expr::scalar(Scalar::from_f64(float, 4_294_967_296.0))).add(low.cast(float))
        }
        _ => sum(x.clone().cast(float))?,
    })
}

/// The f32 nearest to `high * 2^32 + low`, where `low` is a u64 below 2^32.
///
/// An f32 does not hold the halves as an f64 does: their floats would cancel. The magnitude is converted at once where
/// it has 64 bits, and otherwise by its upper half, whose lowest bit says whether the lower half is 0 (a sticky bit).
fn nearest_f32(high: Expr, low: Expr) -> Expr {
    let u64s = |v: u64| Expr::scalar(v);
    let has_low = |low: &Expr| low.clone().ne(u64s(0)).cast(DType::U64);
    let magnitude = |high: Expr, low: Expr| {
        let whole = high.clone().binary(BinaryOp::Shl, u64s(32)).add(low.clone()).cast(DType::F32);
        let upper = high.clone().or(has_low(&low)).cast(DType::F32).mul(Expr::scalar(4_294_967_296.0f32));
        high.lt(u64s(1 << 32)).select(whole, upper)
    };
    if high.dtype() == DType::U64 {
        return magnitude(high, low);
    }
    let is_negative = high.clone().lt(Expr::scalar(0i64));
    let high = high.bitcast(DType::U64);
    let negated =
        (u64s(0).sub(high.clone()).sub(has_low(&low)), u64s(1 << 32).sub(low.clone()).and(u64s(u32::MAX.into())));
    let size = magnitude(is_negative.clone().select(negated.0, high), is_negative.clone().select(negated.1, low));
    is_negative.select(size.clone().mul(Expr::scalar(-1.0f32)), size)
}

impl Tensor {
    /// The mean and the count of each result, as expressions of dtype `float` in the result number.
    pub(super) fn mean_of(&self, r: &Reduction<'_>, float: DType) -> Result<(Expr, Expr)> {
        mean(r, &Expr::load(r.rec.numbers(self)?, Expr::index()), float)
    }

    /// The mean squared deviation from the mean, computed in the dtype `float`, as an expression in the result number.
    pub(super) fn variance_of(&self, r: &Reduction<'_>, float: DType) -> Result<Expr> {
        let x = exact_in(r, Expr::load(r.rec.numbers(self)?, Expr::index()), self, float)?;
        let number = |x: f64| Expr::scalar(Scalar::from_f64(float, x));
        // Scales by 1/4, so that no difference overflows.
        let quarter = x.clone().cast(float).mul(number(0.25));
        if let Some(squares) = r.at_once(Reducer::Deviations, &quarter)? {
            return Ok(squares.mul(number(16.0)).quotient(r.count()?.cast(float)));
        }
        let (mean, count) = mean(r, &x, float)?;
        let mean = r.stored(mean);
        let loses_digits = x.dtype().is_float() || x.dtype().size() >= float.size();
        let target = each(r, self, r.target())?;
        let mut deviation = each(r, self, x.cast(mean.dtype()).sub(Expr::load(&mean, target.clone())))?;
        if loses_digits {
            // The mean of the deviations is the part of the mean that rounding lost.
            let rest = r.fold(ReduceOp::Sum, deviation.clone())?.quotient(count.clone());
            deviation = deviation.sub(Expr::load(&r.stored(rest), target));
        }
        Ok(r.fold(ReduceOp::Sum, deviation.clone().mul(deviation))?.quotient(count))
    }
}

/// The mean of the numbers `x` and their count, as expressions of dtype `float` in the result number.
fn mean(r: &Reduction<'_>, x: &Expr, float: DType) -> Result<(Expr, Expr)> {
    let count = r.count()?.cast(float);
    let most = r.stages.first().map_or(1, |s| s.numbers().capacity());
    let total = total(|value| r.fold(ReduceOp::Sum, value), most, x, float)?;
    Ok((total.quotient(count.clone()), count))
}

/// A value per number of `x`, as a node of its own, which is stored if its inputs and those of the reduction together
/// exceed the bindings.
fn each(r: &Reduction<'_>, x: &Tensor, value: Expr) -> Result<Expr> {
    Ok(Expr::load(&r.rec.map(r.rec.count(x)?, value, &[]), Expr::index()))
}

/// `value`, the numbers of `x`, as numbers of the same variance that f32 holds better: wide integers less the least one
/// of their result, an exact difference. An f32 of one of them alone has lost what differs between large ones.
fn exact_in(r: &Reduction<'_>, value: Expr, x: &Tensor, float: DType) -> Result<Expr> {
    let dtype = value.dtype();
    if float != DType::F32 || !dtype.is_integer() || dtype.size() < 4 {
        return Ok(value);
    }
    let least = r.stored(r.fold(ReduceOp::Min, value.clone())?);
    let unsigned = if dtype.size() == 8 { DType::U64 } else { DType::U32 };
    let above = value.sub(Expr::load(&least, r.target()));
    each(r, x, if dtype == unsigned { above } else { above.bitcast(unsigned) })
}

#[cfg(test)]
mod tests {
    use crate::graph::plan::PlanOf;
    use crate::graph::planned::Recipe;
    use crate::ops::Axes;
    use crate::{Device, HostTensor, HostValues, Result, Tensor};

    /// Kinds of the steps in the plan of a reduction over axis 1.
    fn steps(reduce: fn(&Tensor, Axes) -> Result<Tensor>) -> Vec<&'static str> {
        let x = HostTensor {
            nested_row_splits: vec![vec![0, 2, 2, 3]],
            uniform_row_lengths: vec![None],
            inner_shape: vec![3],
            values: HostValues::F32(vec![1.0, 2.0, 3.0]),
        };
        let x = x.to_device(&Device::cpu()).expect("a valid tensor");
        let nodes = reduce(&x, Axes::from(1)).and_then(|r| r.nodes()).expect("recorded");
        let plan = PlanOf::new(&nodes, Device::cpu().backend().plan_limits());
        let kind = |r: &Recipe| match r {
            Recipe::Map(_) => "map",
            Recipe::Reduce(_) => "reduce",
            _ => "other",
        };
        plan.steps.iter().map(|s| kind(&s.recipe)).collect()
    }

    #[test]
    fn rows_take_one_pass() {
        assert_eq!(steps(Tensor::reduce_sum), ["reduce"]);
        assert_eq!(steps(Tensor::reduce_mean), ["reduce"]);
        assert_eq!(steps(Tensor::reduce_max), ["reduce"]);
    }

    #[test]
    fn a_variance_takes_one_pass() {
        assert_eq!(steps(Tensor::reduce_variance), ["reduce"]);
        assert_eq!(steps(Tensor::reduce_std), ["reduce"]);
    }
}
