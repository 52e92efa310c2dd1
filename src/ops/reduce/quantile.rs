//! Quantiles along an axis.

use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::UnaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::ops::IntoReduceAxes;
use crate::ops::operations;
use crate::ops::options::ReduceAxes;
use crate::ops::reduce::{Averaged, mean_dtype};
use crate::ops::sorting::sort::Sorted;
use crate::tensor::Tensor;

operations! {
    /// Quantiles along an axis.
    const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Averaged;

    /// The `q`-quantile of the values along an axis, interpolated linearly between the two nearest values in order.
    ///
    /// The dimension disappears: axis 1 of `[rows, (values)]` gives `[rows]`, and axis 0 one result per position, as many
    /// as the longest row has values. [`keep`](crate::opt::keep) leaves it with size 1.
    ///
    /// The value at rank `q * (n - 1)` of the sorted values; NaN where there are no values, or where one is NaN.
    /// Several quantiles share one sort and form a new innermost dimension: three quartiles of `[rows, (values)]` are
    /// `[rows, 3]`; NumPy's form the first dimension. Any axis; shapes as for all [reductions](crate::arguments::Axes).
    ///
    /// Floats keep their dtype, integers of 8 and 16 bits give f32, wider ones f64; f16 and bf16 are computed in f32
    /// and rounded once. Integers of 64 bits are rounded to f64 before they are interpolated: beyond 2^53 a quantile
    /// differs from the exact one, and the median of `i64::MIN` and `i64::MAX` is 0. A quantile at the rank of an
    /// infinity, or between a number and an infinity, is that infinity, where NumPy may give NaN; between -inf and +inf
    /// it is NaN. Differences that overflow are halved. In f32, ranks beyond 2^24 are rounded. The same bits on every
    /// device.
    ///
    /// # Errors
    /// `q` outside 0 to 1; `axis` out of range, or several axes; bool or string values.
    ///
    /// # Cost
    /// A sort of the values and a map over the result.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![4.0f32, 1.0, 2.0], vec![8.0]], &Device::cpu())?;
    /// assert_eq!(x.quantile(0.75, 1)?.to_vec()?, [3.0, 8.0]);
    /// let bounds = x.quantile([0.0, 1.0], 1)?;
    /// assert_eq!(bounds.to_string(), "tensor([[1.0, 4.0], [8.0, 8.0]], shape=(2, 2), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn quantile(&self, q: impl Into<Quantiles> as Quantiles, axis: impl IntoReduceAxes as reduce_axes) -> (T::Mean);
    alias "percentile";
    tensorflow "tfp.stats.percentile(…, interpolation='linear')";
    polars "Expr.quantile(…, interpolation='linear')";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;

    /// The median of the values along an axis: the middle value in order, or halfway between the two middle ones.
    ///
    /// The dimension disappears: axis 1 of `[rows, (values)]` gives `[rows]`, and axis 0 one result per position, as many
    /// as the longest row has values. [`keep`](crate::opt::keep) leaves it with size 1.
    ///
    /// NaN where there are no values, or where one is NaN. Floats keep their dtype, integers of 8 and 16 bits give f32,
    /// wider ones f64; f16 and bf16 are computed in f32 and rounded once. Rounding and infinities are those of the
    /// [`quantile`](Self::quantile) of 0.5. Any axis; shapes as for all [reductions](crate::arguments::Axes). The same
    /// bits on every device.
    ///
    /// # Errors
    /// `axis` out of range, or several axes; bool or string values.
    ///
    /// # Cost
    /// A sort of the values and a map over the result.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![4, 1, 2], vec![8, 3]], &Device::cpu())?;
    /// assert_eq!(x.median(1)?.to_vec()?, [2.0, 5.5]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn median(&self, axis: impl IntoReduceAxes as reduce_axes) -> (T::Mean);
    tensorflow "tfp.stats.percentile(…, 50.0, interpolation='linear')";
    polars "list.median";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;
}

#[track_caller]
fn quantile(x: &Tensor, q: impl Into<Quantiles>, axis: impl IntoReduceAxes) -> Result<Tensor> {
    quantile_of(x.recorder("quantile"), x, &q.into(), &axis.into())
}

#[track_caller]
fn median(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> {
    quantile_of(x.recorder("median"), x, &Quantiles::One(0.5), &axis.into())
}

/// Quantiles to compute: one, or several, which form a new innermost dimension.
///
/// ```
/// use ragged::arguments::Quantiles;
/// assert_eq!(Quantiles::from(0.5), Quantiles::One(0.5));
/// assert_eq!(Quantiles::from([0.25, 0.75]), Quantiles::Several(vec![0.25, 0.75]));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Quantiles {
    /// One quantile.
    One(f64),
    /// Several quantiles.
    Several(Vec<f64>),
}

