//! Element type conversions: by value, by value with saturation, and by bits.

use half::{bf16, f16};

use crate::dtype::DType;
use crate::element::{Arithmetic, Element, Number};
use crate::error::{Error, Result, here};
use crate::graph::expr::Expr;
use crate::graph::opcode::BinaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::ops::operations;
use crate::record::elementwise::{Takes, number};
use crate::tensor::{RaggedTensor, Tensor, Values};

operations! {
    /// Conversions of the element type.
    const OPERATIONS: family "Element-wise, one operand" on RaggedTensor<T> where T: Element;

    /// Converts the elements to another dtype by value.
    ///
    /// The shape stays. Integers wrap. Floats round to the nearest float, or towards zero to an integer. A float beyond
    /// the integers' range gives the nearest end of the range, and NaN gives 0. Any value but 0 is `true`. The same
    /// bits on every device.
    ///
    /// # Errors
    /// Strings on either side, unless the dtypes are the same; a dtype that the device cannot compute with.
    ///
    /// # Cost
    /// One map; none for the same dtype. Nothing is read back.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![300, -1], vec![]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.cast(DType::U8)?.to_string(), "<ragged.RaggedTensor [[44, 255], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn cast(&self, dtype: DType) -> {dtype} where T: Number;
    alias "astype", "convert";
    tensorflow "tf.cast";
    awkward "ak.values_astype";
    polars "Expr.cast";
    gradient yes;
    typed hand;
    row hand;

    /// Converts the elements to another dtype by value, with saturation.
    ///
    /// The shape stays. Values beyond the range of an integer type become its nearest end, and NaN becomes 0. Values
    /// beyond the range of a narrower float type become its nearest finite float.
    ///
    /// # Errors
    /// Strings on either side, unless the dtypes are the same; a dtype that the device cannot compute with.
    ///
    /// # Cost
    /// One map; none for the same dtype. Nothing is read back.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![300, -1], vec![]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.saturate_cast(DType::U8)?.to_string(), "<ragged.RaggedTensor [[255, 0], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn saturate_cast(&self, dtype: DType) -> {dtype} where T: Number;
    tensorflow "tf.saturate_cast";
    gradient yes;
    typed hand;

    /// Reinterprets the bits of the elements as another dtype.
    ///
    /// A narrower dtype adds an innermost dimension that holds the parts of each element, low bits first. A wider dtype
    /// joins the elements of the innermost dimension, which must fill exactly one element of the result, and removes
    /// that dimension.
    ///
    /// # Errors
    /// Bools or strings on either side, unless the dtypes are the same; a wider dtype without such an innermost
    /// dimension; a dtype that the device cannot compute with.
    ///
    /// # Cost
    /// One map; none for the same dtype. Nothing is read back.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0f32], vec![]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.bitcast(DType::I32)?.to_string(), "<ragged.RaggedTensor [[1065353216], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bitcast(&self, dtype: DType) -> {dtype} where T: Arithmetic;
    alias "view", "transmute";
    tensorflow "tf.bitcast";
    polars "Expr.reinterpret";
    gradient none "the bits of a number have no derivative";
    typed hand;
    row hand;
}

#[track_caller]
fn cast(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    const OP: &str = "cast";
    let rec = tensor.recorder(OP);
    convertible(OP, tensor, dtype)?;
    if dtype == tensor.dtype() {
        return Ok(tensor.clone());
    }
    tensor.map_numbers(rec, |x| x.cast(dtype))
}

#[track_caller]
fn saturate_cast(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    const OP: &str = "saturate_cast";
    let rec = tensor.recorder(OP);
    convertible(OP, tensor, dtype)?;
    if dtype == tensor.dtype() {
        return Ok(tensor.clone());
    }
    tensor.map_numbers(rec, |x| within_range(x, dtype).cast(dtype))
}

