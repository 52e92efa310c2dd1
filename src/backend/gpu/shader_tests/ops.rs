//! Every operation with the dtypes that it is defined for, and edge cases of their values.

use crate::dtype::DType;
use crate::graph::opcode::{BinaryOp, HashOp, ReduceOp, UnaryOp};
use crate::math::MathFn;

/// The dtypes of arrays: all except strings, which are stored as bytes.
pub(super) const DTYPES: [DType; 13] = {
    let [dtypes @ .., DType::Str] = DType::ALL else { panic!("strings are not the last dtype") };
    dtypes
};

/// The dtypes of row reductions.
pub(super) const REDUCED: [DType; 6] = [DType::I32, DType::U32, DType::I64, DType::U64, DType::F32, DType::F64];

pub(super) const REDUCTIONS: [ReduceOp; 4] = [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max];

pub(super) const HASHES: [HashOp; 3] = [
    HashOp::Fingerprint,
    HashOp::Sip { key: [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908] },
    HashOp::Murmur { seed: 0xdeca_fbad_dead_beef },
];

const BINARY: &[BinaryOp] = &[
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::IndexDiv,
    BinaryOp::IndexRem,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Pow,
    BinaryOp::Atan2,
    BinaryOp::MulNoNan,
];

/// Whether the operation supports the dtype. Without a wildcard, so that a new operation is not forgotten.
fn takes(op: BinaryOp, dtype: DType) -> bool {
    use BinaryOp as B;
    match op {
        B::Add | B::Sub | B::Mul | B::Div | B::Rem | B::Min | B::Max | B::Pow => dtype != DType::Bool,
        B::IndexDiv | B::IndexRem => dtype == DType::U32,
        B::And | B::Or | B::Xor => !dtype.is_float(),
        B::Shl | B::Shr => dtype.is_integer(),
        B::Eq | B::Ne | B::Lt | B::Le => true,
        B::Atan2 | B::MulNoNan => dtype.is_float(),
    }
}

/// The operations of two operands of that dtype.
pub(super) fn binary(dtype: DType) -> Vec<BinaryOp> {
    BINARY.iter().copied().filter(|&op| takes(op, dtype)).collect()
}

/// The functions of [`crate::math`] that take one argument.
pub(super) fn functions() -> Vec<UnaryOp> {
    MathFn::ALL.into_iter().filter(|f| !f.is_binary()).map(UnaryOp::Math).collect()
}

/// The operations of one operand of that dtype, except the functions of [`crate::math`].
pub(super) fn plain_unary(dtype: DType) -> Vec<UnaryOp> {
    use UnaryOp as U;
    // Without a wildcard, so that a new operation is not forgotten.
    let takes = |op: &U| match op {
        U::Neg | U::Abs => dtype != DType::Bool,
        U::Not => !dtype.is_float(),
        U::CountOnes => dtype == DType::U32,
        U::SortKey => matches!(dtype, DType::F32 | DType::F64),
        U::IsNan | U::IsInf | U::IsFinite => dtype.is_float(),
        U::Math(_) => false,
    };
    [U::Neg, U::Abs, U::Not, U::CountOnes, U::SortKey, U::IsNan, U::IsInf, U::IsFinite]
        .into_iter()
        .filter(takes)
        .collect()
}

/// The operations of one operand of that dtype.
pub(super) fn unary(dtype: DType) -> Vec<UnaryOp> {
    let mut out = plain_unary(dtype);
    if dtype.is_float() {
        out.extend(functions());
    }
    out
}

/// Edge cases of the dtype, as bits.
pub(super) fn edges(dtype: DType) -> Vec<u64> {
    let signed = |width: u32| -> Vec<u64> {
        let min = 1u64 << (width - 1);
        let mut out: Vec<u64> = [0i64, 1, -1, 2, -2, 3, 7, -7, 10, 100, -128, 255, 256, 24, 1_000_003]
            .into_iter()
            .chain([width, width - 1, width + 1].map(i64::from))
            .map(|v| v as u64)
            .collect();
        out.extend([min, min + 1, min - 1, min - 2, min >> 1, 0x5555_5555_5555_5555, 0x0123_4567_89ab_cdef]);
        // Around the largest integers that floats represent exactly, with ties in both directions.
        out.extend([(1 << 24) - 1, (1 << 24) + 1, (1 << 24) + 2, (1 << 24) + 3, (1 << 25) + 2, (1 << 25) + 6]);
        if width == 64 {
            out.extend([1 << 32, (1 << 32) - 1, (1 << 53) - 1, (1 << 53) + 1, (1 << 53) + 3, (1 << 54) + 2]);
            out.extend([(1 << 54) + 6, (1 << 40) + (1 << 16), (1 << 40) + (1 << 16) + 1, (1 << 40) + (3 << 16)]);
            // Double rounding, first to f64, would create or break a tie in f32.
            out.extend([(1 << 62) + (1 << 38), (1 << 62) + (1 << 38) + 1, (1 << 62) + (1 << 38) - 1]);
            out.extend([u64::MAX - 1023, u64::MAX - 1024, 0u64.wrapping_sub((1 << 53) + 1), 0x7fff_ffc0_0000_0000]);
        } else {
            out.extend([0xffff_ff7f, 0xffff_ff80, 0xffff_ff81, 0x7fff_ffbf, 0x7fff_ffc0, 0x8000_0040, 0x8000_0041]);
        }
        if width < 64 {
            out.iter_mut().for_each(|v| *v &= (1 << width) - 1);
        }
        out
    };
    let mut out = match dtype {
        DType::Bool => vec![0, 1],
        DType::U8 | DType::I8 => vec![0, 1, 2, 3, 7, 8, 9, 16, 100, 127, 128, 129, 200, 249, 254, 255],
        DType::U16 | DType::I16 => {
            vec![0, 1, 2, 3, 7, 15, 16, 17, 255, 256, 1000, 0x7fff, 0x8000, 0x8001, 0xff80, 0xfff9, 0xfffe, 0xffff]
        }
        DType::F16 => floats_16([0x3c00, 0x3800, 0x3e00, 0x4248, 0x5640, 0x6400, 0x7bff, 0x0400, 0x7c00, 0x1400]),
        DType::BF16 => floats_16([0x3f80, 0x3f00, 0x3fc0, 0x4049, 0x42c8, 0x4380, 0x7f7f, 0x0080, 0x7f80, 0x477f]),
        DType::I32 | DType::U32 => signed(32),
        DType::I64 | DType::U64 => signed(64),
        DType::F32 => floats_f32().into_iter().map(u64::from).collect(),
        DType::F64 => floats_f64(),
        DType::Str => Vec::new(),
    };
    out.sort_unstable();
    out.dedup();
    out
}

