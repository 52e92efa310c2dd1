//! Histograms: the number of values in each of several bins of equal width.

use crate::dtype::DType;
use crate::element::Number;
use crate::error::{Error, Result, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::opcode::UnaryOp;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::integer::{Integer, non_negative};
use crate::ops::IntoAxes;
use crate::ops::counting::bincount::Counted;
use crate::ops::operations;
use crate::ops::options::HistogramRange;
use crate::record::next_after::next_after;
use crate::tensor::Tensor;

operations! {
    /// Histograms.
    const OPERATIONS: family "Counts" on RaggedTensor<T> where T: Number;

    /// The number of values in each of several bins of equal width.
    ///
    /// The `bins` bins divide `range`. Values are counted along `axis` and all axes below it, or in all (`..`): `axis`
    /// 0 or `..` gives a vector of counts; a deeper axis gives such a vector for each row, `[n, bins]` for axis 1. The
    /// counts are i32. A bin includes its lower bound; `low..=high` includes `high` in the last one. Values outside the
    /// range are not counted, or with [`clamped`](crate::opt::clamped)`(range)` in the first and the last bin. NaN is
    /// not counted. Empty rows count nothing.
    ///
    /// Values are compared with the bounds in f32, in f64 if they are f64 or integers of 32 or 64 bits; integers that
    /// f64 does not represent are compared exactly. Counts do not depend on the order: the same on every backend.
    ///
    /// TensorFlow's operation clamps, as `clamped(low..high)` does; NumPy's `histogram` counts as `low..=high` does;
    /// Polars' bins include their upper bound.
    ///
    /// # Errors
    /// Byte strings; an axis out of range, or several; no bins; a range that is not finite or not ascending, or whose
    /// bins are narrower than the dtype resolves; 2^32 - 1 counts or more.
    ///
    /// # Cost
    /// One pass over the values. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0.0f32, 0.25, 1.0], vec![], vec![0.75]], &Device::cpu())?;
    /// assert_eq!(x.histogram(.., 0.0..1.0, 2)?.to_vec()?, [2, 1]);
    /// assert_eq!(x.histogram(1, 0.0..=1.0, 2)?.to_vec()?, [2, 1, 0, 0, 0, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn histogram(&self, axis: impl IntoAxes as axes, range: impl Into<HistogramRange> as HistogramRange, bins: impl Integer as integer = 100) -> i32;
    alias "hist";
    tensorflow "tf.histogram_fixed_width";
    polars "Expr.hist";
    gradient none "the result holds counts";
    row hand;

    /// The bin of each value among several bins of equal width, or -1 for a value in none.
    ///
    /// Gives i32; the shape stays. The `bins` bins divide `range`. A bin includes its lower bound; `low..=high`
    /// includes `high` in the last one. A value outside the range is in no bin, or with
    /// [`clamped`](crate::opt::clamped)`(range)` in the first or the last one. NaN is in none. Values are compared with
    /// the bounds in f32, in f64 if they are f64 or integers of 32 or 64 bits; integers that f64 does not represent are
    /// compared exactly.
    ///
    /// TensorFlow's operation clamps, as `clamped(low..high)` does. NumPy's name is `digitize`.
    ///
    /// # Errors
    /// Byte strings; no bins, or more than 2^31 - 1; a range that is not finite or not ascending, or whose bins are
    /// narrower than the dtype resolves.
    ///
    /// # Cost
    /// One map. Nothing is read back.
    ///
    /// ```
    /// use ragged::opt::clamped;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0.0f32, 0.75, 1.0], vec![], vec![-3.0]], &Device::cpu())?;
    /// assert_eq!(x.histogram_bins(0.0..1.0, 2)?.to_vec()?, [0, 1, -1, -1]);
    /// assert_eq!(x.histogram_bins(clamped(0.0..1.0), 2)?.to_vec()?, [0, 1, 1, 0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn histogram_bins(&self, range: impl Into<HistogramRange> as HistogramRange, bins: impl Integer as integer = 100) -> i32;
    alias "digitize", "bucketize";
    tensorflow "tf.histogram_fixed_width_bins";
    polars "Expr.cut";
    gradient none "the result holds positions";
}

#[track_caller]
fn histogram(x: &Tensor, axis: impl IntoAxes, range: impl Into<HistogramRange>, bins: impl Integer) -> Result<Tensor> {
    const OP: &str = "histogram";
    let (range, bins) = (range.into(), bin_count(OP, bins)?);
    let bin = x.bin_in(OP, &range, bins)?;
    Counted::new(OP, x, &axis.into())?.counts(x, &bin, bins, false)
}

#[track_caller]
fn histogram_bins(x: &Tensor, range: impl Into<HistogramRange>, bins: impl Integer) -> Result<Tensor> {
    const OP: &str = "histogram_bins";
    let rec = x.recorder(OP);
    let (range, bins) = (range.into(), bin_count(OP, bins)?);
    if bins > i32::MAX.unsigned_abs() {
        return Err(rec.argument(format!("there must be at most 2^31 - 1 bins, but there are {bins}")));
    }
    let bin = x.bin_in(OP, &range, bins)?;
    x.with_value_node(rec.map(x.count()?, bin.bitcast(DType::I32), &[]))
}

/// The float type in which values of the dtype are compared with the bounds of bins.
fn bounds_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F64 | DType::I32 | DType::U32 | DType::I64 | DType::U64 => DType::F64,
        _ => DType::F32,
    }
}