#[track_caller]
fn bitcast(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    const OP: &str = "bitcast";
    let rec = tensor.recorder(OP);
    let from = tensor.dtype();
    if from == dtype {
        return Ok(tensor.clone());
    }
    Takes::Numbers.check(OP, from)?;
    Takes::Numbers.check(OP, dtype)?;
    match (from.size(), dtype.size()) {
        (a, b) if a == b => tensor.map_numbers(rec, |x| x.bitcast(dtype)),
        (a, b) if a > b => tensor.split_bits(rec, dtype, (a / b) as u32),
        (a, b) => tensor.joined_bits(rec, dtype, (b / a) as u32),
    }
}

impl Tensor {
    /// Splits each element into `n` elements of a narrower dtype, low bits first.
    #[track_caller]
    fn split_bits(&self, rec: Recorder<'_>, dtype: DType, n: u32) -> Result<Self> {
        let numbers = rec.numbers(self)?;
        let (from, to) = (unsigned(self.dtype()), unsigned(dtype));
        let bits = Expr::load(numbers, Expr::index().div(Expr::u32(n))).bitcast(from);
        let shift = Expr::index().rem(Expr::u32(n)).mul(Expr::u32(8 * dtype.size() as u32));
        let value = bits.binary(BinaryOp::Shr, shift.cast(from)).cast(to).bitcast(dtype);
        let count = self.count()?.times(rec.op, u64::from(n))?;
        let mut inner = self.inner().to_vec();
        let mut outer = self.outer().cloned();
        match outer {
            Some(_) => inner.push(n),
            None => outer = Some(crate::graph::extent::Extent::known(n)),
        }
        let values = Values::Numbers(rec.map(count, value, &[]));
        Self::new(self.backend(), self.partitions().to_vec(), outer, inner, values)
    }

    /// Joins each `n` elements of the innermost dimension into one of a wider dtype, low bits first.
    #[track_caller]
    fn joined_bits(&self, rec: Recorder<'_>, dtype: DType, n: u32) -> Result<Self> {
        let (inner, outer) = match (self.inner().split_last(), self.outer()) {
            (Some((&last, inner)), outer) if last == n => (inner.to_vec(), outer.cloned()),
            (None, Some(outer)) if self.ragged_rank() == 0 && outer.as_known() == Some(n) => (Vec::new(), None),
            _ => {
                let what = format!("the innermost dimension of {} must be {n} to make {dtype}", self.shape_text());
                return Err(rec.argument(what));
            }
        };
        let numbers = rec.numbers(self)?;
        let (from, to) = (unsigned(self.dtype()), unsigned(dtype));
        let first = Expr::index().mul(Expr::u32(n));
        let mut bits = number(to, 0.0);
        for k in 0..n {
            let part = Expr::load(numbers, first.clone().add(Expr::u32(k))).bitcast(from).cast(to);
            let shift = number(to, f64::from(k * 8 * self.dtype().size() as u32));
            bits = bits.or(part.binary(BinaryOp::Shl, shift));
        }
        let width = inner.iter().map(|&d| u64::from(d)).product();
        let count = outer
            .as_ref()
            .map_or(Ok(crate::graph::extent::Extent::known(1)), |o| o.times(rec.op, width))
            .map_err(here())?;
        let values = Values::Numbers(rec.map(count, bits.bitcast(dtype), &[]));
        Self::new(self.backend(), self.partitions().to_vec(), outer, inner, values)
    }
}

/// Conversions of the element type.
impl<T: Element> RaggedTensor<T> {
    /// Converts the elements to the type `U` by value.
    ///
    /// The shape stays. Integers wrap. Floats round to the nearest float, or towards zero to an integer. A float beyond
    /// the integers' range gives the nearest end of the range, and NaN gives 0. Any value but 0 is `true`. The same
    /// bits on every device. [`Tensor::cast`] takes the dtype as a value.
    ///
    /// # Errors
    /// Strings; a dtype that the device cannot compute with.
    ///
    /// # Cost
    /// One map; none for the same type. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.7f32, -2.5, f32::NAN], vec![]], &Device::cpu())?;
    /// assert_eq!(x.cast::<i32>()?.to_string(), "<ragged.RaggedTensor [[1, -2, 0], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.cast`.
    #[track_caller]
    pub fn cast<U: Number>(&self) -> Result<RaggedTensor<U>> {
        RaggedTensor::try_from(self.erased().cast(U::DTYPE)?)
    }

