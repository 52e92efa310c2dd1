//! A scalar of a run-time dtype.

#[cfg(feature = "saved")]
pub(crate) mod bits;
pub(crate) mod param;

use std::fmt;

use half::{bf16, f16};

use crate::dtype::DType;
use crate::math::narrow::{bf16_of_f32, f16_of_f32, f32_of_bf16, f32_of_f16, f32_of_integer_to_odd, f32_to_odd};

/// A single value of any dtype except strings. A scalar is a parameter of a kernel, not part of its source.
///
/// ```
/// use ragged::{DType, Scalar};
/// assert_eq!((Scalar::from(-1i8).dtype(), Scalar::from(-1i8).bits()), (DType::I8, 0xffff_ffff));
/// assert_eq!(Scalar::from_i64(DType::U8, 257), Scalar::U8(1));
/// assert_eq!(Scalar::from_f64(DType::U8, 257.0), Scalar::U8(255));
/// assert_eq!(Scalar::I32(257).converted(DType::U8), None);
/// assert_eq!((Scalar::lowest(DType::I8), Scalar::highest(DType::I8)), (Scalar::I8(-128), Scalar::I8(127)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// A byte.
    U8(u8),
    /// An 8-bit signed integer.
    I8(i8),
    /// A 16-bit unsigned integer.
    U16(u16),
    /// A 16-bit signed integer.
    I16(i16),
    /// A 32-bit signed integer.
    I32(i32),
    /// A 32-bit unsigned integer.
    U32(u32),
    /// A 64-bit signed integer.
    I64(i64),
    /// A 64-bit unsigned integer.
    U64(u64),
    /// A half precision float.
    F16(f16),
    /// A bfloat16 float: the upper half of a single precision float.
    BF16(bf16),
    /// A single precision float.
    F32(f32),
    /// A double precision float.
    F64(f64),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => v.fmt(f),
            Self::U8(v) => v.fmt(f),
            Self::I8(v) => v.fmt(f),
            Self::U16(v) => v.fmt(f),
            Self::I16(v) => v.fmt(f),
            Self::I32(v) => v.fmt(f),
            Self::U32(v) => v.fmt(f),
            Self::I64(v) => v.fmt(f),
            Self::U64(v) => v.fmt(f),
            Self::F16(v) => v.fmt(f),
            Self::BF16(v) => v.fmt(f),
            Self::F32(v) => v.fmt(f),
            Self::F64(v) => v.fmt(f),
        }
    }
}

