//! The opcodes in WGSL. Bit-identical twin of `backend/cpu/operations.rs`.
//!
//! Drivers may contract products into sums, reassociate sums, and simplify as under fast math, which is the default of
//! Metal and DXC. A `guard_*` therefore separates any two operations of float arithmetic: an integer operation on the
//! bits with a zero that is opaque to compilers. Guards apply to the operands of expressions, and to the results of
//! reductions, which are operands of the next combination. Two guards in a row must not cancel (see [`opaque`]).

use super::{ModuleBuilder, doubles, pairs, value_type};
use crate::dtype::DType;
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::plan::ProductRepr;
use crate::math::{MathFn, opaque};

/// Fused multiply-adds of devices that have none.
const FMA_BY_DOUBLES: &str = include_str!("../../../../shaders/lib/fma_doubles.wgsl");
const FMA_BY_WORDS: &str = include_str!("../../../../shaders/lib/fma_words.wgsl");

/// The unsigned type of a float's width, as text, with its exponent mask and sign bit.
fn float_bits(dtype: DType) -> (&'static str, &'static str, &'static str) {
    match dtype {
        DType::F64 => ("u64", "0x7ff0000000000000lu", "0x8000000000000000lu"),
        _ => ("u32", "0x7f800000u", "0x80000000u"),
    }
}

/// The float with its bits unchanged, behind a zero that is opaque to compilers.
pub(super) fn guard(m: &mut ModuleBuilder<'_>, dtype: DType, a: &str) -> String {
    if pairs::is_pair(m, dtype) {
        return a.into();
    }
    let ty = value_type(dtype);
    let (bits, ..) = float_bits(dtype);
    let opaque = opaque(&format!("bitcast<{bits}>(x)"), &format!("{bits}(rg_zero())"));
    m.helper(format!("fn guard_{ty}(x: {ty}) -> {ty} {{\n    return bitcast<{ty}>({opaque});\n}}"));
    format!("guard_{ty}({a})")
}

/// As [`guard`] with another operation, so that compilers cannot prove two guarded values equal. Otherwise `x - x`
/// would be simplified to 0, which is wrong for infinities and NaNs.
fn second_guard(m: &mut ModuleBuilder<'_>, dtype: DType, a: &str) -> String {
    let ty = value_type(dtype);
    let (bits, ..) = float_bits(dtype);
    m.helper(format!(
        "fn second_guard_{ty}(x: {ty}) -> {ty} {{\n    \
         return bitcast<{ty}>(bitcast<{bits}>(x) + {bits}(rg_zero()));\n}}"
    ));
    format!("second_guard_{ty}({a})")
}

/// Argument `k`, or the result, of a function of the user. Floats are guarded, so that drivers neither contract across the
/// call nor simplify calls with equal arguments.
pub(super) fn guard_argument(m: &mut ModuleBuilder<'_>, dtype: DType, a: &str, k: usize) -> String {
    match (dtype, k % 2) {
        (DType::F32, 0) => guard(m, dtype, a),
        (DType::F32, _) => second_guard(m, dtype, a),
        _ => a.into(),
    }
}

