//! Accumulator states of row reductions, in WGSL. Bit-identical twin of `backend/cpu/accumulate.rs`.

use super::{ModuleBuilder, arithmetic, pairs, value_type};
use crate::dtype::DType;
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::reducer::{Accumulator, Reducer};
use crate::math::MathFn;

/// The WGSL type of the state.
pub(super) fn state(accumulator: Accumulator, dtype: DType) -> String {
    let ty = value_type(dtype);
    match accumulator {
        Accumulator::Op(_) => ty.into(),
        Accumulator::Extreme(_) => key_type(dtype).into(),
        Accumulator::Exps => format!("Exps_{ty}"),
        Accumulator::Moments => format!("Moments_{ty}"),
    }
}

/// The state of the single value `x`, as an expression.
pub(super) fn of_value(m: &ModuleBuilder<'_>, accumulator: Accumulator, dtype: DType, x: &str) -> String {
    let ty = value_type(dtype);
    match accumulator {
        Accumulator::Op(_) => x.into(),
        Accumulator::Extreme(op) => {
            let nan = if op == ReduceOp::Min { ends(m, dtype)[0] } else { ends(m, dtype)[1] };
            format!("key_of_{ty}({x}, {nan})")
        }
        Accumulator::Exps => format!("exps_of_{ty}({x})"),
        Accumulator::Moments => format!("moments_of_{ty}({x})"),
    }
}

/// The reducer's result from the state `v`, as an expression.
pub(super) fn result(m: &mut ModuleBuilder<'_>, reducer: Reducer, dtype: DType, v: &str) -> String {
    match reducer {
        Reducer::Op(_) => v.into(),
        Reducer::Extreme(op, empty) => {
            let empty = m.number(empty.value(op, dtype));
            let none = none(m, op, dtype);
            let is_none = arithmetic::binary(m, BinaryOp::Eq, key_dtype(dtype), v, none, false);
            format!("select(float_of_{}({v}), {empty}, {is_none})", key_type(dtype))
        }
        Reducer::Greatest => format!("float_of_{}({v}.greatest)", key_type(dtype)),
        Reducer::SumOfExps => format!("{v}.sum"),
        Reducer::Deviations => format!("{v}.deviations"),
    }
}

/// The signed integers of a float's width.
fn key_dtype(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::I64 } else { DType::I32 }
}

/// The type of these.
fn key_type(dtype: DType) -> &'static str {
    value_type(key_dtype(dtype))
}

/// 0 and 1 of a float type, and its NaN as an expression that no compiler can fold.
fn constants(m: &ModuleBuilder<'_>, dtype: DType) -> [&'static str; 3] {
    match dtype {
        _ if pairs::is_pair(m, dtype) => ["F64(0u, 0u)", "one_f64()", "nan_f64()"],
        DType::F64 => ["0.0lf", "1.0lf", "bitcast<f64>(0x7ff8000000000000lu | u64(rg_zero()))"],
        _ => ["0.0", "1.0", "bitcast<f32>(0x7fc00000u | rg_zero())"],
    }
}

/// The keys of -inf and +inf.
fn keys(m: &ModuleBuilder<'_>, dtype: DType) -> [&'static str; 2] {
    match dtype {
        _ if pairs::is_pair(m, dtype) => ["I64(0xffffffffu, 0x800fffffu)", "I64(0u, 0x7ff00000u)"],
        DType::F64 => ["-0x7ff0000000000001li", "0x7ff0000000000000li"],
        _ => ["-0x7f800001i", "0x7f800000i"],
    }
}

/// The least and the greatest integer of a key's type.
fn ends(m: &ModuleBuilder<'_>, dtype: DType) -> [&'static str; 2] {
    match dtype {
        _ if pairs::is_pair(m, dtype) => ["I64(0u, 0x80000000u)", "I64(0xffffffffu, 0x7fffffffu)"],
        DType::F64 => ["(-0x7fffffffffffffffli - 1li)", "0x7fffffffffffffffli"],
        _ => ["(-0x7fffffffi - 1i)", "0x7fffffffi"],
    }
}

