//! Substrings by position and length.

use super::characters::Characters;
use super::slices::slices;
use crate::dtype::DType;
use crate::element::Str;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::ops::IntoOperand;
use crate::ops::elementwise::Site;
use crate::ops::operand::Operand;
use crate::shape::same_layout;
use crate::tensor::{Fill, RaggedTensor, Tensor};

impl Tensor {
    /// Bytes `pos` to `pos + len` of each string; the layout stays.
    ///
    /// A negative `pos` counts from the end of the string. A substring ends at the end of its string at the latest, and
    /// is empty if `len` is not positive. `pos` and `len` are integers, or tensors of integers, of the strings' layout
    /// or of rank 0.
    ///
    /// # Errors
    /// The tensor does not hold strings; `pos` or `len` is not an integer, or has another layout; at the read: a `pos`
    /// outside its string. The end of the string is inside.
    ///
    /// # Cost
    /// Maps over the strings, a prefix sum of the lengths, and a copy of the bytes of the result. No wait.
    ///
    /// # Source
    /// `tf.strings.substr(x, pos, len)`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["hello", "worlds"], &Device::cpu())?;
    /// assert_eq!(x.substr(1, 3)?.to_string(), "tensor([b'ell', b'orl'], shape=(2,), dtype=str)");
    /// assert_eq!(x.substr(-2, 9)?.to_string(), "tensor([b'lo', b'ds'], shape=(2,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn substr<'a>(&self, pos: impl IntoOperand<'a>, len: impl IntoOperand<'a>) -> Result<Self> {
        self.substrings("substr", pos.into(), len.into(), false)
    }

    /// As [`Tensor::substr`], in UTF-8 characters.
    ///
    /// A continuation byte (`10xxxxxx`) belongs to the character before it; one that begins a string is a character.
    ///
    /// # Errors
    /// As [`Tensor::substr`].
    ///
    /// # Cost
    /// As [`Tensor::substr`], and a rank bitmap of the bytes, with two searches in it per string, one if `pos` is 0.
    ///
    /// # Source
    /// `tf.strings.substr(x, pos, len, unit='UTF8_CHAR')`; Polars: `str.slice`, whose positions may lie outside.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["naïve", "日本語"], &Device::cpu())?;
    /// let y = RaggedTensor::from_nested(["aïv", "本語"], &Device::cpu())?;
    /// assert_eq!(x.substr_chars(1, 3)?.to_vec()?, y.to_vec()?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn substr_chars<'a>(&self, pos: impl IntoOperand<'a>, len: impl IntoOperand<'a>) -> Result<Self> {
        self.substrings("substr_chars", pos.into(), len.into(), true)
    }

    #[track_caller]
    fn substrings(&self, op: &'static str, pos: Operand<'_>, len: Operand<'_>, by_char: bool) -> Result<Self> {
        let (strings, bytes) = self.strings(op)?;
        let (backend, site) = (self.backend(), Site::new(op));
        let (row, count) = (Expr::index(), self.count()?);
        let mut asserts = Vec::new();
        let pos = self.integer_per_string(op, "pos", pos, &mut asserts)?;
        let len = self.integer_per_string(op, "len", len, &mut asserts)?;
        let start = strings.start(row.clone());
        let size = strings.length(row.clone());
        let chars = by_char.then(|| Characters::new(backend, op, (strings, bytes)));
        // No position but the start of the string needs the number of characters.
        let from = if pos.is_zero() {
            Expr::u32(0)
        } else {
            let total = match &chars {
                None => size.clone(),
                Some(chars) => {
                    let total = chars.count(&row).add(chars.headless(&row));
                    Expr::load(&Node::map(backend, op, count.clone(), total, &[]), row.clone())
                }
            };
            // From the front, within the string. A wrapped sum is not within it.
            let from = pos.in_front(&total);
            let inside = pos.is_within(&total);
            let from = site.checked("a position is outside of its string", inside, from);
            Expr::load(&Node::map(backend, op, count.clone(), from, &[]), row.clone())
        };
        // A string has at most as many characters as bytes.
        let taken = len.at_most(&size.sub(from.clone()));
        // Stored, since the length reads it too.
        let stored = |first| Expr::load(&Node::map(backend, op, count.clone(), first, &asserts), row.clone());
        let (first, length) = match &chars {
            None => (stored(start.add(from)), taken),
            Some(chars) => {
                let position = chars.position(backend, op);
                let first = stored(if pos.is_zero() { start } else { position(&row, &from) });
                let length = position(&row, &from.add(taken)).sub(first.clone());
                (first, length)
            }
        };
        let values = slices(backend, op, &count, bytes, (first, length), self.values_ref().bytes_size())?;
        self.holding(values)
    }

    /// An integer argument for each string.
    #[track_caller]
    fn integer_per_string(
        &self,
        op: &'static str,
        name: &str,
        argument: Operand<'_>,
        asserts: &mut Vec<Node>,
    ) -> Result<PerString> {
        let dtype = argument.dtype();
        if !dtype.is_integer() {
            return Err(Error::unsupported(op, dtype, format!("{name} must be an integer")));
        }
        match argument {
            Operand::Value(fill) => match fill.of_dtype(op, DType::I64)? {
                Fill::Number(crate::Scalar::I64(v)) => Ok(PerString::All(v)),
                other => Err(Error::unsupported(op, other.dtype(), format!("{name} must be an integer"))),
            },
            Operand::Tensor(t) => {
                crate::device::Device::check_same(op, self.backend(), t.backend())?;
                let at = if t.rank() == 0 {
                    Expr::u32(0)
                } else {
                    asserts.extend(same_layout(self.backend(), op, self.ragged_shape(), t.ragged_shape())?);
                    Expr::index()
                };
                Ok(PerString::Each(Expr::load(t.numbers(op)?, at).cast(DType::I64)))
            }
        }
    }
}

