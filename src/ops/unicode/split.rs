//! Strings of one character each.

use super::decode::Characters;
use super::encoder::Encoded;
use super::options::TextEncoding;
use crate::element::Str;
use crate::error::Result;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::tensor::{Tensor, Values};

operations! {
    /// Strings of one character each.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Splits each string into its characters, as strings in the same encoding.
    ///
    /// `[..]` gives `[.., (characters)]`. Empty strings give empty rows; a scalar gives a vector. Characters are those
    /// of [`unicode_decode`](Self::unicode_decode). Invalid text becomes the character that replaces it, U+FFFD or as
    /// the options around the encoding say.
    ///
    /// # Errors
    /// The tensor does not hold strings. At the read: invalid text, if [`strict`](crate::opt::strict).
    ///
    /// # Cost
    /// A rank bitmap of the bytes, a map over the strings, a compaction, a prefix sum over the characters, and a map
    /// over the bytes. No wait.
    ///
    /// ```
    /// use ragged::opt::Encoding;
    /// use ragged::{Device, RaggedTensor};
    /// let text = RaggedTensor::from_nested(["no", ""], &Device::cpu())?;
    /// assert_eq!(text.unicode_split(Encoding::Utf8)?.to_string(), "<ragged.RaggedTensor [[b'n', b'o'], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unicode_split(&self, encoding: impl Into<TextEncoding> as TextEncoding) -> Str;
    alias "characters";
    tensorflow "tf.strings.unicode_split";
    polars "str.split";
    gradient none "it takes strings";

    /// Splits each string into its characters, and gives the offset of each in the bytes of its string.
    ///
    /// Characters are strings in the same encoding, offsets are i64; both have the shape `[.., (characters)]`. Empty
    /// strings give empty rows; scalars give vectors. Characters are those of [`unicode_decode`](Self::unicode_decode).
    /// Invalid text becomes the character that replaces it, U+FFFD or as the options around the encoding say.
    ///
    /// # Errors
    /// The tensor does not hold strings. At the read: invalid text, if [`strict`](crate::opt::strict).
    ///
    /// # Cost
    /// A rank bitmap of the bytes, a map over the strings, two compactions, a prefix sum over the characters, and a map
    /// over the bytes. No wait.
    ///
    /// ```
    /// use ragged::opt::Encoding;
    /// use ragged::{Device, RaggedTensor};
    /// let text = RaggedTensor::from_nested(["né!", ""], &Device::cpu())?;
    /// let (characters, offsets) = text.unicode_split_with_offsets(Encoding::Utf8)?;
    /// assert_eq!(characters.row_lengths(1)?.to_vec()?, [3, 0]);
    /// assert_eq!(offsets.to_string(), "<ragged.RaggedTensor [[0, 1, 3], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unicode_split_with_offsets(&self, encoding: impl Into<TextEncoding> as TextEncoding) -> (Str, i64);
    tensorflow "tf.strings.unicode_split_with_offsets";
    gradient none "it takes strings";
}

#[track_caller]
fn unicode_split(x: &Tensor, encoding: impl Into<TextEncoding>) -> Result<Tensor> {
    let rec = x.recorder("unicode_split");
    let format = encoding.into();
    Characters::new(rec, x, format)?.texts(rec, x, format)
}

#[track_caller]
fn unicode_split_with_offsets(x: &Tensor, encoding: impl Into<TextEncoding>) -> Result<(Tensor, Tensor)> {
    let rec = x.recorder("unicode_split_with_offsets");
    let format = encoding.into();
    let characters = Characters::new(rec, x, format)?;
    Ok((characters.texts(rec, x, format)?, characters.offsets(rec, x)?))
}

impl Characters {
    /// The characters as strings in the encoding of the text.
    fn texts(&self, rec: Recorder<'_>, x: &Tensor, format: TextEncoding) -> Result<Tensor> {
        let Encoded { characters, bytes } = Encoded::new(rec, &self.codes, self.count(), format.encoding)?;
        self.tensor(rec, x, Values::Strings { strings: characters, bytes })
    }
}
