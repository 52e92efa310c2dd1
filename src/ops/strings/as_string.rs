//! Text from numbers.

use super::number_format::{NumberFormat, Pad};
use crate::dtype::DType;
use crate::element::Number;
use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::UnaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::ops::operations;
use crate::record::host_step::host_numbers;
use crate::tensor::{BytesBound, Fill, HostValues, Pick, Tensor, Values};

operations! {
    /// Text from numbers.
    const OPERATIONS: family "Strings" on RaggedTensor<T> where T: Number;

    /// Each number as text: integers in decimal, floats with six digits after the point, bools as `true` and `false`.
    ///
    /// The layout stays: empty rows stay empty. A [`Tensor`](crate::Tensor) of strings stays as it is. Polars writes
    /// the shortest text of a float that reads back, as [`as_string_with`](Self::as_string_with) does with
    /// [`Notation::Shortest`](crate::opt::Notation).
    ///
    /// Floats are a host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// Floats on a GPU whose options do not allow host steps; no host memory for the texts of floats.
    ///
    /// # Cost
    /// Integers and bools: a map and a prefix sum over the numbers, and a map over the bytes of the result, each of
    /// which divides. No wait. Floats: a read and an upload, and one wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![10, -3], vec![]], &device)?;
    /// assert_eq!(x.as_string()?.to_string(), "<ragged.RaggedTensor [[b'10', b'-3'], []]>");
    /// let x = RaggedTensor::from_nested([1.5f32], &device)?;
    /// assert_eq!(x.as_string()?.to_string(), "tensor([b'1.500000'], shape=(1,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn as_string(&self) -> Str;
    alias "to_string", "str";
    tensorflow "tf.strings.as_string";
    polars "Expr.cast(pl.String)";
    host "floats";
    gradient none "the result holds strings";

    /// Each number as text, in a format of given width, padding, precision and notation.
    ///
    /// The layout stays: empty rows stay empty. Bools ignore the format, as does a [`Tensor`](crate::Tensor) of
    /// strings; integers ignore its precision and notation. [`Notation::Shortest`](crate::opt::Notation) reads back,
    /// and with precision 6 is TensorFlow's `shortest`.
    ///
    /// Floats are a host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// Floats on a GPU whose options do not allow host steps; no host memory for the texts of floats.
    ///
    /// # Cost
    /// Integers and bools: a map and a prefix sum over the numbers, and a map over the bytes of the result, each of
    /// which divides. No wait. Floats: a read and an upload, and one wait.
    ///
    /// ```
    /// use ragged::opt::NumberFormat;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([1.5, 2.25, 3.14159], &Device::cpu())?;
    /// let text = x.as_string_with(&NumberFormat::default().precision(2))?;
    /// assert_eq!(text.to_string(), "tensor([b'1.50', b'2.25', b'3.14'], shape=(3,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn as_string_with(&self, format: &NumberFormat = &NumberFormat::default()) -> Str;
    alias "printf";
    tensorflow "tf.strings.as_string(…, precision, scientific, shortest, width, fill)";
    host "floats";
    gradient none "the result holds strings";
    call none;
}

#[track_caller]
fn as_string(x: &Tensor) -> Result<Tensor> {
    x.as_string_with(&NumberFormat::default())
}

#[track_caller]
fn as_string_with(x: &Tensor, format: &NumberFormat) -> Result<Tensor> {
    let rec = x.recorder("as_string");
    match x.dtype() {
        DType::Str => Ok(x.clone()),
        DType::Bool => {
            let value = Expr::load(rec.numbers(x)?, Expr::index());
            let text = |s: &str| Pick::Fill(Fill::from(s));
            let pick = Pick::either(value, text("true"), text("false"));
            let count = x.count()?;
            let bound = BytesBound::AtMost(count.size().mul(5));
            x.holding(rec.rearranged(&count, &pick, bound, &[])?)
        }
        dtype if dtype.is_integer() => x.decimal(rec, format),
        _ => host_numbers(rec, x, format, |memory, numbers| {
            let wide: Box<dyn Fn(usize) -> f64 + Sync> = match numbers {
                HostValues::F16(v) => Box::new(|i| v[i].to_f64()),
                HostValues::BF16(v) => Box::new(|i| v[i].to_f64()),
                HostValues::F32(v) => Box::new(|i| v[i].into()),
                HostValues::F64(v) => Box::new(|i| v[i]),
                other => return Err(rec.unsupported(other.dtype(), "it needs numbers")),
            };
            memory.strings(numbers.len(), |i, out| out.push(format.float(wide(i), x.dtype()).as_bytes()))
        }),
    }
}