/// The bounds of `bins` bins from `low` on, in the dtype of the compared values.
struct Edges {
    float: DType,
    bins: u32,
    /// 1, or 1/2 if the width of the range overflows. Bounds are computed with this factor, which is exact.
    scale: f64,
    low: f64,
    /// Width of a bin.
    width: f64,
}

impl Edges {
    /// # Errors
    /// A range that is not ascending, or whose bins are narrower than the dtype resolves.
    #[track_caller]
    fn new(op: &'static str, range: &HistogramRange, float: DType, (low, high): (f64, f64), bins: u32) -> Result<Self> {
        let span = Scalar::from_f64(float, high - low);
        let scale = if span.is_finite() { 1.0 } else { 0.5 };
        let (low, high) = (scale * low, scale * high);
        let width = (high - low) / f64::from(bins);
        let resolved = match float {
            DType::F32 => low as f32 + (width as f32) > low as f32 && high as f32 - (width as f32) < high as f32,
            _ => low + width > low && high - width < high,
        };
        if !(low < high && width.is_finite() && resolved) {
            let (low, high) = (range.low, range.high);
            let what = format!("{bins} bins over {low}..{high} must have a positive width that {float} resolves");
            return Err(Error::argument(op, what));
        }
        Ok(Self { float, bins, scale, low, width })
    }

    fn number(&self, x: f64) -> Expr {
        Expr::number(Scalar::from_f64(self.float, x))
    }

    fn times(&self, x: Expr, factor: f64) -> Expr {
        if factor == 1.0 { x } else { x.mul(self.number(factor)) }
    }

    /// Lower bound of a bin: `low + i * width`.
    fn bound(&self, i: Expr) -> Expr {
        let bound = self.number(self.low).add(i.cast(self.float).mul(self.number(self.width)));
        self.times(bound, 1.0 / self.scale)
    }

    /// The last bin whose lower bound `value` is not below, for a value in the range.
    fn bin_of(&self, value: &Expr) -> Expr {
        let (last, one) = (Expr::u32(self.bins - 1), Expr::u32(1));
        // The quotient may be off by its rounding: the bounds decide. A conversion truncates and saturates.
        let guess = self.times(value.clone(), self.scale).sub(self.number(self.low)).quotient(self.number(self.width));
        let guess = guess.cast(DType::U32).min(last.clone());
        let below = value.clone().lt(self.bound(guess.clone()));
        let lower = below.and(Expr::u32(0).lt(guess.clone())).select(one.clone(), Expr::u32(0));
        let above = self.bound(guess.clone().add(one.clone())).le(value.clone());
        let upper = above.and(guess.clone().lt(last)).select(one, Expr::u32(0));
        guess.add(upper).sub(lower)
    }
}

/// The bin of each value in the range, and where the value lies.
struct Binned {
    bin: Expr,
    from_low: Expr,
    below_high: Expr,
    up_to_high: Expr,
    is_nan: Expr,
}

impl Binned {
    /// Values compared with the bounds as floats.
    #[track_caller]
    fn of_floats(
        op: &'static str,
        value: &Expr,
        range: &HistogramRange,
        (low, high): (f64, f64),
        bins: u32,
    ) -> Result<Self> {
        let edges = Edges::new(op, range, value.dtype(), (low, high), bins)?;
        let number = |x: f64| edges.number(x);
        Ok(Self {
            bin: edges.bin_of(value),
            from_low: number(low).le(value.clone()),
            below_high: value.clone().lt(number(high)),
            up_to_high: value.clone().le(number(high)),
            is_nan: value.clone().unary(UnaryOp::IsNan),
        })
    }

