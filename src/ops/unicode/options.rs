//! Encodings, and what becomes of invalid text.

use crate::setters::setters;

/// An encoding of Unicode text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16 of big-endian words, without a byte order mark.
    Utf16Be,
    /// UTF-32 of big-endian words, without a byte order mark.
    Utf32Be,
}

/// Treatment of an invalid character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidText {
    /// It is an error of the read.
    Strict,
    /// It is replaced by this character.
    Replace(char),
    /// It is left out.
    Ignore,
}

/// An [`Encoding`] with a treatment of invalid text: by default each invalid character is replaced by U+FFFD.
///
/// Converts from an encoding. [`strict`], [`ignore_invalid`], [`replace_invalid`] and [`replace_controls`] around an
/// encoding change the policy.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{Encoding, InvalidText, TextEncoding, replace_controls, strict};
/// let options = TextEncoding::from(Encoding::Utf8).invalid(InvalidText::Strict).replace_controls(true);
/// assert_eq!(options, replace_controls(strict(Encoding::Utf8)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TextEncoding {
    /// The encoding.
    pub encoding: Encoding,
    /// Treatment of invalid characters.
    pub invalid: InvalidText,
    /// Whether the control characters U+0000 to U+001F count as invalid in decoded text.
    pub replace_controls: bool,
}

setters! {
    impl[] TextEncoding {
        invalid: InvalidText;
        replace_controls: bool;
    }
}

impl From<Encoding> for TextEncoding {
    fn from(encoding: Encoding) -> Self {
        Self { encoding, invalid: InvalidText::Replace(char::REPLACEMENT_CHARACTER), replace_controls: false }
    }
}

/// Makes invalid text an error of the read: TensorFlow's `errors="strict"`.
///
/// ```
/// use ragged::opt::{Encoding, strict};
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::dense([b"a\xff".as_slice()], &[1], &Device::cpu())?;
/// assert!(x.unicode_decode(strict(Encoding::Utf8))?.to_vec().is_err());
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn strict(encoding: impl Into<TextEncoding>) -> TextEncoding {
    TextEncoding { invalid: InvalidText::Strict, ..encoding.into() }
}

/// Leaves invalid characters out: TensorFlow's `errors="ignore"`.
///
/// ```
/// use ragged::opt::{Encoding, ignore_invalid};
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::dense([b"a\xffb".as_slice()], &[1], &Device::cpu())?;
/// assert_eq!(x.unicode_decode(ignore_invalid(Encoding::Utf8))?.to_string(), "<ragged.RaggedTensor [[97, 98]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn ignore_invalid(encoding: impl Into<TextEncoding>) -> TextEncoding {
    TextEncoding { invalid: InvalidText::Ignore, ..encoding.into() }
}

/// Replaces invalid characters by another one than U+FFFD: TensorFlow's `replacement_char`.
///
/// ```
/// use ragged::opt::{Encoding, replace_invalid};
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::dense([b"a\xff".as_slice()], &[1], &Device::cpu())?;
/// let y = x.unicode_decode(replace_invalid(Encoding::Utf8, '?'))?;
/// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[97, 63]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn replace_invalid(encoding: impl Into<TextEncoding>, by: char) -> TextEncoding {
    TextEncoding { invalid: InvalidText::Replace(by), ..encoding.into() }
}

/// Treats the control characters U+0000 to U+001F of decoded text as invalid: TensorFlow's
/// `replace_control_characters`.
///
/// ```
/// use ragged::opt::{Encoding, ignore_invalid, replace_controls};
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested(["a\tb"], &Device::cpu())?;
/// let y = x.unicode_decode(replace_controls(ignore_invalid(Encoding::Utf8)))?;
/// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[97, 98]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn replace_controls(encoding: impl Into<TextEncoding>) -> TextEncoding {
    TextEncoding { replace_controls: true, ..encoding.into() }
}
