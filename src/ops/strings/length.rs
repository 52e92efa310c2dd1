//! Lengths of byte strings.

use super::characters::Characters;
use crate::dtype::DType;
use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::tensor::{RaggedTensor, Tensor};

impl Tensor {
    /// Number of bytes of each string, as i32; the layout stays.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// One map over the strings, which fuses into its consumers. No wait.
    ///
    /// # Source
    /// `tf.strings.length(x, unit='BYTE')`; Polars: `str.len_bytes`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["", "abc", "é"], &Device::cpu())?;
    /// assert_eq!(x.string_length()?.to_vec()?, [0, 3, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn string_length(&self) -> Result<Self> {
        const OP: &str = "string_length";
        let (strings, _) = self.strings(OP)?;
        let length = strings.length_of_existing(Expr::index()).cast(DType::I32);
        self.with_value_node(Node::map(self.backend(), OP, self.count()?, length, &[]))
    }

    /// Number of UTF-8 characters of each string, as i32; the layout stays.
    ///
    /// Counts the bytes that are no continuation bytes (`10xxxxxx`): in invalid UTF-8 every other byte is a character.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// A rank bitmap of the bytes, and a map over the strings. No wait.
    ///
    /// # Source
    /// `tf.strings.length(x, unit='UTF8_CHAR')`; Polars: `str.len_chars`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["", "abc", "é"], &Device::cpu())?;
    /// assert_eq!(x.string_length_chars()?.to_vec()?, [0, 3, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn string_length_chars(&self) -> Result<Self> {
        const OP: &str = "string_length_chars";
        let (backend, strings) = (self.backend(), self.strings(OP)?);
        let length = Characters::new(backend, OP, strings).count(&Expr::index()).cast(DType::I32);
        self.with_value_node(Node::map(backend, OP, self.count()?, length, &[]))
    }
}

impl RaggedTensor<Str> {
    /// As [`Tensor::string_length`].
    ///
    /// # Errors
    /// As [`Tensor::string_length`].
    #[track_caller]
    pub fn string_length(&self) -> Result<RaggedTensor<i32>> {
        self.erased().string_length()?.try_into()
    }

    /// As [`Tensor::string_length_chars`].
    ///
    /// # Errors
    /// As [`Tensor::string_length_chars`].
    #[track_caller]
    pub fn string_length_chars(&self) -> Result<RaggedTensor<i32>> {
        self.erased().string_length_chars()?.try_into()
    }
}
