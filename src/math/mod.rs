//! placeholder until the math branch is merged
use crate::dtype::DType;
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum MathFn {
    Exp,
    Expm1,
    Log,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Sigmoid,
    LogSigmoid,
    Softplus,
    Erf,
    Sqrt,
    Rsqrt,
    Floor,
    Ceil,
    Trunc,
    Rint,
    Div,
    Rem,
    Pow,
    Atan2,
}

pub(crate) fn f32_unary(f: MathFn) -> fn(f32) -> f32 {
    match f {
        MathFn::Sqrt => f32::sqrt,
        MathFn::Exp => f32::exp,
        _ => f32::floor,
    }
}
pub(crate) fn f64_unary(f: MathFn) -> fn(f64) -> f64 {
    match f {
        MathFn::Sqrt => f64::sqrt,
        _ => f64::floor,
    }
}
pub(crate) fn f32_binary(_: MathFn) -> fn(f32, f32) -> f32 {
    f32::powf
}
pub(crate) fn f64_binary(_: MathFn) -> fn(f64, f64) -> f64 {
    f64::powf
}
pub(crate) fn f32_unary_slice(f: MathFn, x: &[f32], out: &mut [f32]) {
    for (o, &x) in out.iter_mut().zip(x) {
        *o = f32_unary(f)(x);
    }
}
pub(crate) fn f64_unary_slice(f: MathFn, x: &[f64], out: &mut [f64]) {
    for (o, &x) in out.iter_mut().zip(x) {
        *o = f64_unary(f)(x);
    }
}
