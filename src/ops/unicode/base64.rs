//! Base64 text of strings, in the alphabet for URLs and file names (RFC 4648, section 5).

use crate::dtype::DType;
use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::BinaryOp;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::tensor::{Tensor, Values};

operations! {
    /// Base64 text of strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// The base64 text of each string, with `-` and `_` as the last two digits.
    ///
    /// The alphabet is that for URLs and file names (RFC 4648, section 5); Polars uses `+` and `/`. The layout stays:
    /// empty rows stay empty, and an empty string has an empty text.
    ///
    /// # Errors
    /// The tensor does not hold strings; 2^32 - 1 bytes or more.
    ///
    /// # Cost
    /// A map and a prefix sum over the strings, and a map over the bytes of the result. No wait.
    ///
    /// ```
    /// use ragged::opt::Base64;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["So", ""], &Device::cpu())?;
    /// assert_eq!(x.encode_base64(Base64::Padded)?.to_string(), "tensor([b'U28=', b''], shape=(2,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn encode_base64(&self, end: Base64 = Base64::Unpadded) -> Str;
    alias "base64", "b64encode";
    tensorflow "tf.io.encode_base64";
    polars "bin.encode('base64')";
    gradient none "it takes strings";

    /// The strings whose base64 text these are, with `-` and `_` as the last two digits, padded or not.
    ///
    /// The alphabet is that for URLs and file names (RFC 4648, section 5); Polars uses `+` and `/`. The layout stays:
    /// empty rows stay empty. Bits beyond the last byte are ignored.
    ///
    /// # Errors
    /// The tensor does not hold strings. At the read: a byte that is no digit, a number of digits that is 1 modulo 4.
    ///
    /// # Cost
    /// A map and a prefix sum over the strings, a check of the bytes, and a map over the bytes of the result. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["U28", "U28="], &Device::cpu())?;
    /// assert_eq!(x.decode_base64()?.to_string(), "tensor([b'So', b'So'], shape=(2,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn decode_base64(&self) -> Str;
    alias "base64", "b64decode";
    tensorflow "tf.io.decode_base64";
    polars "bin.decode('base64')";
    gradient none "it takes strings";
}

#[track_caller]
fn encode_base64(x: &Tensor, end: Base64) -> Result<Tensor> {
    const OP: &str = "encode_base64";
    let (strings, bytes) = x.strings(OP)?;
    let (backend, count) = (x.backend(), strings.nrows_extent());
    let rec = Recorder::new(backend, OP);
    let (at, n) = (Expr::index(), Expr::u32);
    let length = strings.length_of_existing(at.clone());
    // Without multiplying the length, which could wrap: 4 digits per 3 bytes, 2 for one more byte, 3 for two.
    let (whole, rest) = (length.clone().div(n(3)).mul(n(4)), length.rem(n(3)));
    let is_whole = rest.clone().eq(n(0));
    let more = match end {
        Base64::Unpadded => is_whole.select(n(0), rest.add(n(1))),
        Base64::Padded => is_whole.select(n(0), n(4)),
    };
    let capacity = strings.nvals_extent().size().div(3).mul(4).add(count.size().mul(4)).add(4);
    let texts = rec.rows_of_lengths(count, whole.add(more), capacity)?;
    let (row, offset) = (texts.row_of(at.clone()), texts.offset_of(at));
    let (group, digit) = (offset.clone().div(n(4)).mul(n(3)), offset.rem(n(4)));
    let length = strings.length(row.clone());
    let byte = |k: u32| {
        let place = group.clone().add(n(k));
        let byte = Expr::load(bytes, strings.within(row.clone(), place.clone())).cast(DType::U32);
        place.lt(length.clone()).select(byte, n(0))
    };
    let three = shift(byte(0), BinaryOp::Shl, n(16)).or(shift(byte(1), BinaryOp::Shl, n(8))).or(byte(2));
    let six = shift(three, BinaryOp::Shr, n(18).sub(digit.clone().mul(n(6)))).and(n(63));
    let table = rec.uploaded(DType::U8, ALPHABET)?;
    let text = Expr::load(&table, six);
    let text = match end {
        Base64::Unpadded => text,
        // Digit k of a group begins with a bit of byte k - 1, except the first.
        Base64::Padded => group.add(digit).lt(length.add(n(1))).select(text, Expr::scalar(b'=')),
    };
    let bytes = rec.map(texts.nvals_extent().clone(), text, &[]);
    x.holding(Values::Strings { strings: texts, bytes })
}

