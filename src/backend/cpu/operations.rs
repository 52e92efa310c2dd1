//! Unary, binary and conversion operations on the values of a block. Each is a loop over slices that the compiler
//! vectorizes.

use half::{bf16, f16};

use super::accumulate::Float;
use super::array::ArrayElement;
use super::encoding::{Dense, Encoded, Value};
use super::loops::{MathF32, MathF64, map_operands, map_values, store_runs, store2};
use super::number::{Bits, Number};
use super::operand::Operand;
use super::simd;
use crate::dtype::DType;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::math::{self, MathFn, narrow};

/// `f` of the values at `n` positions.
#[inline]
pub(super) fn map1<'x, A: Value, B: Value>(n: usize, a: &Encoded<'_>, f: impl Fn(A) -> B) -> Encoded<'x> {
    B::wrap(match A::operand(a) {
        Operand::Dense(a) => map_values(&a[..n], f).into(),
        Operand::Constant(a) => vec![f(a); n].into(),
    })
}

/// `f` of the pairs of values at `n` positions.
#[inline]
pub(super) fn map2<'x, A: Value, B: Value>(
    n: usize,
    a: &Encoded<'_>,
    b: &Encoded<'_>,
    f: impl Fn(A, A) -> B + Copy,
) -> Encoded<'x> {
    B::wrap(map_operands(n, A::operand(a), A::operand(b), f).into())
}

/// `a op b` for the operations that differ between signed and unsigned integers and between integers and floats.
fn number<'x, T: Number>(op: BinaryOp, n: usize, a: &Encoded<'_>, b: &Encoded<'_>) -> Option<Encoded<'x>> {
    Some(match op {
        BinaryOp::Div | BinaryOp::IndexDiv => map2(n, a, b, T::div),
        BinaryOp::Rem | BinaryOp::IndexRem => map2(n, a, b, T::rem),
        BinaryOp::Min => map2(n, a, b, T::minimum),
        BinaryOp::Max => map2(n, a, b, T::maximum),
        BinaryOp::Pow => map2(n, a, b, T::pow),
        BinaryOp::Lt => map2(n, a, b, |x: T, y: T| x < y),
        BinaryOp::Le => map2(n, a, b, |x: T, y: T| x <= y),
        _ => return None,
    })
}

/// `a op b` for the other operations on floats.
fn float<'x, T: Number>(op: BinaryOp, n: usize, a: &Encoded<'_>, b: &Encoded<'_>) -> Option<Encoded<'x>> {
    Some(match op {
        BinaryOp::Add => map2(n, a, b, T::add),
        BinaryOp::Sub => map2(n, a, b, T::sub),
        BinaryOp::Mul => map2(n, a, b, T::mul),
        BinaryOp::Eq => map2(n, a, b, |x: T, y: T| x == y),
        BinaryOp::Ne => map2(n, a, b, |x: T, y: T| x != y),
        _ => return number::<T>(op, n, a, b),
    })
}

/// `a op b` for integers of the size of `W`, if signed and unsigned integers give the same bits.
fn word<'x, W: Bits + ArrayElement>(op: BinaryOp, n: usize, a: &Encoded<'_>, b: &Encoded<'_>) -> Option<Encoded<'x>> {
    let (dtype, a, b) = (a.dtype(), a.words::<W>(), b.words::<W>());
    let words = match op {
        BinaryOp::Eq => return Some(Encoded::Bool(map_operands(n, a, b, |x, y| x == y).into())),
        BinaryOp::Ne => return Some(Encoded::Bool(map_operands(n, a, b, |x, y| x != y).into())),
        BinaryOp::Add => map_operands(n, a, b, W::add),
        BinaryOp::Sub => map_operands(n, a, b, W::sub),
        BinaryOp::Mul => map_operands(n, a, b, W::mul),
        BinaryOp::And => map_operands(n, a, b, W::and),
        BinaryOp::Or => map_operands(n, a, b, W::or),
        BinaryOp::Xor => map_operands(n, a, b, W::xor),
        // A negative shift is a large unsigned one: both shift out all bits.
        BinaryOp::Shl => map_operands(n, a, b, W::shl),
        _ => return None,
    };
    Some(Encoded::of_words(dtype, words))
}

