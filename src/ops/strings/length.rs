//! Lengths of byte strings.

use super::characters::Characters;
use crate::dtype::DType;
use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::ops::operations;
use crate::tensor::Tensor;

operations! {
    /// Lengths of byte strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

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
    fn string_length(&self) -> i32;
    tensorflow "tf.strings.length";
    polars "str.len_bytes()";
    gradient none "integers";

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
    fn string_length_chars(&self) -> i32;
    tensorflow "tf.strings.length(…, unit='UTF8_CHAR')";
    awkward "ak.str.length";
    polars "str.len_chars()";
    gradient none "integers";
}

#[track_caller]
fn string_length(x: &Tensor) -> Result<Tensor> {
    const OP: &str = "string_length";
    let (strings, _) = x.strings(OP)?;
    let length = strings.length_of_existing(Expr::index()).cast(DType::I32);
    x.with_value_node(Node::map(x.backend(), OP, x.count()?, length, &[]))
}

#[track_caller]
fn string_length_chars(x: &Tensor) -> Result<Tensor> {
    const OP: &str = "string_length_chars";
    let (backend, strings) = (x.backend(), x.strings(OP)?);
    let length = Characters::new(backend, OP, strings).count(&Expr::index()).cast(DType::I32);
    x.with_value_node(Node::map(backend, OP, x.count()?, length, &[]))
}
