//! Bins of a count of integers, and of a histogram.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeToInclusive};

use crate::graph::scalar::Scalar;
use crate::integer::Integer;
use crate::setters::setters;

/// Number of bins of `bincount`, and what is counted. The bins are the integers from 0 on.
///
/// Converts from a number of bins, and from ranges: `..` gives as many bins as the largest value needs, `8..` at least
/// 8 (TensorFlow's `minlength`), `..=4` at most 4 (`maxlength`), `2..=4` both. Values beyond the last bin are not
/// counted.
///
/// ```
/// use ragged::opt::{Bins, binary};
/// assert_eq!(Bins::from(4), Bins::from(4..=4));
/// assert_eq!(binary(2..), Bins::from(2..).binary(true));
///
/// // Known at run time only.
/// let (least, most, is_binary) = (2, None, true);
/// assert_eq!(binary(2..), Bins::from(..).least(least).most(most).binary(is_binary));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bins {
    /// Least number of bins.
    pub least: i64,
    /// Largest number of bins, if limited.
    pub most: Option<i64>,
    /// Whether a bin holds 1 where any value falls into it, instead of the number of these values.
    pub binary: bool,
}

setters! {
    impl[] Bins {
        least: integer i64;
        most: into Option<i64>;
        binary: bool;
    }
}

impl<I: Integer> From<I> for Bins {
    fn from(number: I) -> Self {
        Self::from(number..=number)
    }
}
impl From<RangeFull> for Bins {
    fn from(_: RangeFull) -> Self {
        Self { least: 0, most: None, binary: false }
    }
}
impl<I: Integer> From<RangeFrom<I>> for Bins {
    fn from(range: RangeFrom<I>) -> Self {
        Self { least: range.start.saturating_i64(), most: None, binary: false }
    }
}
impl<I: Integer> From<RangeToInclusive<I>> for Bins {
    fn from(range: RangeToInclusive<I>) -> Self {
        Self { least: 0, most: Some(range.end.saturating_i64()), binary: false }
    }
}
impl<I: Integer> From<RangeInclusive<I>> for Bins {
    fn from(range: RangeInclusive<I>) -> Self {
        let (least, most) = range.into_inner();
        Self { least: least.saturating_i64(), most: Some(most.saturating_i64()), binary: false }
    }
}

/// Records whether a value occurs, as 1 or 0, instead of how often. TensorFlow's `binary_output`.
///
/// ```
/// use ragged::opt::binary;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![2, 2, 0], vec![1]], &Device::cpu())?;
/// assert_eq!(x.bincount(1, binary(3))?.to_vec()?, [1, 0, 1, 0, 1, 0]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn binary(bins: impl Into<Bins>) -> Bins {
    Bins { binary: true, ..bins.into() }
}

/// Range of a histogram. Converts from `low..high` and from `low..=high`, which counts values of `high` in the last bin.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{HistogramRange, clamped};
/// assert_eq!(HistogramRange::from(0..3).closed(true).clamped(true), clamped(0..=3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct HistogramRange {
    /// Start of the first bin.
    pub low: Scalar,
    /// End of the last bin.
    pub high: Scalar,
    /// Whether the last bin includes `high`.
    pub closed: bool,
    /// Whether values outside the range are counted in the first and the last bin.
    pub clamped: bool,
}

setters! {
    impl[] HistogramRange {
        low: into Scalar;
        high: into Scalar;
        closed: bool;
        clamped: bool;
    }
}

impl<N: Into<Scalar>> From<Range<N>> for HistogramRange {
    fn from(range: Range<N>) -> Self {
        Self { low: range.start.into(), high: range.end.into(), closed: false, clamped: false }
    }
}
impl<N: Into<Scalar>> From<RangeInclusive<N>> for HistogramRange {
    fn from(range: RangeInclusive<N>) -> Self {
        let (low, high) = range.into_inner();
        Self { low: low.into(), high: high.into(), closed: true, clamped: false }
    }
}

/// Counts values below the range in the first bin, and values from its end on in the last.
///
/// ```
/// use ragged::opt::clamped;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([-9.0f32, 0.5, 2.5, 99.0], &Device::cpu())?;
/// assert_eq!(x.histogram(.., 0.0..3.0, 3)?.to_vec()?, [1, 0, 1]);
/// assert_eq!(x.histogram(.., clamped(0.0..3.0), 3)?.to_vec()?, [2, 0, 2]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn clamped(range: impl Into<HistogramRange>) -> HistogramRange {
    HistogramRange { clamped: true, ..range.into() }
}