/// Stores `a op b` at `out.len()` positions. Returns false and stores nothing if the operation is not covered here.
pub(super) fn store_arithmetic<T: Number>(op: BinaryOp, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) -> bool {
    match op {
        BinaryOp::Add => store2(a, b, T::add, out),
        BinaryOp::Sub => store2(a, b, T::sub, out),
        BinaryOp::Mul => store2(a, b, T::mul, out),
        BinaryOp::Div => store2(a, b, T::div, out),
        BinaryOp::Min => store2(a, b, T::minimum, out),
        BinaryOp::Max => store2(a, b, T::maximum, out),
        _ => return false,
    }
    true
}

/// Stores `x op y`, or `y op x` if `y` is the left operand, at `out.len()` positions. There is one `x` per position and
/// one `y` per run; runs end at `ends`. Returns false and stores nothing if the operation is not covered here.
pub(super) fn store_arithmetic_by_runs<T: Number>(
    op: BinaryOp,
    ends: &[u32],
    x: &[T],
    y: Operand<'_, T>,
    y_is_right: bool,
    out: &mut [T],
) -> bool {
    match op {
        BinaryOp::Add => store_runs(ends, x, y, T::add, out),
        BinaryOp::Sub if y_is_right => store_runs(ends, x, y, T::sub, out),
        BinaryOp::Sub => store_runs(ends, x, y, |x, y| T::sub(y, x), out),
        BinaryOp::Mul => store_runs(ends, x, y, T::mul, out),
        BinaryOp::Div if y_is_right => store_runs(ends, x, y, T::div, out),
        BinaryOp::Div => store_runs(ends, x, y, |x, y| T::div(y, x), out),
        BinaryOp::Min => store_runs(ends, x, y, T::minimum, out),
        BinaryOp::Max => store_runs(ends, x, y, T::maximum, out),
        _ => return false,
    }
    true
}

fn integer<'x, T: Bits, W: Bits + ArrayElement>(
    op: BinaryOp,
    n: usize,
    a: &Encoded<'_>,
    b: &Encoded<'_>,
) -> Encoded<'x> {
    if op == BinaryOp::Shr {
        return map2(n, a, b, T::shr);
    }
    let done = word::<W>(op, n, a, b).or_else(|| number::<T>(op, n, a, b));
    done.unwrap_or_else(|| unreachable!("bug: {op:?} recorded on integers"))
}

/// `a op b` at `n` positions.
pub(crate) fn binary<'x>(op: BinaryOp, n: usize, a: &Encoded<'_>, b: &Encoded<'_>) -> Encoded<'x> {
    match a.dtype() {
        DType::Bool => match op {
            BinaryOp::And => map2(n, a, b, |x: bool, y: bool| x & y),
            BinaryOp::Or => map2(n, a, b, |x: bool, y: bool| x | y),
            BinaryOp::Xor | BinaryOp::Ne => map2(n, a, b, |x: bool, y: bool| x ^ y),
            BinaryOp::Eq => map2(n, a, b, |x: bool, y: bool| x == y),
            BinaryOp::Lt => map2(n, a, b, |x: bool, y: bool| !x & y),
            BinaryOp::Le => map2(n, a, b, |x: bool, y: bool| x <= y),
            other => unreachable!("bug: {other:?} recorded on bools"),
        },
        DType::U8 => integer::<u8, u8>(op, n, a, b),
        DType::I32 => integer::<i32, u32>(op, n, a, b),
        DType::U32 => integer::<u32, u32>(op, n, a, b),
        DType::I64 => integer::<i64, u64>(op, n, a, b),
        DType::U64 => integer::<u64, u64>(op, n, a, b),
        DType::F32 => float::<f32>(op, n, a, b).unwrap_or_else(|| map2(n, a, b, math::f32_binary(math_of(op)))),
        DType::F64 => float::<f64>(op, n, a, b).unwrap_or_else(|| map2(n, a, b, math::f64_binary(math_of(op)))),
        d => unreachable!("bug: {op:?} recorded on {d}, a storage type"),
    }
}

