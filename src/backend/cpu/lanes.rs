//! Values of an expression at many positions at once, and the scalar operations over them.
//!
//! The loops here are the CPU's definition of every opcode; each is a plain pass over slices that the compiler turns
//! into vector code.

use std::ops::Deref;
use std::rc::Rc;

use half::{bf16, f16};

use super::filling::Filling;
use super::loops::{Blend, MathF32, MathF64, Spread, map1, map2};
use super::simd;
use crate::dtype::DType;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::math::{self, MathFn, narrow};

/// Values, one a position: a piece of a stored array as it lies there, or values that were computed.
#[derive(Debug, Clone)]
pub(crate) enum Many<'a, T> {
    Lent(&'a [T]),
    Own(Rc<Vec<T>>),
}

impl<T> Deref for Many<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Self::Lent(s) => s,
            Self::Own(v) => v,
        }
    }
}

impl<T> From<Vec<T>> for Many<'_, T> {
    fn from(values: Vec<T>) -> Self {
        Self::Own(Rc::new(values))
    }
}

/// Of runs of positions, the number of positions up to the end of each.
pub(crate) type Ends = Rc<Vec<u32>>;

/// The values of one expression at the positions of a block.
#[derive(Debug, Clone)]
pub(crate) enum Lanes<'a> {
    /// The same at every position.
    One(Scalar),
    /// Runs of positions with one value a run: a number or one a run.
    Runs(Ends, Rc<Lanes<'a>>),
    /// Runs of positions, with values that grow by one from position to position (u32): the first of each run.
    Ramps(Ends, Many<'a, u32>),
    Bool(Many<'a, bool>),
    U8(Many<'a, u8>),
    I8(Many<'a, i8>),
    U16(Many<'a, u16>),
    I16(Many<'a, i16>),
    I32(Many<'a, i32>),
    U32(Many<'a, u32>),
    I64(Many<'a, i64>),
    U64(Many<'a, u64>),
    F16(Many<'a, f16>),
    BF16(Many<'a, bf16>),
    F32(Many<'a, f32>),
    F64(Many<'a, f64>),
}

/// One operand: a value for all positions, or one each.
#[derive(Clone, Copy)]
pub(crate) enum Operand<'a, T> {
    One(T),
    Many(&'a [T]),
}

impl<T: Copy> Operand<'_, T> {
    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> T {
        match self {
            Self::One(v) => *v,
            Self::Many(s) => s[i],
        }
    }
}

/// A Rust type that lanes can hold.
pub(crate) trait Lane: Copy + Default + 'static {
    fn wrap<'a>(values: Many<'a, Self>) -> Lanes<'a>;
    /// The values, of lanes that are dense.
    fn operand<'l>(lanes: &'l Lanes<'_>) -> Operand<'l, Self>;
    /// One value a position, of lanes that are dense.
    fn many<'a>(n: usize, lanes: &Lanes<'a>) -> Many<'a, Self>;
}

macro_rules! lanes {
    ($($t:ty => $v:ident),*) => {$(
        impl Lane for $t {
            fn wrap<'a>(values: Many<'a, Self>) -> Lanes<'a> {
                Lanes::$v(values)
            }
            fn operand<'l>(lanes: &'l Lanes<'_>) -> Operand<'l, Self> {
                match lanes {
                    Lanes::$v(s) => Operand::Many(s),
                    Lanes::One(Scalar::$v(s)) => Operand::One(*s),
                    other => unreachable!("bug: {:?} where {} was planned", other.dtype(), stringify!($t)),
                }
            }
            fn many<'a>(n: usize, lanes: &Lanes<'a>) -> Many<'a, Self> {
                match lanes {
                    Lanes::$v(s) => s.clone(),
                    other => vec![Self::operand(other).get(0); n].into(),
                }
            }
        }
    )*
    impl<'a> Lanes<'a> {
        /// The dtype of the values.
        pub(crate) fn dtype(&self) -> DType {
            match self {
                Self::One(s) => s.dtype(),
                Self::Runs(_, values) => values.dtype(),
                Self::Ramps(..) => DType::U32,
                $(Self::$v(_) => DType::$v,)*
            }
        }
        /// The same values, one a position unless they are the same at all.
        pub(crate) fn dense(&self) -> Self {
            match self {
                Self::Runs(ends, values) => match &**values {
                    $(Self::$v(values) => {
                        Self::$v(simd::run(Spread { ends, values }).into())
                    })*
                    same => same.clone(),
                },
                Self::Ramps(ends, first) => {
                    let mut out = Filling::new(ends.last().map_or(0, |&n| n as usize));
                    let mut start = 0;
                    for (&end, &first) in ends.iter().zip(first.iter()) {
                        out.ramp(first, (end - start) as usize);
                        start = end;
                    }
                    Self::U32(out.finish().into())
                }
                other => other.clone(),
            }
        }
        /// The value at lane `i` of dense lanes.
        pub(crate) fn get(&self, i: usize) -> Scalar {
            match self {
                Self::One(s) => *s,
                $(Self::$v(s) => Scalar::$v(s[i]),)*
                Self::Runs(..) | Self::Ramps(..) => unreachable!("bug: a single value of runs"),
            }
        }
        /// The values of dense lanes at the chosen ones.
        pub(crate) fn pick<'x>(&self, lanes: &[u32]) -> Lanes<'x> {
            match self {
                Self::One(s) => Lanes::One(*s),
                $(Self::$v(s) => Lanes::$v(lanes.iter().map(|&i| s[i as usize]).collect::<Vec<_>>().into()),)*
                Self::Runs(..) | Self::Ramps(..) => unreachable!("bug: a choice of runs"),
            }
        }
        /// The values of dense lanes at those ranges, one after the other.
        pub(crate) fn ranges(&self, ranges: &[(u32, u32)]) -> Self {
            match self {
                Self::One(s) => Self::One(*s),
                $(Self::$v(s) => Self::$v(match (s, ranges) {
                    (Many::Lent(s), &[(from, to)]) => Many::Lent(&s[from as usize..to as usize]),
                    _ => {
                        let n = ranges.iter().map(|(from, to)| (to - from) as usize).sum();
                        let mut out = Filling::new(n);
                        for &(from, to) in ranges {
                            out.copy(s, from as usize, (to - from) as usize);
                        }
                        out.finish().into()
                    }
                }),)*
                Self::Runs(..) | Self::Ramps(..) => unreachable!("bug: ranges of runs"),
            }
        }
        /// `n` lanes: those that `at_a` names from `a`, in order, the others from `b`, in order.
        pub(crate) fn merge<'x>(n: usize, at_a: &[bool], a: &Lanes<'_>, b: &Lanes<'_>) -> Lanes<'x> {
            match a.dtype() {
                $(DType::$v => {
                    let (a, b) = (<$t>::operand(a), <$t>::operand(b));
                    let (mut i, mut j) = (0, 0);
                    let out: Vec<$t> = (0..n).map(|k| if at_a[k] { i += 1; a.get(i - 1) } else { j += 1; b.get(j - 1) }).collect();
                    Lanes::$v(out.into())
                })*
                DType::Str => unreachable!("bug: strings are not lanes"),
            }
        }
        /// As [`Lanes::merge`], of whole runs of lanes that end at `ends`.
        pub(crate) fn merge_runs<'x>(ends: &[u32], at_a: Operand<'_, bool>, a: &Lanes<'_>, b: &Lanes<'_>) -> Lanes<'x> {
            match a.dtype() {
                $(DType::$v => {
                    let (a, b) = (<$t>::operand(a), <$t>::operand(b));
                    let mut out = Filling::new(ends.last().map_or(0, |&n| n as usize));
                    let (mut i, mut j, mut start) = (0, 0, 0);
                    for (k, &end) in ends.iter().enumerate() {
                        let len = (end - start) as usize;
                        let (from, at) = if at_a.get(k) { (a, &mut i) } else { (b, &mut j) };
                        match from {
                            Operand::One(v) => out.repeat(v, len),
                            Operand::Many(s) => out.copy(s, *at, len),
                        }
                        *at += len;
                        start = end;
                    }
                    Lanes::$v(out.finish().into())
                })*
                DType::Str => unreachable!("bug: strings are not lanes"),
            }
        }
        /// Lane by lane, `a` where the condition holds, else `b`.
        pub(crate) fn blend<'x>(n: usize, condition: &[bool], a: &Lanes<'_>, b: &Lanes<'_>) -> Lanes<'x> {
            match a.dtype() {
                $(DType::$v => {
                    let (a, b) = (<$t>::operand(a), <$t>::operand(b));
                    Lanes::$v(simd::run(Blend { condition: &condition[..n], a, b }).into())
                })*
                DType::Str => unreachable!("bug: strings are not lanes"),
            }
        }
    }
    };
}
lanes!(
    bool => Bool, u8 => U8, i8 => I8, u16 => U16, i16 => I16, i32 => I32, u32 => U32, i64 => I64, u64 => U64, f16 => F16,
    bf16 => BF16, f32 => F32, f64 => F64
);

/// Arithmetic of a numeric type, as the opcodes define it.
pub(crate) trait Number: Lane + PartialEq + PartialOrd {
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn div(self, o: Self) -> Self;
    fn rem(self, o: Self) -> Self;
    fn least(self, o: Self) -> Self;
    fn greatest(self, o: Self) -> Self;
    fn pow(self, o: Self) -> Self;
}

macro_rules! integer {
    ($($t:ty, $abs:expr);*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn abs(self) -> Self { let f: fn($t) -> $t = $abs; f(self) }
            #[inline(always)]
            fn add(self, o: Self) -> Self { self.wrapping_add(o) }
            #[inline(always)]
            fn sub(self, o: Self) -> Self { self.wrapping_sub(o) }
            #[inline(always)]
            fn mul(self, o: Self) -> Self { self.wrapping_mul(o) }
            #[inline(always)]
            fn div(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_div(o) } }
            #[inline(always)]
            fn rem(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_rem(o) } }
            #[inline(always)]
            fn least(self, o: Self) -> Self { self.min(o) }
            #[inline(always)]
            fn greatest(self, o: Self) -> Self { self.max(o) }
            fn pow(self, o: Self) -> Self {
                #[allow(unused_comparisons, reason = "one macro for signed and unsigned types")]
                if o < 0 { return 0; }
                let (mut base, mut e, mut out) = (self, o, 1 as $t);
                while e != 0 {
                    if e & 1 == 1 { out = out.wrapping_mul(base); }
                    base = base.wrapping_mul(base);
                    e >>= 1;
                }
                out
            }
        }
    )*};
}
integer!(u8, |x| x; i32, i32::wrapping_abs; u32, |x| x; i64, i64::wrapping_abs; u64, |x| x);

