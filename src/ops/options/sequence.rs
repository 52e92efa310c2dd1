//! Options of operations on sequences: the window of a context, and a common length.

use std::ops::RangeFull;

use crate::integer::Integer;
use crate::setters::setters;

/// Window of elements around each element of a row; see [`Tensor::context_windows`](crate::Tensor::context_windows).
/// Converts from the size of the window. [`starting_at`] gives its start.
///
/// ```
/// use ragged::opt::{Context, starting_at};
/// assert_eq!(Context::from(3).start, None);
/// assert_eq!(starting_at(3, -1), Context::from(3).start(Some(-1)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// Number of elements.
    pub size: i64,
    /// Position of the first element, relative to the element that the window belongs to. `None` for the default of the
    /// operation.
    pub start: Option<i64>,
}

setters! {
    impl[] Context {
        start: into Option<i64>;
    }
}

impl<I: Integer> From<I> for Context {
    fn from(size: I) -> Self {
        Self { size: size.saturating_i64(), start: None }
    }
}

/// A window of `size` elements whose first one is `start` positions after the element that the window belongs to, or
/// `-start` positions before.
///
/// ```
/// use ragged::opt::starting_at;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
/// let before = x.context_windows(starting_at(2, -1), 0, 1)?;
/// assert_eq!(before.to_string(), "<ragged.RaggedTensor [[[0, 1], [1, 2]], [[0, 3]]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn starting_at(size: impl Integer, start: impl Integer) -> Context {
    Context { size: size.saturating_i64(), start: Some(start.saturating_i64()) }
}

/// Common length that sequences are padded to. Converts from a length, and from `..`: the length of the longest one.
///
/// ```
/// use ragged::arguments::MaxLength;
/// assert_eq!(MaxLength::from(5), MaxLength(Some(5)));
/// assert_eq!(MaxLength::from(..), MaxLength(None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxLength(
    /// The length; `None` for that of the longest sequence.
    pub Option<i64>,
);

impl<I: Integer> From<I> for MaxLength {
    fn from(length: I) -> Self {
        Self(Some(length.saturating_i64()))
    }
}
impl From<RangeFull> for MaxLength {
    fn from(_: RangeFull) -> Self {
        Self(None)
    }
}
