//! Quotients rounded to whole numbers, and remainders.

use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::opcode::UnaryOp;
use crate::graph::recorder::Recorder;
use crate::math::MathFn;
use crate::record::elementwise::{math, number, rounded_once};

/// `value` with a device-side check that an integer divisor is not 0.
pub(crate) fn by_nonzero(rec: Recorder<'_>, divisor: Expr, value: Expr) -> Expr {
    if divisor.dtype().is_float() {
        return value;
    }
    let zero = number(divisor.dtype(), 0.0);
    rec.checked("integer division by zero", divisor.ne(zero), value)
}

/// Whether the remainder is nonzero and its sign differs from the divisor's: only there does rounding down differ from
/// rounding towards zero.
fn crosses_zero(remainder: &Expr, divisor: &Expr) -> Expr {
    let zero = number(remainder.dtype(), 0.0);
    let signs = remainder.clone().lt(zero.clone()).ne(divisor.clone().lt(zero.clone()));
    remainder.clone().ne(zero).and(signs)
}

pub(crate) fn floordiv(rec: Recorder<'_>, a: Expr, b: Expr) -> Expr {
    let dtype = a.dtype();
    if dtype.is_float() {
        return rounded_once([a, b], |[a, b]| whole_quotient(a, b, MathFn::Floor));
    }
    let quotient = a.clone().quotient(b.clone());
    if !dtype.is_signed() {
        return by_nonzero(rec, b, quotient);
    }
    let below = crosses_zero(&a.remainder(b.clone()), &b);
    let one_less = quotient.clone().sub(number(dtype, 1.0));
    by_nonzero(rec, b, below.select(one_less, quotient))
}

pub(crate) fn floormod(rec: Recorder<'_>, a: Expr, b: Expr) -> Expr {
    let remainder = a.remainder(b.clone());
    if !b.dtype().is_signed() {
        return by_nonzero(rec, b, remainder);
    }
    let moved = remainder.clone().add(b.clone());
    let value = crosses_zero(&remainder, &b).select(moved, remainder.clone());
    if b.dtype().is_float() {
        // A remainder of 0 has the divisor's sign too.
        let zero = number(b.dtype(), 0.0);
        let positive = remainder.clone().add(zero.clone());
        let negative = remainder.clone().unary(UnaryOp::Neg).add(zero.clone()).unary(UnaryOp::Neg);
        return remainder.eq(zero.clone()).select(b.lt(zero).select(negative, positive), value);
    }
    by_nonzero(rec, b, value)
}

/// The quotient of two floats of 4 or 8 bytes rounded to a whole number, down or towards zero (`to`), as if it was exact
/// before. Exact up to 2^24 (f32) or 2^53 (f64) in magnitude; beyond, the nearest float of the quotient. An infinite
/// dividend or a divisor of 0 gives `a / b`.
fn whole_quotient(a: Expr, b: Expr, to: MathFn) -> Expr {
    let float = a.dtype();
    let n = |v: f64| number(float, v);
    let quotient = a.clone().quotient(b.clone());
    let rounded = math(to, quotient.clone());
    // A quotient that was rounded to a whole number is the exact one without its fraction, or that plus 1 in magnitude.
    // The remainder by twice the divisor, which is exact, says whether there is a fraction, and the parity without it.
    let (size, divisor) = (quotient.unary(UnaryOp::Abs), b.clone().unary(UnaryOp::Abs));
    let rest = a.clone().remainder(b.clone().mul(n(2.0))).unary(UnaryOp::Abs);
    let has_fraction = n(0.0).lt(rest.clone()).and(rest.clone().ne(divisor.clone()));
    let odd = divisor.le(rest);
    let half = size.clone().mul(n(0.5));
    let is_odd = math(MathFn::Floor, half.clone()).ne(half);
    let grew = is_odd.ne(odd);
    let resolved = size.clone().le(n(if float == DType::F32 { 16_777_216.0 } else { 9_007_199_254_740_992.0 }));
    let was_whole = math(MathFn::Floor, size.clone()).eq(size).and(resolved).and(has_fraction);
    let negative = a.lt(n(0.0)).ne(b.lt(n(0.0)));
    let one = n(1.0);
    match to {
        MathFn::Floor => {
            let less = rounded.clone().sub(one);
            was_whole.and(grew.ne(negative)).select(less, rounded)
        }
        _ => {
            let nearer = negative.select(rounded.clone().add(one.clone()), rounded.clone().sub(one));
            was_whole.and(grew).select(nearer, rounded)
        }
    }
}

pub(crate) fn truncatediv(rec: Recorder<'_>, a: Expr, b: Expr) -> Expr {
    if b.dtype().is_float() {
        return rounded_once([a, b], |[a, b]| whole_quotient(a, b, MathFn::Trunc));
    }
    by_nonzero(rec, b.clone(), a.quotient(b))
}
