//! Rows of evenly spaced numbers.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Number;
use crate::error::{Error, Result, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::opcode::UnaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::math::MathFn;
use crate::ops::operations;
use crate::ops::{IntoOperand, IntoOperandOf};
use crate::record::elementwise::math;
use crate::record::operand::Operand;
use crate::shape::{Place, RaggedShape, UniformRows, broadcast};
use crate::tensor::{Fill, Tensor, Values};

operations! {
    /// Rows of evenly spaced numbers.
    const OPERATIONS: family "Construction" on RaggedTensor<T> where T: Number;

    /// One row per limit, with the numbers 0, 1, … below the limit.
    ///
    /// `[n]` gives `[n, (limit)]`, of the limits' dtype, which is i32, u32, i64, f32 or f64; a scalar gives one row. A
    /// limit of 0 or less gives an empty row. [`Tensor::ranges`] also takes starts and steps.
    ///
    /// # Errors
    /// A tensor that is ragged, of rank 2 or more, or of another dtype. At the read: a row of 2^32 numbers or more,
    /// which includes NaN and infinite limits; more than 2^32 - 2 numbers in total.
    ///
    /// # Cost
    /// A map and a prefix sum over the rows, and a map over the numbers. No wait: only the device knows the total
    /// number.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let limits = RaggedTensor::from_nested([3, 0, 2], &Device::cpu())?;
    /// assert_eq!(limits.range()?.to_string(), "<ragged.RaggedTensor [[0, 1, 2], [], [0, 1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn range(&self) -> T;
    alias "arange";
    tensorflow "tf.ragged.range";
    polars "pl.int_ranges";
    gradient none "constant almost everywhere";
    row hand;

    /// One row of numbers per start, limit and step: `start`, `start + delta`, … until the limit is reached, without
    /// it.
    ///
    /// Each argument is a number, a scalar or a vector, and at least one is a tensor. Numbers and scalars apply to
    /// every row. `[n]` gives `[n, (length)]`. Dtypes are i32, u32, i64, f32 or f64. If they differ, the result has the
    /// dtype that holds all of them: u32 and i32 give i64, an integer and a float give the float. Steps may be
    /// negative. If the limit lies behind the start, the row is empty.
    ///
    /// A row of floats has `ceil((limit - start) / delta)` numbers. The k-th number is `start + k * delta`: a product
    /// and a sum, each rounded once. (TensorFlow adds `delta` repeatedly, which accumulates rounding errors.) By
    /// rounding, the last number may reach the limit. Intermediate numbers do not overflow: the range may be as wide as
    /// the dtype.
    ///
    /// # Errors
    /// No tensor among the arguments; a tensor that is ragged, of rank 2 or more, or of another dtype; different
    /// devices; vectors of different lengths. A step of 0; a row of 2^32 numbers or more, which includes NaN and
    /// infinite bounds; more than 2^32 - 2 numbers in total.
    ///
    /// # Cost
    /// A map and a prefix sum over the rows, and a map over the numbers. No wait: the total number is known on the
    /// device only, and a read reports errors in the values.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let starts = RaggedTensor::from_nested([0, 5, 8], &Device::cpu())?;
    /// let limits = RaggedTensor::from_nested([3, 3, 12], &Device::cpu())?;
    /// let rows = RaggedTensor::ranges(&starts, &limits, 2)?;
    /// assert_eq!(rows.to_string(), "<ragged.RaggedTensor [[0, 2], [], [8, 10]]>");
    /// let down = RaggedTensor::ranges(&limits, &starts, -1)?;
    /// assert_eq!(down.to_string(), "<ragged.RaggedTensor [[3, 2, 1], [], [12, 11, 10, 9]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn ranges<'a>(
        starts: impl IntoOperandOf<'a, T> as operand,
        limits: impl IntoOperandOf<'a, T> as operand,
        deltas: impl IntoOperandOf<'a, T> as operand,
    ) -> T;
    alias "arange", "sequence";
    tensorflow "tf.ragged.range";
    polars "pl.int_ranges";
    gradient yes;
    row none "it makes a tensor";
}

