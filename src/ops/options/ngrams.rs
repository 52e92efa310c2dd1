//! Widths of n-grams, their padding, and the treatment of short rows.

use crate::integer::Integer;
use crate::setters::setters;

/// Widths of n-grams: an integer or several, with a padding and the treatment of short rows.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{Ngrams, keep_short, padded_with};
/// let padding = Some(["<".to_owned(), ">".to_owned()]);
/// assert_eq!(Ngrams::from([2, 3]).padding(padding).keep_short(true), keep_short(padded_with([2, 3], "<", ">")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Ngrams {
    /// The widths. The n-grams of a row are those of the first width, then those of the next.
    pub widths: Vec<i64>,
    /// The strings before and after each row, if any.
    pub padding: Option<[String; 2]>,
    /// Maximum number of copies of the padding at either end, if it is not one less than each width.
    pub pad_width: Option<i64>,
    /// Whether a row without n-grams gives one of all its strings, if it has any.
    pub keep_short: bool,
}

setters! {
    impl[] Ngrams {
        padding: into Option<[String; 2]>;
        pad_width: into Option<i64>;
        keep_short: bool;
    }
}

impl<I: Integer> From<I> for Ngrams {
    fn from(width: I) -> Self {
        Self::from([width])
    }
}
impl<I: Integer> From<&[I]> for Ngrams {
    fn from(widths: &[I]) -> Self {
        Self { widths: widths.iter().map(|w| w.saturating_i64()).collect(), ..Self::default() }
    }
}
impl<I: Integer> From<Vec<I>> for Ngrams {
    fn from(widths: Vec<I>) -> Self {
        widths.as_slice().into()
    }
}
impl<I: Integer, const N: usize> From<[I; N]> for Ngrams {
    fn from(widths: [I; N]) -> Self {
        widths.as_slice().into()
    }
}

/// Pads each row with copies of `left` before it and of `right` after it: one less than the width, unless
/// [`pad_width`] gives fewer.
///
/// ```
/// use ragged::opt::padded_with;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec!["a", "b"], vec![]], &Device::cpu())?;
/// let pairs = x.string_ngrams(padded_with(2, "<", ">"), " ")?;
/// assert_eq!(pairs.to_string(), "<ragged.RaggedTensor [[b'< a', b'a b', b'b >'], [b'< >']]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn padded_with(widths: impl Into<Ngrams>, left: impl Into<String>, right: impl Into<String>) -> Ngrams {
    Ngrams { padding: Some([left.into(), right.into()]), ..widths.into() }
}

/// Limits the padding at either end to `count` copies.
///
/// ```
/// use ragged::opt::{pad_width, padded_with};
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec!["a", "b"]], &Device::cpu())?;
/// let triples = x.string_ngrams(pad_width(padded_with(3, "<", ">"), 1), " ")?;
/// assert_eq!(triples.to_string(), "<ragged.RaggedTensor [[b'< a b', b'a b >']]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn pad_width(widths: impl Into<Ngrams>, count: impl Integer) -> Ngrams {
    Ngrams { pad_width: Some(count.saturating_i64()), ..widths.into() }
}

/// Gives one n-gram of all strings of a row that is too short for any width, unless the row is empty.
///
/// ```
/// use ragged::opt::keep_short;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec!["a", "b"], vec![]], &Device::cpu())?;
/// let triples = x.string_ngrams(keep_short(3), " ")?;
/// assert_eq!(triples.to_string(), "<ragged.RaggedTensor [[b'a b'], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn keep_short(widths: impl Into<Ngrams>) -> Ngrams {
    Ngrams { keep_short: true, ..widths.into() }
}
