//! Elementwise unary operations.

use super::elementwise::{Takes, math, number, rounded_once};
use crate::element::{Arithmetic, FloatElement, IntegerElement, SignedElement};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::UnaryOp;
use crate::math::MathFn;
use crate::tensor::{RaggedTensor, Tensor};

#[track_caller]
fn unary(x: &Tensor, op: &'static str, takes: Takes, value: fn(Expr) -> Expr) -> Result<Tensor> {
    takes.check(op, x.dtype())?;
    x.map_numbers(op, value)
}

/// Declares operations on [`Tensor`], and on [`RaggedTensor`] of the supported element types.
macro_rules! unary_ops {
    ($takes:ident, $dtypes:literal, [$($generics:tt)*] $elem:ty => $out:ty; $(
        $(#[doc = $summary:literal])+
        $name:ident $tf:literal $in:ident $x:tt => $res:ident $y:tt, $value:expr;
    )+) => {
        impl Tensor {$(
            $(#[doc = $summary])+
            ///
            /// The result has the shape and shares the partitions of the operand: empty rows stay empty.
            ///
            /// # Errors
            #[doc = concat!("A dtype other than ", $dtypes, ".")]
            ///
            /// # Cost
            /// One map, which fuses with its producers and consumers. Nothing is read back.
            ///
            /// ```
            /// # use ragged::{Device, HostTensor, HostValues};
            /// # fn main() -> ragged::Result<()> {
            #[doc = concat!(
                "let x = HostTensor::dense(&[2], HostValues::", stringify!($in), "(vec!", stringify!($x),
                ")).to_device(&Device::cpu())?;"
            )]
            #[doc = concat!(
                "assert_eq!(x.", stringify!($name), "()?.to_host()?.values, HostValues::", stringify!($res), "(vec!",
                stringify!($y), "));"
            )]
            /// # Ok(())
            /// # }
            /// ```
            ///
            #[doc = concat!("TensorFlow: `", $tf, "`.")]
            #[track_caller]
            pub fn $name(&self) -> Result<Tensor> {
                unary(self, stringify!($name), Takes::$takes, $value)
            }
        )+}

        impl<$($generics)*> RaggedTensor<$elem> {$(
            $(#[doc = $summary])+
            ///
            #[doc = concat!("As [`Tensor::", stringify!($name), "`], which says more.")]
            ///
            /// # Errors
            /// An operation that the device does not support.
            #[track_caller]
            pub fn $name(&self) -> Result<RaggedTensor<$out>> {
                RaggedTensor::try_from(self.erased().$name()?)
            }
        )+}
    };
}

unary_ops! {
    Numbers, "numbers", [T: Arithmetic] T => T;
    /// Absolute value. The least integer, which has none, stays as it is.
    abs "tf.math.abs" I32 [-3, 2] => I32 [3, 2], |x| x.unary(UnaryOp::Abs);
    /// Sign: -1, 0 or 1; NaN for NaN.
    sign "tf.math.sign" I32 [-3, 2] => I32 [-1, 1], sign;
    /// The square; integers wrap.
    square "tf.math.square" I32 [-3, 2] => I32 [9, 4], |x| x.clone().mul(x);
    /// The nearest whole number, halves to even; integers stay as they are.
    round "tf.math.round" F32 [2.5, -1.5] => F32 [2.0, -2.0],
        |x| if x.dtype().is_float() { math(MathFn::Rint, x) } else { x };
    /// Rectified linear unit: the value where it is positive, else 0; NaN for NaN.
    relu "tf.nn.relu" F32 [-3.0, 2.0] => F32 [0.0, 2.0], |x| {
        let zero = number(x.dtype(), 0.0);
        x.max(zero)
    };
    /// The value clamped to 0 and 6; NaN for NaN.
    relu6 "tf.nn.relu6" F32 [-3.0, 7.0] => F32 [0.0, 6.0], |x| {
        let (zero, six) = (number(x.dtype(), 0.0), number(x.dtype(), 6.0));
        x.max(zero).min(six)
    };
}

