//! Derivatives of the scalar operations of expressions.

use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::math::MathFn;

/// A constant of the dtype.
pub(super) fn number(dtype: DType, value: f64) -> Expr {
    Expr::scalar(Scalar::from_f64(dtype, value))
}

pub(super) fn zero(dtype: DType) -> Expr {
    number(dtype, 0.0)
}

/// The derivative times the cotangent `ct`. A cotangent of 0 contributes 0, even where the derivative is infinite or NaN,
/// as behind the branch of a choice that is not taken.
pub(super) fn times(derivative: Expr, ct: &Expr) -> Expr {
    derivative.binary(BinaryOp::MulNoNan, ct.clone())
}

fn negated(e: Expr) -> Expr {
    e.unary(UnaryOp::Neg)
}

fn math(f: MathFn, e: &Expr) -> Expr {
    e.clone().unary(UnaryOp::Math(f))
}

fn abs(e: &Expr) -> Expr {
    e.clone().unary(UnaryOp::Abs)
}

/// -1, 0 or 1.
fn sign(e: &Expr) -> Expr {
    let [zero, one, minus] = [0.0, 1.0, -1.0].map(|n| number(e.dtype(), n));
    let positive = zero.clone().lt(e.clone()).select(one, zero.clone());
    e.clone().lt(zero).select(minus, positive)
}

