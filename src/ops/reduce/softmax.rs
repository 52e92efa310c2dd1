//! Softmax, log-softmax, log-sum-exp and L2 normalization.

use crate::dtype::DType;
use crate::element::FloatElement;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Rows;
use crate::graph::opcode::{ReduceOp, UnaryOp};
use crate::graph::recorder::Recorder;
use crate::graph::reducer::{Empty, Reducer};
use crate::integer::Integer;
use crate::math::MathFn;
use crate::ops::IntoReduceAxes;
use crate::ops::operations;
use crate::ops::options::ReduceAxes;
use crate::ops::reduce::Reduction;
use crate::record::elementwise::{Takes, math, number, parameter};
use crate::shape::RowPartition;
use crate::tensor::Tensor;

operations! {
    /// Softmax, log-softmax, log-sum-exp and L2 normalization.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: FloatElement;

    /// Softmax along an axis: each value's exponential divided by the sum of the exponentials of all values along the
    /// axis.
    ///
    /// Shape and dtype stay, empty rows stay empty. The maximum is subtracted first, so that nothing overflows; -inf
    /// gives 0. All values of a group are NaN if any of them is NaN or +inf, or if all are -inf; other groups are
    /// unaffected. Along an axis with ragged ones below it, the values at the same offset in their rows form a group,
    /// where TensorFlow fails. Along axis 0, rows that hold no values at all become one empty row, as in TensorFlow,
    /// unless the device computes their number.
    ///
    /// The maximum and the sum come from one fold, in the canonical order of reductions: a row has the same bits in
    /// every batch and on every device.
    ///
    /// # Errors
    /// `axis` out of range; a dtype other than floats.
    ///
    /// # Cost
    /// One pass, which reads and writes the values once: one kernel where the host knows that no row has more than 256
    /// values. Otherwise three kernels, and values of longer rows are read twice. Elements with inner dimensions, or an
    /// axis with ragged ones below it (which costs as for [reductions](crate::arguments::Axes)), take a reduction and a
    /// map, which read the values twice. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = [vec![0.0f32, f32::NEG_INFINITY, 0.0], vec![], vec![1000.0]];
    /// let x = RaggedTensor::from_nested(rows, &Device::cpu())?;
    /// assert_eq!(x.softmax(1)?.to_string(), "<ragged.RaggedTensor [[0.5, 0.0, 0.5], [], [1.0]]>");
    /// assert_eq!(x.softmax(0)?.to_vec()?[2..], [1.0, 1.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn softmax(&self, axis: impl Integer as axis = -1) -> T;
    tensorflow "tf.nn.softmax";
    awkward "ak.softmax";
    gradient yes;

    /// The logarithm of the softmax: each value minus the logarithm of the sum of all exponentials along the axis.
    ///
    /// Not computed from [`softmax`](Self::softmax) itself, so that small probabilities keep their digits. Shape and
    /// dtype stay, empty rows stay empty. All values of a group are NaN if any of them is NaN or +inf, or if all are
    /// -inf; other groups are unaffected. Along an axis with ragged ones below it, the values at the same offset in
    /// their rows form a group. A row has the same bits in every batch and on every device.
    ///
    /// # Errors
    /// `axis` out of range; a dtype other than floats.
    ///
    /// # Cost
    /// One pass, which reads and writes the values once: one kernel where the host knows that no row has more than 256
    /// values. Otherwise three kernels, and values of longer rows are read twice. Elements with inner dimensions, or an
    /// axis with ragged ones below it, take a reduction and a map. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0.0f32, -1000.0], vec![], vec![7.0]], &Device::cpu())?;
    /// assert_eq!(x.log_softmax(-1)?.to_string(), "<ragged.RaggedTensor [[0.0, -1000.0], [], [0.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn log_softmax(&self, axis: impl Integer as axis = -1) -> T;
    tensorflow "tf.nn.log_softmax";
    gradient yes;

    /// The logarithm of the sum of the exponentials of the values over the axes.
    ///
    /// The reduced dimensions disappear: axis 1 of `[rows, (values)]` gives `[rows]`, `..` gives a scalar, and axis 0 one
    /// result per position, as many as the longest row has values. [`keep`](crate::opt::keep) leaves them with size 1.
    ///
    /// -inf where there are no values. Same dtype. The maximum is subtracted first, if it is finite, so that nothing
    /// overflows: any +inf gives +inf, only -inf gives -inf, any NaN gives NaN. Shapes and order as for all
    /// [reductions](crate::arguments::Axes).
    ///
    /// # Errors
    /// `axis` out of range or named twice; a dtype other than floats.
    ///
    /// # Cost
    /// One pass over the values, two for axes that are not adjacent.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1000.0f32], vec![], vec![f32::NEG_INFINITY, 3.0]], &Device::cpu())?;
    /// assert_eq!(x.reduce_logsumexp(1)?.to_vec()?, [1000.0, f32::NEG_INFINITY, 3.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_logsumexp(&self, axis: impl IntoReduceAxes as reduce_axes = ..) -> T;
    alias "logsumexp", "logaddexp";
    tensorflow "tf.math.reduce_logsumexp";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;

    /// Each value divided by the L2 norm of all values along the axis, which counts as at least the square root of
    /// `epsilon`.
    ///
    /// Shape and dtype stay, empty rows stay empty. Squares that overflow or underflow are those of scaled values: the
    /// result is as accurate for 1e30 or 1e-30 as for 1, where TensorFlow gives 0 or infinities. All values under one
    /// norm are NaN if any of them is. Beside an infinity, numbers become 0 and the infinity NaN. Order as for all
    /// [reductions](crate::arguments::Axes).
    ///
    /// # Errors
    /// `axis` out of range; a dtype other than floats.
    ///
    /// # Cost
    /// One pass, as [`softmax`](Self::softmax), which sums squares at two scales, or at three for an `epsilon` below
    /// 2^-64 (2^-512 in f64). No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3.0f32, 4.0], vec![], vec![0.0]], &Device::cpu())?;
    /// assert_eq!(x.l2_normalize(1, 1e-12)?.to_string(), "<ragged.RaggedTensor [[0.6, 0.8], [], [0.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn l2_normalize(&self, axis: impl Integer as axis, epsilon: f64 = 1e-12) -> T;
    alias "normalize", "unit vector";
    tensorflow "tf.math.l2_normalize";
    gradient yes;
}