/// `op a`, as an expression.
pub(crate) fn unary(m: &mut ModuleBuilder<'_>, op: UnaryOp, dtype: DType, a: &str) -> String {
    match dtype {
        _ if !pairs::is_pair(m, dtype) => {}
        DType::F64 => return doubles::unary(m, op, a),
        _ => return pairs::unary(op, dtype, a),
    }
    let ty = value_type(dtype);
    let (bits, exponent, sign) = float_bits(dtype);
    match (op, dtype) {
        (UnaryOp::Neg, DType::F32 | DType::F64) => format!("bitcast<{ty}>(bitcast<{bits}>({a}) ^ {sign})"),
        (UnaryOp::Neg, DType::U8) => format!("(0u - {a}) & 0xffu"),
        (UnaryOp::Neg, _) => format!("{ty}(0) - {a}"),
        (UnaryOp::Abs, DType::F32 | DType::F64) => format!("bitcast<{ty}>(bitcast<{bits}>({a}) & ~{sign})"),
        (UnaryOp::Abs, DType::I32 | DType::I64) => format!("select({a}, {ty}(0) - {a}, {a} < {ty}(0))"),
        (UnaryOp::Abs, _) => a.into(),
        (UnaryOp::Not, DType::Bool) => format!("!{a}"),
        (UnaryOp::Not, DType::U8) => format!("~{a} & 0xffu"),
        (UnaryOp::Not, _) => format!("~{a}"),
        (UnaryOp::CountOnes, _) => format!("countOneBits({a})"),
        (UnaryOp::SortKey, _) => sort_key(m, dtype, a),
        (UnaryOp::IsNan, _) => format!("(bitcast<{bits}>({a}) & ~{sign}) > {exponent}"),
        (UnaryOp::IsInf, _) => format!("(bitcast<{bits}>({a}) & ~{sign}) == {exponent}"),
        (UnaryOp::IsFinite, _) => format!("(bitcast<{bits}>({a}) & ~{sign}) < {exponent}"),
        (UnaryOp::Math(f), _) => {
            let name = m.math(f, dtype);
            format!("{name}({a})")
        }
    }
}

/// The sort key of the float `a`, as an expression.
fn sort_key(m: &mut ModuleBuilder<'_>, dtype: DType, a: &str) -> String {
    let ty = value_type(dtype);
    let (bits, exponent, sign) = float_bits(dtype);
    m.helper(format!(
        "/// The bits of the float as an unsigned integer of the same order: both zeros as one, NaN above all.\n\
         fn sort_key_{ty}(x: {ty}) -> {bits} {{\n    let b = bitcast<{bits}>(x);\n    \
         let of_number = select(b | {sign}, ~b, b > {sign});\n    \
         return select(of_number, ~{bits}(0), (b & ~{sign}) > {exponent});\n}}"
    ));
    format!("sort_key_{ty}({a})")
}

/// `a op b`, as an expression. `nonzero`: `b` is a constant other than 0.
pub(crate) fn binary(m: &mut ModuleBuilder<'_>, op: BinaryOp, dtype: DType, a: &str, b: &str, nonzero: bool) -> String {
    match dtype {
        _ if !pairs::is_pair(m, dtype) => {}
        DType::F64 => return doubles::binary(m, op, a, b),
        _ => return pairs::binary(op, dtype, a, b),
    }
    let text = match dtype {
        DType::Bool => return bools(op, a, b),
        DType::F32 | DType::F64 => return floats(m, op, dtype, a, b),
        DType::U32 if nonzero && matches!(op, BinaryOp::Div | BinaryOp::IndexDiv) => return format!("{a} / {b}"),
        DType::U32 if nonzero && matches!(op, BinaryOp::Rem | BinaryOp::IndexRem) => return format!("{a} % {b}"),
        _ => integers(m, op, dtype, a, b),
    };
    let wraps = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl | BinaryOp::Pow);
    if dtype == DType::U8 && wraps { format!("({text}) & 0xffu") } else { text }
}

fn bools(op: BinaryOp, a: &str, b: &str) -> String {
    match op {
        BinaryOp::And => format!("{a} && {b}"),
        BinaryOp::Or => format!("{a} || {b}"),
        BinaryOp::Eq => format!("{a} == {b}"),
        BinaryOp::Lt => format!("!{a} && {b}"),
        BinaryOp::Le => format!("!{a} || {b}"),
        // Exclusive or; no other operation is recorded on bools.
        _ => format!("{a} != {b}"),
    }
}

