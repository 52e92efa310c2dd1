//! Slice notation: [`Index`] and [`s!`](crate::s).

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::tensor::Tensor;

/// One item of a slice: a selection along one dimension, or a new dimension. Made by [`s!`](crate::s).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Index<'a> {
    /// One element; a negative index counts from the end. The dimension disappears.
    At(i64),
    /// One element, at the index that a scalar tensor of integers holds. The dimension disappears.
    AtTensor(&'a Tensor),
    /// Python's `start:stop:step`.
    Slice {
        /// First element; a negative one counts from the end. `None` is the first of all, or the last for a negative
        /// step.
        start: Option<i64>,
        /// Exclusive end; a negative one counts from the end. `None` is behind the last element, or before the first
        /// for a negative step.
        stop: Option<i64>,
        /// Distance from one element to the next; not 0.
        step: i64,
    },
    /// A new dimension of size 1.
    NewAxis,
    /// All dimensions that no other item covers.
    Ellipsis,
}

/// Tensors are equal if they are one tensor in memory: a comparison reads no values.
impl PartialEq for Index<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::At(a), Self::At(b)) => a == b,
            (Self::AtTensor(a), Self::AtTensor(b)) => std::ptr::eq(*a, *b),
            (
                Self::Slice { start, stop, step },
                Self::Slice { start: other_start, stop: other_stop, step: other_step },
            ) => (start, stop, step) == (other_start, other_stop, other_step),
            (Self::NewAxis, Self::NewAxis) | (Self::Ellipsis, Self::Ellipsis) => true,
            _ => false,
        }
    }
}
impl Eq for Index<'_> {}

/// The items of a slice: those of [`s!`](crate::s), or any list of [`Index`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no slice of a tensor",
    label = "expected the items of a slice",
    note = "write `x.slice(s![0..2])`: the macro `ragged::s` takes one item per dimension, such as `s![0..2, .., -1]`"
)]
pub trait SliceItems {
    /// One item per dimension.
    fn items(&self) -> &[Index<'_>];
}
impl SliceItems for [Index<'_>] {
    fn items(&self) -> &[Index<'_>] {
        self
    }
}
impl<const N: usize> SliceItems for [Index<'_>; N] {
    fn items(&self) -> &[Index<'_>] {
        self
    }
}
impl SliceItems for Vec<Index<'_>> {
    fn items(&self) -> &[Index<'_>] {
        self
    }
}
impl<I: SliceItems + ?Sized> SliceItems for &I {
    fn items(&self) -> &[Index<'_>] {
        (**self).items()
    }
}

/// In [`s!`](crate::s), a new dimension of size 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewAxis;

/// In [`s!`](crate::s), all dimensions that no other item covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ellipsis;

/// Steps and lists.
impl Index<'_> {
    /// The whole of a dimension.
    pub const ALL: Self = Self::Slice { start: None, stop: None, step: 1 };

    /// The same slice with that step; other items stay unchanged.
    ///
    /// ```
    /// use ragged::arguments::Index;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![4]], &Device::cpu())?;
    /// let y = x.slice([Index::ALL, Index::ALL.step_by(-1)])?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[3, 2, 1], [4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub const fn step_by(self, step: i64) -> Self {
        match self {
            Self::Slice { start, stop, .. } => Self::Slice { start, stop, step },
            other => other,
        }
    }

    /// The items of [`s!`](crate::s), typed even for an empty list.
    #[doc(hidden)]
    pub const fn list<const N: usize>(items: [Self; N]) -> [Self; N] {
        items
    }

    const fn span(start: Option<i64>, stop: Option<i64>) -> Self {
        Self::Slice { start, stop, step: 1 }
    }

    /// Exclusive end of an inclusive range to `last`; `None` if `last` is the last element of all.
    fn behind(last: i64) -> Option<i64> {
        last.checked_add(1).filter(|&stop| stop != 0)
    }
}

impl From<NewAxis> for Index<'_> {
    fn from(_: NewAxis) -> Self {
        Self::NewAxis
    }
}
impl From<Ellipsis> for Index<'_> {
    fn from(_: Ellipsis) -> Self {
        Self::Ellipsis
    }
}
impl<'a, X: AsRef<Tensor>> From<&'a X> for Index<'a> {
    fn from(index: &'a X) -> Self {
        Self::AtTensor(index.as_ref())
    }
}
impl From<RangeFull> for Index<'_> {
    fn from(_: RangeFull) -> Self {
        Self::ALL
    }
}

