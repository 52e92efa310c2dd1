//! Lengths of byte strings.

use super::characters::Characters;
use crate::dtype::DType;
use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::tensor::Tensor;

operations! {
    /// Lengths of byte strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// The number of bytes of each string.
    ///
    /// i32; the layout stays: empty rows stay empty, and an empty string has 0.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// One map over the strings, which fuses into its consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["", "abc"], vec![], vec!["é"]], &Device::cpu())?;
    /// assert_eq!(x.string_length()?.to_string(), "<ragged.RaggedTensor [[0, 3], [], [2]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_length(&self) -> i32;
    alias "len_bytes", "length";
    tensorflow "tf.strings.length";
    polars "str.len_bytes";
    gradient none "the result holds counts";

    /// The number of UTF-8 characters of each string.
    ///
    /// i32; the layout stays: empty rows stay empty, and an empty string has 0. Counts the bytes that are no
    /// continuation bytes (`10xxxxxx`): in invalid UTF-8 every other byte is a character.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// A rank bitmap of the bytes, and a map over the strings. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["", "abc"], vec![], vec!["é"]], &Device::cpu())?;
    /// assert_eq!(x.string_length_chars()?.to_string(), "<ragged.RaggedTensor [[0, 3], [], [1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_length_chars(&self) -> i32;
    alias "len_chars";
    tensorflow "tf.strings.length(…, unit='UTF8_CHAR')";
    awkward "ak.str.length";
    polars "str.len_chars";
    gradient none "the result holds counts";
}

#[track_caller]
fn string_length(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("string_length");
    let (strings, _) = rec.strings(x)?;
    let length = strings.length_of_existing(Expr::index()).cast(DType::I32);
    x.with_value_node(rec.map(x.count()?, length, &[]))
}

#[track_caller]
fn string_length_chars(x: &Tensor) -> Result<Tensor> {
    const OP: &str = "string_length_chars";
    let (backend, strings) = (x.backend(), x.strings(OP)?);
    let rec = Recorder::new(backend, OP);
    let length = Characters::new(rec, strings).count(&Expr::index()).cast(DType::I32);
    x.with_value_node(rec.map(x.count()?, length, &[]))
}
