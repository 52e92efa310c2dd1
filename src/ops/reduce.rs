//! Reductions of rows, columns, or everything: sum, product, extremes, moments, all and any. What they share is
//! said at [`Axes`].

use half::{bf16, f16};

use super::axes::Axes;
use super::levels::{Levels, Stage};
use crate::dtype::DType;
use crate::element::Number;
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::reducer::Reducer;
use crate::graph::scalar::Scalar;
use crate::math::MathFn;
use crate::tensor::{RaggedTensor, Tensor};

/// Which numbers of a tensor become one, over all axes.
pub(super) struct Reduction {
    op: &'static str,
    backend: BackendRef,
    /// Innermost first.
    stages: Vec<Stage>,
    /// The dimensions of the result.
    levels: Levels,
}

impl Reduction {
    pub(super) fn new(op: &'static str, x: &Tensor, axes: &Axes, keepdims: bool) -> Result<Self> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for axis in axes.resolve(op, x)? {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == axis => *last = axis,
                _ => runs.push((axis, axis)),
            }
        }
        let mut levels = Levels::of(x)?;
        let mut stages = Vec::new();
        for &run in runs.iter().rev() {
            let (stage, left) = levels.reduce(x.backend(), op, run, keepdims)?;
            levels = left;
            stages.push(stage);
        }
        if keepdims && *axes == Axes::All && x.ragged_rank() > 0 {
            // TensorFlow keeps the inner dimensions twice: once as those of the flat values.
            levels = levels.with_ones(x.inner().len())?;
        }
        Ok(Self { op, backend: x.backend().clone(), stages, levels })
    }

    /// The reduction of `value`, an expression in the number, as an expression in the result's number.
    pub(super) fn fold(&self, op: ReduceOp, value: Expr) -> Result<Expr> {
        self.stages.iter().try_fold(value, |value, stage| {
            Ok(Expr::load(&stage.reduce(&self.backend, self.op, op, value)?, Expr::index()))
        })
    }

    /// What the reducer gives of `value`, an expression in the number, if one reduction does it: as an expression in the
    /// result's number. Only operations can be taken of what they gave before.
    pub(super) fn at_once(&self, by: Reducer, value: &Expr) -> Result<Option<Expr>> {
        let [stage] = self.stages.as_slice() else { return Ok(None) };
        Ok(Some(Expr::load(&stage.reduce(&self.backend, self.op, by, value.clone())?, Expr::index())))
    }

    /// How many numbers each result is made of.
    fn count(&self) -> Result<Expr> {
        let Some((first, others)) = self.stages.split_first() else { return Ok(Expr::u32(1)) };
        others.iter().try_fold(first.count(), |count, stage| {
            let count = Node::map(&self.backend, self.op, stage.numbers().clone(), count, &[]);
            let total = stage.reduce(&self.backend, self.op, ReduceOp::Sum, Expr::load(&count, Expr::index()))?;
            Ok(Expr::load(&total, Expr::index()))
        })
    }

    /// Which result the number `Index` is part of.
    pub(super) fn target(&self) -> Expr {
        self.stages.iter().fold(Expr::index(), |at, stage| stage.target().at(&at))
    }

    /// The array of an expression in the result's number.
    pub(super) fn stored(&self, value: Expr) -> Node {
        match value.kind() {
            ExprKind::Load(node, at) if at.is_index() => node.clone(),
            _ => Node::map(&self.backend, self.op, self.levels.numbers(), value, &[]),
        }
    }

    pub(super) fn tensor(&self, value: Expr) -> Result<Tensor> {
        self.levels.tensor(&self.backend, self.stored(value))
    }
}

/// The float type that means of these numbers have.
pub(super) fn mean_dtype(op: &'static str, dtype: DType) -> Result<DType> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Ok(dtype),
        DType::U8 | DType::I8 | DType::U16 | DType::I16 => Ok(DType::F32),
        DType::I32 | DType::U32 | DType::I64 | DType::U64 => Ok(DType::F64),
        DType::Bool => Err(Error::unsupported(op, dtype, "cast it to a number")),
        DType::Str => Err(Error::unsupported(op, dtype, "it needs numbers")),
    }
}