impl From<f64> for Quantiles {
    fn from(q: f64) -> Self {
        Self::One(q)
    }
}
impl<const N: usize> From<[f64; N]> for Quantiles {
    fn from(all: [f64; N]) -> Self {
        Self::Several(all.to_vec())
    }
}
impl From<&[f64]> for Quantiles {
    fn from(all: &[f64]) -> Self {
        Self::Several(all.to_vec())
    }
}
impl From<Vec<f64>> for Quantiles {
    fn from(all: Vec<f64>) -> Self {
        Self::Several(all)
    }
}

impl Quantiles {
    fn all(&self) -> &[f64] {
        match self {
            Self::One(q) => std::slice::from_ref(q),
            Self::Several(all) => all,
        }
    }
}

/// Quantiles along one axis, interpolated between the two values around each.
fn quantile_of(rec: Recorder<'_>, x: &Tensor, quantiles: &Quantiles, axes: &ReduceAxes) -> Result<Tensor> {
    if let Some(q) = quantiles.all().iter().find(|q| !(0.0..=1.0).contains(*q)) {
        return Err(rec.argument(format!("q must lie between 0 and 1, but is {q}")));
    }
    let axis = rec.at(axes.single(rec.op, x))?;
    let out = mean_dtype(rec, x.dtype())?;
    // Dtypes narrower than f32 are computed in f32 and rounded once.
    let wide = if out.size() == 8 { DType::F64 } else { DType::F32 };
    let sorted = Sorted::new(rec, x, axis.into(), axes.keep)?;
    let float = |v: f64| Expr::scalar(Scalar::from_f64(wide, v));
    let given = |q: f64| Expr::number(Scalar::from_f64(wide, q));
    let (left, q, line) = match quantiles {
        Quantiles::One(q) => (sorted.left.clone(), given(*q), Expr::index()),
        Quantiles::Several(all) => {
            let n = u32::try_from(all.len()).unwrap_or(u32::MAX);
            let width = Expr::u32(n.max(1));
            let place = Expr::index().rem(width.clone());
            let chosen = all
                .iter()
                .enumerate()
                .fold(float(0.0), |others, (k, &q)| place.clone().eq(Expr::u32(k as u32)).select(given(q), others));
            (sorted.left.clone().with_inner(rec, n)?, chosen, Expr::index().div(width))
        }
    };
    let one = Expr::u32(1);
    let start = sorted.lines.rows().start(line.clone());
    let len = sorted.lines.rows().start(line.add(one.clone())).sub(start.clone());
    let value = |place: Expr| sorted.at(start.clone().add(place)).cast(wide);
    let last = len.clone().max(one.clone()).sub(one.clone());
    let rank = last.clone().cast(wide).mul(q);
    let low = rank.clone().cast(DType::U32).min(last.clone());
    let part = rank.sub(low.clone().cast(wide));
    let (a, b) = (value(low.clone()), value(low.add(one).min(last.clone())));
    // Halves of values whose difference overflows. Their scale is exact: one of them has a large exponent.
    let overflows = b.clone().sub(a.clone()).unary(UnaryOp::IsFinite).not();
    let [half, twice] = [0.5, 2.0].map(|scale| overflows.clone().select(float(scale), float(1.0)));
    let (low_end, high_end) = (a.clone().mul(half.clone()), b.clone().mul(half));
    // Interpolates from the nearer end, so that both ends are exact.
    let span = high_end.clone().sub(low_end.clone());
    let from_a = low_end.add(span.clone().mul(part.clone()));
    let from_b = high_end.sub(span.mul(float(1.0).sub(part.clone())));
    let between = part.clone().lt(float(0.5)).select(from_a, from_b).mul(twice);
    // Every place between a number and an infinity is that infinity, between both infinities NaN.
    let is_infinite = |x: &Expr| x.clone().unary(UnaryOp::IsInf);
    let between = is_infinite(&a).or(is_infinite(&b)).select(a.clone().add(b.clone()), between);
    // Between two zeros, the sum of both by their shares, which keeps the sign of equal ones.
    let is_zero = |x: &Expr| x.clone().eq(float(0.0));
    let shares = a.clone().mul(float(1.0).sub(part.clone())).add(b.clone().mul(part.clone()));
    let between = is_zero(&a).and(is_zero(&b)).select(shares, between);
    let found = part.eq(float(0.0)).select(a, between);
    // NaN sorts last: if any value is NaN, the last one is.
    let greatest = value(last);
    let found = greatest.clone().unary(UnaryOp::IsNan).select(greatest, found);
    let found = len.eq(Expr::u32(0)).select(float(f64::NAN), found).cast(out);
    left.tensor(rec, rec.map(left.numbers(), found, &[]))
}
