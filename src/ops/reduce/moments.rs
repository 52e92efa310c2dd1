//! Means, variances and standard deviations.

use super::Reduction;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::reducer::Reducer;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::math::MathFn;
use crate::ops::IntoReduceAxes;
use crate::tensor::Tensor;

/// Float dtype of the mean of values of `dtype`.
#[track_caller]
pub(in crate::ops) fn mean_dtype(op: &'static str, dtype: DType) -> Result<DType> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Ok(dtype),
        DType::U8 | DType::I8 | DType::U16 | DType::I16 => Ok(DType::F32),
        DType::I32 | DType::U32 | DType::I64 | DType::U64 => Ok(DType::F64),
        DType::Bool => Err(Error::unsupported(op, dtype, "cast it to a number")),
        DType::Str => Err(Error::unsupported(op, dtype, "it needs numbers")),
    }
}

/// Totals of the numbers `x` as floats of dtype `float`. `most` bounds the count of the numbers. Sums of integers are
/// exact.
#[track_caller]
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
            // Sums the 32-bit halves separately, so that neither overflows, and joins them with one rounding.
            let (half, low_bits) = (Scalar::from_i64(wide, 32), Scalar::U64(u64::from(u32::MAX)));
            let high = sum(x.clone().binary(BinaryOp::Shr, Expr::scalar(half)))?;
            let low = sum(x.clone().bitcast(DType::U64).and(Expr::scalar(low_bits)))?;
            let carry = low.clone().binary(BinaryOp::Shr, Expr::scalar(32u64)).bitcast(wide);
            let high = high.add(carry).cast(float).mul(Expr::scalar(Scalar::from_f64(float, 4_294_967_296.0)));
            high.add(low.and(Expr::scalar(low_bits)).cast(float))
        }
        _ => sum(x.clone().cast(float))?,
    })
}

impl Tensor {
    /// The mean and the count of each result, as expressions in the result number. Both are in the accumulator of the
    /// mean's dtype.
    #[track_caller]
    fn mean_of(&self, r: &Reduction) -> Result<(Expr, Expr)> {
        let float = mean_dtype(r.op, self.dtype())?.accumulator();
        let x = Expr::load(self.numbers(r.op)?, Expr::index());
        let count = r.count()?.cast(float);
        let most = r.stages.first().map_or(1, |s| s.numbers().capacity());
        let total = total(|value| r.fold(ReduceOp::Sum, value), most, &x, float)?;
        Ok((total.quotient(count.clone()), count))
    }

    /// The mean squared deviation from the mean, as an expression in the result number.
    #[track_caller]
    fn variance_of(&self, r: &Reduction) -> Result<Expr> {
        let float = mean_dtype(r.op, self.dtype())?.accumulator();
        let number = |x: f64| Expr::scalar(Scalar::from_f64(float, x));
        // Scales by 1/4, so that no difference overflows.
        let quarter = Expr::load(self.numbers(r.op)?, Expr::index()).cast(float).mul(number(0.25));
        if let Some(squares) = r.at_once(Reducer::Deviations, &quarter)? {
            return Ok(squares.mul(number(16.0)).quotient(r.count()?.cast(float)));
        }
        let (mean, count) = self.mean_of(r)?;
        let mean = r.stored(mean);
        let x = Expr::load(self.numbers(r.op)?, Expr::index()).cast(mean.dtype());
        // Separate nodes, which are stored if their combined inputs exceed the bindings of the reduction.
        let each = |value: Expr| -> Result<Expr> {
            Ok(Expr::load(&Node::map(&r.backend, r.op, self.count()?, value, &[]), Expr::index()))
        };
        let target = each(r.target())?;
        let mut deviation = each(x.sub(Expr::load(&mean, target.clone())))?;
        if self.dtype().is_float() || self.dtype().size() == 8 {
            // The mean of the deviations is the part of the mean that rounding lost.
            let rest = r.fold(ReduceOp::Sum, deviation.clone())?.quotient(count.clone());
            deviation = deviation.sub(Expr::load(&r.stored(rest), target));
        }
        Ok(r.fold(ReduceOp::Sum, deviation.clone().mul(deviation))?.quotient(count))
    }