/// The totals of the numbers `x`, of which there are `most`, as floats of that type; sums of integers are exact.
pub(super) fn total(sum: impl Fn(Expr) -> Result<Expr>, most: u32, x: &Expr, float: DType) -> Result<Expr> {
    Ok(match x.dtype() {
        narrow @ (DType::U8 | DType::I8 | DType::U16 | DType::I16) => {
            // 2^24 numbers of 8 bits always fit 32, as do 2^16 of 16.
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
            // Halves are summed apart, neither of which can overflow, and joined with one rounding.
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

/// Floats as integers of the same order, NaN before the least or after the greatest; and back.
pub(super) mod ordered {
    use super::*;

    fn integer(float: DType) -> DType {
        if float == DType::F32 { DType::I32 } else { DType::I64 }
    }

    /// Flips all bits but the sign of what is negative: its own inverse.
    fn flip(bits: Expr) -> Expr {
        let d = bits.dtype();
        let (last, mask) = (d.size() as i64 * 8 - 1, Scalar::highest(d));
        let sign = bits.clone().binary(BinaryOp::Shr, Expr::scalar(Scalar::from_i64(d, last)));
        bits.binary(BinaryOp::Xor, sign.and(Expr::scalar(mask)))
    }

    /// The key of a float, whose NaN is `nan`.
    pub(in crate::ops) fn encode(x: Expr, op: ReduceOp) -> Expr {
        let d = integer(x.dtype());
        // Where every other value loses: NaN propagates.
        let nan = if op == ReduceOp::Min { Scalar::lowest(d) } else { Scalar::highest(d) };
        x.clone().unary(UnaryOp::IsNan).select(Expr::scalar(nan), flip(x.bitcast(d)))
    }

    /// The float of a key; `empty` for that of no float at all.
    pub(in crate::ops) fn decode(key: Expr, op: ReduceOp, empty: Expr) -> Expr {
        let d = key.dtype();
        let none = if op == ReduceOp::Min { Scalar::highest(d) } else { Scalar::lowest(d) };
        key.clone().eq(Expr::scalar(none)).select(empty.clone(), flip(key).bitcast(empty.dtype()))
    }
}

/// The extreme that was found in the accumulator of that integer dtype, as one of the dtype. No value at all gives the end
/// of the accumulator's range, which stands for that of the dtype.
pub(super) fn extreme_integer(dtype: DType, found: Expr) -> Expr {
    let wide = found.dtype();
    let (low, high) = (Scalar::lowest(dtype).widened(), Scalar::highest(dtype).widened());
    let fits = if wide == dtype.computes_in() && wide != dtype {
        found.max(Expr::scalar(low)).min(Expr::scalar(high))
    } else {
        found
    };
    fits.cast(dtype)
}

/// The greatest of the floats `x`, NaN if any is NaN, `empty` where there are none: an expression in the result's number.
pub(super) fn greatest(r: &Reduction, x: Expr, empty: Expr) -> Result<Expr> {
    if r.stages.is_empty() {
        return Ok(x);
    }
    let key = r.fold(ReduceOp::Max, ordered::encode(x, ReduceOp::Max))?;
    Ok(ordered::decode(key, ReduceOp::Max, empty))
}

impl Tensor {
    /// Sum or product in the accumulator; narrow integers wrap in its low bits, narrow floats round once.
    fn reduce_arithmetic(&self, name: &'static str, op: ReduceOp, axes: &Axes, keepdims: bool) -> Result<Self> {
        let dtype = self.dtype();
        if dtype == DType::Bool {
            return Err(Error::unsupported(name, dtype, "cast it to a number, or use reduce_all or reduce_any"));
        }
        let x = Expr::load(self.numbers(name)?, Expr::index());
        let r = Reduction::new(name, self, axes, keepdims)?;
        r.tensor(r.fold(op, x.cast(dtype.accumulator()))?.cast(dtype))
    }

    /// Least or greatest.
    fn reduce_extreme(&self, name: &'static str, op: ReduceOp, axes: &Axes, keepdims: bool) -> Result<Self> {
        let dtype = self.dtype();
        if dtype == DType::Bool {
            return Err(Error::unsupported(name, dtype, "use reduce_all or reduce_any"));
        }
        let wide = dtype.accumulator();
        let x = Expr::load(self.numbers(name)?, Expr::index()).cast(wide);
        let r = Reduction::new(name, self, axes, keepdims)?;
        if !dtype.is_float() {
            return r.tensor(extreme_integer(dtype, r.fold(op, x)?));
        }
        if r.stages.is_empty() {
            return r.tensor(x.cast(dtype));
        }
        let (finite, infinite) = match op {
            ReduceOp::Min => (Scalar::highest(dtype), f64::INFINITY),
            _ => (Scalar::lowest(dtype), f64::NEG_INFINITY),
        };
        let (finite, infinite) = (Expr::scalar(finite.widened()), Expr::scalar(Scalar::from_f64(wide, infinite)));
        let axes_from_front = axes.resolve(name, self)?;
        let ragged = self.ragged_rank();
        let dense = *axes == Axes::All || ragged == 0 || axes_from_front.iter().all(|&a| a > ragged);
        let empty = if dense {
            infinite
        } else if (0..=ragged).all(|a| axes_from_front.contains(&a)) {
            // Ragged axes first, then the dense tensor of what is left of the rows.
            Expr::u32(0).lt(self.nrows_extent().expr()).select(finite, infinite)
        } else {
            finite
        };
        // As integers, so that an infinity is told from no value at all, and NaN needs no care on any device.
        let key = r.fold(op, ordered::encode(x, op))?;
        r.tensor(ordered::decode(key, op, empty).cast(dtype))
    }

    /// The mean as an expression in the result's number, and the counts; both in the accumulator of the mean's type.
    fn mean_of(&self, r: &Reduction) -> Result<(Expr, Expr)> {
        let float = mean_dtype(r.op, self.dtype())?.accumulator();
        let x = Expr::load(self.numbers(r.op)?, Expr::index());
        let count = r.count()?.cast(float);
        let most = r.stages.first().map_or(1, |s| s.numbers().capacity());
        let total = total(|value| r.fold(ReduceOp::Sum, value), most, &x, float)?;
        Ok((total.quotient(count.clone()), count))
    }

    /// The mean squared deviation from the mean, as an expression in the result's number.
    fn variance_of(&self, r: &Reduction) -> Result<Expr> {
        let float = mean_dtype(r.op, self.dtype())?.accumulator();
        let number = |x: f64| Expr::scalar(Scalar::from_f64(float, x));
        // Quarters, of which no difference overflows.
        let quarter = Expr::load(self.numbers(r.op)?, Expr::index()).cast(float).mul(number(0.25));
        if let Some(squares) = r.at_once(Reducer::Deviations, &quarter)? {
            return Ok(squares.mul(number(16.0)).quotient(r.count()?.cast(float)));
        }
        let (mean, count) = self.mean_of(r)?;
        let mean = r.stored(mean);
        let x = Expr::load(self.numbers(r.op)?, Expr::index()).cast(mean.dtype());
        // Nodes of their own, which are stored where all that they are made of is more than the reduction can bind.
        let each = |value: Expr| -> Result<Expr> {
            Ok(Expr::load(&Node::map(&r.backend, r.op, self.count()?, value, &[]), Expr::index()))
        };
        let target = each(r.target())?;
        let mut deviation = each(x.sub(Expr::load(&mean, target.clone())))?;
        if self.dtype().is_float() || self.dtype().size() == 8 {
            // What the mean lacks, and cannot hold beside its own digits, is the mean of the deviations.
            let rest = r.fold(ReduceOp::Sum, deviation.clone())?.quotient(count.clone());
            deviation = deviation.sub(Expr::load(&r.stored(rest), target));
        }
        Ok(r.fold(ReduceOp::Sum, deviation.clone().mul(deviation))?.quotient(count))
    }

    /// Whether all or any of the values are not zero.
    fn reduce_truth(&self, name: &'static str, op: ReduceOp, axes: &Axes, keepdims: bool) -> Result<Self> {
        let x = Expr::load(self.numbers(name)?, Expr::index());
        let r = Reduction::new(name, self, axes, keepdims)?;
        let truth = r.fold(op, x.cast(DType::Bool).cast(DType::U32))?;
        r.tensor(truth.ne(Expr::u32(0)))
    }
}

impl Tensor {
    /// The sum of the values over the axes; 0 where there are none (`tf.math.reduce_sum`).
    ///
    /// Same dtype; integers wrap, f16 and bf16 are summed in f32 and rounded once. Shapes, order and cost as for all
    /// [reductions](Axes).
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
    ///     values: HostValues::I32(vec![3, 1, 2]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.reduce_sum(1, false)?.to_host()?.values, HostValues::I32(vec![4, 0, 2]));
    /// assert_eq!(x.reduce_sum(0, false)?.to_host()?.values, HostValues::I32(vec![5, 1]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn reduce_sum(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<Self> {
        self.reduce_arithmetic("reduce_sum", ReduceOp::Sum, &axis.into(), keepdims)
    }

    /// The product of the values over the axes; 1 where there are none (`tf.math.reduce_prod`).
    ///
    /// Same dtype; integers wrap, f16 and bf16 are multiplied in f32 and rounded once. Shapes, order and cost as for all
    /// [reductions](Axes).
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
    ///     values: HostValues::I32(vec![3, 1, 2]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.reduce_prod(-1, false)?.to_host()?.values, HostValues::I32(vec![3, 1, 2]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn reduce_prod(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<Self> {
        self.reduce_arithmetic("reduce_prod", ReduceOp::Prod, &axis.into(), keepdims)
    }

    /// The least value over the axes; NaN if any value is NaN (`tf.math.reduce_min`).
    ///
    /// Where there are no values: the greatest finite value of the dtype; for floats an infinity if all axes are asked for by
    /// `None`, or only inner dimensions are reduced. Same dtype. -0 is below +0. Shapes and cost as for all
    /// [reductions](Axes).
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
    /// assert_eq!(x.reduce_min(1, false)?.to_host()?.values, HostValues::U8(vec![1, 255, 2]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn reduce_min(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<Self> {
        self.reduce_extreme("reduce_min", ReduceOp::Min, &axis.into(), keepdims)
    }

    /// The greatest value over the axes; NaN if any value is NaN (`tf.math.reduce_max`).
    ///
    /// Where there are no values: the least finite value of the dtype; for floats an infinity if all axes are asked for by
    /// `None`, or only inner dimensions are reduced. Same dtype. -0 is below +0. Shapes and cost as for all
    /// [reductions](Axes).
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
    /// assert_eq!(x.reduce_max(1, false)?.to_host()?.values, HostValues::U8(vec![3, 0, 2]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn reduce_max(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<Self> {
        self.reduce_extreme("reduce_max", ReduceOp::Max, &axis.into(), keepdims)
    }

    /// The mean of the values over the axes; NaN where there are none (`tf.math.reduce_mean`).
    ///
    /// Floats keep their type, f16 and bf16 rounding the mean once; f32 for integers of 8 and 16 bits, f64 for wider ones;
    /// sums of integers are exact. With several axes: the sum over all of them by the count over all of them. Shapes, order
    /// and cost as for all [reductions](Axes): the quotient is taken as the sums are stored.
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
    /// let HostValues::F32(mean) = x.reduce_mean(1, false)?.to_host()?.values else { unreachable!() };
    /// assert_eq!((mean[0], mean[2]), (2.0, 2.0));
    /// assert!(mean[1].is_nan());
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn reduce_mean(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<Self> {
        let axes = axis.into();
        mean_dtype("reduce_mean", self.dtype())?;
        let r = Reduction::new("reduce_mean", self, &axes, keepdims)?;
        if r.stages.is_empty() {
            return r.tensor(Expr::load(self.numbers(r.op)?, Expr::index()).cast(mean_dtype(r.op, self.dtype())?));
        }
        let (mean, _) = self.mean_of(&r)?;
        r.tensor(mean.cast(mean_dtype(r.op, self.dtype())?))
    }

    /// The variance of the values over the axes, that of the population; NaN where there are none
    /// (`tf.math.reduce_variance`).
    ///
    /// The mean of the squared deviations from the mean, so that it is never negative and loses nothing to cancellation;
    /// TensorFlow's difference of means of squares loses all digits where the mean is large. Counts, means and deviations of
    /// parts of the values are merged (Chan, Golub and LeVeque 1979), each mean as a value and what it is off by, so that
    /// one pass over the values does, which other reductions over the same rows share ([`eval`](crate::eval)). NaN if any
    /// value is not finite. Dtype as [`reduce_mean`](Self::reduce_mean). Axes that are not adjacent take two passes, or three
    /// for floats and 64-bit integers.
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
    /// let HostValues::F32(v) = x.reduce_variance(1, false)?.to_host()?.values else { unreachable!() };
    /// assert_eq!((v[0], v[2]), (1.0, 0.0));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn reduce_variance(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<Self> {
        let dtype = mean_dtype("reduce_variance", self.dtype())?;
        let r = Reduction::new("reduce_variance", self, &axis.into(), keepdims)?;
        r.tensor(self.variance_of(&r)?.cast(dtype))
    }

    /// The standard deviation of the values over the axes, that of the population; NaN where there are none
    /// (`tf.math.reduce_std`).
    ///
    /// The square root of [`reduce_variance`](Self::reduce_variance); dtype, shapes and cost are the same.
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
    /// let HostValues::F32(v) = x.reduce_std(1, false)?.to_host()?.values else { unreachable!() };
    /// assert_eq!((v[0], v[2]), (2.0, 0.0));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn reduce_std(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<Self> {
        let dtype = mean_dtype("reduce_std", self.dtype())?;
        let r = Reduction::new("reduce_std", self, &axis.into(), keepdims)?;
        r.tensor(self.variance_of(&r)?.unary(UnaryOp::Math(MathFn::Sqrt)).cast(dtype))
    }

    /// Whether all values are true, over the axes; true where there are none (`tf.math.reduce_all`).
    ///
    /// bool, for any numbers: what is not 0 is true, NaN too. Shapes and cost as for all [reductions](Axes).
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
    /// assert_eq!(x.reduce_all(1, false)?.to_host()?.values, HostValues::Bool(vec![false, true, true]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn reduce_all(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<Self> {
        self.reduce_truth("reduce_all", ReduceOp::Min, &axis.into(), keepdims)
    }

    /// Whether any value is true, over the axes; false where there are none (`tf.math.reduce_any`).
    ///
    /// bool, for any numbers: what is not 0 is true, NaN too. Shapes and cost as for all [reductions](Axes).
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
    /// assert_eq!(x.reduce_any(1, false)?.to_host()?.values, HostValues::Bool(vec![true, false, true]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn reduce_any(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<Self> {
        self.reduce_truth("reduce_any", ReduceOp::Max, &axis.into(), keepdims)
    }
}

