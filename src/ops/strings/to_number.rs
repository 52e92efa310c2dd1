//! Numbers from text.

use std::str::FromStr;

use crate::dtype::DType;
use crate::element::{Arithmetic, Str};
use crate::error::{Error, Result, quoted};
use crate::graph::expr::{CheckedStrings, Expr};
use crate::graph::node::Rows;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::record::by_key::reduce_rows;
use crate::record::host_step::{HostFlat, host_strings};
use crate::tensor::{HostValues, RaggedTensor, Tensor};

operations! {
    /// Numbers from text.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// The number that each string denotes.
    ///
    /// The dtype is f32, f64 or any integer type. The layout stays: empty rows stay empty. White space around a number
    /// is ignored. An integer is an optional sign and decimal digits; for an unsigned dtype the sign is `+`, as in Rust
    /// and TensorFlow, so that `-0` is an error. A float may have a fraction and an exponent, or be `inf`, `infinity`
    /// or `nan` in any case. In Polars a string that is no number may give null.
    ///
    /// Floats are a host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// The tensor does not hold strings; another dtype; floats on a GPU whose options do not allow host steps. A string
    /// that is no number of the dtype: for floats at the call, for integers at the read.
    ///
    /// # Cost
    /// Integers: two passes over the bytes, which reduce the edges of the digits and then their value. No wait. Floats:
    /// a read and an upload, and one wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["12", " -7 "], vec![]], &Device::cpu())?;
    /// assert_eq!(x.string_to_number::<i32>()?.to_string(), "<ragged.RaggedTensor [[12, -7], []]>");
    /// assert_eq!(x.string_to_number::<f32>()?.to_vec()?, [12.0, -7.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_to_number(&self, dtype: DType) -> {dtype};
    alias "parse", "to_integer", "to_float";
    tensorflow "tf.strings.to_number";
    awkward "ak.strings_astype";
    polars "Expr.cast";
    host "floats";
    gradient none "it takes strings";
    typed hand;

    /// The number that each string begins with: 12 of `12ab`, as C's `strtol` and `strtod` read it.
    ///
    /// The longest start of the string, after white space, that [`string_to_number`](Self::string_to_number) takes;
    /// whatever follows is ignored. Of `12.5e3 m` that is 12 for an integer and 12500 for a float. The dtype is f32, f64
    /// or any integer type. The layout stays: empty rows stay empty.
    ///
    /// Floats are a host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// The tensor does not hold strings; another dtype; floats on a GPU whose options do not allow host steps. A string
    /// that does not begin with a number, or whose number is no value of the dtype: for floats at the call, for integers
    /// at the read.
    ///
    /// # Cost
    /// Integers: three passes over the bytes, of which the first finds the end of the digits. No wait. Floats: a read
    /// and an upload, and one wait.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["12ab", " -7.5 kg"], vec![]], &Device::cpu())?.into_erased();
    /// let whole = x.string_prefix_to_number(DType::I32)?;
    /// assert_eq!(whole.to_string(), "<ragged.RaggedTensor [[12, -7], []]>");
    /// let float = x.string_prefix_to_number(DType::F32)?;
    /// assert_eq!(float.to_string(), "<ragged.RaggedTensor [[12.0, -7.5], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_prefix_to_number(&self, dtype: DType) -> {dtype};
    alias "parse_prefix", "strtol", "strtod", "leading number";
    polars "str.extract";
    host "floats";
    gradient none "it takes strings";
    typed hand;
}

#[track_caller]
fn string_to_number(x: &Tensor, dtype: DType) -> Result<Tensor> {
    x.numbers_in(x.recorder("string_to_number"), dtype, Text::Whole)
}

#[track_caller]
fn string_prefix_to_number(x: &Tensor, dtype: DType) -> Result<Tensor> {
    x.numbers_in(x.recorder("string_prefix_to_number"), dtype, Text::Prefix)
}

/// What of a string is the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    /// All of it, but for white space around the number.
    Whole,
    /// The longest start, after white space, that is a number.
    Prefix,
}

