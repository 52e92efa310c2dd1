//! Axis and direction of a scan.

use crate::integer::Integer;
use crate::setters::setters;

/// Axis of a scan (`cumsum`, `cumprod`, `cummax`, `cummin`, `linear_recurrence`), with its direction. Converts from any integer.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{ScanAxis, exclusive};
/// assert_eq!(ScanAxis::from(1).exclusive(true).reversed(false), exclusive(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanAxis {
    /// The axis; a negative one counts from the back.
    pub axis: i64,
    /// Whether each result excludes its own element.
    pub exclusive: bool,
    /// Whether rows are scanned from their ends.
    pub reversed: bool,
}

setters! {
    impl[] ScanAxis {
        exclusive: bool;
        reversed: bool;
    }
}

impl<I: Integer> From<I> for ScanAxis {
    fn from(axis: I) -> Self {
        Self { axis: axis.saturating_i64(), exclusive: false, reversed: false }
    }
}

/// Excludes each element from its own result, so that the first result of a row is the identity element.
///
/// ```
/// use ragged::opt::exclusive;
/// use ragged::{Device, RaggedTensor};
/// let lengths = RaggedTensor::from_nested([3, 0, 2], &Device::cpu())?;
/// assert_eq!(lengths.cumsum(exclusive(0))?.to_vec()?, [0, 3, 3]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn exclusive(axis: impl Into<ScanAxis>) -> ScanAxis {
    ScanAxis { exclusive: true, ..axis.into() }
}

/// Scans every row from its end to its start.
///
/// ```
/// use ragged::opt::reversed;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![4]], &Device::cpu())?;
/// assert_eq!(x.cumsum(reversed(1))?.to_vec()?, [6, 5, 3, 4]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn reversed(axis: impl Into<ScanAxis>) -> ScanAxis {
    ScanAxis { reversed: true, ..axis.into() }
}
