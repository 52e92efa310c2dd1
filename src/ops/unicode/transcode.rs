//! Text from one encoding to another.

use super::decode::Characters;
use super::encoder::Encoded;
use super::options::{Encoding, TextEncoding};
use crate::element::Str;
use crate::error::Result;
use crate::ops::operations;
use crate::tensor::{Tensor, Values};

operations! {
    /// Text from one encoding to another.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// The strings, encoded in `from`, in the encoding `to`. The layout stays.
    ///
    /// Invalid text is replaced by U+FFFD, or as the options around `from` say, as in [`Tensor::unicode_decode`].
    ///
    /// # Errors
    /// As [`Tensor::unicode_decode`].
    ///
    /// # Cost
    /// That of [`Tensor::unicode_decode`] and of [`Tensor::unicode_encode`]. No wait.
    ///
    /// ```
    /// use ragged::{Device, Encoding, HostTensor, HostValues};
    /// let text = HostTensor::dense(&[1], HostValues::Str(vec!["é".into()])).to_device(&Device::cpu())?;
    /// let words = text.unicode_transcode(Encoding::Utf8, Encoding::Utf16Be)?.to_host()?;
    /// assert_eq!(words.values, HostValues::Str(vec![vec![0x00, 0xE9]]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unicode_transcode(&self, from: impl Into<TextEncoding>, to: Encoding) -> Str;
    tensorflow "tf.strings.unicode_transcode";
    gradient none "strings";
}

#[track_caller]
fn unicode_transcode(x: &Tensor, from: impl Into<TextEncoding>, to: Encoding) -> Result<Tensor> {
    const OP: &str = "unicode_transcode";
    let characters = Characters::new(OP, x, from.into())?;
    let encoded = Encoded::new(x.backend(), OP, &characters.codes, characters.count(), to)?;
    let strings = encoded.strings(x.backend(), OP, &characters.strings)?;
    x.holding(Values::Strings { strings, bytes: encoded.bytes })
}
