//! Conversions of values and of bits. Twin of `cast` and `bitcast` in `backend/cpu/operations.rs`.

use super::{ModuleBuilder, doubles, pairs, value_type};
use crate::dtype::DType;
use crate::math::narrow;

/// The value `a` of dtype `from` as `to`. Integers wrap. Floats saturate to integers, with NaN as 0. Conversion to bool
/// tests for a difference from 0.
pub(crate) fn cast(m: &mut ModuleBuilder<'_>, from: DType, to: DType, a: &str) -> String {
    match (pairs::is_pair(m, from), pairs::is_pair(m, to)) {
        (false, false) => {}
        _ if from == to => return a.into(),
        _ if from == DType::F64 => return doubles::cast_from(to, a),
        _ if to == DType::F64 => return doubles::cast_to(from, a),
        (true, true) => return a.into(),
        (true, false) if to == DType::Bool || to.is_float() => return pairs::cast_from(from, to, a),
        // Narrowing keeps the low bits.
        (true, false) if to == DType::U32 => return format!("{a}.x"),
        (true, false) => return cast(m, DType::U32, to, &format!("{a}.x")),
        (false, true) => return pairs::cast_to(from, to, a),
    }
    let (source, target) = (value_type(from), value_type(to));
    if let Some(text) = narrow(m, from, to, a) {
        return text;
    }
    match (from, to) {
        (DType::Bool, DType::U8) => format!("select(0u, 1u, {a})"),
        (DType::Bool, _) => format!("select({target}(0), {target}(1), {a})"),
        (_, DType::Bool) if from.is_float() => {
            // False for the two zeros only; true for NaN.
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
        (DType::U8 | DType::U32 | DType::I32, DType::I64 | DType::U64) => widened(m, from, to, a),
        _ if to.is_float() && rounds(from, to) => format!("{}({a})", rounding(m, from, to)),
        _ => format!("{target}({a})"),
    }
}

/// The integer `a` of at most 32 bits as one of 64 bits, made opaque to compilers by an exclusive or with zero.
///
/// Mesa 22.3 decides a comparison of a widened number with a 64-bit constant by 32 bits, and gets it wrong:
/// `i64(a) <= 1li` is always false, and so is `i64(a) < 0li` in an absolute value. A constant may also be a widened literal
/// that the driver folds.
fn widened(m: &mut ModuleBuilder<'_>, from: DType, to: DType, a: &str) -> String {
    let (source, target) = (value_type(from), if to == DType::I64 { "i64" } else { "u64" });
    let name = format!("{target}_of_{source}");
    // Widening extends by the signedness of the source; naga 30 uses that of the target.
    let bits = if from == DType::I32 { "bitcast<u64>(i64(x))" } else { "u64(x)" };
    let wide = format!("{bits} ^ u64(rg_zero())");
    let wide = if to == DType::I64 { format!("bitcast<i64>({wide})") } else { wide };
    m.helper(format!("fn {name}(x: {source}) -> {target} {{\n    return {wide};\n}}"));
    format!("{name}({a})")
}

/// Conversion between a narrow dtype and the dtype of its arithmetic. No other conversion of narrow dtypes is recorded.
fn narrow(m: &mut ModuleBuilder<'_>, from: DType, to: DType, a: &str) -> Option<String> {
    let mut call = |name: &str, definition: &str| {
        m.helper(definition);
        format!("{name}({a})")
    };
    Some(match (from, to) {
        (DType::F32, DType::F16) => call("f16_of_f32", narrow::F16_OF_F32),
        (DType::F16, DType::F32) => call("f32_of_f16", narrow::F32_OF_F16),
        (DType::F32, DType::BF16) => call("bf16_of_f32", narrow::BF16_OF_F32),
        (DType::BF16, DType::F32) => call("f32_of_bf16", narrow::F32_OF_BF16),
        (DType::I8 | DType::I16, DType::I32) | (DType::U16, DType::U32) => a.into(),
        (DType::I32, DType::I8) => format!("({a} << 24u) >> 24u"),
        (DType::I32, DType::I16) => format!("({a} << 16u) >> 16u"),
        (DType::U32, DType::U16) => format!("{a} & 0xffffu"),
        _ => return None,
    })
}

fn unsigned(from: DType, a: &str) -> String {
    if from == DType::I64 { format!("bitcast<u64>({a})") } else { a.into() }
}

/// Whether some values of `from` are not representable in `to`.
fn rounds(from: DType, to: DType) -> bool {
    match from {
        DType::I32 | DType::U32 => to == DType::F32,
        DType::I64 | DType::U64 => true,
        DType::F64 => to == DType::F32,
        _ => false,
    }
}

/// Defines a conversion to a float that rounds to nearest, ties to even, and returns its name. Vulkan does not specify
/// the rounding of built-in conversions, and drivers without 64-bit conversions round twice.
///
/// Each integer is converted in two halves, both exactly, so that only their sum rounds.
fn rounding(m: &mut ModuleBuilder<'_>, from: DType, to: DType) -> String {
    let name = format!("{}_of_{}", to.name(), value_type(from));
    let text = match (from, to) {
        (DType::U32 | DType::I32, _) => {
            let ty = value_type(from);
            format!("fn {name}(x: {ty}) -> f32 {{\n    return f32(x >> 16u) * 65536.0f + f32(x & {ty}(0xffff));\n}}")
        }
        (DType::U64, DType::F64) => format!(
            "fn {name}(x: u64) -> f64 {{\n    \
             return f64(u32(x >> 32u)) * 4294967296.0lf + f64(u32(x & 0xfffffffflu));\n}}"
        ),
        (DType::I64, DType::F64) => format!(
            "fn {name}(x: i64) -> f64 {{\n    let u = bitcast<u64>(x);\n    \
             return f64(bitcast<i32>(u32(u >> 32u))) * 4294967296.0lf + f64(u32(u & 0xfffffffflu));\n}}"
        ),
        (DType::U64, _) => {
            let half = rounding(m, DType::U32, DType::F32);
            // The leading 32 bits, with the dropped bits as a sticky bit in the lowest.
            format!(
                "fn {name}(x: u64) -> f32 {{\n    let high = u32(x >> 32u);\n    if (high == 0u) {{\n        \
                 return {half}(u32(x & 0xfffffffflu));\n    }}\n    let drop = 32u - countLeadingZeros(high);\n    \
                 let kept = u32((x >> drop) & 0xfffffffflu);\n    \
                 let rest = x & ((1lu << drop) - 1lu);\n    \
                 // Times 2^drop, in the exponent: a product would follow the sum of the halves without a guard.\n    \
                 let rounded = {half}(kept | select(0u, 1u, rest != 0lu));\n    \
                 return bitcast<f32>(bitcast<u32>(rounded) + (drop << 23u));\n}}"
            )
        }
        (DType::I64, _) => {
            let magnitude = rounding(m, DType::U64, DType::F32);
            format!(
                "fn {name}(x: i64) -> f32 {{\n    let u = bitcast<u64>(x);\n    \
                 // Tested by its word: Mesa 22 miscompiles comparisons of widened integers with 64-bit literals.\n    \
                 let sign = u32(u >> 32u) & 0x80000000u;\n    \
                 let size = bitcast<u32>({magnitude}(select(u, 0lu - u, sign != 0u)));\n    \
                 return bitcast<f32>(size | sign);\n}}"
            )
        }
        // F64 to F32 by integer operations, since drivers may flush subnormal results.
        _ => format!(
            "fn {name}(x: f64) -> f32 {{\n    let u = bitcast<u64>(x);\n    \
             let sign = u32(u >> 32u) & 0x80000000u;\n    let a = u & 0x7ffffffffffffffflu;\n    \
             if (a > 0x7ff0000000000000lu) {{\n        return bitcast<f32>(0x7fc00000u | rg_zero());\n    }}\n    \
             let exponent = u32(a >> 52u);\n    if (exponent >= 1151u) {{\n        \
             return bitcast<f32>(sign | 0x7f800000u);\n    }}\n    if (exponent < 872u) {{\n        \
             return bitcast<f32>(sign);\n    }}\n    let digits = (a & 0xffffffffffffflu) | 0x10000000000000lu;\n    \
             // Below the normal numbers of f32 fewer digits are kept.\n    \
             let drop = 29u + select(0u, 897u - exponent, exponent < 897u);\n    \
             let kept = u32(digits >> drop);\n    let rest = digits & ((1lu << drop) - 1lu);\n    \
             let half = 1lu << (drop - 1u);\n    \
             let up = rest > half || (rest == half && (kept & 1u) != 0u);\n    \
             // The leading digit adds one to the exponent, and so may the carry.\n    \
             let base = select(0u, (exponent - 897u) << 23u, exponent >= 897u);\n    \
             return bitcast<f32>(sign | (base + kept + select(0u, 1u, up)));\n}}"
        ),
    };
    m.helper(text);
    name
}

/// Defines a float to integer conversion that saturates. The bounds are powers of two, exact in the float's type.
fn saturating(m: &mut ModuleBuilder<'_>, from: DType, to: DType) {
    let (source, target) = (value_type(from), value_type(to));
    let suffix = if from == DType::F64 { "lf" } else { "f" };
    let (bits, mask, exponent) = if from == DType::F64 {
        ("u64", "0x7ffffffffffffffflu", "0x7ff0000000000000lu")
    } else {
        ("u32", "0x7fffffffu", "0x7f800000u")
    };
    // (lower bound, its result, upper bound: a power of two, its result)
    let (below, low, above, high) = match to {
        DType::U8 => ("0.0", "0u", "256.0", "255u"),
        DType::U32 => ("0.0", "0u", "4294967296.0", "0xffffffffu"),
        DType::I32 => ("-2147483648.0", "bitcast<i32>(0x80000000u | rg_zero())", "2147483648.0", "0x7fffffffi"),
        DType::U64 => ("0.0", "0lu", "18446744073709551616.0", "0xfffffffffffffffflu"),
        _ => (
            "-9223372036854775808.0",
            "bitcast<i64>(0x8000000000000000lu | u64(rg_zero()))",
            "9223372036854775808.0",
            "0x7fffffffffffffffli",
        ),
    };
    m.helper(format!(
        "fn {source}_to_{name}(x: {source}) -> {target} {{\n    \
         if ((bitcast<{bits}>(x) & {mask}) > {exponent}) {{\n        return {target}(0);\n    }}\n    \
         if (x <= {below}{suffix}) {{\n        return {low};\n    }}\n    \
         if (x >= {above}{suffix}) {{\n        return {high};\n    }}\n    return {target}(x);\n}}",
        name = to.name()
    ));
}

/// The bits of `a` as `to`, of the same width.
pub(crate) fn bitcast(m: &ModuleBuilder<'_>, from: DType, to: DType, a: &str) -> String {
    match (from, to) {
        _ if pairs::is_pair(m, from) && pairs::is_pair(m, to) => a.into(),
        (DType::Bool, _) => format!("select(0u, 1u, {a})"),
        (_, DType::Bool) => format!("{a} != 0u"),
        _ if value_type(from) == value_type(to) => a.into(),
        _ => format!("bitcast<{}>({a})", value_type(to)),
    }
}