#[track_caller]
fn softmax(tensor: &Tensor, axis: impl Integer) -> Result<Tensor> {
    tensor.softmax_along(tensor.recorder("softmax"), axis.saturating_i64())
}

#[track_caller]
fn log_softmax(tensor: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let rec = tensor.recorder("log_softmax");
    let axis = axis.saturating_i64();
    let (x, r) = tensor.along(rec, axis)?;
    let (shifted, sum) = shifted(x, &r)?;
    let log = r.stored(math(MathFn::Log, sum));
    tensor.normalized(rec, axis, shifted.sub(Expr::load(&log, r.target())))
}

#[track_caller]
fn reduce_logsumexp(input: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    const OP: &str = "reduce_logsumexp";
    let rec = input.recorder(OP);
    Takes::Floats.check(OP, input.dtype())?;
    let x = Expr::load(rec.numbers(input)?, Expr::index()).cast(input.dtype().accumulator());
    let r = Reduction::new(rec, input, &axis.into())?;
    if let Some((most, sum)) = greatest_and_sum(&x, &r)? {
        let most = Expr::load(&r.stored(most), Expr::index());
        let finite = math(MathFn::Log, sum).add(most.clone());
        let all = most.clone().unary(UnaryOp::IsFinite).select(finite, most);
        return r.tensor(all.cast(input.dtype()));
    }
    let zero = number(x.dtype(), 0.0);
    let most = r.fold(Reducer::Extreme(ReduceOp::Max, Empty::Infinite), x.clone())?;
    let most = r.stored(most.clone().unary(UnaryOp::IsFinite).select(most, zero));
    let shifted = x.sub(Expr::load(&most, r.target()));
    let sum = r.fold(ReduceOp::Sum, math(MathFn::Exp, shifted))?;
    r.tensor(math(MathFn::Log, sum).add(Expr::load(&most, Expr::index())).cast(input.dtype()))
}

