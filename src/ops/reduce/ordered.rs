//! Floats as integers of the same order, NaN before the least or after the greatest; and back.

use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::scalar::Scalar;

fn integer(float: DType) -> DType {
    if float == DType::F32 { DType::I32 } else { DType::I64 }
}

/// Flips all bits but the sign of what is negative: its own inverse.
fn flip(bits: Expr) -> Expr {
    let d = bits.dtype();
    let (last, mask) = (d.size() as i64 * 8 - 1, Scalar::highest(d));
    let sign = bits.clone().binary(BinaryOp::Shr, Expr::scalar(Scalar::from_i64(d, last)));
    bits.binary(BinaryOp::Xor, sign.and(Expr::scalar(mask)))
}

/// The key of a float, whose NaN is `nan`.
pub(in crate::ops) fn encode(x: Expr, op: ReduceOp) -> Expr {
    let d = integer(x.dtype());
    // Where every other value loses: NaN propagates.
    let nan = if op == ReduceOp::Min { Scalar::lowest(d) } else { Scalar::highest(d) };
    x.clone().unary(UnaryOp::IsNan).select(Expr::scalar(nan), flip(x.bitcast(d)))
}

/// The float of a key; `empty` for that of no float at all.
pub(in crate::ops) fn decode(key: Expr, op: ReduceOp, empty: Expr) -> Expr {
    let d = key.dtype();
    let none = if op == ReduceOp::Min { Scalar::highest(d) } else { Scalar::lowest(d) };
    key.clone().eq(Expr::scalar(none)).select(empty.clone(), flip(key).bitcast(empty.dtype()))
}
