//! WGSL types of dtypes, in storage and in registers.

use crate::dtype::DType;

/// The type of a value in a kernel. Integers of less than 32 bits are 32-bit integers in the range of the dtype. 16-bit
/// floats are represented by their bits, and computed in f32.
pub(crate) const fn value_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 | DType::U16 | DType::U32 | DType::F16 | DType::BF16 | DType::Str => "u32",
        DType::I8 | DType::I16 | DType::I32 => "i32",
        // Aliases of native types or of pairs of words, defined in `shaders/lib/`.
        DType::I64 => "I64",
        DType::U64 => "U64",
        DType::F32 => "f32",
        DType::F64 => "F64",
    }
}

/// The type of a word in storage, which packs four elements of 8 bits or two of 16 bits.
pub(crate) const fn storage_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::I8 | DType::I16 => "u32",
        d => value_type(d),
    }
}

/// The type of four elements in storage, of at most 32 bits each.
pub(crate) const fn vector_type(dtype: DType) -> &'static str {
    match (elements_per_word(dtype), dtype) {
        (4, _) => "u32",
        (2, _) => "vec2<u32>",
        (_, DType::F32) => "vec4<f32>",
        (_, DType::I32) => "vec4<i32>",
        _ => "vec4<u32>",
    }
}

/// Elements per word in storage.
pub(crate) const fn elements_per_word(dtype: DType) -> u32 {
    match dtype.size() {
        1 => 4,
        2 => 2,
        _ => 1,
    }
}