    /// 64-bit integers with a bound that f64 may not represent. They are compared with whole bounds as integers, and
    /// with bounds of bins by their distance from the first one.
    #[track_caller]
    fn of_integers(
        op: &'static str,
        value: &Expr,
        range: &HistogramRange,
        (low, high): (f64, f64),
        bins: u32,
    ) -> Result<Self> {
        let dtype = value.dtype();
        let (first, end) = (range.low.converted(dtype), range.high.converted(dtype));
        let float = value.clone().cast(DType::F64);
        // A bound that is no integer of the dtype has less than 2^53 in magnitude, or lies beyond all of its integers.
        let number = |x: f64| Expr::number(Scalar::from_f64(DType::F64, x));
        let from_low = first.map_or(number(low).le(float.clone()), |l| Expr::number(l).le(value.clone()));
        let below_high = end.map_or(float.clone().lt(number(high)), |h| value.clone().lt(Expr::number(h)));
        let up_to_high = end.map_or(float.le(number(high)), |h| value.clone().le(Expr::number(h)));
        let bin = match first {
            Some(l) => {
                let span = match (l.as_i128(), end.and_then(Scalar::as_i128)) {
                    (Some(l), Some(h)) => (h - l) as f64,
                    _ => high - low,
                };
                let distance = value.clone().bitcast(DType::U64).sub(Expr::number(l).bitcast(DType::U64));
                Edges::new(op, range, DType::F64, (0.0, span), bins)?.bin_of(&rounded_down(&distance))
            }
            None => Edges::new(op, range, DType::F64, (low, high), bins)?.bin_of(&rounded_down(value)),
        };
        Ok(Self { bin, from_low, below_high, up_to_high, is_nan: Expr::scalar(false) })
    }

    /// The bin of the value, or u32::MAX if it lies in none.
    fn counted(self, range: &HistogramRange, bins: u32) -> Expr {
        let none = Expr::u32(u32::MAX);
        if range.clamped {
            let clamped = self.below_high.select(self.bin, Expr::u32(bins - 1));
            return self.is_nan.select(none, self.from_low.select(clamped, Expr::u32(0)));
        }
        let to_high = if range.closed { self.up_to_high } else { self.below_high };
        self.from_low.and(to_high).select(self.bin, none)
    }
}

/// The greatest f64 that is not above the 64-bit integer. A bound in f64 is above the one if it is above the other.
fn rounded_down(value: &Expr) -> Expr {
    let dtype = value.dtype();
    // The greatest integer of the dtype that f64 represents: no conversion reaches the end of the dtype.
    let most = if dtype == DType::I64 { Scalar::I64(i64::MAX - 1023) } else { Scalar::U64(u64::MAX - 2047) };
    let value = value.clone().min(Expr::scalar(most));
    let nearest = value.clone().cast(DType::F64);
    let is_above = value.lt(nearest.clone().cast(dtype));
    let below = next_after(nearest.clone(), Expr::scalar(f64::NEG_INFINITY));
    is_above.select(below, nearest)
}

/// # Errors
/// A negative number of bins, none, or 2^32 - 1 or more.
#[track_caller]
fn bin_count(op: &'static str, bins: impl Integer) -> Result<u32> {
    let bins = Extent::known_u64(op, non_negative(op, "bins", bins)?)?.capacity();
    if bins == 0 { Err(Error::argument(op, "there must be at least one bin")) } else { Ok(bins) }
}

impl Tensor {
    /// The bin of the number at `Index`, or u32::MAX if it lies in none.
    #[track_caller]
    fn bin_in(&self, op: &'static str, range: &HistogramRange, bins: u32) -> Result<Expr> {
        let value = Expr::load(self.numbers(op)?, Expr::index());
        let float = bounds_dtype(self.dtype());
        let bound = |scalar: Scalar| match scalar.converted(float) {
            Some(Scalar::F32(x)) if x.is_finite() => Ok(f64::from(x)),
            Some(Scalar::F64(x)) if x.is_finite() => Ok(x),
            _ => Err(Error::argument(op, format!("the bound {scalar} is no finite {float}"))),
        };
        let (low, high) = (bound(range.low).map_err(here())?, bound(range.high).map_err(here())?);
        // Below 2^53, no rounding moves an integer across a bound.
        let is_wide =
            matches!(self.dtype(), DType::I64 | DType::U64) && low.abs().max(high.abs()) >= 9_007_199_254_740_992.0;
        let binned = match is_wide {
            true => Binned::of_integers(op, &value, range, (low, high), bins)?,
            false => Binned::of_floats(op, &value.cast(float), range, (low, high), bins)?,
        };
        Ok(binned.counted(range, bins))
    }
}
