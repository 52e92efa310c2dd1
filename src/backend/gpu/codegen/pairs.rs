//! Opcodes on 64-bit integers as pairs of words: calls of functions of `shaders/lib/pairs.wgsl`. [`doubles`](super::doubles)
//! has those on floats.
//!
//! Bitwise operations need no calls: `&`, `|`, `^` and `~` work on vectors, and so does `select` with one condition.

use super::{ModuleBuilder, value_type};
use crate::dtype::DType;
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::plan::Int64Repr;

/// Whether values of the dtype are pairs in the module's kernel.
pub(super) fn is_pair(m: &ModuleBuilder<'_>, dtype: DType) -> bool {
    match dtype {
        DType::I64 | DType::U64 => m.longs() == Int64Repr::Pairs,
        DType::F64 => m.has_paired_doubles,
        _ => false,
    }
}

/// The dtype's suffix in function names.
fn suffix(dtype: DType) -> &'static str {
    if dtype == DType::I64 { "i64" } else { "u64" }
}

/// `op a`.
pub(super) fn unary(op: UnaryOp, dtype: DType, a: &str) -> String {
    match (op, dtype) {
        (UnaryOp::Neg, _) => format!("neg64({a})"),
        (UnaryOp::Not, _) => format!("~{a}"),
        (UnaryOp::Abs, DType::I64) => format!("abs_i64({a})"),
        // The magnitude of an unsigned number; no other operation is recorded on integers.
        _ => a.into(),
    }
}

/// `a op b`.
pub(super) fn binary(op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
    let of = suffix(dtype);
    match op {
        BinaryOp::Add => format!("add64({a}, {b})"),
        BinaryOp::Sub => format!("sub64({a}, {b})"),
        BinaryOp::Mul => format!("mul64({a}, {b})"),
        BinaryOp::Div | BinaryOp::IndexDiv => format!("div_{of}({a}, {b})"),
        BinaryOp::Rem | BinaryOp::IndexRem => format!("rem_{of}({a}, {b})"),
        BinaryOp::Min => format!("select({b}, {a}, less_{of}({a}, {b}))"),
        BinaryOp::Max => format!("select({b}, {a}, less_{of}({b}, {a}))"),
        BinaryOp::And => format!("{a} & {b}"),
        BinaryOp::Or => format!("{a} | {b}"),
        BinaryOp::Xor => format!("{a} ^ {b}"),
        BinaryOp::Eq => format!("all({a} == {b})"),
        BinaryOp::Ne => format!("any({a} != {b})"),
        BinaryOp::Lt => format!("less_{of}({a}, {b})"),
        BinaryOp::Le => format!("!less_{of}({b}, {a})"),
        BinaryOp::Shl => format!("shl_any64({a}, {b})"),
        BinaryOp::Shr => format!("shr_{of}({a}, {b})"),
        BinaryOp::Pow => format!("pow_{of}({a}, {b})"),
        // Not recorded on integers.
        BinaryOp::Atan2 | BinaryOp::MulNoNan => a.into(),
    }
}

/// The combination of `a` and `b`, as an expression.
pub(super) fn combine(op: ReduceOp, dtype: DType) -> String {
    let op = match op {
        ReduceOp::Sum => BinaryOp::Add,
        ReduceOp::Prod => BinaryOp::Mul,
        ReduceOp::Min => BinaryOp::Min,
        ReduceOp::Max => BinaryOp::Max,
    };
    binary(op, dtype, "a", "b")
}

/// The pair `a` as a bool or a float.
pub(super) fn cast_from(from: DType, to: DType, a: &str) -> String {
    match to {
        DType::Bool => format!("any({a} != {}(0u, 0u))", value_type(from)),
        _ => format!("f32_of_{}({a})", suffix(from)),
    }
}

/// Converts the value `a` of another type to a pair.
pub(super) fn cast_to(from: DType, to: DType, a: &str) -> String {
    match value_type(from) {
        "bool" => format!("{}(select(0u, 1u, {a}), 0u)", value_type(to)),
        "i32" => format!("i64_of_i32({a})"),
        "f32" => format!("{}_of_f32({a})", suffix(to)),
        _ => format!("{}({a}, 0u)", value_type(to)),
    }
}