    /// Converts the elements to the type `U` by value, with saturation.
    ///
    /// The shape stays. Values beyond the range of an integer type become its nearest end, and NaN becomes 0. Values
    /// beyond the range of a narrower float type become its nearest finite float.
    ///
    /// # Errors
    /// Strings; a dtype that the device cannot compute with.
    ///
    /// # Cost
    /// One map; none for the same type. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![300, -1], vec![]], &Device::cpu())?;
    /// assert_eq!(x.saturate_cast::<u8>()?.to_string(), "<ragged.RaggedTensor [[255, 0], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.saturate_cast`.
    #[track_caller]
    pub fn saturate_cast<U: Number>(&self) -> Result<RaggedTensor<U>> {
        RaggedTensor::try_from(self.erased().saturate_cast(U::DTYPE)?)
    }

    /// Reinterprets the bits of the elements as the type `U`.
    ///
    /// A narrower type adds an innermost dimension that holds the parts of each element, low bits first. A wider type
    /// joins the elements of the innermost dimension, which must fill exactly one element of the result, and removes
    /// that dimension.
    ///
    /// # Errors
    /// Bools or strings on either side, unless the types are the same; a wider type without such an innermost
    /// dimension; a dtype that the device cannot compute with.
    ///
    /// # Cost
    /// One map; none for the same type. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0f32], vec![]], &Device::cpu())?;
    /// assert_eq!(x.bitcast::<u32>()?.to_vec()?, [0x3f80_0000]);
    /// let halves = x.bitcast::<u16>()?;
    /// assert_eq!(halves.to_string(), "<ragged.RaggedTensor [[[0, 16256]], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.bitcast`.
    #[track_caller]
    pub fn bitcast<U: Number>(&self) -> Result<RaggedTensor<U>> {
        RaggedTensor::try_from(self.erased().bitcast(U::DTYPE)?)
    }
}

#[track_caller]
fn convertible(op: &'static str, x: &Tensor, to: DType) -> Result<()> {
    match (x.dtype(), to) {
        (DType::Str, DType::Str) => Ok(()),
        (DType::Str, _) => Err(Error::unsupported(op, DType::Str, "strings of digits are read by string_to_number")),
        (_, DType::Str) => Err(Error::unsupported(op, DType::Str, "numbers are written by as_string")),
        _ => Ok(()),
    }
}

/// The unsigned integer dtype of the same width.
const fn unsigned(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    }
}

/// Lowest and highest value of an integer type.
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

/// Clamps the value to the range of `to` where the conversion alone would leave it.
fn within_range(x: Expr, to: DType) -> Expr {
    let from = x.dtype();
    if let Some(most) = greatest(to).filter(|&most| greatest(from).is_none_or(|own| own > most)) {
        if from.is_float() {
            // Clamped in a type that can represent the bound.
            let wide = from.computes_in();
            return x.cast(wide).max(number(wide, -most)).min(number(wide, most));
        }
        // Only f16 is exceeded by integers: by u16 and by those of 32 and 64 bits.
        let ends = range(from);
        let low = if (ends.0 as f64) < -most { x.max(number(from, -most)) } else { x };
        return if ends.1 as f64 > most { low.min(number(from, most)) } else { low };
    }
    if !from.is_integer() || !to.is_integer() {
        // The conversion of a float to an integer saturates by itself.
        return x;
    }
    let ((low, high), (from_low, from_high)) = (range(to), range(from));
    let bound = |v: i128| if from == DType::U64 { Scalar::U64(v as u64) } else { Scalar::from_i64(from, v as i64) };
    let x = if low > from_low { x.max(Expr::scalar(bound(low))) } else { x };
    if high < from_high { x.min(Expr::scalar(bound(high))) } else { x }
}