/// Dtype, bits and conversions.
impl Scalar {
    /// The dtype of the value.
    pub const fn dtype(self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::U8(_) => DType::U8,
            Self::I8(_) => DType::I8,
            Self::U16(_) => DType::U16,
            Self::I16(_) => DType::I16,
            Self::I32(_) => DType::I32,
            Self::U32(_) => DType::U32,
            Self::I64(_) => DType::I64,
            Self::U64(_) => DType::U64,
            Self::F16(_) => DType::F16,
            Self::BF16(_) => DType::BF16,
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
        }
    }

    /// The bits of the value, zero-extended. Signed integers of less than 32 bits are first sign-extended to 32 bits.
    pub const fn bits(self) -> u64 {
        match self {
            Self::Bool(v) => v as u64,
            Self::U8(v) => v as u64,
            Self::I8(v) => v as u32 as u64,
            Self::U16(v) => v as u64,
            Self::I16(v) => v as u32 as u64,
            Self::I32(v) => v as u32 as u64,
            Self::U32(v) => v as u64,
            Self::I64(v) => v as u64,
            Self::U64(v) => v,
            Self::F16(v) => v.to_bits() as u64,
            Self::BF16(v) => v.to_bits() as u64,
            Self::F32(v) => v.to_bits() as u64,
            Self::F64(v) => v.to_bits(),
        }
    }

    /// The value `v` as `dtype`: integers wrap, floats round. The string dtype gives a byte.
    pub fn from_i64(dtype: DType, v: i64) -> Self {
        match dtype {
            DType::Bool => Self::Bool(v != 0),
            DType::U8 | DType::Str => Self::U8(v as u8),
            DType::I8 => Self::I8(v as i8),
            DType::U16 => Self::U16(v as u16),
            DType::I16 => Self::I16(v as i16),
            DType::I32 => Self::I32(v as i32),
            DType::U32 => Self::U32(v as u32),
            DType::I64 => Self::I64(v),
            DType::U64 => Self::U64(v as u64),
            DType::F16 => Self::F16(f16_of_f32(f32_of_integer_to_odd(v.into()))),
            DType::BF16 => Self::BF16(bf16_of_f32(f32_of_integer_to_odd(v.into()))),
            DType::F32 => Self::F32(v as f32),
            DType::F64 => Self::F64(v as f64),
        }
    }

    /// The value `v` as `dtype`: integers saturate, with 0 for NaN; floats round; a bool is `v != 0`.
    pub fn from_f64(dtype: DType, v: f64) -> Self {
        match dtype {
            DType::Bool => Self::Bool(v != 0.0),
            DType::U8 | DType::Str => Self::U8(v as u8),
            DType::I8 => Self::I8(v as i8),
            DType::U16 => Self::U16(v as u16),
            DType::I16 => Self::I16(v as i16),
            DType::I32 => Self::I32(v as i32),
            DType::U32 => Self::U32(v as u32),
            DType::I64 => Self::I64(v as i64),
            DType::U64 => Self::U64(v as u64),
            DType::F16 => Self::F16(f16_of_f32(f32_to_odd(v))),
            DType::BF16 => Self::BF16(bf16_of_f32(f32_to_odd(v))),
            DType::F32 => Self::F32(v as f32),
            DType::F64 => Self::F64(v),
        }
    }

    /// The value as `dtype`, if it has that value: floats round to the nearest, integers must be in range, and bools
    /// convert to bools only.
    pub fn converted(self, dtype: DType) -> Option<Self> {
        if dtype == self.dtype() {
            return Some(self);
        }
        match self {
            Self::Bool(_) => None,
            _ if dtype == DType::Bool || dtype == DType::Str => None,
            Self::F16(v) => Self::of_float(dtype, v.to_f64()),
            Self::BF16(v) => Self::of_float(dtype, v.to_f64()),
            Self::F32(v) => Self::of_float(dtype, v.into()),
            Self::F64(v) => Self::of_float(dtype, v),
            integer => Self::of_integer(dtype, integer.as_i128()?),
        }
    }

    /// The value of an integer.
    pub(crate) fn as_i128(self) -> Option<i128> {
        Some(match self {
            Self::U8(v) => v.into(),
            Self::I8(v) => v.into(),
            Self::U16(v) => v.into(),
            Self::I16(v) => v.into(),
            Self::I32(v) => v.into(),
            Self::U32(v) => v.into(),
            Self::I64(v) => v.into(),
            Self::U64(v) => v.into(),
            _ => return None,
        })
    }

    /// The float as `dtype`: rounded for floats unless that overflows, exact for integers.
    fn of_float(dtype: DType, v: f64) -> Option<Self> {
        if dtype.is_integer() {
            // Every integer dtype lies within the range in which this cast is exact.
            let exact = v.fract() == 0.0 && v.abs() <= 2f64.powi(64);
            return if exact { Self::of_integer(dtype, v as i128) } else { None };
        }
        let rounded = Self::from_f64(dtype, v);
        (rounded.is_finite() || !v.is_finite()).then_some(rounded)
    }

    /// The integer as `dtype`: rounded for floats unless that overflows, in range for integers.
    fn of_integer(dtype: DType, v: i128) -> Option<Self> {
        Some(match dtype {
            DType::U8 => Self::U8(v.try_into().ok()?),
            DType::I8 => Self::I8(v.try_into().ok()?),
            DType::U16 => Self::U16(v.try_into().ok()?),
            DType::I16 => Self::I16(v.try_into().ok()?),
            DType::I32 => Self::I32(v.try_into().ok()?),
            DType::U32 => Self::U32(v.try_into().ok()?),
            DType::I64 => Self::I64(v.try_into().ok()?),
            DType::U64 => Self::U64(v.try_into().ok()?),
            DType::F16 => Self::F16(f16_of_f32(f32_of_integer_to_odd(v))),
            DType::BF16 => Self::BF16(bf16_of_f32(f32_of_integer_to_odd(v))),
            DType::F32 => Self::F32(v as f32),
            DType::F64 => Self::F64(v as f64),
            DType::Bool | DType::Str => return None,
        })
        .filter(|s| s.is_finite())
    }

    /// Whether the value is neither infinite nor NaN.
    pub(crate) fn is_finite(self) -> bool {
        match self {
            Self::F16(v) => v.is_finite(),
            Self::BF16(v) => v.is_finite(),
            Self::F32(v) => v.is_finite(),
            Self::F64(v) => v.is_finite(),
            _ => true,
        }
    }

    /// The lowest value of `dtype`, finite for floats.
    pub const fn lowest(dtype: DType) -> Self {
        match dtype {
            DType::Bool => Self::Bool(false),
            DType::U8 | DType::Str => Self::U8(0),
            DType::I8 => Self::I8(i8::MIN),
            DType::U16 => Self::U16(0),
            DType::I16 => Self::I16(i16::MIN),
            DType::I32 => Self::I32(i32::MIN),
            DType::U32 => Self::U32(0),
            DType::I64 => Self::I64(i64::MIN),
            DType::U64 => Self::U64(0),
            DType::F16 => Self::F16(f16::MIN),
            DType::BF16 => Self::BF16(bf16::MIN),
            DType::F32 => Self::F32(f32::MIN),
            DType::F64 => Self::F64(f64::MIN),
        }
    }

    /// The greatest value of `dtype`; the greatest finite one for floats.
    pub const fn highest(dtype: DType) -> Self {
        match dtype {
            DType::Bool => Self::Bool(true),
            DType::U8 | DType::Str => Self::U8(u8::MAX),
            DType::I8 => Self::I8(i8::MAX),
            DType::U16 => Self::U16(u16::MAX),
            DType::I16 => Self::I16(i16::MAX),
            DType::I32 => Self::I32(i32::MAX),
            DType::U32 => Self::U32(u32::MAX),
            DType::I64 => Self::I64(i64::MAX),
            DType::U64 => Self::U64(u64::MAX),
            DType::F16 => Self::F16(f16::MAX),
            DType::BF16 => Self::BF16(bf16::MAX),
            DType::F32 => Self::F32(f32::MAX),
            DType::F64 => Self::F64(f64::MAX),
        }
    }

    /// The same value in the dtype in which numbers of this dtype are computed.
    pub(crate) fn widened(self) -> Self {
        match self {
            Self::I8(v) => Self::I32(v.into()),
            Self::U16(v) => Self::U32(v.into()),
            Self::I16(v) => Self::I32(v.into()),
            Self::F16(v) => Self::F32(f32_of_f16(v)),
            Self::BF16(v) => Self::F32(f32_of_bf16(v)),
            wide => wide,
        }
    }
}

macro_rules! from_element {
    ($($t:ty => $v:ident),*) => {$(
        impl From<$t> for Scalar {
            fn from(v: $t) -> Self {
                Self::$v(v)
            }
        }
    )*};
}
from_element!(
    bool => Bool, u8 => U8, i8 => I8, u16 => U16, i16 => I16, i32 => I32, u32 => U32, i64 => I64, u64 => U64,
    f16 => F16, bf16 => BF16, f32 => F32, f64 => F64
);
