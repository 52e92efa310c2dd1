//! Text from one encoding to another.

use super::decode::Characters;
use super::encoder::Encoded;
use super::options::{Encoding, TextEncoding};
use crate::element::Str;
use crate::error::Result;
use crate::ops::operations;
use crate::tensor::{Tensor, Values};

operations! {
    /// Conversion of text between encodings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// The strings, encoded in `from`, in the encoding `to`.
    ///
    /// The layout stays: empty rows stay empty. Invalid text is replaced by U+FFFD, or as the options around `from`
    /// say: [`strict`](crate::opt::strict), [`ignore_invalid`](crate::opt::ignore_invalid),
    /// [`replace_invalid`](crate::opt::replace_invalid), [`replace_controls`](crate::opt::replace_controls).
    ///
    /// # Errors
    /// The tensor does not hold strings. At the read: invalid text, if strict.
    ///
    /// # Cost
    /// A rank bitmap of the bytes, a map over the strings and a compaction to code points; then a map and a prefix sum
    /// over the code points, a map over the strings and one over the bytes. No wait.
    ///
    /// ```
    /// use ragged::opt::Encoding;
    /// use ragged::{Device, RaggedTensor};
    /// let text = RaggedTensor::from_nested(["é", ""], &Device::cpu())?;
    /// let words = text.unicode_transcode(Encoding::Utf8, Encoding::Utf16Be)?;
    /// assert_eq!(words.to_vec()?, [vec![0x00, 0xE9], vec![]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unicode_transcode(&self, from: impl Into<TextEncoding> as TextEncoding, to: Encoding) -> Str;
    tensorflow "tf.strings.unicode_transcode";
    gradient none "it takes strings";
}

#[track_caller]
fn unicode_transcode(x: &Tensor, from: impl Into<TextEncoding>, to: Encoding) -> Result<Tensor> {
    let rec = x.recorder("unicode_transcode");
    let characters = Characters::new(rec, x, from.into())?;
    let encoded = Encoded::new(rec, &characters.codes, characters.count(), to)?;
    let strings = encoded.strings(rec, &characters.strings)?;
    x.holding(Values::Strings { strings, bytes: encoded.bytes })
}