macro_rules! float {
    ($($t:ty, $binary:path);*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn neg(self) -> Self { -self }
            #[inline(always)]
            fn abs(self) -> Self { self.abs() }
            #[inline(always)]
            fn add(self, o: Self) -> Self { self + o }
            #[inline(always)]
            fn sub(self, o: Self) -> Self { self - o }
            #[inline(always)]
            fn mul(self, o: Self) -> Self { self * o }
            #[inline(always)]
            fn div(self, o: Self) -> Self { self / o }
            #[inline(always)]
            fn rem(self, o: Self) -> Self { self % o }
            #[inline(always)]
            fn least(self, o: Self) -> Self {
                if self.is_nan() || o.is_nan() { <$t>::NAN } else if self.total_cmp(&o).is_le() { self } else { o }
            }
            #[inline(always)]
            fn greatest(self, o: Self) -> Self {
                if self.is_nan() || o.is_nan() { <$t>::NAN } else if self.total_cmp(&o).is_ge() { self } else { o }
            }
            fn pow(self, o: Self) -> Self { $binary(MathFn::Pow)(self, o) }
        }
    )*};
}
float!(f32, math::f32_binary; f64, math::f64_binary);

/// Bit operations of an integer type.
trait Bits: Number {
    fn not(self) -> Self;
    fn and(self, o: Self) -> Self;
    fn or(self, o: Self) -> Self;
    fn xor(self, o: Self) -> Self;
    fn shl(self, o: Self) -> Self;
    fn shr(self, o: Self) -> Self;
}