#[track_caller]
fn range(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("range");
    let number = |v| Operand::from(Scalar::from_i64(x.dtype(), v));
    Tensor::ranges_of(rec, [number(0), x.into(), number(1)])
}

#[track_caller]
fn ranges<'a>(
    starts: impl IntoOperand<'a>,
    limits: impl IntoOperand<'a>,
    deltas: impl IntoOperand<'a>,
) -> Result<Tensor> {
    let operands = [starts.into(), limits.into(), deltas.into()];
    Tensor::ranges_of(Operand::recorder("ranges", &operands)?, operands)
}

impl Tensor {
    /// [`Tensor::ranges`] of starts, limits and deltas, for the operation `op`.
    #[track_caller]
    fn ranges_of<'a>(rec: Recorder<'_>, operands: [Operand<'a>; 3]) -> Result<Self> {
        let tensors: Vec<&Self> = operands.iter().filter_map(Operand::tensor).collect();
        let Some(first) = tensors.first() else { return Err(rec.argument("it needs a tensor")) };
        let common = tensors.iter().try_fold(first.dtype(), |dtype, t| common(rec.op, dtype, t.dtype()));
        let dtype = common.map_err(here())?;
        let in_dtype = |o: &Operand<'a>| match o {
            Operand::Value(value) => Ok(Operand::Value(value.clone().of_dtype(rec.op, dtype)?)),
            tensor => Ok(tensor.clone()),
        };
        let operands = operands.iter().map(in_dtype).collect::<Result<Vec<_>>>().map_err(here())?;
        let backend = first.backend();
        for t in &tensors {
            Device::check_same(rec.op, backend, t.backend())?;
            if t.rank() > 1 {
                let what = format!("starts, limits and deltas must be scalars or vectors, not {}", t.shape_text());
                return Err(rec.argument(what));
            }
        }
        let layouts: Vec<&RaggedShape> = tensors.iter().map(|t| t.ragged_shape()).collect();
        let shared = broadcast(rec, &layouts, UniformRows::Once)?;
        let rows = shared.outer.unwrap_or_else(|| Extent::known(1));
        let mut places = shared.places.iter();
        let mut numbers = Vec::with_capacity(operands.len());
        for o in &operands {
            numbers.push(match o {
                Operand::Tensor(t) => Expr::load(rec.numbers(t)?, places.next().unwrap_or(&Place::First).expr()),
                Operand::Value(Fill::Number(s)) => Expr::number(*s),
                Operand::Value(Fill::String(_)) => return Err(rec.unsupported(DType::Str, "")),
            });
        }
        let [start, limit, delta] = [0, 1, 2].map(|k: usize| numbers[k].clone().cast(dtype));
        let is = |k: usize, v: i64| match &operands[k] {
            Operand::Value(Fill::Number(s)) => *s == Scalar::from_i64(s.dtype(), v),
            _ => false,
        };
        // Fast path for starts of 0 and steps of 1, which needs no products, sums or quotients. (With another step,
        // floats keep the sum with 0: a product may be -0, and `0 + -0` is 0.)
        let by_one = is(2, 1);
        let from_zero = is(0, 0) && (by_one || !dtype.is_float());
        let length = if by_one {
            length(rec, dtype, &start, &limit, None)
        } else {
            let zero = Expr::scalar(Scalar::from_i64(dtype, 0));
            let length = length(rec, dtype, &start, &limit, Some(&delta));
            rec.checked("a delta is 0", delta.clone().ne(zero), length)
        };
        let lengths = rec.map(rows.clone(), length, &shared.asserts);
        let length = Expr::load(&lengths, Expr::index());
        let partition = rec.rows_of_lengths(&rows, length, u32::MAX - 1)?;
        let nvals = partition.nvals_extent().clone();
        let row = partition.row_of(Expr::index());
        let place = partition.offset_of(Expr::index()).cast(dtype);
        let away = if by_one { place.clone() } else { place.clone().mul(delta.at(&row)) };
        let number = if from_zero { away } else { start.at(&row).add(away) };
        let number = if dtype.is_float() && !by_one {
            // A product of such a row may overflow, though the sum does not.
            let [start, limit, delta] = [&start, &limit, &delta].map(|e| halved(&e.at(&row)));
            let halves = start.clone().add(place.mul(delta));
            overflows(&start, &limit).select(halves.clone().add(halves), number)
        } else {
            number
        };
        let values = Values::Numbers(rec.map(nvals.clone(), number, &[]));
        Self::new(backend, vec![partition], Some(nvals), [], values)
    }
}

