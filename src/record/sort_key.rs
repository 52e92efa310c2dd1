//! Order-preserving unsigned sort keys of numbers, and their equality.
//!
//! Floats are keys by value in every operation that orders, groups or counts them (sorts, selections, sets, distinct
//! values, groups, runs, searches): -0 and +0 are one value, all NaNs are one value, which comes last. Sorts are stable,
//! so that the first of several zeros in a sorted row is the first in the row. Minima and maxima are not keys: they
//! distinguish the zeros, -0 below +0.

use crate::dtype::DType;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::node::Recipe;
use crate::graph::opcode::{BinaryOp, UnaryOp};

/// The words of a number's [sort key](whole_sort_key), least significant first, each with its number of significant low
/// bits.
pub(crate) fn sort_key(x: &Expr, descending: bool) -> Vec<(Expr, u32)> {
    let (key, bits) = whole_sort_key(x, descending);
    if key.dtype() == DType::U32 {
        return vec![(key, bits)];
    }
    let high = key.clone().binary(BinaryOp::Shr, Expr::scalar(32u64));
    vec![(key.cast(DType::U32), u32::BITS), (high.cast(DType::U32), u32::BITS)]
}

/// A number's sort key, u32 or u64, and its number of significant low bits.
///
/// Ascending keys are ascending numbers, or descending ones if `descending`. Equal keys are equal numbers in the sense of
/// [`differ`]. NaN comes last in either direction.
pub(crate) fn whole_sort_key(x: &Expr, descending: bool) -> (Expr, u32) {
    let dtype = x.dtype();
    if dtype.size() < 8 {
        return narrow(x, descending);
    }
    if let Some(x) = widened(x) {
        return narrow(&x, descending);
    }
    let sign = Expr::scalar(1u64 << 63);
    let key = match dtype {
        _ if dtype.is_float() => float_key(x, descending),
        _ if dtype.is_signed() => x.clone().bitcast(DType::U64).binary(BinaryOp::Xor, sign),
        _ => x.clone().bitcast(DType::U64),
    };
    (if descending && !dtype.is_float() { key.not() } else { key }, u64::BITS)
}

/// The integer of up to 4 bytes that the 8-byte integer `x` is a value-preserving cast of, if the expression shows one.
/// Row lengths and counts are such casts.
fn widened(x: &Expr) -> Option<Expr> {
    match x.kind() {
        ExprKind::Cast(from) => {
            let (from_dtype, to) = (from.dtype(), x.dtype());
            let is_same = from_dtype.is_integer() && to.is_integer() && (to.is_signed() || !from_dtype.is_signed());
            (is_same && from_dtype.size() < 8).then(|| from.clone())
        }
        ExprKind::Load(n, at) => match &*n.recipe()? {
            Recipe::Map(map) if !map.value.has_conditions() => widened(&map.value.at(at)),
            _ => None,
        },
        _ => None,
    }
}

/// Sort key of a dtype of up to 4 bytes.
fn narrow(x: &Expr, descending: bool) -> (Expr, u32) {
    let dtype = x.dtype();
    if dtype.is_float() {
        // The cast is exact for narrower floats, and preserves the order.
        return (float_key(&x.clone().cast(DType::F32), descending), u32::BITS);
    }
    let bits = if dtype == DType::Bool { 1 } else { 8 * dtype.size() as u32 };
    let mask = u32::MAX >> (u32::BITS - bits);
    let mut key = if dtype.is_signed() {
        // The least number becomes 0; the addition wraps around as intended.
        x.clone().cast(DType::I32).bitcast(DType::U32).add(Expr::u32(1 << (bits - 1)))
    } else {
        x.clone().cast(DType::U32)
    };
    if descending {
        key = Expr::u32(mask).sub(key);
    }
    (key, bits)
}

/// Sort key of an f32 or f64, as [`whole_sort_key`] says. Negation reverses the order of all floats but NaN.
fn float_key(x: &Expr, descending: bool) -> Expr {
    let x = x.clone();
    if descending { x.unary(UnaryOp::Neg) } else { x }.unary(UnaryOp::SortKey)
}

/// Whether two numbers differ in value: +0 equals -0, and NaN equals NaN.
pub(crate) fn differ(a: Expr, b: Expr) -> Expr {
    if !a.dtype().is_float() {
        return a.ne(b);
    }
    let both_nan = a.clone().unary(UnaryOp::IsNan).and(b.clone().unary(UnaryOp::IsNan));
    a.ne(b).and(both_nan.not())
}
