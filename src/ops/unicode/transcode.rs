//! Text from one encoding to another.

use super::decode::Characters;
use super::encoder::Encoded;
use super::options::{Encoding, TextEncoding};
use crate::element::Str;
use crate::error::Result;
use crate::tensor::{RaggedTensor, Tensor, Values};

impl Tensor {
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
    ///
    /// TensorFlow: `tf.strings.unicode_transcode`.
    #[track_caller]
    pub fn unicode_transcode(&self, from: impl Into<TextEncoding>, to: Encoding) -> Result<Self> {
        const OP: &str = "unicode_transcode";
        let characters = Characters::new(OP, self, from.into())?;
        let encoded = Encoded::new(self.backend(), OP, &characters.codes, characters.count(), to)?;
        let strings = encoded.strings(self.backend(), OP, &characters.strings)?;
        self.holding(Values::Strings { strings, bytes: encoded.bytes })
    }
}

impl RaggedTensor<Str> {
    /// As [`Tensor::unicode_transcode`].
    ///
    /// # Errors
    /// As [`Tensor::unicode_decode`].
    #[track_caller]
    pub fn unicode_transcode(&self, from: impl Into<TextEncoding>, to: Encoding) -> Result<Self> {
        self.erased().unicode_transcode(from, to)?.try_into()
    }
}
