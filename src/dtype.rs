//! Element types as run-time values, and single elements of any of them.

use std::fmt;

/// The element type of a tensor.
///
/// ```
/// use ragged::DType;
/// assert_eq!((DType::F16.name(), DType::from_name("f16"), DType::F16.size()), ("f16", Some(DType::F16), 2));
/// assert_eq!((DType::U8.is_integer(), DType::U8.is_signed(), DType::U8.is_float()), (true, false, false));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "saved", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum DType {
    /// Truth values, one byte each (four to a word on the device).
    Bool,
    /// Bytes, four to a word on the device.
    U8,
    /// 8-bit signed integers, four to a word on the device.
    I8,
    /// 16-bit unsigned integers, two to a word on the device.
    U16,
    /// 16-bit signed integers, two to a word on the device.
    I16,
    /// 32-bit signed integers.
    I32,
    /// 32-bit unsigned integers.
    U32,
    /// 64-bit signed integers.
    I64,
    /// 64-bit unsigned integers.
    U64,
    /// Half precision floats (IEEE 754 binary16), two to a word on the device.
    F16,
    /// The upper halves of single precision floats (bfloat16), two to a word on the device.
    BF16,
    /// Single precision floats.
    F32,
    /// Double precision floats.
    F64,
    /// Byte strings of any length.
    Str,
}

/// Names and properties.
impl DType {
    /// The short name: `f32`, `i64`, `str`, ...
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Str => "str",
        }
    }

    /// The dtype with that short name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }

    /// Every dtype.
    pub const ALL: [Self; 14] = [
        Self::Bool,
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::Str,
    ];

    /// Bytes per element in memory; 0 for strings, whose elements vary in size.
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
            Self::Str => 0,
        }
    }

    /// Whether this is one of the float types.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// Whether this is one of the integer types.
    pub const fn is_integer(self) -> bool {
        use DType::{I8, I16, I32, I64, U8, U16, U32, U64};
        matches!(self, U8 | I8 | U16 | I16 | I32 | U32 | I64 | U64)
    }

    /// Whether negative values exist in this type.
    pub const fn is_signed(self) -> bool {
        self.is_float() || matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The float type of means, roots and quotients of numbers of this type: floats keep their type, integers of 8 and
    /// 16 bits give f32, wider ones f64. Bools and strings have none.
    pub(crate) const fn quotient(self) -> Option<Self> {
        match self {
            Self::U8 | Self::I8 | Self::U16 | Self::I16 => Some(Self::F32),
            Self::I32 | Self::U32 | Self::I64 | Self::U64 => Some(Self::F64),
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 => Some(self),
            Self::Bool | Self::Str => None,
        }
    }

    /// The type in which numbers of this type are computed. The narrow types are storage types: their elements widen
    /// exactly, and results wrap or round once.
    pub(crate) const fn computes_in(self) -> Self {
        match self {
            Self::I8 | Self::I16 => Self::I32,
            Self::U16 => Self::U32,
            Self::F16 | Self::BF16 => Self::F32,
            d => d,
        }
    }

    /// The type in which rows of these numbers are summed, multiplied and compared: the type of computation, but a word
    /// for bytes.
    pub(crate) const fn accumulator(self) -> Self {
        match self {
            Self::U8 => Self::U32,
            d => d.computes_in(),
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_numbers_widen_to_their_own_kind() {
        for d in DType::ALL {
            let wide = d.computes_in();
            assert_eq!(
                (wide.is_float(), wide.is_integer(), wide.is_signed()),
                (d.is_float(), d.is_integer(), d.is_signed())
            );
            assert_eq!(wide.computes_in(), wide, "{d}");
            assert!(!d.is_integer() || d.accumulator().size() >= 4, "{d}");
        }
    }
}