#[track_caller]
fn l2_normalize(tensor: &Tensor, axis: impl Integer, epsilon: f64) -> Result<Tensor> {
    let rec = tensor.recorder("l2_normalize");
    let axis = axis.saturating_i64();
    let (x, r) = tensor.along(rec, axis)?;
    let float = x.dtype();
    let n = |v: f64| number(float, v);
    // The norm of the values times a power of 2, at least `least`.
    let norm = |scale: f64, least: Option<f64>| -> Result<Expr> {
        let scaled = if scale == 1.0 { x.clone() } else { x.clone().mul(n(scale)) };
        let squares = r.fold(ReduceOp::Sum, scaled.clone().mul(scaled))?;
        let squares = least.map_or(squares.clone(), |least| squares.max(parameter(float, least)));
        Ok(Expr::load(&r.stored(math(MathFn::Sqrt, squares)), r.target()))
    };
    let by = Magnitudes::of(float);
    let plain = norm(1.0, Some(epsilon))?;
    let (mut dividend, mut divisor) = (x.clone(), plain.clone());
    if epsilon < by.few.powi(2) {
        let few = plain.clone().lt(n(by.few));
        let up = norm(by.up, Some(epsilon * by.up * by.up))?;
        (dividend, divisor) = (few.clone().select(x.clone().mul(n(by.up)), dividend), few.select(up, divisor));
    }
    if epsilon.is_finite() {
        let many = plain.unary(UnaryOp::IsInf);
        let down = norm(by.down, None)?;
        (dividend, divisor) = (many.clone().select(x.clone().mul(n(by.down)), dividend), many.select(down, divisor));
    }
    tensor.map_numbers(rec, |own| dividend.quotient(divisor).cast(own.dtype()))
}

/// The maximum of each group of the floats `x`, and the sum of the exponentials of the differences from the maximum.
/// Both are expressions in the result number, and come from one reduction (online softmax). `None` if the axes need
/// several reductions.
#[track_caller]
fn greatest_and_sum(x: &Expr, r: &Reduction<'_>) -> Result<Option<(Expr, Expr)>> {
    let (most, sum) = (r.at_once(Reducer::Greatest, x)?, r.at_once(Reducer::SumOfExps, x)?);
    Ok(most.zip(sum))
}

/// The floats `x` minus the maximum of their group along one axis; and the sums of the exponentials of these
/// differences, an expression in the result number.
#[track_caller]
fn shifted(x: Expr, r: &Reduction<'_>) -> Result<(Expr, Expr)> {
    let (most, sum) = greatest_and_sum(&x, r)?.expect("bug: one axis is one reduction");
    Ok((x.sub(Expr::load(&r.stored(most), r.target())), sum))
}

/// Powers of 2 by which values are scaled before they are squared and summed: up to 2^32 - 2 of any magnitude.
struct Magnitudes {
    /// Norm below which squares lose digits.
    few: f64,
    /// Scale of such small values: the least one has a square, and none overflows.
    up: f64,
    /// Scale of values whose squares overflow in sum.
    down: f64,
}

impl Magnitudes {
    fn of(float: DType) -> Self {
        let [few, up, down] = if float == DType::F32 { [-32, 86, -81] } else { [-256, 563, -529] };
        Self { few: 2f64.powi(few), up: 2f64.powi(up), down: 2f64.powi(down) }
    }
}

impl Tensor {
    /// Softmax along one axis, recorded for the operation of `rec`.
    ///
    /// # Errors
    /// As [`Tensor::softmax`].
    pub(in crate::ops) fn softmax_along(&self, rec: Recorder<'_>, axis: i64) -> Result<Self> {
        let (x, r) = self.along(rec, axis)?;
        let (shifted, sum) = shifted(x, &r)?;
        let sum = r.stored(sum);
        self.normalized(rec, axis, math(MathFn::Exp, shifted).quotient(Expr::load(&sum, r.target())))
    }

    /// The floats in their accumulator dtype, and the reduction along one axis.
    fn along<'a>(&'a self, rec: Recorder<'a>, axis: i64) -> Result<(Expr, Reduction<'a>)> {
        rec.at(Takes::Floats.check(rec.op, self.dtype()))?;
        let x = Expr::load(rec.numbers(self)?, Expr::index()).cast(self.dtype().accumulator());
        Ok((x, Reduction::new(rec, self, &ReduceAxes::from(axis))?))
    }

    /// The tensor of these numbers in this layout. As in TensorFlow, rows that are known to hold no values become one row
    /// along the outermost axis.
    #[track_caller]
    fn normalized(&self, rec: Recorder<'_>, axis: i64, value: Expr) -> Result<Self> {
        let out = self.map_numbers(rec, |x| value.cast(x.dtype()))?;
        match out.partitions() {
            [first, below @ ..]
                if rec.axis(self, axis)? == 0
                    && first.nvals_extent().as_known() == Some(0)
                    && first.nrows_extent().as_known() != Some(1)
                    && matches!(first.rows(), Rows::Splits(_)) =>
            {
                let mut partitions = vec![RowPartition::from_host_splits(rec, vec![0, 0])?];
                partitions.extend_from_slice(below);
                let (outer, inner) = (out.outer().cloned(), out.inner().clone());
                Self::new(self.backend(), partitions, outer, inner, out.values_ref().clone())
            }
            _ => Ok(out),
        }
    }
}