unary_ops! {
    Numbers, "numbers", [T: SignedElement] T => T;
    /// Negation; integers wrap.
    negative "tf.math.negative" I32 [-3, 2] => I32 [3, -2], |x| x.unary(UnaryOp::Neg);
}

unary_ops! {
    Floats, "floats", [T: FloatElement] T => T;
    /// Arc cosine, in [0, pi]; NaN outside of [-1, 1].
    acos "tf.math.acos" F32 [1.0, 1.0] => F32 [0.0, 0.0], |x| math(MathFn::Acos, x);
    /// The inverse hyperbolic cosine; NaN below 1.
    acosh "tf.math.acosh" F32 [1.0, 1.0] => F32 [0.0, 0.0], |x| math(MathFn::Acosh, x);
    /// Arc sine, in [-pi/2, pi/2]; NaN outside of [-1, 1].
    asin "tf.math.asin" F32 [0.0, 0.0] => F32 [0.0, 0.0], |x| math(MathFn::Asin, x);
    /// The inverse hyperbolic sine.
    asinh "tf.math.asinh" F32 [0.0, 0.0] => F32 [0.0, 0.0], |x| math(MathFn::Asinh, x);
    /// Arc tangent, in (-pi/2, pi/2).
    atan "tf.math.atan" F32 [0.0, 0.0] => F32 [0.0, 0.0], |x| math(MathFn::Atan, x);
    /// The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
    atanh "tf.math.atanh" F32 [0.0, 0.0] => F32 [0.0, 0.0], |x| math(MathFn::Atanh, x);
    /// Ceiling: the least whole number that is not below the value.
    ceil "tf.math.ceil" F32 [1.5, -1.5] => F32 [2.0, -1.0], |x| math(MathFn::Ceil, x);
    /// The cosine; NaN for infinities.
    cos "tf.math.cos" F32 [0.0, 0.0] => F32 [1.0, 1.0], |x| math(MathFn::Cos, x);
    /// The hyperbolic cosine.
    cosh "tf.math.cosh" F32 [0.0, 0.0] => F32 [1.0, 1.0], |x| math(MathFn::Cosh, x);
    /// The error function.
    erf "tf.math.erf" F32 [0.0, 100.0] => F32 [0.0, 1.0], |x| math(MathFn::Erf, x);
    /// Complementary error function `1 - erf(x)`, without cancellation: accurate down to the least positive float.
    erfc "tf.math.erfc" F32 [0.0, 100.0] => F32 [1.0, 0.0], |x| math(MathFn::Erfc, x);
    /// Inverse of `erf`: the `y` with `erf(y) = x`; infinite at -1 and 1, NaN beyond.
    erfinv "tf.math.erfinv" F32 [0.0, 1.0] => F32 [0.0, f32::INFINITY], |x| math(MathFn::Erfinv, x);
    /// Inverse of `erfc`: the `y` with `erfc(y) = x`; infinite at 0 and 2, NaN outside.
    erfcinv "tf.math.erfcinv" F32 [1.0, 0.0] => F32 [0.0, f32::INFINITY], |x| math(MathFn::Erfcinv, x);
    /// Standard normal quantile (inverse CDF) of a probability; infinite at 0 and 1, NaN outside.
    ndtri "tf.math.ndtri" F32 [0.5, 1.0] => F32 [0.0, f32::INFINITY], |x| math(MathFn::Ndtri, x);
    /// Logarithm of the magnitude of the gamma function; infinite at 0, -1, -2, ... and at both infinities. Near its
    /// zeros at negative arguments, the error is small relative to 1, not to the result.
    lgamma "tf.math.lgamma" F32 [1.0, 2.0] => F32 [0.0, 0.0], |x| math(MathFn::Lgamma, x);
    /// Digamma function, the derivative of the gamma function's logarithm; NaN at 0, -1, -2, ... and negative infinity.
    /// Near its zeros at negative arguments, the error is small relative to 1, not to the result.
    digamma "tf.math.digamma" F32 [1.0, 2.0] => F32 [-0.5772157, 0.42278433], |x| math(MathFn::Digamma, x);
    /// The modified Bessel function of the first kind and order 0; NaN for infinities, as TensorFlow has it.
    bessel_i0 "tf.math.bessel_i0" F32 [0.0, 1000.0] => F32 [1.0, f32::INFINITY], |x| math(MathFn::BesselI0, x);
    /// The modified Bessel function of the first kind and order 0, times `exp(-|x|)`; 0 for infinities.
    bessel_i0e "tf.math.bessel_i0e" F32 [0.0, f32::INFINITY] => F32 [1.0, 0.0], |x| math(MathFn::BesselI0e, x);
    /// The modified Bessel function of the first kind and order 1; NaN for infinities, as TensorFlow has it.
    bessel_i1 "tf.math.bessel_i1" F32 [0.0, 1000.0] => F32 [0.0, f32::INFINITY], |x| math(MathFn::BesselI1, x);
    /// The modified Bessel function of the first kind and order 1, times `exp(-|x|)`; 0 for infinities.
    bessel_i1e "tf.math.bessel_i1e" F32 [0.0, f32::INFINITY] => F32 [0.0, 0.0], |x| math(MathFn::BesselI1e, x);
    /// The exponential.
    exp "tf.math.exp" F32 [0.0, f32::NEG_INFINITY] => F32 [1.0, 0.0], |x| math(MathFn::Exp, x);
    /// `exp(x) - 1`, accurate near 0.
    expm1 "tf.math.expm1" F32 [0.0, f32::NEG_INFINITY] => F32 [0.0, -1.0], |x| math(MathFn::Expm1, x);
    /// Floor: the greatest whole number that is not above the value.
    floor "tf.math.floor" F32 [1.5, -1.5] => F32 [1.0, -2.0], |x| math(MathFn::Floor, x);
    /// The natural logarithm; negatively infinite at 0, NaN below.
    log "tf.math.log" F32 [1.0, 0.0] => F32 [0.0, f32::NEG_INFINITY], |x| math(MathFn::Log, x);
    /// Natural logarithm of `1 + x`, accurate near 0.
    log1p "tf.math.log1p" F32 [0.0, -1.0] => F32 [0.0, f32::NEG_INFINITY], |x| math(MathFn::Log1p, x);
    /// The logarithm of the sigmoid, which does not overflow.
    log_sigmoid "tf.math.log_sigmoid" F32 [1000.0, -1000.0] => F32 [0.0, -1000.0], |x| math(MathFn::LogSigmoid, x);
    /// `1 / x`; infinite at 0.
    reciprocal "tf.math.reciprocal" F32 [2.0, -4.0] => F32 [0.5, -0.25], |x| number(x.dtype(), 1.0).quotient(x);
    /// `1 / x`, but 0 at 0.
    reciprocal_no_nan "tf.math.reciprocal_no_nan" F32 [2.0, 0.0] => F32 [0.5, 0.0], |x| {
        let (zero, one) = (number(x.dtype(), 0.0), number(x.dtype(), 1.0));
        x.clone().eq(zero.clone()).select(zero, one.quotient(x))
    };
    /// The nearest whole number, halves to even.
    rint "tf.math.rint" F32 [2.5, -1.5] => F32 [2.0, -2.0], |x| math(MathFn::Rint, x);
    /// `1 / sqrt(x)`; infinite at 0, NaN below.
    rsqrt "tf.math.rsqrt" F32 [4.0, 1.0] => F32 [0.5, 1.0], |x| math(MathFn::Rsqrt, x);
    /// `1 / (1 + exp(-x))`.
    sigmoid "tf.math.sigmoid" F32 [0.0, 1000.0] => F32 [0.5, 1.0], |x| math(MathFn::Sigmoid, x);
    /// The sine; NaN for infinities.
    sin "tf.math.sin" F32 [0.0, 0.0] => F32 [0.0, 0.0], |x| math(MathFn::Sin, x);
    /// The hyperbolic sine.
    sinh "tf.math.sinh" F32 [0.0, 0.0] => F32 [0.0, 0.0], |x| math(MathFn::Sinh, x);
    /// `log(1 + exp(x))`, which does not overflow.
    softplus "tf.math.softplus" F32 [1000.0, -1000.0] => F32 [1000.0, 0.0], |x| math(MathFn::Softplus, x);
    /// `x / (1 + |x|)`.
    softsign "tf.nn.softsign" F32 [1.0, -3.0] => F32 [0.5, -0.75], |x| rounded_once([x], |[x]| {
        let one = number(x.dtype(), 1.0);
        x.clone().quotient(x.unary(UnaryOp::Abs).add(one))
    });
    /// The square root; NaN below 0.
    sqrt "tf.math.sqrt" F32 [4.0, 0.25] => F32 [2.0, 0.5], |x| math(MathFn::Sqrt, x);
    /// The tangent; NaN for infinities.
    tan "tf.math.tan" F32 [0.0, 0.0] => F32 [0.0, 0.0], |x| math(MathFn::Tan, x);
    /// The hyperbolic tangent.
    tanh "tf.math.tanh" F32 [0.0, 1000.0] => F32 [0.0, 1.0], |x| math(MathFn::Tanh, x);
    /// The value where it is not negative, else `exp(x) - 1`.
    elu "tf.nn.elu" F32 [2.0, f32::NEG_INFINITY] => F32 [2.0, -1.0], |x| {
        let zero = number(x.dtype(), 0.0);
        x.clone().lt(zero).select(math(MathFn::Expm1, x.clone()), x)
    };
    /// The scaled exponential linear unit.
    selu "tf.nn.selu" F32 [0.0, 1.0] => F32 [0.0, 1.050701], |x| rounded_once([x], |[x]| {
        let (zero, scale) = (number(x.dtype(), 0.0), number(x.dtype(), SELU_SCALE));
        let below = number(x.dtype(), SELU_SCALE * SELU_ALPHA).mul(math(MathFn::Expm1, x.clone()));
        x.clone().lt(zero).select(below, scale.mul(x))
    });
    /// `x * sigmoid(x)`.
    silu "tf.nn.silu" F32 [0.0, 1000.0] => F32 [0.0, 1000.0],
        |x| rounded_once([x], |[x]| x.clone().mul(math(MathFn::Sigmoid, x)));
}

