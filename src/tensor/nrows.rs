//! Encodings of rows that may need a number of rows.

use super::integers::Integers;
use crate::integer::Integer;
use crate::setters::setters;

/// An encoding of rows together with the number of rows; see [`with_nrows`].
#[derive(Debug, Clone, Copy)]
pub struct WithNrows<X> {
    of: X,
    nrows: i64,
}

/// Gives the number of rows to an encoding that does not determine it: row ids that end before the last row, a uniform
/// row length of 0.
///
/// ```
/// use ragged::opt::with_nrows;
/// use ragged::{Device, RaggedTensor};
/// let device = Device::cpu();
/// let x = RaggedTensor::from_value_rowids([1, 2, 3], with_nrows([0, 0, 2], 4), &device)?;
/// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn with_nrows<X>(of: X, nrows: impl Integer) -> WithNrows<X> {
    WithNrows { of, nrows: nrows.saturating_i64() }
}

impl<X> WithNrows<X> {
    /// The encoding, and the number of rows.
    pub(crate) fn into_parts(self) -> (X, i64) {
        (self.of, self.nrows)
    }
}

/// Row ids, the row of each value: what [`Integers`] converts from, or the same [`with_nrows`].
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::RowIds;
/// use ragged::{Device, RaggedTensor};
/// let nrows = Some(3);
/// let x = RaggedTensor::from_value_rowids([1, 2], RowIds::from([0, 1]).nrows(nrows), &Device::cpu())?;
/// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1], [2], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RowIds<'a> {
    /// The ids.
    pub ids: Integers<'a>,
    /// The number of rows; `None` if the last id is that of the last row.
    pub nrows: Option<i64>,
}

setters! {
    impl[] RowIds<'_> {
        nrows: into Option<i64>;
    }
}

impl<'a, L: Into<Integers<'a>>> From<L> for RowIds<'a> {
    fn from(ids: L) -> Self {
        Self { ids: ids.into(), nrows: None }
    }
}
impl<'a, L: Into<Integers<'a>>> From<WithNrows<L>> for RowIds<'a> {
    fn from(given: WithNrows<L>) -> Self {
        Self { ids: given.of.into(), nrows: Some(given.nrows) }
    }
}

/// The length of every row: an integer, or the same [`with_nrows`].
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::UniformRows;
/// use ragged::{Device, RaggedTensor};
/// let (length, nrows) = (0, Some(2));
/// let none = RaggedTensor::<i32>::from_uniform_row_length([], UniformRows::from(length).nrows(nrows), &Device::cpu())?;
/// assert_eq!(none.nrows()?.item()?, 2);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct UniformRows {
    /// The length.
    pub length: i64,
    /// The number of rows; `None` if it follows from the number of values.
    pub nrows: Option<i64>,
}

setters! {
    impl[] UniformRows {
        nrows: into Option<i64>;
    }
}

impl<I: Integer> From<I> for UniformRows {
    fn from(length: I) -> Self {
        Self { length: length.saturating_i64(), nrows: None }
    }
}
impl<I: Integer> From<WithNrows<I>> for UniformRows {
    fn from(given: WithNrows<I>) -> Self {
        Self { length: given.of.saturating_i64(), nrows: Some(given.nrows) }
    }
}