/// The key of no float, which every other key replaces.
fn none(m: &ModuleBuilder<'_>, op: ReduceOp, dtype: DType) -> &'static str {
    if op == ReduceOp::Min { ends(m, dtype)[1] } else { ends(m, dtype)[0] }
}

/// Defines the conversions of a float to an integer of the same order, and back.
fn order_keys(m: &mut ModuleBuilder<'_>, dtype: DType) {
    let (ty, key) = (value_type(dtype), key_type(dtype));
    if pairs::is_pair(m, dtype) {
        return m.helper(format!(
            "/// A float as an integer of the same order, and back.\n\
             fn key_of_{ty}(x: {ty}, nan: {key}) -> {key} {{\n    \
             return select(signed_key_f64(x), nan, is_nan_f64(x));\n}}\n\
             fn float_of_{key}(k: {key}) -> {ty} {{\n    return signed_key_f64(k);\n}}"
        ));
    }
    let (last, [_, mask]) = (dtype.size() * 8 - 1, ends(m, dtype));
    let is_nan = arithmetic::unary(m, UnaryOp::IsNan, dtype, "x");
    m.helper(format!(
        "/// A float as an integer of the same order, and back.\n\
         fn key_of_{ty}(x: {ty}, nan: {key}) -> {key} {{\n    let bits = bitcast<{key}>(x);\n    \
         return select(bits ^ ((bits >> {last}u) & {mask}), nan, {is_nan});\n}}\n\
         fn float_of_{key}(k: {key}) -> {ty} {{\n    return bitcast<{ty}>(k ^ ((k >> {last}u) & {mask}));\n}}"
    ));
}

/// Defines the state's type and its functions `{prefix}identity` and `{prefix}combine`.
pub(super) fn define(m: &mut ModuleBuilder<'_>, accumulator: Accumulator, dtype: DType, prefix: &str) {
    let ty = state(accumulator, dtype);
    let (identity, combine) = match accumulator {
        Accumulator::Op(op) => (m.number(op.identity(dtype)), arithmetic::combine(m, op, dtype)),
        Accumulator::Extreme(op) => {
            order_keys(m, dtype);
            let combined = match op {
                _ if pairs::is_pair(m, dtype) => pairs::combine(op, key_dtype(dtype)),
                ReduceOp::Min => "min(a, b)".into(),
                _ => "max(a, b)".into(),
            };
            (none(m, op, dtype).into(), combined)
        }
        Accumulator::Exps => {
            order_keys(m, dtype);
            exps(m, dtype);
            (format!("{ty}({}, {})", keys(m, dtype)[0], constants(m, dtype)[0]), format!("merge_{ty}(a, b)"))
        }
        Accumulator::Moments => {
            moments(m, dtype);
            (format!("{ty}()"), format!("merge_{ty}(a, b)"))
        }
    };
    m.push(&format!(
        "fn {prefix}identity() -> {ty} {{\n    return {identity};\n}}\n\
         fn {prefix}combine(a: {ty}, b: {ty}) -> {ty} {{\n    return {combine};\n}}"
    ));
}

/// Online softmax: the greatest value, and the sum of the exponentials relative to it.
fn exps(m: &mut ModuleBuilder<'_>, dtype: DType) {
    let (ty, key) = (value_type(dtype), key_type(dtype));
    let ([_, one, nan], [_, infinity], [_, greatest_key]) = (constants(m, dtype), keys(m, dtype), ends(m, dtype));
    let mut compare = |op, a: &str, b: &str| arithmetic::binary(m, op, key_dtype(dtype), a, b, false);
    let is_below_infinity = compare(BinaryOp::Lt, "k", infinity);
    let is_less = compare(BinaryOp::Lt, "a.greatest", "b.greatest");
    let is_equal = compare(BinaryOp::Eq, "least", "greatest");
    let difference = {
        let (low, high) = (format!("float_of_{key}(least)"), format!("float_of_{key}(greatest)"));
        arithmetic::binary(m, BinaryOp::Sub, dtype, &low, &high, false)
    };
    let exp = m.math(MathFn::Exp, dtype);
    let shrunk = arithmetic::binary(m, BinaryOp::Mul, dtype, "select(b.sum, a.sum, is_less)", "scale", false);
    let sum = arithmetic::binary(m, BinaryOp::Add, dtype, "select(a.sum, b.sum, is_less)", "shrunk", false);
    m.helper(format!(
        "struct Exps_{ty} {{\n    greatest: {key},\n    sum: {ty},\n}}\n\
         fn exps_of_{ty}(x: {ty}) -> Exps_{ty} {{\n    let k = key_of_{ty}(x, {greatest_key});\n    \
         return Exps_{ty}(k, select({nan}, {one}, {is_below_infinity}));\n}}\n\
         fn merge_Exps_{ty}(a: Exps_{ty}, b: Exps_{ty}) -> Exps_{ty} {{\n    \
         let is_less = {is_less};\n    \
         let greatest = select(a.greatest, b.greatest, is_less);\n    \
         let least = select(b.greatest, a.greatest, is_less);\n    \
         // Equal infinities have no difference.\n    \
         let scale = select({exp}({difference}), {one}, {is_equal});\n    \
         let shrunk = {shrunk};\n    return Exps_{ty}(greatest, {sum});\n}}"
    ));
}

/// Moments: the number of values, one of the values, the offset of their mean from it, and the sum of squared
/// deviations from the mean.
fn moments(m: &mut ModuleBuilder<'_>, dtype: DType) {
    let ty = value_type(dtype);
    let [zero, one, nan] = constants(m, dtype);
    let is_pair = pairs::is_pair(m, dtype);
    let less = |a: &str, b: &str| if is_pair { format!("less_f64({a}, {b})") } else { format!("{a} < {b}") };
    let is_finite = arithmetic::unary(m, UnaryOp::IsFinite, dtype, "x");
    let mut binary = |op, a: &str, b: &str| arithmetic::binary(m, op, dtype, a, b, false);
    let (add, sub, mul, div) = (BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div);
    let lines = [
        ("count", binary(add, "a.count", "b.count")),
        ("at_least_one", format!("select(count, {one}, {})", less("count", one))),
        ("share", binary(div, "b.count", "at_least_one")),
        ("near", format!("select(a.near, b.near, {})", less("a.count", one))),
        ("from_near", binary(sub, "b.near", "near")),
        ("from_off", binary(sub, "b.off", "a.off")),
        ("apart", binary(add, "from_near", "from_off")),
        ("weight", binary(mul, "a.count", "share")),
        ("weighted", binary(mul, "apart", "weight")),
        ("squares", binary(mul, "apart", "weighted")),
        ("step", binary(mul, "apart", "share")),
        ("off", binary(add, "a.off", "step")),
        ("both", binary(add, "a.deviations", "b.deviations")),
        ("deviations", binary(add, "both", "squares")),
    ];
    let body: String = lines.iter().map(|(name, text)| format!("    let {name} = {text};\n")).collect();
    m.helper(format!(
        "struct Moments_{ty} {{\n    count: {ty},\n    near: {ty},\n    off: {ty},\n    deviations: {ty},\n}}\n\
         fn moments_of_{ty}(x: {ty}) -> Moments_{ty} {{\n    \
         // The deviations of a non-finite value are NaN.\n    \
         return Moments_{ty}({one}, x, {zero}, select({nan}, {zero}, {is_finite}));\n}}\n\
         fn merge_Moments_{ty}(a: Moments_{ty}, b: Moments_{ty}) -> Moments_{ty} {{\n{body}    \
         return Moments_{ty}(count, near, off, deviations);\n}}"
    ));
}