impl Tensor {
    /// Integers in decimal.
    fn decimal(&self, rec: Recorder<'_>, format: &NumberFormat) -> Result<Self> {
        let (count, dtype) = (rec.at(self.count())?, self.dtype());
        let (at, one, zero) = (Expr::index(), Expr::u32(1), Expr::u32(0));
        let value = Expr::load(rec.numbers(self)?, at.clone());
        // The magnitude, in an unsigned type; that of the least integer wraps to itself.
        let (wide, unsigned) = if dtype.size() == 8 { (DType::I64, DType::U64) } else { (DType::I32, DType::U32) };
        let (negative, magnitude) = if dtype.is_signed() {
            let value = value.cast(wide);
            let negative = value.clone().lt(Expr::scalar(Scalar::from_i64(wide, 0)));
            (negative, value.unary(UnaryOp::Abs).cast(unsigned))
        } else {
            (Expr::scalar(false), value.cast(unsigned))
        };
        let most_digits = if unsigned == DType::U64 { 20u32 } else { 10 };
        let powers: Vec<u64> = (0..most_digits).map(|k| 10u64.pow(k)).collect();
        let table = match unsigned {
            DType::U64 => rec.uploaded(unsigned, bytemuck::cast_slice(&powers))?,
            _ => {
                let narrow: Vec<u32> = powers.iter().map(|&p| p as u32).collect();
                rec.uploaded(unsigned, bytemuck::cast_slice(&narrow))?
            }
        };
        let power = |k: u64| match unsigned {
            DType::U64 => Expr::scalar(k),
            _ => Expr::u32(k as u32),
        };
        let reached = powers[1..].iter().map(|&p| power(p).le(magnitude.clone()).select(one.clone(), zero.clone()));
        let ndigits = reached.fold(one.clone(), Expr::add);
        let always = matches!(format.pad, Pad::PlusSign | Pad::SpaceSign);
        let nsign = if always { one.clone() } else { negative.clone().select(one.clone(), zero.clone()) };
        let width = Expr::u32(format.width.into());
        let ndigits = Expr::load(&rec.map(count.clone(), ndigits, &[]), at.clone());
        let length = ndigits.clone().add(nsign.clone()).max(width);
        let most = (most_digits + 1).max(format.width.into());
        let capacity = count.size().mul(most);
        let strings = rec.rows_of_lengths(&count, length.clone(), &capacity)?;
        let (row, offset) = (strings.row_of(at.clone()), strings.offset_of(at.clone()));
        let of_row = |e: &Expr| e.at(&row);
        let (ndigits, nsign, length) = (of_row(&ndigits), of_row(&nsign), of_row(&length));
        let missing = length.sub(ndigits.clone()).sub(nsign.clone());
        let char = |c: char| Expr::scalar(c as u8);
        let positive = if format.pad == Pad::SpaceSign { ' ' } else { '+' };
        let sign = of_row(&negative).select(char('-'), char(positive));
        // The number of bytes before the digits, and the byte before or after them.
        let (before, other) = match format.pad {
            Pad::SpacesAfter => {
                let other = offset.clone().lt(nsign.clone()).select(sign, char(' '));
                (nsign, other)
            }
            Pad::Zeros => (missing.add(nsign.clone()), offset.clone().lt(nsign).select(sign, char('0'))),
            _ => {
                let other = offset.clone().lt(missing.clone()).select(char(' '), sign);
                (missing.add(nsign), other)
            }
        };
        let nth = offset.sub(before);
        let inside = nth.clone().lt(ndigits.clone());
        let place = inside.clone().select(ndigits.sub(one).sub(nth), zero);
        let digit = of_row(&magnitude).quotient(Expr::load(&table, place)).remainder(power(10));
        let digit = digit.cast(DType::U32).add(Expr::u32('0' as u32)).cast(DType::U8);
        let byte = inside.select(digit, other);
        let bytes = rec.map(strings.nvals_extent().clone(), byte, &[]);
        rec.at(self.holding(Values::Strings { strings, bytes }))
    }
}