/// Digits of the greatest u64. The value of one digit less always fits in 64 bits.
const DIGITS: u32 = 20;

/// The power of ten of the first of [`DIGITS`] digits.
const TOP: u64 = 10u64.pow(DIGITS - 1);

// What a byte says about the number: nothing; that it is at least `TOP`; that it is none.
const PLAIN: u32 = 0;
const LARGE: u32 = 1;
const MISFIT: u32 = 2;

/// A string without white space at its ends.
fn trimmed(s: &[u8]) -> Option<&str> {
    Some(std::str::from_utf8(s).ok()?.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b'))
}

/// The number that a string denotes, with white space around it.
fn parse<T: FromStr>(s: &[u8]) -> Option<T> {
    trimmed(s)?.parse().ok()
}

/// The integer that a string begins with.
fn parse_integer_prefix<T: FromStr>(s: &[u8]) -> Option<T> {
    let s = without_space(s);
    let sign = usize::from(matches!(s.first(), Some(b'+' | b'-')));
    parse(&s[..sign + digits(&s[sign..])])
}

/// The float that a string begins with.
fn parse_float_prefix<T: FromStr>(s: &[u8]) -> Option<T> {
    let s = without_space(s);
    let sign = usize::from(matches!(s.first(), Some(b'+' | b'-')));
    let unsigned = &s[sign..];
    let begins =
        |word: &str| unsigned.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    if let Some(word) = ["infinity", "inf", "nan"].into_iter().find(|word| begins(word)) {
        return parse(&s[..sign + word.len()]);
    }
    let mut end = sign + digits(unsigned);
    if s.get(end) == Some(&b'.') {
        end += 1 + digits(&s[end + 1..]);
    }
    if let Some(b'e' | b'E') = s.get(end) {
        let from = end + 1 + usize::from(matches!(s.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(s.get(from..).unwrap_or_default());
        end = if exponent > 0 { from + exponent } else { end };
    }
    parse(&s[..end])
}

/// The bytes after the white space at the start.
fn without_space(s: &[u8]) -> &[u8] {
    let space = s.iter().take_while(|b| b.is_ascii_whitespace() || **b == b'\x0b').count();
    &s[space..]
}

/// The number of digits that the bytes begin with.
fn digits(s: &[u8]) -> usize {
    s.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// The message for a string that is no number of the dtype.
fn no_number(dtype: DType, text: Text) -> String {
    match text {
        Text::Whole => format!("a string is not a number of {dtype}"),
        Text::Prefix => format!("a string does not begin with a number of {dtype}"),
    }
}

/// Whether a string has an integer of a type.
fn has_integer<T: FromStr>(text: Text) -> fn(&[u8]) -> bool {
    match text {
        Text::Whole => |s| parse::<T>(s).is_some(),
        Text::Prefix => |s| parse_integer_prefix::<T>(s).is_some(),
    }
}

impl Tensor {
    /// The numbers of strings.
    fn numbers_in(&self, rec: Recorder<'_>, dtype: DType, text: Text) -> Result<Self> {
        rec.strings(self)?;
        match dtype {
            DType::F32 => self.floats(rec, (dtype, text), HostValues::F32),
            DType::F64 => self.floats(rec, (dtype, text), HostValues::F64),
            dtype if dtype.is_integer() => self.integers(rec, dtype, text),
            other => Err(rec.unsupported(other, "use f32 or an integer type, and cast the result")),
        }
    }

    fn floats<T: FromStr + Clone + Default + Send>(
        &self,
        rec: Recorder<'_>,
        (dtype, text): (DType, Text),
        wrap: fn(Vec<T>) -> HostValues,
    ) -> Result<Self> {
        let (op, location) = (rec.op, rec.location);
        let parse = if text == Text::Whole { parse } else { parse_float_prefix };
        let parsed = |at: usize, s: &[u8]| {
            parse(s).ok_or_else(|| {
                let what = format!("{}: {}", no_number(dtype, text), quoted(s));
                Error::Check { op, what, at: at as u64, location }
            })
        };
        host_strings(rec, self, &dtype, |memory, strings| Ok(HostFlat::Numbers(wrap(memory.numbers(strings, parsed)?))))
    }

    fn integers(&self, rec: Recorder<'_>, dtype: DType, text: Text) -> Result<Self> {
        let (strings, bytes) = rec.strings(self)?;
        let count = rec.at(self.count())?;
        let (at, one) = (Expr::index(), Expr::u32(1));
        let (first, end) = self.stripped(rec)?;
        let stored = |value: Expr| Expr::load(&rec.map(count.clone(), value, &[]), at.clone());
        let sign = Expr::load(bytes, first.clone());
        let is = |b: u8| sign.clone().eq(Expr::scalar(b));
        let is_some = first.clone().lt(end.clone());
        let negative = is_some.clone().and(is(b'-'));
        let signed = is_some.and(is(b'-').or(is(b'+')));
        let digits = stored(signed.select(first.clone().add(one.clone()), first));
        // Of each byte: its digit and the power of ten that it counts.
        let row = strings.row_of(at.clone());
        let byte = Expr::load(bytes, at.clone());
        let digit = byte.cast(DType::U32).sub(Expr::u32(u32::from(b'0')));
        let reduce = |by: ReduceOp, value: Expr| {
            let node = reduce_rows(rec, by, strings.domain(1), value)?;
            Ok::<_, Error>(Expr::load(&node, at.clone()))
        };
        let end = match text {
            Text::Whole => end,
            Text::Prefix => {
                // The first byte after the sign that is no digit.
                let is_other = digits.at(&row).le(at.clone()).and(Expr::u32(9).lt(digit.clone()));
                let other = is_other.select(at.clone(), Expr::u32(u32::MAX));
                stored(end.min(rec.at(reduce(ReduceOp::Min, other))?))
            }
        };
        let (row_first, row_end) = (digits.at(&row), end.at(&row));
        let inside = row_first.le(at.clone()).and(at.clone().lt(row_end.clone()));
        let power = row_end.sub(at.clone()).sub(one);
        let small = power.clone().lt(Expr::u32(DIGITS));
        let powers: Vec<u64> = (0..DIGITS).map(|k| 10u64.pow(k)).collect();
        let powers = rec.uploaded(DType::U64, bytemuck::cast_slice(&powers))?;
        let value = Expr::load(&powers, power.clone().min(Expr::u32(DIGITS - 1))).mul(digit.clone().cast(DType::U64));
        let value = inside.clone().and(small.clone()).select(value, Expr::scalar(0u64));
        let (zero, one) = (Expr::u32(0), Expr::u32(1));
        let fits =
            digit.clone().eq(zero).or(digit.clone().lt(Expr::u32(10)).and(power.clone().lt(Expr::u32(DIGITS - 1))));
        let large = power.eq(Expr::u32(DIGITS - 1)).and(digit.eq(one)).select(Expr::u32(LARGE), Expr::u32(MISFIT));
        let kind = inside.select(fits.select(Expr::u32(PLAIN), large), Expr::u32(PLAIN));
        let (value, kind) = (rec.at(reduce(ReduceOp::Sum, value))?, rec.at(reduce(ReduceOp::Max, kind))?);
        let bits = 8 * dtype.size() as u32;
        let in_range = |value: Expr| {
            if !dtype.is_signed() {
                return negative.clone().not().and(value.le(Expr::scalar(u64::MAX >> (64 - bits))));
            }
            let (lowest, highest) = (1u64 << (bits - 1), (1u64 << (bits - 1)) - 1);
            value.le(negative.clone().select(Expr::scalar(lowest), Expr::scalar(highest)))
        };
        // From `TOP` to twice that, a sum that wrapped is below `TOP`.
        let exact = kind.clone().lt(Expr::scalar(TOP).le(value.clone()).select(Expr::u32(MISFIT), Expr::u32(LARGE)));
        let ok = digits.lt(end).and(exact).and(in_range(value.clone()));
        let value = match dtype {
            DType::U64 => value,
            _ => {
                let value = value.cast(DType::I64);
                negative.select(Expr::scalar(0i64).sub(value.clone()), value).cast(dtype)
            }
        };
        let shown = CheckedStrings {
            splits: match strings.rows() {
                Rows::Splits(splits) => Ok(splits.downgrade()),
                Rows::Uniform(len) => Err(len.clone()),
            },
            bytes: bytes.downgrade(),
            accepts: match dtype {
                DType::I8 => has_integer::<i8>(text),
                DType::I16 => has_integer::<i16>(text),
                DType::I32 => has_integer::<i32>(text),
                DType::U8 => has_integer::<u8>(text),
                DType::U16 => has_integer::<u16>(text),
                DType::U32 => has_integer::<u32>(text),
                DType::U64 => has_integer::<u64>(text),
                _ => has_integer::<i64>(text),
            },
        };
        let value = rec.checked_strings(&no_number(dtype, text), ok, value, Some(shown));
        rec.at(self.with_value_node(rec.map(count, value, &[])))
    }
}

/// Numbers from text.
impl RaggedTensor<Str> {
    /// The number of type `T` that each string denotes.
    ///
    /// `T` is f32, f64 or any integer type. The layout stays: empty rows stay empty. White space around a number is
    /// ignored. An integer is an optional sign and decimal digits; for an unsigned type the sign is `+`, as in Rust and
    /// TensorFlow, so that `-0` is an error. A float may have a fraction and an exponent, or be `inf`, `infinity` or
    /// `nan` in any case.
    ///
    /// Floats are a host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// Another `T`; floats on a GPU whose options do not allow host steps. A string that is no number of the type: for
    /// floats at the call, for integers at the read.
    ///
    /// # Cost
    /// Integers: two passes over the bytes, which reduce the edges of the digits and then their value. No wait. Floats:
    /// a read and an upload, and one wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["12", " -7 "], vec![]], &Device::cpu())?;
    /// assert_eq!(x.string_to_number::<i32>()?.to_string(), "<ragged.RaggedTensor [[12, -7], []]>");
    /// assert_eq!(x.string_to_number::<f32>()?.to_vec()?, [12.0, -7.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.strings.to_number`. Awkward: `ak.strings_astype`. Polars: `Expr.cast`.
    #[track_caller]
    pub fn string_to_number<T: Arithmetic>(&self) -> Result<RaggedTensor<T>> {
        self.erased().string_to_number(T::DTYPE)?.try_into()
    }

    /// The number of type `T` that each string begins with: 12 of `12ab`, as C's `strtol` and `strtod` read it.
    ///
    /// The longest start of the string, after white space, that [`string_to_number`](Self::string_to_number) takes;
    /// whatever follows is ignored. Of `12.5e3 m` that is 12 for an integer and 12500 for a float. The layout stays:
    /// empty rows stay empty.
    ///
    /// Floats are a host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// Another `T` than f32, f64 or an integer; floats on a GPU whose options do not allow host steps. A string that
    /// does not begin with a number, or whose number is no value of the type: for floats at the call, for integers at
    /// the read.
    ///
    /// # Cost
    /// Integers: three passes over the bytes, of which the first finds the end of the digits. No wait. Floats: a read
    /// and an upload, and one wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["12ab", " -7.5 kg"], vec![]], &Device::cpu())?;
    /// assert_eq!(x.string_prefix_to_number::<i32>()?.to_string(), "<ragged.RaggedTensor [[12, -7], []]>");
    /// assert_eq!(x.string_prefix_to_number::<f32>()?.to_vec()?, [12.0, -7.5]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Polars: `str.extract` and a cast.
    #[doc(alias = "parse_prefix")]
    #[doc(alias = "strtol")]
    #[doc(alias = "strtod")]
    #[doc(alias = "leading number")]
    #[track_caller]
    pub fn string_prefix_to_number<T: Arithmetic>(&self) -> Result<RaggedTensor<T>> {
        self.erased().string_prefix_to_number(T::DTYPE)?.try_into()
    }
}
