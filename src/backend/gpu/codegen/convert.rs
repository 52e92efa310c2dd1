//! Conversions of values and of bits. Twin of `cast` and `bitcast` in `backend/cpu/lanes.rs`.

use super::{Module, value_type};
use crate::dtype::DType;

/// The value `a` of dtype `from` as `to`: integers wrap, floats to integers saturate with NaN as 0, anything to bool is
/// whether it differs from zero.
pub(crate) fn cast(m: &mut Module<'_>, from: DType, to: DType, a: &str) -> String {
    let (source, target) = (value_type(from), value_type(to));
    match (from, to) {
        (DType::Bool, DType::U8) => format!("select(0u, 1u, {a})"),
        (DType::Bool, _) => format!("select({target}(0), {target}(1), {a})"),
        (_, DType::Bool) if from.is_float() => {
            // Also true for NaN, as for anything but the two zeros.
            let (bits, mask) =
                if from == DType::F32 { ("u32", "0x7fffffffu") } else { ("u64", "0x7ffffffffffffffflu") };
            format!("(bitcast<{bits}>({a}) & {mask}) != {bits}(0)")
        }
        (_, DType::Bool) => format!("{a} != {source}(0)"),
        _ if from.is_float() && !to.is_float() => {
            saturating(m, from, to);
            format!("{}_to_{}({a})", source, to.name())
        }
        // Narrowing keeps the low bits.
        (DType::I64 | DType::U64, DType::I32 | DType::U32) => {
            format!("bitcast<{target}>(u32({} & 0xfffffffflu))", unsigned(from, a))
        }
        (DType::I64 | DType::U64, DType::U8) => format!("u32({} & 0xfflu)", unsigned(from, a)),
        (_, DType::U8) => format!("u32({a}) & 0xffu"),
        // Widening goes by the sign of the source; naga 30 goes by that of the target.
        (DType::U8 | DType::U32, DType::I64) => format!("bitcast<i64>(u64({a}))"),
        (DType::I32, DType::U64) => format!("bitcast<u64>(i64({a}))"),
        _ => format!("{target}({a})"),
    }
}

fn unsigned(from: DType, a: &str) -> String {
    if from == DType::I64 { format!("bitcast<u64>({a})") } else { a.into() }
}

/// Defines a float to integer conversion that saturates. The bounds are powers of two, exact in the float's type.
fn saturating(m: &mut Module<'_>, from: DType, to: DType) {
    let (source, target) = (value_type(from), value_type(to));
    let suffix = if from == DType::F64 { "lf" } else { "f" };
    let (bits, mask, exponent) = if from == DType::F64 {
        ("u64", "0x7ffffffffffffffflu", "0x7ff0000000000000lu")
    } else {
        ("u32", "0x7fffffffu", "0x7f800000u")
    };
    // (lowest, the power of two from which it saturates, greatest)
    let (below, low, above, high) = match to {
        DType::U8 => ("0.0", "0u", "256.0", "255u"),
        DType::U32 => ("0.0", "0u", "4294967296.0", "0xffffffffu"),
        DType::I32 => ("-2147483648.0", "bitcast<i32>(0x80000000u ^ rg_zero())", "2147483648.0", "0x7fffffffi"),
        DType::U64 => ("0.0", "0lu", "18446744073709551616.0", "0xfffffffffffffffflu"),
        _ => (
            "-9223372036854775808.0",
            "bitcast<i64>(0x8000000000000000lu ^ u64(rg_zero()))",
            "9223372036854775808.0",
            "0x7fffffffffffffffli",
        ),
    };
    m.helper(format!(
        "fn {source}_to_{name}(x: {source}) -> {target} {{\n    if ((bitcast<{bits}>(x) & {mask}) > {exponent}) {{\n        \
         return {target}(0);\n    }}\n    if (x <= {below}{suffix}) {{\n        return {low};\n    }}\n    \
         if (x >= {above}{suffix}) {{\n        return {high};\n    }}\n    return {target}(x);\n}}",
        name = to.name()
    ));
}

/// The bits of `a` as `to`, of the same width.
pub(crate) fn bitcast(from: DType, to: DType, a: &str) -> String {
    match (from, to) {
        (DType::Bool, _) => format!("select(0u, 1u, {a})"),
        (_, DType::Bool) => format!("{a} != 0u"),
        _ if value_type(from) == value_type(to) => a.into(),
        _ => format!("bitcast<{}>({a})", value_type(to)),
    }
}
