//! Letter case of byte strings.

use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::record::host_step::host_strings;
use crate::tensor::{Tensor, Values};

operations! {
    /// Letter case of byte strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Each string in upper case: ASCII letters are converted, all other bytes stay.
    ///
    /// The layout stays: empty rows stay empty. [`string_upper_utf8`](Self::string_upper_utf8) converts all of Unicode.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// One map over the bytes, which fuses into its consumers; the positions of the strings are shared. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["Café", "x1"], vec![]], &Device::cpu())?;
    /// assert_eq!(x.string_upper()?.to_vec()?, ["CAFé".as_bytes(), b"X1"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_upper(&self) -> Str;
    alias "upper", "to_uppercase";
    tensorflow "tf.strings.upper";
    gradient none "it takes strings";

    /// Each string in lower case: ASCII letters are converted, all other bytes stay.
    ///
    /// The layout stays: empty rows stay empty. [`string_lower_utf8`](Self::string_lower_utf8) converts all of Unicode.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// One map over the bytes, which fuses into its consumers; the positions of the strings are shared. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["CAFÉ", "X1"], vec![]], &Device::cpu())?;
    /// assert_eq!(x.string_lower()?.to_vec()?, ["cafÉ".as_bytes(), b"x1"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_lower(&self) -> Str;
    alias "lower", "to_lowercase";
    tensorflow "tf.strings.lower";
    gradient none "it takes strings";

    /// Each string in upper case by Unicode's full case mapping, which may change lengths: `ß` becomes `SS`.
    ///
    /// The layout stays: empty rows stay empty. Invalid UTF-8 becomes U+FFFD.
    ///
    /// A host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// The tensor does not hold strings; a GPU whose options do not allow host steps.
    ///
    /// # Cost
    /// A read and an upload, and one wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["café", "straße"], &Device::cpu())?;
    /// assert_eq!(x.string_upper_utf8()?.to_vec()?, ["CAFÉ".as_bytes(), b"STRASSE"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_upper_utf8(&self) -> Str;
    alias "upper", "to_uppercase";
    tensorflow "tf.strings.upper(…, encoding='utf-8')";
    awkward "ak.str.upper";
    polars "str.to_uppercase";
    host "all of it";
    gradient none "it takes strings";

    /// Each string in lower case by Unicode's full case mapping, final sigma included.
    ///
    /// The layout stays: empty rows stay empty. The mapping may change lengths. Invalid UTF-8 becomes U+FFFD.
    ///
    /// A host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// The tensor does not hold strings; a GPU whose options do not allow host steps.
    ///
    /// # Cost
    /// A read and an upload, and one wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["ÀÉ", "ΣΑΣ"], &Device::cpu())?;
    /// assert_eq!(x.string_lower_utf8()?.to_vec()?, ["àé".as_bytes(), "σας".as_bytes()]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_lower_utf8(&self) -> Str;
    alias "lower", "to_lowercase";
    tensorflow "tf.strings.lower(…, encoding='utf-8')";
    awkward "ak.str.lower";
    polars "str.to_lowercase";
    host "all of it";
    gradient none "it takes strings";
}

#[track_caller]
fn string_upper(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("string_upper");
    x.flipped(rec, b'a'..=b'z')
}

#[track_caller]
fn string_lower(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("string_lower");
    x.flipped(rec, b'A'..=b'Z')
}

#[track_caller]
fn string_upper_utf8(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("string_upper_utf8");
    x.recased(rec, str::to_uppercase)
}

#[track_caller]
fn string_lower_utf8(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("string_lower_utf8");
    x.recased(rec, str::to_lowercase)
}

/// The bit that tells ASCII lower case from upper case.
const CASE_BIT: u8 = 0x20;

/// Bytes of a string above which the memory of its converted text is counted before the conversion.
const LONG: usize = 64 << 10;

impl Tensor {
    /// Flips the case of the bytes in `letters`.
    fn flipped(&self, rec: Recorder<'_>, letters: std::ops::RangeInclusive<u8>) -> Result<Self> {
        let (strings, bytes) = rec.strings(self)?;
        let byte = Expr::load(bytes, Expr::index());
        let [low, high] = [letters.start(), letters.end()].map(|&b| Expr::scalar(b));
        let is_letter = low.le(byte.clone()).and(byte.clone().le(high));
        let flip = is_letter.select(Expr::scalar(CASE_BIT), Expr::scalar(0u8));
        let byte = byte.binary(crate::graph::opcode::BinaryOp::Xor, flip);
        let bytes = rec.map(strings.nvals_extent().clone(), byte, &[]);
        rec.at(self.holding(Values::Strings { strings: strings.clone(), bytes }))
    }

    fn recased(&self, rec: Recorder<'_>, convert: fn(&str) -> String) -> Result<Self> {
        host_strings(rec, self, &(), |memory, strings| {
            memory.map(strings, |s, out| {
                // Replaced invalid bytes take three bytes each, and so does the converted text at most.
                let _scratch = if s.len() > LONG { Some(out.scratch(6 * s.len() as u64)?) } else { None };
                out.push(convert(&String::from_utf8_lossy(s)).as_bytes())
            })
        })
    }
}