#[track_caller]
fn decode_base64(x: &Tensor) -> Result<Tensor> {
    const OP: &str = "decode_base64";
    let (texts, bytes) = x.strings(OP)?;
    let (backend, count) = (x.backend(), texts.nrows_extent());
    let rec = Recorder::new(backend, OP);
    let (at, n) = (Expr::index(), Expr::u32);
    let mut values = [NO_DIGIT; 256];
    (0..).zip(ALPHABET).for_each(|(value, &digit)| values[usize::from(digit)] = value);
    let table = rec.uploaded(DType::U8, &values)?;
    let value = |at: Expr| Expr::load(&table, Expr::load(bytes, at).cast(DType::U32)).cast(DType::U32);
    // Digits of each text: padding ends a text of a multiple of four bytes.
    let length = texts.length(at.clone());
    let is_pad = |back: u32| {
        let byte = Expr::load(bytes, texts.within(at.clone(), length.clone().sub(n(back))));
        byte.eq(Expr::scalar(b'=')).select(n(1), n(0))
    };
    let padded = length.clone().rem(n(4)).eq(n(0)).and(n(0).lt(length.clone()));
    let pads = padded.select(is_pad(1).mul(n(1).add(is_pad(2))), n(0));
    let digits = rec.map(count.clone(), length.clone().sub(pads), &[]);
    let digit_count = Expr::load(&digits, at.clone());
    let (whole, rest) = (digit_count.clone().div(n(4)).mul(n(3)), digit_count.rem(n(4)));
    let bytes_of = whole.add(rest.clone().max(n(1)).sub(n(1)));
    let check = rec.check("the number of digits must not be 1 modulo 4");
    let bytes_of = bytes_of.checked(check.into(), rest.ne(n(1)));
    let (row, offset) = (texts.row_of(at.clone()), texts.offset_of(at.clone()));
    let is_digit = value(at.clone()).lt(n(64)).or(Expr::load(&digits, row).le(offset));
    let check = rec.check("a byte is no digit of base64 for URLs (A-Z a-z 0-9 - _)");
    let valid = rec.assert(texts.nvals_extent().clone(), is_digit, check);
    let lengths = rec.map(count.clone(), bytes_of, &[valid]);
    let capacity = texts.nvals_extent().size();
    let strings = rec.rows_of_lengths(count, Expr::load(&lengths, at.clone()), capacity)?;
    let (row, offset) = (strings.row_of(at.clone()), strings.offset_of(at));
    // Byte k of three takes bits of digits k and k + 1 of four.
    let (group, k) = (offset.clone().div(n(3)).mul(n(4)), offset.rem(n(3)));
    let first = texts.within(row, group.add(k.clone()));
    let (high, low) = (value(first.clone()), value(first.add(n(1))));
    let both = shift(high, BinaryOp::Shl, n(6)).or(low);
    let byte = shift(both, BinaryOp::Shr, n(4).sub(k.mul(n(2)))).and(n(0xFF)).cast(DType::U8);
    let bytes = rec.map(strings.nvals_extent().clone(), byte, &[]);
    x.holding(Values::Strings { strings, bytes })
}

/// End of a base64 text whose length would not be a multiple of four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Base64 {
    /// Nothing is added.
    Unpadded,
    /// `=` is added up to a multiple of four.
    Padded,
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Value of a byte that is no digit.
const NO_DIGIT: u8 = 0xFF;

fn shift(value: Expr, op: BinaryOp, by: Expr) -> Expr {
    value.binary(op, by)
}