macro_rules! bits {
    ($($t:ty),*) => {$(
        impl Bits for $t {
            #[inline(always)]
            fn not(self) -> Self { !self }
            #[inline(always)]
            fn and(self, o: Self) -> Self { self & o }
            #[inline(always)]
            fn or(self, o: Self) -> Self { self | o }
            #[inline(always)]
            fn xor(self, o: Self) -> Self { self ^ o }
            #[inline(always)]
            fn shl(self, o: Self) -> Self {
                u32::try_from(o).ok().and_then(|o| self.checked_shl(o)).unwrap_or(0)
            }
            #[inline(always)]
            fn shr(self, o: Self) -> Self {
                let last = <$t>::BITS - 1;
                // A sign-filling shift by one less than the width, twice over for the rest, gives 0 or -1.
                u32::try_from(o).ok().and_then(|o| self.checked_shr(o)).unwrap_or((self >> last) >> (last.min(1)) & (self >> last))
            }
        }
    )*};
}
bits!(u8, i32, u32, i64, u64);

fn number<'x, T: Number>(op: BinaryOp, n: usize, a: &Lanes<'_>, b: &Lanes<'_>) -> Option<Lanes<'x>> {
    Some(match op {
        BinaryOp::Add => map2(n, a, b, T::add),
        BinaryOp::Sub => map2(n, a, b, T::sub),
        BinaryOp::Mul => map2(n, a, b, T::mul),
        BinaryOp::Div | BinaryOp::IndexDiv => map2(n, a, b, T::div),
        BinaryOp::Rem | BinaryOp::IndexRem => map2(n, a, b, T::rem),
        BinaryOp::Min => map2(n, a, b, T::least),
        BinaryOp::Max => map2(n, a, b, T::greatest),
        BinaryOp::Pow => map2(n, a, b, T::pow),
        BinaryOp::Eq => map2(n, a, b, |x: T, y: T| x == y),
        BinaryOp::Ne => map2(n, a, b, |x: T, y: T| x != y),
        BinaryOp::Lt => map2(n, a, b, |x: T, y: T| x < y),
        BinaryOp::Le => map2(n, a, b, |x: T, y: T| x <= y),
        _ => return None,
    })
}