/// What a derivative is.
pub(super) enum Derivative {
    /// 0, or 0 almost everywhere.
    Zero,
    /// This cotangent of the operand.
    Is(Expr),
    /// None that this crate has; the function that would be needed.
    Missing(&'static str),
}

/// The cotangent of the operand `a` of `y = op(a)`, where `ct` is that of `y`.
pub(super) fn unary(op: UnaryOp, a: &Expr, y: &Expr, ct: &Expr) -> Derivative {
    match op {
        UnaryOp::Neg => Derivative::Is(negated(ct.clone())),
        UnaryOp::Abs => Derivative::Is(sign(a).mul(ct.clone())),
        UnaryOp::Not | UnaryOp::CountOnes | UnaryOp::SortKey | UnaryOp::IsNan | UnaryOp::IsInf | UnaryOp::IsFinite => {
            Derivative::Zero
        }
        UnaryOp::Math(f) => function(f, a, y, ct),
    }
}

fn function(f: MathFn, a: &Expr, y: &Expr, ct: &Expr) -> Derivative {
    use MathFn as F;
    let c = |value: f64| number(a.dtype(), value);
    let (one, half) = (|| c(1.0), || c(0.5));
    let (a1, y1) = (|| a.clone(), || y.clone());
    let square = |e: Expr| e.clone().mul(e);
    // `1 - a * a`, exactly rounded near 1 and -1.
    let within_one = || one().sub(a1()).mul(one().add(a1()));
    let derivative = match f {
        F::Exp => y1(),
        F::Expm1 => y1().add(one()),
        F::Log => one().quotient(a1()),
        F::Log1p => one().quotient(one().add(a1())),
        F::Log2 => one().quotient(a1().mul(c(std::f64::consts::LN_2))),
        F::Sin => math(F::Cos, a),
        F::Cos => negated(math(F::Sin, a)),
        F::Tan => one().add(square(y1())),
        F::Asin => math(F::Rsqrt, &within_one()),
        F::Acos => negated(math(F::Rsqrt, &within_one())),
        F::Atan => one().quotient(one().add(square(a1()))),
        F::Sinh => math(F::Cosh, a),
        F::Cosh => math(F::Sinh, a),
        F::Tanh => one().sub(y1()).mul(one().add(y1())),
        // Of the larger of 1 and |a|, and the ratio of both: no square overflows.
        F::Asinh => {
            let size = abs(a);
            let (is_large, inverse) = (one().lt(size.clone()), one().quotient(size.clone()));
            let ratio = is_large.clone().select(inverse.clone(), size);
            is_large.select(inverse, one()).mul(math(F::Rsqrt, &one().add(square(ratio))))
        }
        F::Acosh => math(F::Rsqrt, &a1().sub(one())).mul(math(F::Rsqrt, &a1().add(one()))),
        F::Atanh => one().quotient(within_one()),
        F::Sigmoid => y1().mul(math(F::Sigmoid, &negated(a1()))),
        F::LogSigmoid => math(F::Sigmoid, &negated(a1())),
        F::Softplus => math(F::Sigmoid, a),
        F::Erf => c(std::f64::consts::FRAC_2_SQRT_PI).mul(math(F::Exp, &negated(square(a1())))),
        F::Erfc => c(-std::f64::consts::FRAC_2_SQRT_PI).mul(math(F::Exp, &negated(square(a1())))),
        F::Erfinv => c(1.0 / std::f64::consts::FRAC_2_SQRT_PI).mul(math(F::Exp, &square(y1()))),
        F::Erfcinv => c(-1.0 / std::f64::consts::FRAC_2_SQRT_PI).mul(math(F::Exp, &square(y1()))),
        F::Ndtri => c((2.0 * std::f64::consts::PI).sqrt()).mul(math(F::Exp, &half().mul(square(y1())))),
        F::Lgamma => math(F::Digamma, a),
        F::Digamma => math(F::Trigamma, a),
        F::Trigamma => return Derivative::Missing("the polygamma function of order 2"),
        F::BesselI0 => math(F::BesselI1, a),
        F::BesselI0e => math(F::BesselI1e, a).sub(sign(a).mul(y1())),
        F::BesselI1 => a1().eq(c(0.0)).select(half(), math(F::BesselI0, a).sub(y1().quotient(a1()))),
        F::BesselI1e => {
            let slope = math(F::BesselI0e, a).sub(y1().mul(sign(a).add(one().quotient(a1()))));
            a1().eq(c(0.0)).select(half(), slope)
        }
        F::Sqrt => half().quotient(y1()),
        F::Rsqrt => c(-0.5).mul(y1().quotient(a1())),
        F::Floor | F::Ceil | F::Trunc | F::Rint => return Derivative::Zero,
        F::Div | F::Rem | F::Pow | F::Atan2 => unreachable!("bug: a function of two operands as one of one: {f:?}"),
    };
    Derivative::Is(times(derivative, ct))
}

/// The cotangents of the operands of `y = a op b`, where `ct` is that of `y`.
pub(super) fn binary(op: BinaryOp, [a, b]: [&Expr; 2], y: &Expr, ct: &Expr) -> [Derivative; 2] {
    use BinaryOp as B;
    use Derivative::{Is, Zero};
    let c = |value: f64| number(a.dtype(), value);
    let (a1, b1, y1) = (|| a.clone(), || b.clone(), || y.clone());
    match op {
        B::Add => [Is(ct.clone()), Is(ct.clone())],
        B::Sub => [Is(ct.clone()), Is(negated(ct.clone()))],
        B::Mul | B::MulNoNan => [Is(times(b1(), ct)), Is(times(a1(), ct))],
        B::Div => [Is(times(c(1.0).quotient(b1()), ct)), Is(times(negated(y1().quotient(b1())), ct))],
        // The quotient is whole but for its rounding; `a / b` may be rounded up to the next whole number.
        B::Rem => {
            let whole = a1().sub(y1()).quotient(b1()).unary(UnaryOp::Math(MathFn::Rint));
            [Is(ct.clone()), Is(times(negated(whole), ct))]
        }
        // Of equal operands the first one is the result.
        B::Min => {
            let second = b1().lt(a1());
            [Is(second.clone().select(c(0.0), ct.clone())), Is(second.select(ct.clone(), c(0.0)))]
        }
        B::Max => {
            let second = a1().lt(b1());
            [Is(second.clone().select(c(0.0), ct.clone())), Is(second.select(ct.clone(), c(0.0)))]
        }
        B::Pow => {
            let of_base = b1().mul(a1().binary(B::Pow, b1().sub(c(1.0))));
            // 0 where the power has no derivative by its exponent.
            let log = c(0.0).lt(a1()).select(math(MathFn::Log, a), c(0.0));
            let is_constant = b1().eq(c(0.0));
            [Is(times(is_constant.select(c(0.0), of_base), ct)), Is(times(y1().mul(log), ct))]
        }
        // Of the operand of the larger size, and the ratio to it: no square overflows, and infinite ones have the limit 0.
        B::Atan2 => {
            let is_steep = abs(b).lt(abs(a));
            let [larger, smaller] = [is_steep.clone().select(a1(), b1()), is_steep.clone().select(b1(), a1())];
            let is_infinite = smaller.clone().unary(UnaryOp::IsInf);
            let ratio = is_infinite.select(c(1.0), smaller.quotient(larger.clone()));
            let square = c(1.0).add(ratio.clone().mul(ratio.clone()));
            let of = |e: Expr| e.quotient(square.clone()).quotient(larger.clone());
            let (of_smaller, of_larger) = (of(c(1.0)), of(ratio));
            let of_a = is_steep.clone().select(of_larger.clone(), of_smaller.clone());
            let of_b = negated(is_steep.select(of_smaller, of_larger));
            [Is(times(of_a, ct)), Is(times(of_b, ct))]
        }
        B::IndexDiv | B::IndexRem | B::And | B::Or | B::Xor | B::Shl | B::Shr | B::Eq | B::Ne | B::Lt | B::Le => {
            [Zero, Zero]
        }
    }
}
