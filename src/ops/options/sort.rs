//! Axis and order of a sort.

use crate::integer::Integer;
use crate::setters::setters;

/// Axis of a sort, with its order. Converts from any integer: ascending along that axis.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{SortAxis, descending};
/// assert_eq!(SortAxis::from(1).descending(true), descending(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SortAxis {
    /// The axis; a negative one counts from the back.
    pub axis: i64,
    /// Whether the greatest value comes first.
    pub descending: bool,
}

setters! {
    impl[] SortAxis {
        descending: bool;
    }
}

impl<I: Integer> From<I> for SortAxis {
    fn from(axis: I) -> Self {
        Self { axis: axis.saturating_i64(), descending: false }
    }
}

/// Sorts in descending order.
///
/// ```
/// use ragged::opt::descending;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1, 3, 2], vec![4, 5]], &Device::cpu())?;
/// assert_eq!(x.argsort(descending(1))?.to_vec()?, [1, 2, 0, 1, 0]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn descending(axis: impl Into<SortAxis>) -> SortAxis {
    SortAxis { descending: true, ..axis.into() }
}