fn integer<'x, T: Bits>(op: BinaryOp, n: usize, a: &Lanes<'_>, b: &Lanes<'_>) -> Lanes<'x> {
    if let Some(done) = number::<T>(op, n, a, b) {
        return done;
    }
    match op {
        BinaryOp::And => map2(n, a, b, T::and),
        BinaryOp::Or => map2(n, a, b, T::or),
        BinaryOp::Xor => map2(n, a, b, T::xor),
        BinaryOp::Shl => map2(n, a, b, T::shl),
        BinaryOp::Shr => map2(n, a, b, T::shr),
        other => unreachable!("bug: {other:?} recorded on integers"),
    }
}

/// `a op b` at `n` positions.
pub(crate) fn binary<'x>(op: BinaryOp, n: usize, a: &Lanes<'_>, b: &Lanes<'_>) -> Lanes<'x> {
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
        DType::U8 => integer::<u8>(op, n, a, b),
        DType::I32 => integer::<i32>(op, n, a, b),
        DType::U32 => integer::<u32>(op, n, a, b),
        DType::I64 => integer::<i64>(op, n, a, b),
        DType::U64 => integer::<u64>(op, n, a, b),
        DType::F32 => number::<f32>(op, n, a, b).unwrap_or_else(|| map2(n, a, b, math::f32_binary(math_of(op)))),
        DType::F64 => number::<f64>(op, n, a, b).unwrap_or_else(|| map2(n, a, b, math::f64_binary(math_of(op)))),
        d => unreachable!("bug: {op:?} recorded on {d}, which is not computed with"),
    }
}

fn math_of(op: BinaryOp) -> MathFn {
    match op {
        BinaryOp::Atan2 => MathFn::Atan2,
        other => unreachable!("bug: {other:?} recorded on floats"),
    }
}

/// `op a` at `n` positions.
pub(crate) fn unary<'x>(op: UnaryOp, n: usize, a: &Lanes<'_>) -> Lanes<'x> {
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
        UnaryOp::IsNan => floats!(is_nan),
        UnaryOp::IsInf => floats!(is_infinite),
        UnaryOp::IsFinite => floats!(is_finite),
        UnaryOp::Math(f) => match a {
            Lanes::F32(x) => {
                let mut out = vec![0.0; n];
                simd::run(MathF32 { f, x: &x[..n], out: &mut out });
                Lanes::F32(out.into())
            }
            Lanes::F64(x) => {
                let mut out = vec![0.0; n];
                simd::run(MathF64 { f, x: &x[..n], out: &mut out });
                Lanes::F64(out.into())
            }
            Lanes::One(Scalar::F32(x)) => Lanes::One(Scalar::F32(math::f32_unary(f)(*x))),
            Lanes::One(Scalar::F64(x)) => Lanes::One(Scalar::F64(math::f64_unary(f)(*x))),
            other => unreachable!("bug: {f:?} recorded on {:?}", other.dtype()),
        },
    }
}

/// The values converted to `to`.
pub(crate) fn cast<'x>(to: DType, n: usize, a: &Lanes<'_>) -> Lanes<'x> {
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

/// The same bits as another type; nothing moves where an array lends them.
fn recast<'a, A: Lane + bytemuck::Pod, B: Lane + bytemuck::Pod>(n: usize, a: &Lanes<'a>) -> Lanes<'a> {
    B::wrap(match A::many(n, a) {
        Many::Lent(values) => Many::Lent(bytemuck::cast_slice(values)),
        Many::Own(values) => bytemuck::cast_slice(&values).to_vec().into(),
    })
}

/// The bits of the values as another dtype of that width.
pub(crate) fn bitcast<'a>(to: DType, n: usize, a: &Lanes<'a>) -> Lanes<'a> {
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