/// The dtype that holds the numbers of both dtypes.
///
/// # Errors
/// A dtype without ranges.
#[track_caller]
fn common(op: &'static str, a: DType, b: DType) -> Result<DType> {
    // Each dtype holds those before it, except that u32 does not hold i32.
    const ORDER: [DType; 5] = [DType::I32, DType::U32, DType::I64, DType::F32, DType::F64];
    let place = |d: DType| {
        let hint = "starts, limits and deltas must be i32, u32, i64, f32 or f64";
        ORDER.iter().position(|&o| o == d).ok_or_else(|| Error::unsupported(op, d, hint))
    };
    Ok(match (place(a).map_err(here())?, place(b).map_err(here())?) {
        (0, 1) | (1, 0) => DType::I64,
        (a, b) => ORDER[a.max(b)],
    })
}

/// Half of a float.
fn halved(x: &Expr) -> Expr {
    x.clone().mul(Expr::scalar(Scalar::from_f64(x.dtype(), 0.5)))
}

/// Whether the difference of two finite floats overflows, given their halves.
fn overflows(start: &Expr, limit: &Expr) -> Expr {
    let way = limit.clone().sub(start.clone()).unary(UnaryOp::Abs);
    let most = Expr::scalar(Scalar::highest(start.dtype()));
    way.clone().add(way.clone()).unary(UnaryOp::IsInf).and(way.le(most))
}

/// Number of numbers in a row. The step is 1 if `delta` is `None`.
fn length(rec: Recorder<'_>, dtype: DType, start: &Expr, limit: &Expr, delta: Option<&Expr>) -> Expr {
    const TOO_MANY: &str = "a row has 2^32 numbers or more, or a bound that is not finite";
    if dtype.is_float() {
        let way = limit.clone().sub(start.clone());
        let steps = match delta {
            // An overflow is more than 2^32 steps of 1.
            None => way,
            Some(delta) => {
                let halves = [start, limit, delta].map(halved);
                let wide = overflows(&halves[0], &halves[1]);
                let [start, limit, half] = halves;
                let (way, delta) = (wide.clone().select(limit.sub(start), way), wide.select(half, delta.clone()));
                way.quotient(delta)
            }
        };
        let steps = math(MathFn::Ceil, steps);
        // The cast saturates below 0. NaN fails the comparison.
        let most = Expr::scalar(Scalar::from_f64(dtype, f64::from(u32::MAX)));
        let fits = steps.clone().lt(most);
        return rec.checked(TOO_MANY, fits, steps.cast(DType::U32));
    }
    // Unsigned arithmetic, in which the differences do not overflow.
    let wide = if dtype == DType::I64 { DType::U64 } else { DType::U32 };
    let number = |v| Expr::scalar(Scalar::from_i64(wide, v));
    let [s, l] = [start, limit].map(|e| e.clone().bitcast(wide));
    let rises = start.clone().lt(limit.clone());
    let length = match delta {
        None => rises.select(l.sub(s), number(0)),
        Some(delta) => {
            let up = Expr::scalar(Scalar::from_i64(dtype, 0)).lt(delta.clone());
            let d = delta.clone().bitcast(wide);
            let gap = up.clone().select(l.clone().sub(s.clone()), s.sub(l));
            let step = up.clone().select(d.clone(), number(0).sub(d));
            let some = up.select(rises, limit.clone().lt(start.clone()));
            let steps = gap.sub(number(1)).quotient(step).add(number(1));
            some.select(steps, number(0))
        }
    };
    if wide == DType::U32 {
        return length;
    }
    let fits = length.clone().lt(number(i64::from(u32::MAX)));
    rec.checked(TOO_MANY, fits, length.cast(DType::U32))
}
