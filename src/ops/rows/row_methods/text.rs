//! Substrings of the strings of a row.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops::{Operand, Row, RowOperand};
use crate::tensor::Tensor;

/// Substrings.
impl Row {
    /// Bytes `pos` to `pos + len` of each string of the row. A negative `pos` counts from the end of the string.
    ///
    /// `pos` and `len` are integers, rows of the same call, or tensors that are the same for all rows; they broadcast to
    /// the shape of the row, which stays. A substring ends at the end of its string at the latest, and is empty if `len`
    /// is not positive.
    ///
    /// # Errors
    /// The row does not hold strings; operands that are not integers, or have more dimensions than the row; a row of
    /// another call. At the read: a `pos` outside its string; the end of the string is inside.
    ///
    /// # Cost
    /// Maps over the strings, one more per operand that is not one number, a prefix sum of the lengths, and a copy of the
    /// bytes of the result. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Str};
    /// let x = RaggedTensor::from_nested([vec!["hello", "ragged"], vec!["rows"]], &Device::cpu())?;
    /// let heads: RaggedTensor<Str> = x.map_rows(|row| row.substr(0, row.size()?))?;
    /// assert_eq!(heads.to_string(), "<ragged.RaggedTensor [[b'he', b'ra'], [b'r']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.strings.substr`.
    #[track_caller]
    pub fn substr<'a>(&self, pos: impl Into<RowOperand<'a>>, len: impl Into<RowOperand<'a>>) -> Result<Self> {
        const OP: &str = "substr";
        let (pos, len) = (pos.into(), len.into());
        let (pos_rows, len_rows) = (self.per_string(OP, &pos)?, self.per_string(OP, &len)?);
        Ok(self.with(self.all.substr(either(&pos, pos_rows.as_ref()), either(&len, len_rows.as_ref()))?))
    }

    /// Characters `pos` to `pos + len` of each string of the row, in UTF-8. A negative `pos` counts from the end of the
    /// string.
    ///
    /// `pos` and `len` are integers, rows of the same call, or tensors that are the same for all rows; they broadcast to
    /// the shape of the row, which stays. A substring ends at the end of its string at the latest, and is empty if `len`
    /// is not positive. A continuation byte (`10xxxxxx`) belongs to the character before it; one that begins a string is
    /// a character.
    ///
    /// # Errors
    /// The row does not hold strings; operands that are not integers, or have more dimensions than the row; a row of
    /// another call. At the read: a `pos` outside its string; the end of the string is inside.
    ///
    /// # Cost
    /// Besides that of [`Row::substr`], a rank bitmap of the bytes, and two searches in it per string, one if `pos` is 0.
    /// No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Str};
    /// let x = RaggedTensor::from_nested([vec!["naïve", "日本語"], vec![]], &Device::cpu())?;
    /// let y: RaggedTensor<Str> = x.map_rows(|row| row.substr_chars(-2, 1))?;
    /// assert_eq!(y.to_vec()?, [b"v".to_vec(), "本".as_bytes().to_vec()]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.strings.substr(…, unit='UTF8_CHAR')`.
    ///
    /// Awkward: `ak.str.slice`.
    ///
    /// Polars: `str.slice`.
    #[track_caller]
    pub fn substr_chars<'a>(&self, pos: impl Into<RowOperand<'a>>, len: impl Into<RowOperand<'a>>) -> Result<Self> {
        const OP: &str = "substr_chars";
        let (pos, len) = (pos.into(), len.into());
        let (pos_rows, len_rows) = (self.per_string(OP, &pos)?, self.per_string(OP, &len)?);
        Ok(self.with(self.all.substr_chars(either(&pos, pos_rows.as_ref()), either(&len, len_rows.as_ref()))?))
    }

    /// An operand that is not one number, as one integer per string.
    #[track_caller]
    fn per_string(&self, op: &'static str, operand: &RowOperand<'_>) -> Result<Option<Tensor>> {
        let dtype = match operand {
            RowOperand::Row(row) => row.dtype(),
            RowOperand::Same(Operand::Tensor(t)) => t.dtype(),
            RowOperand::Same(Operand::Value(_)) => return Ok(None),
        };
        if !dtype.is_integer() {
            return Err(Error::unsupported(op, dtype, "positions and lengths are integers"));
        }
        if self.dtype() != DType::Str {
            return Err(Error::unsupported(op, self.dtype(), "it takes strings"));
        }
        if operand.rank() > self.rank() {
            let what = format!("an operand has rank {}, but the strings have rank {}", operand.rank(), self.rank());
            return Err(Error::argument(op, what));
        }
        let zeros = self.string_length()?.cast(dtype)?.zeros_like()?;
        Ok(Some(zeros.meet(op, operand, |a, b| a.add(b))?.all))
    }
}

/// The integers per string if given, otherwise the number.
fn either<'b>(operand: &RowOperand<'_>, rows: Option<&'b Tensor>) -> Operand<'b> {
    match (operand, rows) {
        (_, Some(rows)) => Operand::Tensor(rows),
        (RowOperand::Same(Operand::Value(value)), None) => Operand::Value(value.clone()),
        _ => unreachable!("bug: an operand without its integers"),
    }
}
