//! Numbers from text.

use std::str::FromStr;

use crate::dtype::DType;
use crate::element::{Arithmetic, Str};
use crate::error::{Error, Result, caller, quoted};
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
}

#[track_caller]
fn string_to_number(x: &Tensor, dtype: DType) -> Result<Tensor> {
    const OP: &str = "string_to_number";
    let rec = Recorder::new(x.backend(), OP);
    rec.strings(x)?;
    match dtype {
        DType::F32 => x.floats(OP, dtype, HostValues::F32),
        DType::F64 => x.floats(OP, dtype, HostValues::F64),
        dtype if dtype.is_integer() => x.integers(rec, dtype),
        other => Err(rec.unsupported(other, "use f32 or an integer type, and cast the result")),
    }
}

/// Digits of the greatest u64. The value of one digit less always fits in 64 bits.
const DIGITS: u32 = 20;

/// The power of ten of the first of [`DIGITS`] digits.
const TOP: u64 = 10u64.pow(DIGITS - 1);

// What a byte says about the number: nothing; that it is at least `TOP`; that it is none.
const PLAIN: u32 = 0;
const LARGE: u32 = 1;
const MISFIT: u32 = 2;

/// The number that a string denotes, with white space around it.
fn parse<T: FromStr>(s: &[u8]) -> Option<T> {
    let text = std::str::from_utf8(s).ok()?;
    text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b').parse().ok()
}

/// The message for a string that is no number of the dtype.
fn no_number(dtype: DType) -> String {
    format!("a string is not a number of {dtype}")
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
        let rec = Recorder::new(self.backend(), op);
        let location = caller();
        let parsed = |at: usize, s: &[u8]| {
            parse(s).ok_or_else(|| {
                let what = format!("{}: {}", no_number(dtype), quoted(s));
                Error::Check { op, what, at: at as u64, location }
            })
        };
        host_strings(rec, self, &dtype, |memory, strings| Ok(HostFlat::Numbers(wrap(memory.numbers(strings, parsed)?))))
    }

    fn integers(&self, rec: Recorder<'_>, dtype: DType) -> Result<Self> {
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
        let reduce = |by: ReduceOp, value: Expr| {
            let node = reduce_rows(rec, by, strings.domain(1), value)?;
            Ok::<_, Error>(Expr::load(&node, at.clone()))
        };
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
                DType::I8 => is_number::<i8>,
                DType::I16 => is_number::<i16>,
                DType::I32 => is_number::<i32>,
                DType::U8 => is_number::<u8>,
                DType::U16 => is_number::<u16>,
                DType::U32 => is_number::<u32>,
                DType::U64 => is_number::<u64>,
                _ => is_number::<i64>,
            },
        };
        let value = rec.checked_strings(&no_number(dtype), ok, value, Some(shown));
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
}
