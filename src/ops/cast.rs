//! Conversions of the element type: by value, by value within range, and by bits.

use half::{bf16, f16};

use super::elementwise::{Takes, number};
use crate::dtype::DType;
use crate::element::{Element, Number};
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::opcode::BinaryOp;
use crate::graph::scalar::Scalar;
use crate::tensor::{RaggedTensor, Tensor, Values};

impl Tensor {
    /// The elements converted to `dtype`: integers wrap, floats round to the nearest float and towards zero to an
    /// integer, a float beyond the integers' range gives the nearest end of it and NaN gives 0; anything but 0 is
    /// `true`. The shape stays.
    ///
    /// # Errors
    /// Strings on either side; a dtype that the device cannot compute with.
    ///
    /// # Cost
    /// One map; none for the same dtype. Nothing is read back.
    ///
    /// ```
    /// # use ragged::{DType, Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let x = HostTensor::dense(&[2], HostValues::I32(vec![300, -1])).to_device(&Device::cpu())?;
    /// assert_eq!(x.cast(DType::U8)?.to_host()?.values, HostValues::U8(vec![44, 255]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.cast`.
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        const OP: &str = "cast";
        convertible(OP, self, dtype)?;
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        self.map_numbers(OP, |x| x.cast(dtype))
    }

    /// The elements converted to `dtype`, those beyond its range to the nearest end of it; NaN gives 0 as an integer.
    /// Floats become the nearest finite float. The shape stays.
    ///
    /// # Errors
    /// As [`Tensor::cast`].
    ///
    /// # Cost
    /// One map; none for the same dtype. Nothing is read back.
    ///
    /// ```
    /// # use ragged::{DType, Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let x = HostTensor::dense(&[2], HostValues::I32(vec![300, -1])).to_device(&Device::cpu())?;
    /// assert_eq!(x.saturate_cast(DType::U8)?.to_host()?.values, HostValues::U8(vec![255, 0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.saturate_cast`.
    pub fn saturate_cast(&self, dtype: DType) -> Result<Self> {
        const OP: &str = "saturate_cast";
        convertible(OP, self, dtype)?;
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        self.map_numbers(OP, |x| within_range(x, dtype).cast(dtype))
    }

    /// The bits of the elements as another dtype. To a narrower dtype each element becomes a new innermost dimension,
    /// low bits first; from a narrower one the innermost dimension, which must have as many elements as make one of
    /// the result, goes.
    ///
    /// # Errors
    /// Bools or strings on either side, unless the dtypes are the same; no such innermost dimension; a dtype that the
    /// device cannot compute with.
    ///
    /// # Cost
    /// One map; none for the same dtype. Nothing is read back.
    ///
    /// ```
    /// # use ragged::{DType, Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let x = HostTensor::dense(&[1], HostValues::F32(vec![1.0])).to_device(&Device::cpu())?;
    /// assert_eq!(x.bitcast(DType::I32)?.to_host()?.values, HostValues::I32(vec![0x3f80_0000]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.bitcast`.
    pub fn bitcast(&self, dtype: DType) -> Result<Self> {
        const OP: &str = "bitcast";
        let from = self.dtype();
        if from == dtype {
            return Ok(self.clone());
        }
        Takes::Numbers.check(OP, from)?;
        Takes::Numbers.check(OP, dtype)?;
        match (from.size(), dtype.size()) {
            (a, b) if a == b => self.map_numbers(OP, |x| x.bitcast(dtype)),
            (a, b) if a > b => self.split_bits(OP, dtype, (a / b) as u32),
            (a, b) => self.joined_bits(OP, dtype, (b / a) as u32),
        }
    }

    /// Each element as `n` of a narrower dtype, low bits first.
    fn split_bits(&self, op: &'static str, dtype: DType, n: u32) -> Result<Self> {
        let numbers = self.numbers(op)?;
        let (from, to) = (unsigned(self.dtype()), unsigned(dtype));
        let bits = Expr::load(numbers, Expr::index().div(Expr::u32(n))).bitcast(from);
        let shift = Expr::index().rem(Expr::u32(n)).mul(Expr::u32(8 * dtype.size() as u32));
        let value = bits.binary(BinaryOp::Shr, shift.cast(from)).cast(to).bitcast(dtype);
        let count = self.count()?.times(op, u64::from(n))?;
        let mut inner = self.inner().to_vec();
        let mut outer = self.outer().cloned();
        match outer {
            Some(_) => inner.push(n),
            None => outer = Some(crate::graph::extent::Extent::known(n)),
        }
        let values = Values::Numbers(Node::map(self.backend(), op, count, value, &[]));
        Self::new(self.backend(), self.partitions().to_vec(), outer, inner, values)
    }

    /// Each `n` elements of the innermost dimension as one of a wider dtype, low bits first.
    fn joined_bits(&self, op: &'static str, dtype: DType, n: u32) -> Result<Self> {
        let (inner, outer) = match (self.inner().split_last(), self.outer()) {
            (Some((&last, inner)), outer) if last == n => (inner.to_vec(), outer.cloned()),
            (None, Some(outer)) if self.ragged_rank() == 0 && outer.as_known() == Some(n) => (Vec::new(), None),
            _ => {
                let what = format!("the innermost dimension of {} must be {n} to make {dtype}", self.shape_text());
                return Err(Error::argument(op, what));
            }
        };
        let numbers = self.numbers(op)?;
        let (from, to) = (unsigned(self.dtype()), unsigned(dtype));
        let first = Expr::index().mul(Expr::u32(n));
        let mut bits = number(to, 0.0);
        for k in 0..n {
            let part = Expr::load(numbers, first.clone().add(Expr::u32(k))).bitcast(from).cast(to);
            let shift = number(to, f64::from(k * 8 * self.dtype().size() as u32));
            bits = bits.or(part.binary(BinaryOp::Shl, shift));
        }
        let width = inner.iter().map(|&d| u64::from(d)).product();
        let count = outer.as_ref().map_or(Ok(crate::graph::extent::Extent::known(1)), |o| o.times(op, width))?;
        let values = Values::Numbers(Node::map(self.backend(), op, count, bits.bitcast(dtype), &[]));
        Self::new(self.backend(), self.partitions().to_vec(), outer, inner, values)
    }
}

