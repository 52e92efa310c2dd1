//! Next representable float, by integer arithmetic on its bits: independent of how a device compares, flushes or rounds
//! floats.

use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;

/// The next float after `x` in the direction of `y`: `y` if both are equal, NaN if either is NaN.
pub(crate) fn next_after(x: Expr, y: Expr) -> Expr {
    let dtype = x.dtype();
    let bits = match dtype.size() {
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    };
    let word = |n: i64| Expr::scalar(Scalar::from_i64(bits, n));
    let magnitudes = Expr::scalar(Scalar::highest(bits));
    let sign = |w: Expr| w.binary(BinaryOp::Shr, word(dtype.size() as i64 * 8 - 1));
    // Order-preserving integer keys: negative floats have all bits but the sign flipped. The key of -0 is -1.
    let flip = |w: Expr| w.clone().binary(BinaryOp::Xor, sign(w).and(magnitudes.clone()));
    let key = |v: &Expr| flip(v.clone().bitcast(bits));
    let is_zero = |v: &Expr| v.clone().bitcast(bits).and(magnitudes.clone()).eq(word(0));

    let (from, to) = (key(&x), key(&y));
    // Either zero counts as the one nearer to `y`: +0 upwards, -0 downwards.
    let up = word(-1).lt(to.clone());
    let from = is_zero(&x).select(up.select(word(0), word(-1)), from);
    let next = from.clone().lt(to.clone()).select(from.clone().add(word(1)), from.clone().sub(word(1)));
    let equal = from.eq(to).or(is_zero(&x).and(is_zero(&y)));
    let result = equal.select(y.clone().without_gradient(), flip(next).bitcast(dtype));
    let nan = Expr::scalar(Scalar::from_f64(dtype, f64::NAN));
    x.unary(UnaryOp::IsNan).or(y.unary(UnaryOp::IsNan)).select(nan, result)
}