fn floats(m: &mut ModuleBuilder<'_>, op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
    let ty = value_type(dtype);
    let call = |m: &mut ModuleBuilder<'_>, f| {
        let name = m.math(f, dtype);
        format!("{name}({a}, {b})")
    };
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let (x, y) = (guard(m, dtype, a), second_guard(m, dtype, b));
            let sign = match op {
                BinaryOp::Add => "+",
                BinaryOp::Sub => "-",
                _ => "*",
            };
            format!("{x} {sign} {y}")
        }
        BinaryOp::Div => call(m, MathFn::Div),
        BinaryOp::Rem => call(m, MathFn::Rem),
        BinaryOp::Pow => call(m, MathFn::Pow),
        BinaryOp::Atan2 => call(m, MathFn::Atan2),
        BinaryOp::MulNoNan => {
            let product = floats(m, BinaryOp::Mul, dtype, a, b);
            format!("select({product}, {ty}(0), {b} == {ty}(0))")
        }
        BinaryOp::Min | BinaryOp::Max => {
            let name = extremum(m, op, dtype);
            format!("{name}({a}, {b})")
        }
        // A comparison of a value with itself must not be folded.
        BinaryOp::Eq => format!("{} == {}", a, guard(m, dtype, b)),
        BinaryOp::Ne => format!("!({} == {})", a, guard(m, dtype, b)),
        BinaryOp::Lt => format!("{} < {}", a, guard(m, dtype, b)),
        BinaryOp::Le => format!("{} <= {}", a, guard(m, dtype, b)),
        _ => format!("{ty}(0)"),
    }
}

/// The reduction's combination of `a` and `b`, as an expression in these names. `b` may be a fused product and is
/// guarded against contraction. The result is guarded against reassociation with the next combination.
pub(crate) fn combine(m: &mut ModuleBuilder<'_>, op: ReduceOp, dtype: DType) -> String {
    match dtype {
        _ if !pairs::is_pair(m, dtype) => {}
        DType::F64 => return doubles::combine(op).into(),
        _ => return pairs::combine(op, dtype),
    }
    let float = dtype.is_float();
    match op {
        ReduceOp::Sum | ReduceOp::Prod => {
            let sign = if op == ReduceOp::Sum { "+" } else { "*" };
            if !float {
                return format!("a {sign} b");
            }
            let b = guard(m, dtype, "b");
            guard(m, dtype, &format!("a {sign} {b}"))
        }
        ReduceOp::Min | ReduceOp::Max => {
            let op = if op == ReduceOp::Min { BinaryOp::Min } else { BinaryOp::Max };
            binary(m, op, dtype, "a", "b", false)
        }
    }
}

/// `sum + a * b`, as an expression in `sum`, `a` and `b`: of f32 rounded once, unless the device splits products; of f64
/// rounded twice and guarded as [`combine`]. A fused sum may be the addend of the next one without a guard: no compiler
/// has a form of two that rounds less.
pub(crate) fn add_product(m: &mut ModuleBuilder<'_>, dtype: DType) -> String {
    let library = match (dtype, m.products()) {
        (DType::F64, _) if pairs::is_pair(m, dtype) => return "add_f64(sum, mul_f64(a, b))".into(),
        _ if pairs::is_pair(m, dtype) => return "add64(sum, mul64(a, b))".into(),
        _ if !dtype.is_float() => return "sum + a * b".into(),
        (DType::F32, ProductRepr::Native) => return "fma(a, b, sum)".into(),
        (DType::F32, ProductRepr::Doubles) => FMA_BY_DOUBLES,
        (DType::F32, ProductRepr::Words) => FMA_BY_WORDS,
        _ => {
            let product = guard(m, dtype, "a * b");
            return guard(m, dtype, &format!("sum + {product}"));
        }
    };
    m.helper(library);
    "fma_f32(a, b, sum)".into()
}

/// Defines the smaller or larger of two floats by their order-preserving keys: NaN if either is, -0 below +0.
pub(crate) fn extremum(m: &mut ModuleBuilder<'_>, op: BinaryOp, dtype: DType) -> String {
    let ty = value_type(dtype);
    let (bits, exponent, sign) = float_bits(dtype);
    m.helper(format!(
        "fn key_{ty}(u: {bits}) -> {bits} {{\n    return select(u | {sign}, ~u, (u & {sign}) != {bits}(0));\n}}"
    ));
    let (name, less) = if op == BinaryOp::Min { ("least", "<") } else { ("greatest", ">") };
    m.helper(format!(
        "fn {name}_{ty}(a: {ty}, b: {ty}) -> {ty} {{\n    \
         let x = bitcast<{bits}>(a);\n    let y = bitcast<{bits}>(b);\n    \
         if ((x & ~{sign}) > {exponent}) {{\n        return a;\n    }}\n    \
         if ((y & ~{sign}) > {exponent}) {{\n        return b;\n    }}\n    \
         return select(b, a, key_{ty}(x) {less} key_{ty}(y));\n}}"
    ));
    format!("{name}_{ty}")
}

