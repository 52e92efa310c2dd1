//! Order-preserving integer keys of floats. NaN is below all values for minima, and above all values for maxima.

use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::scalar::Scalar;

fn integer(float: DType) -> DType {
    if float == DType::F32 { DType::I32 } else { DType::I64 }
}

/// Flips all bits but the sign of negative numbers. Its own inverse.
fn flip(bits: Expr) -> Expr {
    let d = bits.dtype();
    let (last, mask) = (d.size() as i64 * 8 - 1, Scalar::highest(d));
    let sign = bits.clone().binary(BinaryOp::Shr, Expr::scalar(Scalar::from_i64(d, last)));
    bits.binary(BinaryOp::Xor, sign.and(Expr::scalar(mask)))
}

/// Integer key of the float `x`.
pub(in crate::ops) fn encode(x: Expr, op: ReduceOp) -> Expr {
    let d = integer(x.dtype());
    // The key of NaN wins against every other key, so that NaN propagates.
    let nan = if op == ReduceOp::Min { Scalar::lowest(d) } else { Scalar::highest(d) };
    x.clone().unary(UnaryOp::IsNan).select(Expr::scalar(nan), flip(x.bitcast(d)))
}

/// Float of a key; `empty` for the key of an empty reduction.
pub(in crate::ops) fn decode(key: Expr, op: ReduceOp, empty: Expr) -> Expr {
    let d = key.dtype();
    let none = if op == ReduceOp::Min { Scalar::highest(d) } else { Scalar::lowest(d) };
    key.clone().eq(Expr::scalar(none)).select(empty.clone(), flip(key).bitcast(empty.dtype()))
}