/// An integer argument: the same for all strings, or an i64 expression in the string.
enum PerString {
    All(i64),
    Each(Expr),
}

/// A 64-bit number as a number of at most 32 bits; larger ones saturate.
fn saturated(v: u64) -> Expr {
    Expr::u32(u32::try_from(v).unwrap_or(u32::MAX))
}

impl PerString {
    /// Whether it is 0 for all strings.
    fn is_zero(&self) -> bool {
        matches!(self, Self::All(0))
    }

    /// The position from the front of a string of `total` units, if it is within the string.
    fn in_front(&self, total: &Expr) -> Expr {
        match self {
            Self::All(v) if *v >= 0 => saturated(v.unsigned_abs()),
            Self::All(v) => total.clone().sub(saturated(v.unsigned_abs())),
            Self::Each(v) => {
                let zero = Expr::scalar(0i64);
                let back = v.clone().add(total.clone().cast(DType::I64));
                v.clone().lt(zero).select(back, v.clone()).cast(DType::U32)
            }
        }
    }

    /// Whether the position is within a string of `total` units, or at its end.
    fn is_within(&self, total: &Expr) -> Expr {
        match self {
            Self::All(v) => saturated(v.unsigned_abs()).le(total.clone()),
            Self::Each(v) => {
                let total = total.clone().cast(DType::I64);
                Expr::scalar(0i64).sub(total.clone()).le(v.clone()).and(v.clone().le(total))
            }
        }
    }

    /// The length, clamped to between 0 and `most`.
    fn at_most(&self, most: &Expr) -> Expr {
        match self {
            Self::All(v) => most.clone().min(saturated((*v).max(0).unsigned_abs())),
            Self::Each(v) => {
                let most = most.clone().cast(DType::I64);
                v.clone().max(Expr::scalar(0i64)).min(most).cast(DType::U32)
            }
        }
    }
}

impl RaggedTensor<Str> {
    /// As [`Tensor::substr`].
    ///
    /// # Errors
    /// As [`Tensor::substr`].
    #[track_caller]
    pub fn substr<'a>(&self, pos: impl IntoOperand<'a>, len: impl IntoOperand<'a>) -> Result<Self> {
        self.erased().substr(pos, len)?.try_into()
    }

    /// As [`Tensor::substr_chars`].
    ///
    /// # Errors
    /// As [`Tensor::substr`].
    #[track_caller]
    pub fn substr_chars<'a>(&self, pos: impl IntoOperand<'a>, len: impl IntoOperand<'a>) -> Result<Self> {
        self.erased().substr_chars(pos, len)?.try_into()
    }
}