fn math_of(op: BinaryOp) -> MathFn {
    match op {
        BinaryOp::Atan2 => MathFn::Atan2,
        other => unreachable!("bug: {other:?} recorded on floats"),
    }
}

/// `op a` at `n` positions.
pub(crate) fn unary<'x>(op: UnaryOp, n: usize, a: &Encoded<'_>) -> Encoded<'x> {
    macro_rules! numbers {
        ($f:ident) => {
            match a.dtype() {
                DType::U8 => map1(n, a, <u8 as Number>::$f),
                DType::I32 => map1(n, a, <i32 as Number>::$f),
                DType::U32 => map1(n, a, <u32 as Number>::$f),
                DType::I64 => map1(n, a, <i64 as Number>::$f),
                DType::U64 => map1(n, a, <u64 as Number>::$f),
                DType::F32 => map1(n, a, <f32 as Number>::$f),
                DType::F64 => map1(n, a, <f64 as Number>::$f),
                d => unreachable!("bug: {op:?} recorded on {d}"),
            }
        };
    }
    macro_rules! floats {
        ($f:ident) => {
            match a.dtype() {
                DType::F32 => map1(n, a, f32::$f),
                DType::F64 => map1(n, a, f64::$f),
                d => unreachable!("bug: {op:?} recorded on {d}"),
            }
        };
    }
    match op {
        UnaryOp::Neg => numbers!(neg),
        UnaryOp::Abs => numbers!(abs),
        UnaryOp::Not => match a.dtype() {
            DType::Bool => map1(n, a, |x: bool| !x),
            DType::U8 => map1(n, a, <u8 as Bits>::not),
            DType::I32 => map1(n, a, <i32 as Bits>::not),
            DType::U32 => map1(n, a, <u32 as Bits>::not),
            DType::I64 => map1(n, a, <i64 as Bits>::not),
            DType::U64 => map1(n, a, <u64 as Bits>::not),
            d => unreachable!("bug: complement recorded on {d}"),
        },
        UnaryOp::CountOnes => match a.dtype() {
            DType::U32 => map1(n, a, u32::count_ones),
            d => unreachable!("bug: a count of bits recorded on {d}"),
        },
        UnaryOp::SortKey => match a.dtype() {
            DType::F64 => map1(n, a, |x: f64| (x.key() ^ i64::MIN) as u64),
            _ => map1(n, a, |x: f32| (x.key() ^ i32::MIN) as u32),
        },
        UnaryOp::IsNan => floats!(is_nan),
        UnaryOp::IsInf => floats!(is_infinite),
        UnaryOp::IsFinite => floats!(is_finite),
        UnaryOp::Math(f) => match a {
            Encoded::F32(x) => {
                let mut out = vec![0.0; n];
                simd::run(MathF32 { f, x: &x[..n], out: &mut out });
                Encoded::F32(out.into())
            }
            Encoded::F64(x) => {
                let mut out = vec![0.0; n];
                simd::run(MathF64 { f, x: &x[..n], out: &mut out });
                Encoded::F64(out.into())
            }
            Encoded::Constant(Scalar::F32(x)) => Encoded::Constant(Scalar::F32(math::f32_unary(f)(*x))),
            Encoded::Constant(Scalar::F64(x)) => Encoded::Constant(Scalar::F64(math::f64_unary(f)(*x))),
            other => unreachable!("bug: {f:?} recorded on {:?}", other.dtype()),
        },
    }
}

