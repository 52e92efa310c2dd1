//! Powers of 2 that scale floats, so that no square of them overflows or underflows.

use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;

/// Scaling of f32 or f64 by a power of 2 near the greatest magnitude, which is exact for normal numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scaling {
    float: DType,
    /// The unsigned integers of the same size.
    bits: DType,
    /// Number of bits of the mantissa.
    digits: i64,
    /// The largest biased exponent of a finite number.
    exponents: i64,
}

impl Scaling {
    /// The scaling of f32 or f64.
    pub(crate) fn of(float: DType) -> Self {
        let (bits, digits, exponents) =
            if float == DType::F32 { (DType::U32, 23, 254) } else { (DType::U64, 52, 2046) };
        Self { float, bits, digits, exponents }
    }

    fn word(self, n: i64) -> Expr {
        Expr::scalar(Scalar::from_i64(self.bits, n))
    }

    fn power(self, exponent: Expr) -> Expr {
        exponent.binary(BinaryOp::Shl, self.word(self.digits)).bitcast(self.float)
    }

    /// The magnitude of a number as an integer, which orders as the magnitudes do.
    pub(crate) fn magnitude(self, x: Expr) -> Expr {
        x.unary(UnaryOp::Abs).bitcast(self.bits)
    }

    /// The biased exponent of the greatest magnitude, clamped so that the reciprocal of the power of 2 is a normal number
    /// too.
    pub(crate) fn exponent(self, greatest: Expr) -> Expr {
        let exponent = greatest.binary(BinaryOp::Shr, self.word(self.digits));
        exponent.max(self.word(1)).min(self.word(self.exponents - 1))
    }

    /// A number, scaled down by the power of 2 of that exponent.
    pub(crate) fn down(self, x: Expr, exponent: Expr) -> Expr {
        x.mul(self.power(self.word(self.exponents).sub(exponent)))
    }

    /// A scaled number, scaled up again.
    pub(crate) fn up(self, x: Expr, exponent: Expr) -> Expr {
        x.mul(self.power(exponent))
    }
}
