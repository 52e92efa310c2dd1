//! Strings of one character each.

use super::decode::Characters;
use super::encoder::Encoded;
use super::options::TextEncoding;
use crate::element::Str;
use crate::error::Result;
use crate::tensor::{RaggedTensor, Tensor, Values};

impl Characters {
    /// The characters as strings in the encoding of the text.
    #[track_caller]
    fn texts(&self, op: &'static str, x: &Tensor, format: TextEncoding) -> Result<Tensor> {
        let Encoded { characters, bytes } = Encoded::new(x.backend(), op, &self.codes, self.count(), format.encoding)?;
        self.tensor(x, Values::Strings { strings: characters, bytes })
    }
}

impl Tensor {
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
    ///
    /// TensorFlow: `tf.strings.unicode_split`.
    #[track_caller]
    pub fn unicode_split(&self, encoding: impl Into<TextEncoding>) -> Result<Self> {
        const OP: &str = "unicode_split";
        let format = encoding.into();
        Characters::new(OP, self, format)?.texts(OP, self, format)
    }

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
    ///
    /// TensorFlow: `tf.strings.unicode_split_with_offsets`.
    #[track_caller]
    pub fn unicode_split_with_offsets(&self, encoding: impl Into<TextEncoding>) -> Result<(Self, Self)> {
        const OP: &str = "unicode_split_with_offsets";
        let format = encoding.into();
        let characters = Characters::new(OP, self, format)?;
        Ok((characters.texts(OP, self, format)?, characters.offsets(OP, self)?))
    }
}

impl RaggedTensor<Str> {
    /// As [`Tensor::unicode_split`].
    ///
    /// # Errors
    /// As [`Tensor::unicode_decode`].
    #[track_caller]
    pub fn unicode_split(&self, encoding: impl Into<TextEncoding>) -> Result<Self> {
        self.erased().unicode_split(encoding)?.try_into()
    }

    /// As [`Tensor::unicode_split_with_offsets`].
    ///
    /// # Errors
    /// As [`Tensor::unicode_decode`].
    #[track_caller]
    pub fn unicode_split_with_offsets(&self, encoding: impl Into<TextEncoding>) -> Result<(Self, RaggedTensor<i64>)> {
        let (characters, offsets) = self.erased().unicode_split_with_offsets(encoding)?;
        Ok((characters.try_into()?, offsets.try_into()?))
    }
}