/// A type whose values have means.
pub trait Averaged: Number {
    /// The float type of a mean.
    type Mean: Number;
}

macro_rules! averaged {
    ($($t:ty => $mean:ty),*) => {$(
        impl Averaged for $t {
            type Mean = $mean;
        }
    )*};
}
averaged!(
    u8 => f32, i8 => f32, u16 => f32, i16 => f32, i32 => f64, u32 => f64, i64 => f64, u64 => f64,
    f16 => f16, bf16 => bf16, f32 => f32, f64 => f64
);

macro_rules! forward {
    ($bound:ident: $($name:ident -> $out:ty),*) => {
        impl<T: $bound> RaggedTensor<T> {$(
            #[doc = concat!("[`Tensor::", stringify!($name), "`] of typed values.")]
            ///
            /// # Errors
            #[doc = concat!("As [`Tensor::", stringify!($name), "`].")]
            #[track_caller]
            pub fn $name(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<RaggedTensor<$out>> {
                self.erased().$name(axis, keepdims)?.try_into()
            }
        )*}
    };
}
forward!(Averaged: reduce_sum -> T, reduce_prod -> T, reduce_min -> T, reduce_max -> T);
forward!(Averaged: reduce_mean -> T::Mean, reduce_variance -> T::Mean, reduce_std -> T::Mean);
forward!(Averaged: reduce_euclidean_norm -> T::Mean);
forward!(Number: reduce_all -> bool, reduce_any -> bool);

#[cfg(test)]
mod tests {
    use crate::graph::node::Recipe;
    use crate::graph::plan::plan;
    use crate::{Axes, Device, HostTensor, HostValues, Result, Tensor};

    /// The kinds of steps that the reduction over axis 1 of a tensor of rows takes.
    fn steps(reduce: fn(&Tensor, Axes, bool) -> Result<Tensor>) -> Vec<&'static str> {
        let x = HostTensor {
            nested_row_splits: vec![vec![0, 2, 2, 3]],
            uniform_row_lengths: vec![None],
            inner_shape: vec![3],
            values: HostValues::F32(vec![1.0, 2.0, 3.0]),
        };
        let x = x.to_device(&Device::cpu()).expect("a valid tensor");
        let nodes = reduce(&x, Axes::from(1), false).and_then(|r| r.nodes()).expect("recorded");
        let steps = plan(&nodes, Device::cpu().backend().plan_limits()).steps;
        let kind = |r: &Recipe| match r {
            Recipe::Map { .. } => "map",
            Recipe::Reduce { .. } => "reduce",
            _ => "other",
        };
        steps.iter().map(|s| kind(&s.recipe)).collect()
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
