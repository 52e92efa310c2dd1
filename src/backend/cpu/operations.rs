//! Unary, binary and conversion operations on the values of a block. Each is a loop over slices that the compiler
//! vectorizes. Bools are bytes of 0 and 1.

use super::accumulate::Float;
use super::array::ArrayElement;
use super::loops::{self, MathF32, MathF64};
use super::number::{Bits, Number};
use super::operand::{AnyOperand, Operand};
use super::simd;
use crate::dtype::DType;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::math::{self, MathFn, narrow};

/// Fills `out` with `f` of the values.
#[inline]
fn map1<A: ArrayElement, B: ArrayElement>(a: AnyOperand<'_>, f: impl Fn(A) -> B, out: &mut [u8]) {
    loops::map1(a.of(), f, bytemuck::cast_slice_mut(out));
}

/// Fills `out` with `f` of the pairs of values.
#[inline]
fn map2<A: ArrayElement, B: ArrayElement>(a: AnyOperand<'_>, b: AnyOperand<'_>, f: impl Fn(A, A) -> B, out: &mut [u8]) {
    loops::map2(a.of(), b.of(), f, bytemuck::cast_slice_mut(out));
}

/// `a op b` for the operations that differ between signed and unsigned integers and between integers and floats.
/// Returns false and stores nothing for other operations.
fn number<T: Number + ArrayElement>(op: BinaryOp, a: AnyOperand<'_>, b: AnyOperand<'_>, out: &mut [u8]) -> bool {
    match op {
        BinaryOp::Div | BinaryOp::IndexDiv => map2(a, b, T::div, out),
        BinaryOp::Rem | BinaryOp::IndexRem => map2(a, b, T::rem, out),
        BinaryOp::Min => map2(a, b, T::minimum, out),
        BinaryOp::Max => map2(a, b, T::maximum, out),
        BinaryOp::Pow => map2(a, b, T::pow, out),
        BinaryOp::Lt => map2(a, b, |x: T, y: T| u8::from(x < y), out),
        BinaryOp::Le => map2(a, b, |x: T, y: T| u8::from(x <= y), out),
        _ => return false,
    }
    true
}

/// `a op b` for floats. `atan2` is the function of that name.
fn float<T: Number + ArrayElement>(
    op: BinaryOp,
    a: AnyOperand<'_>,
    b: AnyOperand<'_>,
    atan2: fn(T, T) -> T,
    out: &mut [u8],
) {
    match op {
        BinaryOp::Add => map2(a, b, T::add, out),
        BinaryOp::Sub => map2(a, b, T::sub, out),
        BinaryOp::Mul => map2(a, b, T::mul, out),
        BinaryOp::Eq => map2(a, b, |x: T, y: T| u8::from(x == y), out),
        BinaryOp::Ne => map2(a, b, |x: T, y: T| u8::from(x != y), out),
        BinaryOp::Atan2 => map2(a, b, atan2, out),
        BinaryOp::MulNoNan => map2(a, b, |x: T, y: T| if y == T::zeroed() { T::zeroed() } else { x.mul(y) }, out),
        _ if number::<T>(op, a, b, out) => {}
        other => unreachable!("bug: {other:?} recorded on floats"),
    }
}

/// `a op b` for integers of the size of `W`, if signed and unsigned integers give the same bits.
fn word<W: Bits + ArrayElement>(op: BinaryOp, a: AnyOperand<'_>, b: AnyOperand<'_>, out: &mut [u8]) -> bool {
    match op {
        BinaryOp::Eq => map2(a, b, |x: W, y: W| u8::from(x == y), out),
        BinaryOp::Ne => map2(a, b, |x: W, y: W| u8::from(x != y), out),
        BinaryOp::Add => map2(a, b, W::add, out),
        BinaryOp::Sub => map2(a, b, W::sub, out),
        BinaryOp::Mul => map2(a, b, W::mul, out),
        BinaryOp::And => map2(a, b, W::and, out),
        BinaryOp::Or => map2(a, b, W::or, out),
        BinaryOp::Xor => map2(a, b, W::xor, out),
        // A negative shift is a large unsigned one: both shift out all bits.
        BinaryOp::Shl => map2(a, b, W::shl, out),
        _ => return false,
    }
    true
}

/// `a op b` for integers of type `T`, whose size is that of `W`.
fn integer<T: Bits + ArrayElement, W: Bits + ArrayElement>(
    op: BinaryOp,
    a: AnyOperand<'_>,
    b: AnyOperand<'_>,
    out: &mut [u8],
) {
    match op {
        BinaryOp::Shr => map2(a, b, T::shr, out),
        _ if word::<W>(op, a, b, out) || number::<T>(op, a, b, out) => {}
        other => unreachable!("bug: {other:?} recorded on integers"),
    }
}

/// Fills `out` with `a op b`, for operands of a dtype.
pub(super) fn binary(op: BinaryOp, dtype: DType, a: AnyOperand<'_>, b: AnyOperand<'_>, out: &mut [u8]) {
    match dtype {
        DType::Bool | DType::U8 => integer::<u8, u8>(op, a, b, out),
        DType::I32 => integer::<i32, u32>(op, a, b, out),
        DType::U32 => integer::<u32, u32>(op, a, b, out),
        DType::I64 => integer::<i64, u64>(op, a, b, out),
        DType::U64 => integer::<u64, u64>(op, a, b, out),
        DType::F32 => float::<f32>(op, a, b, math::f32_binary(MathFn::Atan2), out),
        DType::F64 => float::<f64>(op, a, b, math::f64_binary(MathFn::Atan2), out),
        d => unreachable!("bug: {op:?} recorded on {d}, a storage type"),
    }
}

