//! Histograms: the number of values in each of several bins of equal width.

use super::bincount::Counted;
use super::options::HistogramRange;
use crate::dtype::DType;
use crate::element::Number;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::opcode::UnaryOp;
use crate::graph::scalar::Scalar;
use crate::integer::{Integer, non_negative};
use crate::ops::IntoAxes;
use crate::tensor::{RaggedTensor, Tensor};

const OP: &str = "histogram";

/// The float type in which values of the dtype are compared with the bounds of bins.
fn bounds_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F64 | DType::I32 | DType::U32 | DType::I64 | DType::U64 => DType::F64,
        _ => DType::F32,
    }
}

/// The bin of `value`, or u32::MAX where it lies in none. Bin `i` is `[low + i * width, low + (i + 1) * width)`, with
/// the bounds rounded in the dtype of `value`.
fn bin_of(value: &Expr, low: f64, high: f64, range: &HistogramRange, bins: u32) -> Expr {
    let float = value.dtype();
    let number = |x: f64| Expr::scalar(Scalar::from_f64(float, x));
    let (last, one) = (Expr::u32(bins - 1), Expr::u32(1));
    let width = (high - low) / f64::from(bins);
    // Lower bound of a bin. The upper bound of the last one is `high`, which is compared by itself.
    let bound = |i: Expr| number(low).add(i.cast(float).mul(number(width)));
    // The quotient may be off by its rounding: the bounds decide. A conversion truncates and saturates.
    let guess = value.clone().sub(number(low)).quotient(number(width));
    let guess = guess.cast(DType::U32).min(last.clone());
    let below = value.clone().lt(bound(guess.clone()));
    let lower = below.and(Expr::u32(0).lt(guess.clone())).select(one.clone(), Expr::u32(0));
    let above = bound(guess.clone().add(one.clone())).le(value.clone());
    let upper = above.and(guess.clone().lt(last.clone())).select(one, Expr::u32(0));
    let bin = guess.add(upper).sub(lower);
    let (from_low, none) = (number(low).le(value.clone()), Expr::u32(u32::MAX));
    if range.clamped {
        let is_nan = value.clone().unary(UnaryOp::IsNan);
        let clamped = number(high).le(value.clone()).select(last, bin);
        let clamped = value.clone().lt(number(low)).select(Expr::u32(0), clamped);
        return is_nan.select(none, clamped);
    }
    let to_high = if range.closed { value.clone().le(number(high)) } else { value.clone().lt(number(high)) };
    from_low.and(to_high).select(bin, none)
}

impl Tensor {
    /// The number of values in each of `bins` bins of equal width over `range`: along `axis` and all axes below it, or in
    /// all (`..`).
    ///
    /// `axis` 0 or `..` gives a vector of counts; a deeper axis gives such a vector for each row, as
    /// [`Tensor::bincount`] does. i32. A bin includes its lower bound; `low..=high` includes `high` in the last one.
    /// Values outside the range are not counted, or with [`clamped`](crate::clamped)`(range)` in the first and the last
    /// bin. NaN is not counted. Values are compared with the bounds in f32, in f64 if they are f64 or integers of 32 or
    /// 64 bits. Empty rows count nothing.
    ///
    /// # Errors
    /// Byte strings; an axis out of range, or several; no bins; a range that is not finite or not ascending, or whose
    /// bins are narrower than the dtype resolves; 2^32 - 1 counts or more; a device without f64 where it is needed.
    ///
    /// # Cost
    /// One pass over the values. No wait. Counts do not depend on the order: the same on every backend.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0.0f32, 0.25, 1.0], vec![], vec![0.75]], &Device::cpu())?;
    /// assert_eq!(x.histogram(.., 0.0..1.0, 2)?.to_vec()?, [2, 1]);
    /// assert_eq!(x.histogram(1, 0.0..=1.0, 2)?.to_vec()?, [2, 1, 0, 0, 0, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// NumPy: `histogram`, with `low..=high`. TensorFlow: `tf.histogram_fixed_width`, with `clamped(low..high)`.
    #[track_caller]
    pub fn histogram(&self, axis: impl IntoAxes, range: impl Into<HistogramRange>, bins: impl Integer) -> Result<Self> {
        let (range, bins) = (range.into(), non_negative(OP, "bins", bins)?);
        let bins = Extent::known_u64(OP, bins)?.capacity();
        if bins == 0 {
            return Err(Error::argument(OP, "there must be at least one bin"));
        }
        let value = Expr::load(self.numbers(OP)?, Expr::index());
        let float = bounds_dtype(self.dtype());
        if let Err(hint) = self.backend().supports(float) {
            return Err(Error::unsupported(OP, float, hint));
        }
        let bound = |scalar: Scalar| match scalar.converted(float) {
            Some(Scalar::F32(x)) if x.is_finite() => Ok(f64::from(x)),
            Some(Scalar::F64(x)) if x.is_finite() => Ok(x),
            _ => Err(Error::argument(OP, format!("the bound {scalar} is no finite {float}"))),
        };
        let (low, high) = (bound(range.low)?, bound(range.high)?);
        let width = (high - low) / f64::from(bins);
        let resolved = match float {
            DType::F32 => low as f32 + (width as f32) > low as f32 && high as f32 - (width as f32) < high as f32,
            _ => low + width > low && high - width < high,
        };
        if !(low < high && width.is_finite() && resolved) {
            let what = format!("{bins} bins over {low}..{high} must have a positive width that {float} resolves");
            return Err(Error::argument(OP, what));
        }
        let bin = bin_of(&value.cast(float), low, high, &range, bins);
        Counted::new(OP, self, &axis.into())?.counts(self, &bin, bins, false)
    }
}

impl<T: Number> RaggedTensor<T> {
    /// As [`Tensor::histogram`].
    ///
    /// # Errors
    /// As [`Tensor::histogram`].
    #[track_caller]
    pub fn histogram(
        &self,
        axis: impl IntoAxes,
        range: impl Into<HistogramRange>,
        bins: impl Integer,
    ) -> Result<RaggedTensor<i32>> {
        self.erased().histogram(axis, range, bins)?.try_into()
    }
}
