//! Strings of one character each.

use super::decode::Characters;
use super::encoder::Encoded;
use super::options::TextEncoding;
use crate::element::Str;
use crate::error::Result;
use crate::ops::operations;
use crate::tensor::{Tensor, Values};

operations! {
    /// Strings of one character each.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Splits each string into its characters: `[..]` gives `[.., (characters)]` of strings, in the same encoding.
    ///
    /// As [`Tensor::unicode_decode`] divides them. Invalid text becomes the character that replaces it.
    ///
    /// # Errors
    /// As [`Tensor::unicode_decode`].
    ///
    /// # Cost
    /// That of [`Tensor::unicode_decode`], a prefix sum over the characters, and a map over the bytes. No wait.
    ///
    /// ```
    /// use ragged::{Device, Encoding, HostTensor, HostValues};
    /// let text = HostTensor::dense(&[2], HostValues::Str(vec!["né".into(), "".into()])).to_device(&Device::cpu())?;
    /// let characters = text.unicode_split(Encoding::Utf8)?.to_host()?;
    /// assert_eq!(characters.nested_row_splits, [[0, 2, 2]]);
    /// assert_eq!(characters.values, HostValues::Str(vec!["n".into(), "é".into()]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unicode_split(&self, encoding: impl Into<TextEncoding>) -> Str;
    tensorflow "tf.strings.unicode_split";
    gradient none "strings";

    /// [`Tensor::unicode_split`], and the offset of each character in the bytes of its string (i64).
    ///
    /// # Errors
    /// As [`Tensor::unicode_decode`].
    ///
    /// # Cost
    /// As [`Tensor::unicode_split`], and another compaction.
    ///
    /// ```
    /// use ragged::{Device, Encoding, HostTensor, HostValues};
    /// let text = HostTensor::dense(&[1], HostValues::Str(vec!["né!".into()])).to_device(&Device::cpu())?;
    /// let (characters, offsets) = text.unicode_split_with_offsets(Encoding::Utf8)?;
    /// assert_eq!(characters.to_host()?.values.len(), 3);
    /// assert_eq!(offsets.to_string(), "<ragged.RaggedTensor [[0, 1, 3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unicode_split_with_offsets(&self, encoding: impl Into<TextEncoding>) -> (Str, i64);
    tensorflow "tf.strings.unicode_split_with_offsets";
    gradient none "strings";
}

#[track_caller]
fn unicode_split(x: &Tensor, encoding: impl Into<TextEncoding>) -> Result<Tensor> {
    const OP: &str = "unicode_split";
    let format = encoding.into();
    Characters::new(OP, x, format)?.texts(OP, x, format)
}

#[track_caller]
fn unicode_split_with_offsets(x: &Tensor, encoding: impl Into<TextEncoding>) -> Result<(Tensor, Tensor)> {
    const OP: &str = "unicode_split_with_offsets";
    let format = encoding.into();
    let characters = Characters::new(OP, x, format)?;
    Ok((characters.texts(OP, x, format)?, characters.offsets(OP, x)?))
}

impl Characters {
    /// The characters as strings in the encoding of the text.
    #[track_caller]
    fn texts(&self, op: &'static str, x: &Tensor, format: TextEncoding) -> Result<Tensor> {
        let Encoded { characters, bytes } = Encoded::new(x.backend(), op, &self.codes, self.count(), format.encoding)?;
        self.tensor(x, Values::Strings { strings: characters, bytes })
    }
}
