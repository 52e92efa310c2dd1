//! Element types as run-time values, and single elements of any of them.

use std::fmt;

/// The element type of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DType {
    /// Truth values, one byte each (four to a word on the device).
    Bool,
    /// Bytes, four to a word on the device.
    U8,
    /// 32-bit signed integers.
    I32,
    /// 32-bit unsigned integers.
    U32,
    /// 64-bit signed integers.
    I64,
    /// 64-bit unsigned integers.
    U64,
    /// Single precision floats.
    F32,
    /// Double precision floats.
    F64,
    /// Byte strings of any length.
    Str,
}

impl DType {
    /// The short name: `f32`, `i64`, `str`, ...
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Str => "str",
        }
    }

    /// The dtype of that short name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }

    /// Every dtype.
    pub const ALL: [Self; 9] =
        [Self::Bool, Self::U8, Self::I32, Self::U32, Self::I64, Self::U64, Self::F32, Self::F64, Self::Str];

    /// Bytes an element takes in memory; 0 for strings, whose elements vary.
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 => 1,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
            Self::Str => 0,
        }
    }

    /// Whether this is f32 or f64.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether this is one of the integer types.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::U8 | Self::I32 | Self::U32 | Self::I64 | Self::U64)
    }

    /// Whether negative values exist in this type.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I32 | Self::I64 | Self::F32 | Self::F64)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
