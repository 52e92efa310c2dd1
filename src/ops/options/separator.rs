//! Separators of a split.

use crate::integer::Integer;
use crate::setters::setters;

/// ASCII white space: space, tab, line feed, vertical tab, form feed, carriage return.
pub(crate) const WHITE_SPACE: [u8; 6] = *b" \t\n\x0b\x0c\r";

/// The byte sequences that separate pieces.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Separators {
    /// This byte string. Occurrences are found from left to right and do not overlap.
    String(Vec<u8>),
    /// Each of these bytes.
    AnyOf(Vec<u8>),
}

/// Separators of a split, with the treatment of empty pieces and the maximum number of splits. Converts from a string,
/// which separates as a whole.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{Separator, max_splits, nonempty};
/// assert_eq!(Separator::from("--").nonempty(true).max_splits(Some(1)), max_splits(nonempty("--"), 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Separator {
    /// The separators.
    pub by: Separators,
    /// Whether empty pieces are dropped.
    pub nonempty: bool,
    /// Maximum number of splits, if limited.
    pub max_splits: Option<i64>,
}

setters! {
    impl[] Separator {
        nonempty: bool;
        max_splits: into Option<i64>;
    }
}

impl Separator {
    fn new(by: Separators) -> Self {
        Self { by, nonempty: false, max_splits: None }
    }
}

impl From<&str> for Separator {
    fn from(separator: &str) -> Self {
        separator.as_bytes().into()
    }
}
impl From<&[u8]> for Separator {
    fn from(separator: &[u8]) -> Self {
        Self::new(Separators::String(separator.to_vec()))
    }
}
impl From<&String> for Separator {
    fn from(separator: &String) -> Self {
        separator.as_str().into()
    }
}
impl<const N: usize> From<&[u8; N]> for Separator {
    fn from(separator: &[u8; N]) -> Self {
        separator.as_slice().into()
    }
}

/// Separates at each of these bytes.
///
/// ```
/// use ragged::opt::any_of;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested(["a,b;c"], &Device::cpu())?;
/// assert_eq!(x.string_split(any_of(",;"))?.to_string(), "<ragged.RaggedTensor [[b'a', b'b', b'c']]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn any_of(bytes: impl AsRef<[u8]>) -> Separator {
    Separator::new(Separators::AnyOf(bytes.as_ref().to_vec()))
}

/// Drops empty pieces: adjacent separators count as one, and separators at either end of a string are ignored.
///
/// ```
/// use ragged::opt::nonempty;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested(["--a----b"], &Device::cpu())?;
/// assert_eq!(x.string_split(nonempty("--"))?.to_string(), "<ragged.RaggedTensor [[b'a', b'b']]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn nonempty(separator: impl Into<Separator>) -> Separator {
    Separator { nonempty: true, ..separator.into() }
}

/// Separates at runs of ASCII white space: [`nonempty`]`(`[`any_of`]`(" \t\n\x0b\x0c\r"))`.
///
/// ```
/// use ragged::opt::white_space;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([" to be \n"], &Device::cpu())?;
/// assert_eq!(x.string_split(white_space())?.to_string(), "<ragged.RaggedTensor [[b'to', b'be']]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn white_space() -> Separator {
    nonempty(any_of(WHITE_SPACE))
}

/// Splits at most `count` times; the last piece is the rest of the string. With [`nonempty`] the rest begins after the
/// separators that follow the last split piece, and is a piece even if it is empty.
///
/// ```
/// use ragged::opt::{max_splits, white_space};
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested(["a:b:c"], &Device::cpu())?;
/// assert_eq!(x.string_split(max_splits(":", 1))?.to_string(), "<ragged.RaggedTensor [[b'a', b'b:c']]>");
/// let x = RaggedTensor::from_nested([" a  b  c ", "d"], &Device::cpu())?;
/// let pieces = x.string_split(max_splits(white_space(), 1))?;
/// assert_eq!(pieces.to_string(), "<ragged.RaggedTensor [[b'a', b'b  c '], [b'd', b'']]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn max_splits(separator: impl Into<Separator>, count: impl Integer) -> Separator {
    Separator { max_splits: Some(count.saturating_i64()), ..separator.into() }
}
