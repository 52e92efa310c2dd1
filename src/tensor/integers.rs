//! Integer lists as arguments (splits, lengths, row indices): from the host in any integer type, or on a device.

use std::borrow::Cow;

use super::Tensor;
use crate::integer::Integer;

/// A list of integers that describes rows: a slice, an array or a vector of any integer type up to 64 bits, or
/// a tensor of rank 1 and dtype i32, u32 or i64 that lives on the device.
///
/// ```
/// use ragged::arguments::Integers;
/// let from_array: Integers<'_> = (&[0, 2, 3]).into();
/// let from_vec: Integers<'_> = vec![0usize, 2, 3].into();
/// # let _ = (from_array, from_vec);
/// ```
#[derive(Debug, Clone)]
pub struct Integers<'a>(pub(crate) Source<'a>);

/// Location of the integers.
#[derive(Debug, Clone)]
pub(crate) enum Source<'a> {
    /// In host memory. Values beyond i64 saturate to `i64::MAX`, which no factory accepts.
    Host(Cow<'a, [i64]>),
    /// On a device.
    Device(&'a Tensor),
}

impl<'a, I: Integer> From<&'a [I]> for Integers<'a> {
    fn from(all: &'a [I]) -> Self {
        Self(Source::Host(match I::as_i64s(all) {
            Some(all) => Cow::Borrowed(all),
            None => all.iter().map(|v| v.saturating_i64()).collect(),
        }))
    }
}
impl<'a, I: Integer> From<&'a &[I]> for Integers<'a> {
    fn from(all: &'a &[I]) -> Self {
        (*all).into()
    }
}
impl<'a, I: Integer, const N: usize> From<&'a [I; N]> for Integers<'a> {
    fn from(all: &'a [I; N]) -> Self {
        all.as_slice().into()
    }
}
impl<'a, I: Integer> From<&'a Vec<I>> for Integers<'a> {
    fn from(all: &'a Vec<I>) -> Self {
        all.as_slice().into()
    }
}
impl<I: Integer> From<Vec<I>> for Integers<'_> {
    fn from(all: Vec<I>) -> Self {
        Self(Source::Host(all.into_iter().map(Integer::saturating_i64).collect()))
    }
}
impl<I: Integer, const N: usize> From<[I; N]> for Integers<'_> {
    fn from(all: [I; N]) -> Self {
        Self(Source::Host(all.into_iter().map(Integer::saturating_i64).collect()))
    }
}
impl<'a, X: AsRef<Tensor>> From<&'a X> for Integers<'a> {
    fn from(x: &'a X) -> Self {
        Self(Source::Device(x.as_ref()))
    }
}
