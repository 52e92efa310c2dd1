//! How dtypes look in WGSL: in storage and in registers.

use crate::dtype::DType;

/// The type of a value in a kernel. Bytes are u32 below 256; other integers of less than 32 bits are within their range
/// too, and floats of 16 bits are those bits: they are computed with in f32 alone.
pub(crate) const fn value_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 | DType::U16 | DType::U32 | DType::F16 | DType::BF16 | DType::Str => "u32",
        DType::I8 | DType::I16 | DType::I32 => "i32",
        // The device's own or pairs of words: `shaders/lib/` says which.
        DType::I64 => "I64",
        DType::U64 => "U64",
        DType::F32 => "f32",
        DType::F64 => "f64",
    }
}

/// The type of a word in storage, in which types of 8 bits are packed by four and those of 16 by two.
pub(crate) const fn storage_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::I8 | DType::I16 => "u32",
        d => value_type(d),
    }
}

/// The type of four elements in storage, of 32 bits at most.
pub(crate) const fn vector_type(dtype: DType) -> &'static str {
    match (elements_per_word(dtype), dtype) {
        (4, _) => "u32",
        (2, _) => "vec2<u32>",
        (_, DType::F32) => "vec4<f32>",
        (_, DType::I32) => "vec4<i32>",
        _ => "vec4<u32>",
    }
}

/// Elements that a word in storage holds.
pub(crate) const fn elements_per_word(dtype: DType) -> u32 {
    match dtype.size() {
        1 => 4,
        2 => 2,
        _ => 1,
    }
}