unary_ops! {
    Floats, "floats", [T: FloatElement] T => bool;
    /// Whether the value is NaN.
    is_nan "tf.math.is_nan" F32 [f32::NAN, 1.0] => Bool [true, false], |x| x.unary(UnaryOp::IsNan);
    /// Whether the value is infinite.
    is_inf "tf.math.is_inf" F32 [f32::INFINITY, 1.0] => Bool [true, false], |x| x.unary(UnaryOp::IsInf);
    /// Whether the value is neither NaN nor infinite.
    is_finite "tf.math.is_finite" F32 [f32::NAN, 1.0] => Bool [false, true], |x| x.unary(UnaryOp::IsFinite);
}

unary_ops! {
    Bools, "bool", [] bool => bool;
    /// Logical negation.
    logical_not "tf.math.logical_not" Bool [true, false] => Bool [false, true], Expr::not;
}

unary_ops! {
    Integers, "integers", [T: IntegerElement] T => T;
    /// Bitwise complement.
    bitwise_invert "tf.bitwise.invert" I32 [0, 5] => I32 [-1, -6], Expr::not;
}

const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;

/// Sign: -1, 0 or 1. Zeros keep their sign and NaN stays.
fn sign(x: Expr) -> Expr {
    let dtype = x.dtype();
    let (zero, one) = (number(dtype, 0.0), number(dtype, 1.0));
    let not_positive =
        if dtype.is_signed() { x.clone().lt(zero.clone()).select(number(dtype, -1.0), x.clone()) } else { x.clone() };
    zero.lt(x).select(one, not_positive)
}