fn integers(m: &mut ModuleBuilder<'_>, op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
    let ty = value_type(dtype);
    let signed = matches!(dtype, DType::I32 | DType::I64);
    let width = dtype.size() * 8;
    match op {
        BinaryOp::Add => format!("{a} + {b}"),
        BinaryOp::Sub => format!("{a} - {b}"),
        BinaryOp::Mul => format!("{a} * {b}"),
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::IndexDiv | BinaryOp::IndexRem => {
            // Defines MIN / -1 as MIN and x / 0 as 0, independent of the hardware. The remainder is computed from the
            // quotient, since `%` of negative numbers is wrong on some drivers.
            let minus_one = if signed {
                format!("    if (b == {ty}(-1)) {{\n        return {ty}(0) - a;\n    }}\n")
            } else {
                String::new()
            };
            m.helper(format!(
                "fn div_{ty}(a: {ty}, b: {ty}) -> {ty} {{\n    if (b == {ty}(0)) {{\n        return {ty}(0);\n    }}\n\
                 {minus_one}    return a / b;\n}}"
            ));
            if matches!(op, BinaryOp::Div | BinaryOp::IndexDiv) {
                return format!("div_{ty}({a}, {b})");
            }
            m.helper(format!(
                "fn rem_{ty}(a: {ty}, b: {ty}) -> {ty} {{\n    \
                 if (b == {ty}(0)) {{\n        return {ty}(0);\n    }}\n    \
                 return a - div_{ty}(a, b) * b;\n}}"
            ));
            format!("rem_{ty}({a}, {b})")
        }
        BinaryOp::Min => format!("select({b}, {a}, {a} < {b})"),
        BinaryOp::Max => format!("select({b}, {a}, {a} > {b})"),
        BinaryOp::And => format!("{a} & {b}"),
        BinaryOp::Or => format!("{a} | {b}"),
        BinaryOp::Xor => format!("{a} ^ {b}"),
        BinaryOp::Eq => format!("{a} == {b}"),
        BinaryOp::Ne => format!("{a} != {b}"),
        BinaryOp::Lt => format!("{a} < {b}"),
        BinaryOp::Le => format!("{a} <= {b}"),
        BinaryOp::Shl | BinaryOp::Shr => {
            let left = op == BinaryOp::Shl;
            let name = format!("{}_{}", if left { "shl" } else { "shr" }, dtype.name());
            let sign = if left { "<<" } else { ">>" };
            // A shift by the width or more gives 0, or copies of the sign bit.
            let beyond = if signed && !left { format!("a >> {}u", width - 1) } else { format!("{ty}(0)") };
            let negative = if signed { format!(" || b < {ty}(0)") } else { String::new() };
            m.helper(format!(
                "fn {name}(a: {ty}, b: {ty}) -> {ty} {{\n    if (b >= {ty}({width}){negative}) {{\n        \
                 return {beyond};\n    }}\n    return a {sign} u32(b);\n}}"
            ));
            format!("{name}({a}, {b})")
        }
        BinaryOp::Pow => {
            let name = format!("pow_{}", dtype.name());
            let negative = if signed {
                format!("    if (e < {ty}(0)) {{\n        return {ty}(0);\n    }}\n")
            } else {
                String::new()
            };
            m.helper(format!(
                "fn {name}(a: {ty}, b: {ty}) -> {ty} {{\n    var base = a;\n    var e = b;\n    var result = {ty}(1);\n\
                 {negative}    while (e != {ty}(0)) {{\n        if ((e & {ty}(1)) != {ty}(0)) {{\n            \
                 result = result * base;\n        }}\n        base = base * base;\n        e = e >> 1u;\n    }}\n    \
                 return result;\n}}"
            ));
            format!("{name}({a}, {b})")
        }
        BinaryOp::Atan2 | BinaryOp::MulNoNan => format!("{ty}(0)"),
    }
}