/// The 16-bit floats `of` and their neighbours, with both signs; 0, subnormals, and quiet and signalling NaNs.
fn floats_16(of: [u64; 10]) -> Vec<u64> {
    let all = of.into_iter().flat_map(|b| [b - 1, b, b + 1]).chain([0, 1, 2, 0x3ff, 0x7fc0, 0x7fff, 0x7e00]);
    all.flat_map(|b| [b, b | 0x8000]).collect()
}

fn floats_f32() -> Vec<u32> {
    let mut out = vec![0x7fc0_0000, 0x7f80_0001, 0xffc0_1234];
    let both = [
        0.0,
        1.0,
        0.5,
        1.5,
        2.5,
        3.0,
        0.1,
        100.7,
        255.0,
        255.9,
        256.0,
        8_388_607.5,
        16_777_216.0,
        2_147_483_520.0,
        2_147_483_648.0,
        4_294_967_040.0,
        4_294_967_296.0,
        9.223_371e18,
        9.223_372e18,
        1.844_674_3e19,
        1.844_674_4e19,
        1e30,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::INFINITY,
        f32::EPSILON,
        1.0 + f32::EPSILON,
        1.0 - f32::EPSILON / 2.0,
        std::f32::consts::PI,
    ];
    // Subnormals: the smallest, the largest, and one between.
    let bits = both.map(f32::to_bits).into_iter().chain([1, 0x007f_ffff, 0x0012_3456]);
    out.extend(bits.flat_map(|b| [b, b | 0x8000_0000]));
    out
}

fn floats_f64() -> Vec<u64> {
    let mut out = vec![0x7ff8_0000_0000_0000, 0x7ff0_0000_0000_0001, 0xfff8_0000_0000_1234];
    // The smallest f32, half of it (a tie to 0), and slightly more; likewise at the smallest normal and the largest
    // f32.
    let least = f64::from(f32::from_bits(1));
    let both = [
        0.0,
        1.0,
        0.5,
        1.5,
        2.5,
        0.1,
        255.9,
        256.0,
        4_294_967_295.0,
        4_294_967_295.5,
        4_294_967_296.0,
        2_147_483_647.5,
        2_147_483_648.0,
        2_147_483_649.0,
        9_223_372_036_854_774_784.0,
        9_223_372_036_854_775_808.0,
        18_446_744_073_709_549_568.0,
        18_446_744_073_709_551_616.0,
        9_007_199_254_740_991.0,
        16_777_217.0,
        16_777_219.0,
        1.0 + f64::EPSILON,
        1.0 + f64::from(f32::EPSILON) / 2.0,
        1.0 + f64::from(f32::EPSILON) * 1.5,
        least,
        least / 2.0,
        least / 2.0 * (1.0 + f64::EPSILON),
        least * 1.5,
        least * 2.5,
        f64::from(f32::MIN_POSITIVE) - least / 2.0,
        f64::from(f32::MAX),
        f64::from(f32::MAX) * (1.0 + f64::EPSILON),
        f64::from_bits(0x47ef_ffff_f000_0000),
        f64::from_bits(0x47ef_ffff_efff_ffff),
        1e300,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        std::f64::consts::PI,
    ];
    let bits = both.map(f64::to_bits).into_iter().chain([1, 0x000f_ffff_ffff_ffff, 0x0001_2345_6789_abcd]);
    out.extend(bits.flat_map(|b| [b, b | 0x8000_0000_0000_0000]));
    out
}

/// Bits as the bytes of an array of that dtype.
pub(super) fn bytes(dtype: DType, bits: impl IntoIterator<Item = u64>) -> Vec<u8> {
    bits.into_iter().flat_map(|b| b.to_le_bytes().into_iter().take(dtype.size())).collect()
}