    /// The mean of the values over the axes; NaN where there are none (`tf.math.reduce_mean`).
    ///
    /// Floats keep their dtype; f16 and bf16 round the mean once. Integers of 8 and 16 bits give f32, wider ones f64;
    /// sums of integers are exact. Several axes give the sum over all of them divided by the count over all of them.
    /// Floats are summed in their dtype, f16 and bf16 in f32: the mean is infinite or NaN where a partial sum overflows,
    /// as of two values of 3e38, although the mean is in range. Scale such values down first.
    /// Shapes, order and cost as for all [reductions](crate::Axes): the division is an epilogue of the sum.
    ///
    /// # Errors
    /// `axis` out of range or named twice; bool or string values; f64 on a device without it.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 2, 2, 3]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![3],
    ///     values: HostValues::F32(vec![3.0, 1.0, 2.0]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// let HostValues::F32(mean) = x.reduce_mean(1)?.to_host()?.values else { unreachable!() };
    /// assert_eq!((mean[0], mean[2]), (2.0, 2.0));
    /// assert!(mean[1].is_nan());
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("mean", "average"))]
    #[track_caller]
    pub fn reduce_mean(&self, axis: impl IntoReduceAxes) -> Result<Self> {
        let axes = axis.into();
        mean_dtype("reduce_mean", self.dtype())?;
        let r = Reduction::new("reduce_mean", self, &axes)?;
        if r.stages.is_empty() {
            return r.tensor(Expr::load(self.numbers(r.op)?, Expr::index()).cast(mean_dtype(r.op, self.dtype())?));
        }
        let (mean, _) = self.mean_of(&r)?;
        r.tensor(mean.cast(mean_dtype(r.op, self.dtype())?))
    }

    /// The population variance of the values over the axes; NaN where there are none (`tf.math.reduce_variance`).
    ///
    /// Computed as the mean of the squared deviations from the mean, so that it is never negative and free of
    /// cancellation. TensorFlow's difference of means of squares loses all digits where the mean is large. Adjacent
    /// axes take one pass, which other reductions over the same rows share ([`eval`](crate::eval)). The pass merges
    /// counts, means and deviations of parts (Chan, Golub and LeVeque 1979), and keeps the rounding error of each mean.
    /// Axes that are not adjacent take two passes, or three for floats and 64-bit integers. NaN if any value is not
    /// finite. Dtype as [`reduce_mean`](Self::reduce_mean). Infinite where the variance exceeds the dtype; f16 and bf16
    /// are computed in f32 and rounded once.
    ///
    /// # Errors
    /// As [`reduce_mean`](Self::reduce_mean).
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 2, 2, 3]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![3],
    ///     values: HostValues::F32(vec![3.0, 1.0, 2.0]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// let HostValues::F32(v) = x.reduce_variance(1)?.to_host()?.values else { unreachable!() };
    /// assert_eq!((v[0], v[2]), (1.0, 0.0));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("var", "variance"))]
    #[track_caller]
    pub fn reduce_variance(&self, axis: impl IntoReduceAxes) -> Result<Self> {
        let dtype = mean_dtype("reduce_variance", self.dtype())?;
        let r = Reduction::new("reduce_variance", self, &axis.into())?;
        r.tensor(self.variance_of(&r)?.cast(dtype))
    }

    /// The population standard deviation of the values over the axes; NaN where there are none (`tf.math.reduce_std`).
    ///
    /// The square root of [`reduce_variance`](Self::reduce_variance); dtype, shapes and cost are the same. The sum
    /// of the squares of the deviations must be in the range of the dtype (f32 for f16 and bf16): n deviations above
    /// 1.8e19 / √n in f32 or 1.3e154 / √n in f64 give infinity, those below 1e-19 or 1e-154 lose digits, and the least
    /// give 0. Scale such values by a power of 2 first, which is exact.
    ///
    /// # Errors
    /// As [`reduce_mean`](Self::reduce_mean).
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 2, 2, 3]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![3],
    ///     values: HostValues::F32(vec![5.0, 1.0, 2.0]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// let HostValues::F32(v) = x.reduce_std(1)?.to_host()?.values else { unreachable!() };
    /// assert_eq!((v[0], v[2]), (2.0, 0.0));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "std")]
    #[track_caller]
    pub fn reduce_std(&self, axis: impl IntoReduceAxes) -> Result<Self> {
        let dtype = mean_dtype("reduce_std", self.dtype())?;
        let r = Reduction::new("reduce_std", self, &axis.into())?;
        r.tensor(self.variance_of(&r)?.unary(UnaryOp::Math(MathFn::Sqrt)).cast(dtype))
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::plan::PlanOf;
    use crate::graph::planned::Recipe;
    use crate::{Axes, Device, HostTensor, HostValues, Result, Tensor};

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