/// Fills `out` with `op a`, for values of a dtype.
pub(super) fn unary(op: UnaryOp, dtype: DType, a: AnyOperand<'_>, out: &mut [u8]) {
    macro_rules! numbers {
        ($f:ident) => {
            match dtype {
                DType::U8 => map1(a, <u8 as Number>::$f, out),
                DType::I32 => map1(a, <i32 as Number>::$f, out),
                DType::U32 => map1(a, <u32 as Number>::$f, out),
                DType::I64 => map1(a, <i64 as Number>::$f, out),
                DType::U64 => map1(a, <u64 as Number>::$f, out),
                DType::F32 => map1(a, <f32 as Number>::$f, out),
                DType::F64 => map1(a, <f64 as Number>::$f, out),
                d => unreachable!("bug: {op:?} recorded on {d}"),
            }
        };
    }
    macro_rules! floats {
        ($f:ident) => {
            match dtype {
                DType::F32 => map1(a, |x: f32| u8::from(x.$f()), out),
                DType::F64 => map1(a, |x: f64| u8::from(x.$f()), out),
                d => unreachable!("bug: {op:?} recorded on {d}"),
            }
        };
    }
    match op {
        UnaryOp::Neg => numbers!(neg),
        UnaryOp::Abs => numbers!(abs),
        UnaryOp::Not if dtype == DType::Bool => map1(a, |x: u8| x ^ 1, out),
        UnaryOp::Not => match dtype.size() {
            1 => map1(a, <u8 as Bits>::not, out),
            4 => map1(a, <u32 as Bits>::not, out),
            _ => map1(a, <u64 as Bits>::not, out),
        },
        UnaryOp::CountOnes => map1(a, u32::count_ones, out),
        UnaryOp::SortKey => match dtype {
            // A sum with 0 is +0 for both zeros.
            DType::F64 => map1(a, |x: f64| ((x + 0.0).key() ^ i64::MIN) as u64, out),
            _ => map1(a, |x: f32| ((x + 0.0).key() ^ i32::MIN) as u32, out),
        },
        UnaryOp::IsNan => floats!(is_nan),
        UnaryOp::IsInf => floats!(is_infinite),
        UnaryOp::IsFinite => floats!(is_finite),
        UnaryOp::Math(f) if dtype == DType::F64 => {
            let out: &mut [f64] = bytemuck::cast_slice_mut(out);
            match a.of() {
                Operand::Dense(x) => simd::run(MathF64 { f, x: &x[..out.len()], out }),
                Operand::Constant(x) => out.fill(math::f64_unary(f)(x)),
            }
        }
        UnaryOp::Math(f) => {
            let out: &mut [f32] = bytemuck::cast_slice_mut(out);
            match a.of() {
                Operand::Dense(x) => simd::run(MathF32 { f, x: &x[..out.len()], out }),
                Operand::Constant(x) => out.fill(math::f32_unary(f)(x)),
            }
        }
    }
}

/// Fills `out` with values of dtype `from`, converted to `to`.
pub(super) fn cast(from: DType, to: DType, a: AnyOperand<'_>, out: &mut [u8]) {
    macro_rules! from {
        ($t:ty) => {
            match to {
                DType::Bool => map1(a, |x: $t| u8::from(x != (0 as $t)), out),
                DType::U8 => map1(a, |x: $t| x as u8, out),
                DType::I32 => map1(a, |x: $t| x as i32, out),
                DType::U32 => map1(a, |x: $t| x as u32, out),
                DType::I64 => map1(a, |x: $t| x as i64, out),
                DType::U64 => map1(a, |x: $t| x as u64, out),
                DType::F32 => map1(a, |x: $t| x as f32, out),
                DType::F64 => map1(a, |x: $t| x as f64, out),
                d => unreachable!("bug: a conversion from {from} to {d} recorded in one step"),
            }
        };
    }
    match (from, to) {
        (DType::I8, DType::I32) => map1(a, |x: i8| i32::from(x), out),
        (DType::U16, DType::U32) => map1(a, |x: u16| u32::from(x), out),
        (DType::I16, DType::I32) => map1(a, |x: i16| i32::from(x), out),
        (DType::F16, DType::F32) => map1(a, narrow::f32_of_f16, out),
        (DType::BF16, DType::F32) => map1(a, narrow::f32_of_bf16, out),
        (DType::I32, DType::I8) => map1(a, |x: i32| x as i8, out),
        (DType::U32, DType::U16) => map1(a, |x: u32| x as u16, out),
        (DType::I32, DType::I16) => map1(a, |x: i32| x as i16, out),
        (DType::F32, DType::F16) => map1(a, narrow::f16_of_f32, out),
        (DType::F32, DType::BF16) => map1(a, narrow::bf16_of_f32, out),
        (DType::Bool | DType::U8, _) => from!(u8),
        (DType::I32, _) => from!(i32),
        (DType::U32, _) => from!(u32),
        (DType::I64, _) => from!(i64),
        (DType::U64, _) => from!(u64),
        (DType::F32, _) => from!(f32),
        (DType::F64, _) => from!(f64),
        _ => unreachable!("bug: a conversion from {from} to {to} recorded in one step"),
    }
}