/// The values converted to `to`.
pub(crate) fn cast<'x>(to: DType, n: usize, a: &Encoded<'_>) -> Encoded<'x> {
    macro_rules! from {
        ($t:ty) => {
            match to {
                DType::Bool => map1(n, a, |x: $t| x != (0 as $t)),
                DType::U8 => map1(n, a, |x: $t| x as u8),
                DType::I32 => map1(n, a, |x: $t| x as i32),
                DType::U32 => map1(n, a, |x: $t| x as u32),
                DType::I64 => map1(n, a, |x: $t| x as i64),
                DType::U64 => map1(n, a, |x: $t| x as u64),
                DType::F32 => map1(n, a, |x: $t| x as f32),
                DType::F64 => map1(n, a, |x: $t| x as f64),
                d => unreachable!("bug: a conversion from {} to {d} recorded in one step", a.dtype()),
            }
        };
    }
    match (a.dtype(), to) {
        (DType::I8, DType::I32) => return map1(n, a, |x: i8| i32::from(x)),
        (DType::U16, DType::U32) => return map1(n, a, |x: u16| u32::from(x)),
        (DType::I16, DType::I32) => return map1(n, a, |x: i16| i32::from(x)),
        (DType::F16, DType::F32) => return map1(n, a, narrow::f32_of_f16),
        (DType::BF16, DType::F32) => return map1(n, a, narrow::f32_of_bf16),
        (DType::I32, DType::I8) => return map1(n, a, |x: i32| x as i8),
        (DType::U32, DType::U16) => return map1(n, a, |x: u32| x as u16),
        (DType::I32, DType::I16) => return map1(n, a, |x: i32| x as i16),
        (DType::F32, DType::F16) => return map1(n, a, narrow::f16_of_f32),
        (DType::F32, DType::BF16) => return map1(n, a, narrow::bf16_of_f32),
        _ => {}
    }
    match a.dtype() {
        DType::Bool => {
            let bytes = map1(n, a, |x: bool| u8::from(x));
            if to == DType::U8 { bytes } else { cast(to, n, &bytes) }
        }
        DType::U8 => from!(u8),
        DType::I32 => from!(i32),
        DType::U32 => from!(u32),
        DType::I64 => from!(i64),
        DType::U64 => from!(u64),
        DType::F32 => from!(f32),
        DType::F64 => from!(f64),
        d => unreachable!("bug: a conversion from {d} to {to} recorded in one step"),
    }
}

/// Reinterprets the bits as another type of the same size. Values borrowed from an array are not copied.
fn recast<'a, A: Value + bytemuck::Pod, B: Value + bytemuck::Pod>(n: usize, a: &Encoded<'a>) -> Encoded<'a> {
    B::wrap(match A::expanded(n, a) {
        Dense::Borrowed(values) => Dense::Borrowed(bytemuck::cast_slice(values)),
        Dense::Owned(values) => bytemuck::cast_slice(&values).to_vec().into(),
    })
}

/// Reinterprets the bits of the values as another dtype of the same width.
pub(crate) fn bitcast<'a>(to: DType, n: usize, a: &Encoded<'a>) -> Encoded<'a> {
    use DType as D;
    match (a.dtype(), to) {
        (from, to) if from == to => a.clone(),
        (from, _) if from.size() == 1 => cast(to, n, a),
        (D::F16, D::U16) => recast::<f16, u16>(n, a),
        (D::BF16, D::U16) => recast::<bf16, u16>(n, a),
        (D::U16, D::F16) => recast::<u16, f16>(n, a),
        (D::U16, D::BF16) => recast::<u16, bf16>(n, a),
        (D::I32, D::U32) => recast::<i32, u32>(n, a),
        (D::I32, D::F32) => recast::<i32, f32>(n, a),
        (D::U32, D::I32) => recast::<u32, i32>(n, a),
        (D::U32, D::F32) => recast::<u32, f32>(n, a),
        (D::F32, D::I32) => recast::<f32, i32>(n, a),
        (D::F32, D::U32) => recast::<f32, u32>(n, a),
        (D::I64, D::U64) => recast::<i64, u64>(n, a),
        (D::I64, D::F64) => recast::<i64, f64>(n, a),
        (D::U64, D::I64) => recast::<u64, i64>(n, a),
        (D::U64, D::F64) => recast::<u64, f64>(n, a),
        (D::F64, D::I64) => recast::<f64, i64>(n, a),
        (D::F64, D::U64) => recast::<f64, u64>(n, a),
        (from, to) => unreachable!("bug: bits of {from} recorded as {to} in one step"),
    }
}