impl<T: Element> RaggedTensor<T> {
    /// The elements converted to `U`. As [`Tensor::cast`].
    ///
    /// # Errors
    /// Strings; a dtype that the device cannot compute with.
    pub fn cast<U: Number>(&self) -> Result<RaggedTensor<U>> {
        RaggedTensor::try_from(self.erased().cast(U::DTYPE)?)
    }

    /// The elements converted to `U`, those beyond its range to the nearest end of it. As [`Tensor::saturate_cast`].
    ///
    /// # Errors
    /// As [`RaggedTensor::cast`].
    pub fn saturate_cast<U: Number>(&self) -> Result<RaggedTensor<U>> {
        RaggedTensor::try_from(self.erased().saturate_cast(U::DTYPE)?)
    }

    /// The bits of the elements as `U`. As [`Tensor::bitcast`].
    ///
    /// # Errors
    /// As [`Tensor::bitcast`].
    pub fn bitcast<U: Number>(&self) -> Result<RaggedTensor<U>> {
        RaggedTensor::try_from(self.erased().bitcast(U::DTYPE)?)
    }
}

fn convertible(op: &'static str, x: &Tensor, to: DType) -> Result<()> {
    match (x.dtype(), to) {
        (DType::Str, DType::Str) => Ok(()),
        (DType::Str, _) => Err(Error::unsupported(op, DType::Str, "strings of digits are read by strings.to_number")),
        (_, DType::Str) => Err(Error::unsupported(op, DType::Str, "numbers are written by strings.as_string")),
        _ => Ok(()),
    }
}

/// The unsigned integer of that width.
const fn unsigned(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    }
}

/// The ends of an integer type's range.
fn range(dtype: DType) -> (i128, i128) {
    let end = |s: Scalar| match s {
        Scalar::U8(v) => v.into(),
        Scalar::I8(v) => v.into(),
        Scalar::U16(v) => v.into(),
        Scalar::I16(v) => v.into(),
        Scalar::I32(v) => v.into(),
        Scalar::U32(v) => v.into(),
        Scalar::I64(v) => v.into(),
        Scalar::U64(v) => v.into(),
        _ => 0,
    };
    (end(Scalar::lowest(dtype)), end(Scalar::highest(dtype)))
}

/// The greatest finite value of a float type.
fn greatest(dtype: DType) -> Option<f64> {
    match dtype {
        DType::F16 => Some(f16::MAX.into()),
        DType::BF16 => Some(bf16::MAX.into()),
        DType::F32 => Some(f32::MAX.into()),
        DType::F64 => Some(f64::MAX),
        _ => None,
    }
}

/// The value moved into the range of `to`, where converting would leave it.
fn within_range(x: Expr, to: DType) -> Expr {
    let from = x.dtype();
    if let Some(most) = greatest(to).filter(|&most| greatest(from).is_none_or(|own| own > most)) {
        if from.is_float() {
            // In a type that has the bound.
            let wide = from.computes_in();
            return x.cast(wide).max(number(wide, -most)).min(number(wide, most));
        }
        // Of the floats that integers become f16 alone is exceeded, by those of 32 bits and u16.
        let ends = range(from);
        let low = if (ends.0 as f64) < -most { x.max(number(from, -most)) } else { x };
        return if ends.1 as f64 > most { low.min(number(from, most)) } else { low };
    }
    if !from.is_integer() || !to.is_integer() {
        // A float beyond the range becomes the nearest integer in it as it is.
        return x;
    }
    let ((low, high), (from_low, from_high)) = (range(to), range(from));
    let bound = |v: i128| if from == DType::U64 { Scalar::U64(v as u64) } else { Scalar::from_i64(from, v as i64) };
    let x = if low > from_low { x.max(Expr::scalar(bound(low))) } else { x };
    if high < from_high { x.min(Expr::scalar(bound(high))) } else { x }
}
