//! Numbers from text.

use std::str::FromStr;

use crate::backend::upload::uploaded;
use crate::dtype::DType;
use crate::element::{Arithmetic, Str};
use crate::error::{Error, Result, caller};
use crate::graph::expr::{CheckedStrings, Expr};
use crate::graph::node::{Node, Rows};
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::record::by_key::reduce_rows;
use crate::record::elementwise::Site;
use crate::record::host_step::{HostFlat, host_strings};
use crate::tensor::{HostValues, RaggedTensor, Tensor};

operations! {
    /// Numbers from text.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// The number that each string denotes.
    ///
    /// The dtype is f32, f64 or an integer of at most 63 bits. The layout stays: empty rows stay empty. White space
    /// around a number is ignored. An integer is an optional sign and decimal digits. A float may have a fraction and
    /// an exponent, or be `inf`, `infinity` or `nan` in any case. In Polars a string that is no number may give null.
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
    fn string_to_number(&self, dtype: DType) -> T;
    alias "parse", "to_integer", "to_float";
    tensorflow "tf.strings.to_number";
    awkward "ak.strings_astype";
    polars "Expr.cast";
    host "floats";
    gradient none "strings";
    typed hand;
}

#[track_caller]
fn string_to_number(x: &Tensor, dtype: DType) -> Result<Tensor> {
    const OP: &str = "string_to_number";
    x.strings(OP)?;
    match dtype {
        DType::F32 => x.floats(OP, dtype, HostValues::F32),
        DType::F64 => x.floats(OP, dtype, HostValues::F64),
        DType::U64 => Err(Error::unsupported(OP, dtype, "use i64")),
        dtype if dtype.is_integer() => x.integers(OP, dtype),
        other => Err(Error::unsupported(OP, other, "use f32 or an integer type, and cast the result")),
    }
}

/// Digits whose value always fits in 64 bits.
const DIGITS: u32 = 19;

/// The number that a string denotes, with white space around it.
fn parse<T: FromStr>(s: &[u8]) -> Option<T> {
    let text = std::str::from_utf8(s).ok()?;
    text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b').parse().ok()
}

/// The message for a string that is no number of the dtype.
fn no_number(dtype: DType) -> String {
    format!("a string is not a number of {dtype}")
}

/// A string as messages show it: its first bytes, in quotes.
fn quoted(s: &[u8]) -> String {
    const SHOWN: usize = 64;
    let shown = String::from_utf8_lossy(&s[..s.len().min(SHOWN)]);
    format!("{shown:?}{}", if s.len() > SHOWN { "…" } else { "" })
}

fn is_number<T: FromStr>(s: &[u8]) -> bool {
    parse::<T>(s).is_some()
}

impl Tensor {
    #[track_caller]
    fn floats<T: FromStr + Clone + Default + Send>(
        &self,
        op: &'static str,
        dtype: DType,
        wrap: fn(Vec<T>) -> HostValues,
    ) -> Result<Self> {
        let location = caller();
        let parsed = |at: usize, s: &[u8]| {
            parse(s).ok_or_else(|| {
                let what = format!("{}: {}", no_number(dtype), quoted(s));
                Error::Check { op, what, at: at as u64, location }
            })
        };
        host_strings(op, self, &dtype, |memory, strings| Ok(HostFlat::Numbers(wrap(memory.numbers(strings, parsed)?))))
    }

    #[track_caller]
    fn integers(&self, op: &'static str, dtype: DType) -> Result<Self> {
        let site = Site::new(op);
        let (strings, bytes) = self.strings(op)?;
        let (backend, count) = (self.backend(), self.count()?);
        let (at, one) = (Expr::index(), Expr::u32(1));
        let (first, end) = self.stripped(op)?;
        let stored = |value: Expr| Expr::load(&Node::map(backend, op, count.clone(), value, &[]), at.clone());
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
        let (row_first, row_end) = (digits.at(&row), end.at(&row));
        let inside = row_first.le(at.clone()).and(at.clone().lt(row_end.clone()));
        let power = row_end.sub(at.clone()).sub(one);
        let small = power.clone().lt(Expr::u32(DIGITS));
        let powers: Vec<u64> = (0..DIGITS).map(|k| 10u64.pow(k)).collect();
        let powers = uploaded(backend, op, DType::U64, bytemuck::cast_slice(&powers))?;
        let value = Expr::load(&powers, power.min(Expr::u32(DIGITS - 1))).mul(digit.clone().cast(DType::U64));
        let value = inside.clone().and(small.clone()).select(value, Expr::scalar(0u64));
        let flag = |condition: Expr| condition.select(Expr::u32(1), Expr::u32(0));
        let is_digit = digit.clone().lt(Expr::u32(10));
        let misfit = is_digit.not().or(small.not().and(digit.ne(Expr::u32(0))));
        let rec = Recorder::new(backend, op);
        let reduce = |by: ReduceOp, value: Expr| {
            let node = reduce_rows(rec, by, strings.domain(1), value)?;
            Ok::<_, Error>(Expr::load(&node, at.clone()))
        };
        let (value, misfit) = (reduce(ReduceOp::Sum, value)?, reduce(ReduceOp::Max, flag(inside.and(misfit)))?);
        let bits = 8 * dtype.size() as u32;
        let (lowest, highest) = if dtype.is_signed() {
            (1u64 << (bits - 1), (1u64 << (bits - 1)) - 1)
        } else {
            (0, u64::MAX >> (64 - bits))
        };
        let most = negative.clone().select(Expr::scalar(lowest), Expr::scalar(highest));
        let ok = digits.lt(end).and(misfit.eq(Expr::u32(0))).and(value.clone().le(most));
        let value = value.cast(DType::I64);
        let value = negative.select(Expr::scalar(0i64).sub(value.clone()), value).cast(dtype);
        let shown = CheckedStrings {
            splits: match strings.rows() {
                Rows::Splits(splits) => Ok(splits.downgrade()),
                Rows::Uniform(len) => Err(len.clone()),
            },
            bytes: bytes.downgrade(),
            accepts: match dtype {
                DType::I8 => is_number::<i8>,
                DType::I16 => is_number::<i16>,
                DType::I32 => is_number::<i32>,
                DType::U8 => is_number::<u8>,
                DType::U16 => is_number::<u16>,
                DType::U32 => is_number::<u32>,
                _ => is_number::<i64>,
            },
        };
        let value = site.checked_strings(&no_number(dtype), ok, value, Some(shown));
        self.with_value_node(Node::map(backend, op, count, value, &[]))
    }
}

impl RaggedTensor<Str> {
    /// The number of type `T` that each string denotes.
    ///
    /// `T` is f32, f64 or an integer of at most 63 bits. The layout stays: empty rows stay empty. White space around a
    /// number is ignored. An integer is an optional sign and decimal digits. A float may have a fraction and an
    /// exponent, or be `inf`, `infinity` or `nan` in any case.
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
}