/// Conversion of an index to i64. A saturated index is out of range in every dimension.
trait Wide {
    fn wide(self) -> i64;
}
impl Wide for i32 {
    fn wide(self) -> i64 {
        self.into()
    }
}
impl Wide for i64 {
    fn wide(self) -> i64 {
        self
    }
}
impl Wide for usize {
    fn wide(self) -> i64 {
        i64::try_from(self).unwrap_or(i64::MAX)
    }
}

macro_rules! from_integers {
    ($($t:ty),*) => {$(
        impl From<$t> for Index<'_> {
            fn from(i: $t) -> Self {
                Self::At(i.wide())
            }
        }
        impl From<Range<$t>> for Index<'_> {
            fn from(r: Range<$t>) -> Self {
                Self::span(Some(r.start.wide()), Some(r.end.wide()))
            }
        }
        impl From<RangeFrom<$t>> for Index<'_> {
            fn from(r: RangeFrom<$t>) -> Self {
                Self::span(Some(r.start.wide()), None)
            }
        }
        impl From<RangeTo<$t>> for Index<'_> {
            fn from(r: RangeTo<$t>) -> Self {
                Self::span(None, Some(r.end.wide()))
            }
        }
        impl From<RangeInclusive<$t>> for Index<'_> {
            fn from(r: RangeInclusive<$t>) -> Self {
                Self::span(Some(r.start().wide()), Self::behind(r.end().wide()))
            }
        }
        impl From<RangeToInclusive<$t>> for Index<'_> {
            fn from(r: RangeToInclusive<$t>) -> Self {
                Self::span(None, Self::behind(r.end.wide()))
            }
        }
    )*};
}
from_integers!(i32, i64, usize);

/// Builds the items of [`Tensor::slice`](crate::Tensor::slice), one per dimension.
///
/// Items are integers, scalar tensors of integers (`&i`), ranges (`a..b`, `a..`, `..b`, `..`, also inclusive) with an
/// optional `;step`, [`NewAxis`] and [`Ellipsis`](struct@Ellipsis). Negative bounds and integers count from the end.
/// Bounds that are tensors: [`Tensor::slice_rows`](crate::Tensor::slice_rows).
///
/// ```
/// use ragged::arguments::Index;
/// use ragged::{Ellipsis, NewAxis, s};
/// let index = s![-1, 1..3, ..;-1, NewAxis, Ellipsis];
/// assert_eq!(index[0], Index::At(-1));
/// assert_eq!(index[1], Index::Slice { start: Some(1), stop: Some(3), step: 1 });
/// assert_eq!(index[2], Index::Slice { start: None, stop: None, step: -1 });
/// assert_eq!(index[3..], [Index::NewAxis, Index::Ellipsis]);
///
/// let x = ragged::RaggedTensor::from_nested([[1, 2, 3], [4, 5, 6]], &ragged::Device::cpu())?;
/// let best = x.reduce_sum(0)?.argmax(0)?;
/// assert_eq!(x.slice(s![.., &best])?.to_vec()?, [3, 6]);
/// # Ok::<(), ragged::Error>(())
/// ```
#[macro_export]
macro_rules! s {
    (@items [$($done:expr,)*]) => {
        $crate::arguments::Index::list([$($done,)*])
    };
    (@items [$($done:expr,)*] $item:expr; $step:expr) => {
        $crate::s![@items [$($done,)* $crate::arguments::Index::from($item).step_by($step),]]
    };
    (@items [$($done:expr,)*] $item:expr; $step:expr, $($rest:tt)*) => {
        $crate::s![@items [$($done,)* $crate::arguments::Index::from($item).step_by($step),] $($rest)*]
    };
    (@items [$($done:expr,)*] $item:expr) => {
        $crate::s![@items [$($done,)* $crate::arguments::Index::from($item),]]
    };
    (@items [$($done:expr,)*] $item:expr, $($rest:tt)*) => {
        $crate::s![@items [$($done,)* $crate::arguments::Index::from($item),] $($rest)*]
    };
    ($($items:tt)*) => {
        $crate::s![@items [] $($items)*]
    };
}
