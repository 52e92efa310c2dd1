//! How dtypes look in WGSL: in storage and in registers.

use crate::dtype::DType;

/// The type of a value in a kernel. Bytes are u32 below 256.
pub(crate) const fn value_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 | DType::U32 | DType::Str => "u32",
        DType::I32 => "i32",
        // The device's own or pairs of words: `shaders/lib/` says which.
        DType::I64 => "I64",
        DType::U64 => "U64",
        DType::F32 => "f32",
        DType::F64 => "f64",
    }
}

/// The type of a word in storage. Bools and bytes are packed four to a word.
pub(crate) const fn storage_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "u32",
        d => value_type(d),
    }
}

/// Elements that a word in storage holds.
pub(crate) const fn elements_per_word(dtype: DType) -> u32 {
    match dtype {
        DType::Bool | DType::U8 => 4,
        _ => 1,
    }
}
