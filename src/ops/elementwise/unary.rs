//! Elementwise unary operations.

use crate::element::{Arithmetic, FloatElement, IntegerElement, SignedElement};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::UnaryOp;
use crate::graph::recorder::Recorder;
use crate::math::MathFn;
use crate::ops::operations;
use crate::record::elementwise::{Takes, math, number, rounded_once};
use crate::tensor::Tensor;

fn unary(rec: Recorder<'_>, x: &Tensor, takes: Takes, value: fn(Expr) -> Expr) -> Result<Tensor> {
    rec.at(takes.check(rec.op, x.dtype()))?;
    x.map_numbers(rec, value)
}

/// Declares operations without arguments, each with its names elsewhere, its gradient, an example and its value. It
/// needs no page about shapes, errors and cost, and no function: those are the same for all.
macro_rules! unary_ops {
    ($list:ident: $takes:ident, $dtypes:literal, $bound:ident => $result:tt; $(
        $(#[doc = $doc:literal])+
        $name:ident [$($elsewhere:tt)*] $gradient:ident $($no_gradient:literal)?,
            $in:ident $x:tt => $y:tt, $value:expr;
    )+) => {
        operations! {
            /// Element-wise operations on one tensor.
            const $list: family "Element-wise, one operand" on RaggedTensor<T> where T: $bound;

            $(
                $(#[doc = $doc])+
                ///
                /// The result has the shape and shares the partitions of the operand: empty rows stay empty.
                ///
                /// # Errors
                #[doc = concat!("A dtype other than ", $dtypes, ".")]
                ///
                /// # Cost
                /// One map, which fuses with its producers and consumers. No wait.
                ///
                /// ```
                /// use ragged::{Device, RaggedTensor};
                #[doc = concat!(
                    "let x = RaggedTensor::<", stringify!($in), ">::from_nested(", stringify!($x), ", &Device::cpu())?;"
                )]
                #[doc = concat!("assert_eq!(x.", stringify!($name), "()?.to_vec()?, ", stringify!($y), ");")]
                /// # Ok::<(), ragged::Error>(())
                /// ```
                fn $name(&self) -> $result;
                $($elsewhere)*
                gradient $gradient $($no_gradient)?;
            )+
        }
        $(
            #[track_caller]
            fn $name(x: &Tensor) -> Result<Tensor> {
                unary(x.recorder(stringify!($name)), x, Takes::$takes, $value)
            }
        )+
    };
}

unary_ops! {
    OF_NUMBERS: Numbers, "numbers", Arithmetic => T;
    /// Absolute value.
    ///
    /// The least integer, which has none, stays as it is.
    abs [alias "absolute"; tensorflow "tf.math.abs"; awkward "np.absolute"; polars "Expr.abs";] yes,
        i32 [-3, 2] => [3, 2], |x| x.unary(UnaryOp::Abs);
    /// Sign: -1, 0 or 1; NaN for NaN.
    sign [alias "signum"; tensorflow "tf.math.sign"; awkward "np.sign"; polars "Expr.sign";]
        none "constant almost everywhere",
        i32 [-3, 2] => [-1, 1], sign_of;
    /// The square; integers wrap.
    square [tensorflow "tf.math.square"; awkward "np.square";] yes,
        i32 [-3, 2] => [9, 4], |x| x.clone().mul(x);
    /// The nearest whole number, halves to even; integers stay as they are.
    round [alias "rint", "round_ties_even"; tensorflow "tf.math.round"; awkward "np.round"; polars "Expr.round";]
        none "constant almost everywhere",
        f32 [2.5, -1.5] => [2.0, -2.0],
        |x| if x.dtype().is_float() { math(MathFn::Rint, x) } else { x };
    /// Rectified linear unit: the value where it is positive, else 0; NaN for NaN.
    relu [alias "rectify"; tensorflow "tf.nn.relu";] yes,
        f32 [-3.0, 2.0] => [0.0, 2.0], |x| {
        // The gradient at 0 is that of the first operand.
        number(x.dtype(), 0.0).max(x)
    };
    /// The value clamped to 0 and 6; NaN for NaN.
    relu6 [tensorflow "tf.nn.relu6";] yes,
        f32 [-3.0, 7.0] => [0.0, 6.0], |x| {
        let (zero, six) = (number(x.dtype(), 0.0), number(x.dtype(), 6.0));
        six.min(zero.max(x))
    };
}

unary_ops! {
    OF_SIGNED: Numbers, "numbers", SignedElement => T;
    /// Negation; integers wrap, also those of a [`Tensor`](crate::Tensor) of unsigned ones.
    negative [alias "neg"; tensorflow "tf.math.negative"; awkward "np.negative"; polars "Expr.neg";] yes,
        i32 [-3, 2] => [3, -2], |x| x.unary(UnaryOp::Neg);
}

unary_ops! {
    OF_FLOATS: Floats, "floats", FloatElement => T;
    /// Arc cosine, in [0, pi]; NaN outside of [-1, 1].
    acos [alias "arccos"; tensorflow "tf.math.acos"; awkward "np.arccos"; polars "Expr.arccos";] yes,
        f32 [1.0, 0.5, -1.0] => [0.0, 1.0471976, 3.1415927], |x| math(MathFn::Acos, x);
    /// The inverse hyperbolic cosine; NaN below 1.
    acosh [alias "arccosh"; tensorflow "tf.math.acosh"; awkward "np.arccosh"; polars "Expr.arccosh";] yes,
        f32 [1.0, 2.0, 10.0] => [0.0, 1.316958, 2.993223], |x| math(MathFn::Acosh, x);
    /// Arc sine, in [-pi/2, pi/2]; NaN outside of [-1, 1].
    asin [alias "arcsin"; tensorflow "tf.math.asin"; awkward "np.arcsin"; polars "Expr.arcsin";] yes,
        f32 [0.0, 0.5, -1.0] => [0.0, 0.5235988, -1.5707964], |x| math(MathFn::Asin, x);
    /// The inverse hyperbolic sine.
    asinh [alias "arcsinh"; tensorflow "tf.math.asinh"; awkward "np.arcsinh"; polars "Expr.arcsinh";] yes,
        f32 [0.0, 0.5, -1.0] => [0.0, 0.48121184, -0.8813736], |x| math(MathFn::Asinh, x);
    /// Arc tangent, in (-pi/2, pi/2).
    atan [alias "arctan"; tensorflow "tf.math.atan"; awkward "np.arctan"; polars "Expr.arctan";] yes,
        f32 [0.0, 0.5, -1.0] => [0.0, 0.4636476, -0.7853982], |x| math(MathFn::Atan, x);
    /// The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
    atanh [alias "arctanh"; tensorflow "tf.math.atanh"; awkward "np.arctanh"; polars "Expr.arctanh";] yes,
        f32 [0.0, 0.5, -0.75] => [0.0, 0.54930615, -0.9729551], |x| math(MathFn::Atanh, x);
    /// Ceiling: the least whole number that is not below the value.
    ceil [tensorflow "tf.math.ceil"; awkward "np.ceil"; polars "Expr.ceil";] none "constant almost everywhere",
        f32 [1.5, -1.5] => [2.0, -1.0], |x| math(MathFn::Ceil, x);
    /// The cosine; NaN for infinities.
    cos [tensorflow "tf.math.cos"; awkward "np.cos"; polars "Expr.cos";] yes,
        f32 [0.0, 0.5, -1.0] => [1.0, 0.87758255, 0.54030234], |x| math(MathFn::Cos, x);
    /// The hyperbolic cosine.
    cosh [tensorflow "tf.math.cosh"; awkward "np.cosh"; polars "Expr.cosh";] yes,
        f32 [0.0, 0.5, -1.0] => [1.0, 1.127626, 1.5430806], |x| math(MathFn::Cosh, x);
    /// The error function.
    erf [tensorflow "tf.math.erf";] yes,
        f32 [0.0, 0.5, -1.0] => [0.0, 0.5204999, -0.8427008], |x| math(MathFn::Erf, x);
    /// Complementary error function `1 - erf(x)`, without cancellation: accurate down to the least positive float.
    erfc [tensorflow "tf.math.erfc";] yes,
        f32 [0.0, 0.5, -1.0] => [1.0, 0.47950014, 1.8427008], |x| math(MathFn::Erfc, x);
    /// Inverse of `erf`: the `y` with `erf(y) = x`; infinite at -1 and 1, NaN beyond.
    erfinv [tensorflow "tf.math.erfinv";] yes,
        f32 [0.0, 0.5, 1.0] => [0.0, 0.47693628, f32::INFINITY], |x| math(MathFn::Erfinv, x);
    /// Inverse of `erfc`: the `y` with `erfc(y) = x`; infinite at 0 and 2, NaN outside.
    erfcinv [tensorflow "tf.math.erfcinv";] yes,
        f32 [1.0, 0.5, 0.0] => [0.0, 0.47693628, f32::INFINITY], |x| math(MathFn::Erfcinv, x);
    /// Standard normal quantile (inverse CDF) of a probability; infinite at 0 and 1, NaN outside.
    ndtri [alias "probit"; tensorflow "tf.math.ndtri";] yes,
        f32 [0.5, 0.75, 1.0] => [0.0, 0.67448974, f32::INFINITY], |x| math(MathFn::Ndtri, x);
    /// Logarithm of the magnitude of the gamma function; infinite at 0, -1, -2, ... and at both infinities.
    ///
    /// Near its zeros at negative arguments, the error is small relative to 1, not to the result.
    lgamma [alias "gammaln"; tensorflow "tf.math.lgamma";] yes,
        f32 [1.0, 5.0, 0.5] => [0.0, 3.1780539, 0.5723649], |x| math(MathFn::Lgamma, x);
    /// Digamma function, the derivative of the gamma function's logarithm; NaN at 0, -1, -2, ... and negative infinity.
    ///
    /// Near its zeros at negative arguments, the error is small relative to 1, not to the result. Its gradient has none: a
    /// second derivative is an error.
    digamma [alias "psi"; tensorflow "tf.math.digamma";] first "the polygamma function of order 2",
        f32 [1.0, 2.0] => [-0.5772157, 0.42278433], |x| math(MathFn::Digamma, x);
    /// The modified Bessel function of the first kind and order 0; NaN for infinities, as TensorFlow has it.
    bessel_i0 [alias "i0"; tensorflow "tf.math.bessel_i0";] yes,
        f32 [0.0, 1.0, 1000.0] => [1.0, 1.2660658, f32::INFINITY], |x| math(MathFn::BesselI0, x);
    /// The modified Bessel function of the first kind and order 0, times `exp(-|x|)`; 0 for infinities.
    bessel_i0e [alias "i0e"; tensorflow "tf.math.bessel_i0e";] yes,
        f32 [0.0, 1.0, f32::INFINITY] => [1.0, 0.4657596, 0.0], |x| math(MathFn::BesselI0e, x);
    /// The modified Bessel function of the first kind and order 1; NaN for infinities, as TensorFlow has it.
    bessel_i1 [alias "i1"; tensorflow "tf.math.bessel_i1";] yes,
        f32 [0.0, 1.0, 1000.0] => [0.0, 0.5651591, f32::INFINITY], |x| math(MathFn::BesselI1, x);
    /// The modified Bessel function of the first kind and order 1, times `exp(-|x|)`; 0 for infinities.
    bessel_i1e [alias "i1e"; tensorflow "tf.math.bessel_i1e";] yes,
        f32 [0.0, 1.0, f32::INFINITY] => [0.0, 0.20791042, 0.0], |x| math(MathFn::BesselI1e, x);
    /// The exponential.
    exp [tensorflow "tf.math.exp"; awkward "np.exp"; polars "Expr.exp";] yes,
        f32 [0.0, 1.0, f32::NEG_INFINITY] => [1.0, 2.7182817, 0.0], |x| math(MathFn::Exp, x);
    /// `exp(x) - 1`, accurate near 0.
    expm1 [tensorflow "tf.math.expm1"; awkward "np.expm1";] yes,
        f32 [0.0, 1e-6, f32::NEG_INFINITY] => [0.0, 1.0000005e-6, -1.0], |x| math(MathFn::Expm1, x);
    /// Floor: the greatest whole number that is not above the value.
    floor [tensorflow "tf.math.floor"; awkward "np.floor"; polars "Expr.floor";] none "constant almost everywhere",
        f32 [1.5, -1.5] => [1.0, -2.0], |x| math(MathFn::Floor, x);
    /// The natural logarithm; negatively infinite at 0, NaN below.
    log [alias "ln"; tensorflow "tf.math.log"; awkward "np.log"; polars "Expr.log";] yes,
        f32 [1.0, 10.0, 0.0] => [0.0, 2.3025851, f32::NEG_INFINITY], |x| math(MathFn::Log, x);
    /// Natural logarithm of `1 + x`, accurate near 0.
    log1p [tensorflow "tf.math.log1p"; awkward "np.log1p"; polars "Expr.log1p";] yes,
        f32 [0.0, 1e-6, -1.0] => [0.0, 9.999995e-7, f32::NEG_INFINITY], |x| math(MathFn::Log1p, x);
    /// The logarithm of the sigmoid, which does not overflow.
    log_sigmoid [tensorflow "tf.math.log_sigmoid";] yes,
        f32 [0.0, 2.0, -1000.0] => [-0.6931472, -0.12692802, -1000.0], |x| math(MathFn::LogSigmoid, x);
    /// `1 / x`; infinite at 0.
    reciprocal [alias "recip"; tensorflow "tf.math.reciprocal"; awkward "np.reciprocal";] yes,
        f32 [2.0, -4.0] => [0.5, -0.25], |x| number(x.dtype(), 1.0).quotient(x);
    /// `1 / x`, but 0 at 0.
    reciprocal_no_nan [tensorflow "tf.math.reciprocal_no_nan";] yes,
        f32 [2.0, 0.0] => [0.5, 0.0], |x| {
        let (zero, one) = (number(x.dtype(), 0.0), number(x.dtype(), 1.0));
        x.clone().eq(zero.clone()).select(zero, one.quotient(x))
    };
    /// `1 / sqrt(x)`; infinite at 0, NaN below.
    rsqrt [tensorflow "tf.math.rsqrt";] yes,
        f32 [4.0, 1.0] => [0.5, 1.0], |x| math(MathFn::Rsqrt, x);
    /// `1 / (1 + exp(-x))`.
    sigmoid [alias "logistic", "expit"; tensorflow "tf.math.sigmoid";] yes,
        f32 [0.0, 2.0, -1.0] => [0.5, 0.8807971, 0.26894143], |x| math(MathFn::Sigmoid, x);
    /// The sine; NaN for infinities.
    sin [tensorflow "tf.math.sin"; awkward "np.sin"; polars "Expr.sin";] yes,
        f32 [0.0, 0.5, -1.0] => [0.0, 0.47942555, -0.84147096], |x| math(MathFn::Sin, x);
    /// The hyperbolic sine.
    sinh [tensorflow "tf.math.sinh"; awkward "np.sinh"; polars "Expr.sinh";] yes,
        f32 [0.0, 0.5, -1.0] => [0.0, 0.5210953, -1.1752012], |x| math(MathFn::Sinh, x);
    /// `log(1 + exp(x))`, which does not overflow.
    softplus [tensorflow "tf.math.softplus";] yes,
        f32 [0.0, 2.0, 1000.0] => [0.6931472, 2.126928, 1000.0], |x| math(MathFn::Softplus, x);
    /// `x / (1 + |x|)`.
    softsign [tensorflow "tf.nn.softsign";] yes,
        f32 [1.0, -3.0] => [0.5, -0.75], |x| rounded_once([x], |[x]| {
        let one = number(x.dtype(), 1.0);
        x.clone().quotient(x.unary(UnaryOp::Abs).add(one))
    });
    /// The square root; NaN below 0.
    sqrt [tensorflow "tf.math.sqrt"; awkward "np.sqrt"; polars "Expr.sqrt";] yes,
        f32 [4.0, 0.25] => [2.0, 0.5], |x| math(MathFn::Sqrt, x);
    /// The same value, through which no derivative is taken: a constant for [`value_and_grad`](crate::value_and_grad).
    stop_gradient [alias "detach"; tensorflow "tf.stop_gradient";] none "it stops gradients",
        f32 [1.5, -2.0] => [1.5, -2.0], Expr::without_gradient;
    /// The tangent; NaN for infinities.
    tan [tensorflow "tf.math.tan"; awkward "np.tan"; polars "Expr.tan";] yes,
        f32 [0.0, 0.5, -1.0] => [0.0, 0.5463025, -1.5574077], |x| math(MathFn::Tan, x);
    /// The hyperbolic tangent.
    tanh [tensorflow "tf.math.tanh"; awkward "np.tanh"; polars "Expr.tanh";] yes,
        f32 [0.0, 0.5, -1.0] => [0.0, 0.46211717, -0.7615942], |x| math(MathFn::Tanh, x);
    /// The value where it is not negative, else `exp(x) - 1`.
    elu [tensorflow "tf.nn.elu";] yes,
        f32 [2.0, -1.0, f32::NEG_INFINITY] => [2.0, -0.63212055, -1.0], |x| {
        let zero = number(x.dtype(), 0.0);
        x.clone().lt(zero).select(math(MathFn::Expm1, x.clone()), x)
    };
    /// The scaled exponential linear unit.
    selu [tensorflow "tf.nn.selu";] yes,
        f32 [0.0, 1.0, -1.0] => [0.0, 1.050701, -1.1113307], |x| rounded_once([x], |[x]| {
        let (zero, scale) = (number(x.dtype(), 0.0), number(x.dtype(), SELU_SCALE));
        let below = number(x.dtype(), SELU_SCALE * SELU_ALPHA).mul(math(MathFn::Expm1, x.clone()));
        x.clone().lt(zero).select(below, scale.mul(x))
    });
    /// `x * sigmoid(x)`.
    silu [alias "swish"; tensorflow "tf.nn.silu";] yes,
        f32 [0.0, 2.0, -1.0] => [0.0, 1.7615942, -0.26894143],
        |x| rounded_once([x], |[x]| x.clone().mul(math(MathFn::Sigmoid, x)));
}

unary_ops! {
    TESTS_OF_FLOATS: Floats, "floats", FloatElement => bool;
    /// Whether the value is NaN.
    is_nan [alias "isnan"; tensorflow "tf.math.is_nan"; awkward "np.isnan"; polars "Expr.is_nan";] none "the result holds bools",
        f32 [f32::NAN, 1.0] => [true, false], |x| x.unary(UnaryOp::IsNan);
    /// Whether the value is infinite.
    is_inf [alias "isinf"; tensorflow "tf.math.is_inf"; awkward "np.isinf"; polars "Expr.is_infinite";] none "the result holds bools",
        f32 [f32::INFINITY, 1.0] => [true, false], |x| x.unary(UnaryOp::IsInf);
    /// Whether the value is neither NaN nor infinite.
    is_finite [alias "isfinite"; tensorflow "tf.math.is_finite"; awkward "np.isfinite"; polars "Expr.is_finite";]
        none "the result holds bools",
        f32 [f32::NAN, 1.0] => [false, true], |x| x.unary(UnaryOp::IsFinite);
}

operations! {
    /// Logical negation.
    const OF_BOOLS: family "Element-wise, one operand" on RaggedTensor<bool>;

    /// Logical negation: true for false, and false for true.
    ///
    /// The result has the shape and shares the partitions of the operand: empty rows stay empty.
    ///
    /// # Errors
    /// A dtype other than bool.
    ///
    /// # Cost
    /// One map, which fuses with its producers and consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![true, false], vec![], vec![true]], &Device::cpu())?;
    /// assert_eq!(x.logical_not()?.to_string(), "<ragged.RaggedTensor [[False, True], [], [False]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn logical_not(&self) -> bool;
    alias "not", "invert";
    tensorflow "tf.math.logical_not";
    awkward "np.logical_not";
    polars "Expr.not_";
    gradient none "it takes bools";
}

#[track_caller]
fn logical_not(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("logical_not");
    unary(rec, x, Takes::Bools, Expr::not)
}

unary_ops! {
    OF_INTEGERS: Integers, "integers", IntegerElement => T;
    /// Bitwise complement.
    bitwise_invert [alias "bitwise_not"; tensorflow "tf.bitwise.invert"; awkward "np.invert"; polars "Expr.not_";]
        none "it takes integers",
        i32 [0, 5] => [-1, -6], Expr::not;
}

const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;

/// Sign: -1, 0 or 1. Zeros keep their sign and NaN stays.
fn sign_of(x: Expr) -> Expr {
    let dtype = x.dtype();
    let (zero, one) = (number(dtype, 0.0), number(dtype, 1.0));
    let itself = x.clone().without_gradient();
    let not_positive =
        if dtype.is_signed() { x.clone().lt(zero.clone()).select(number(dtype, -1.0), itself) } else { itself };
    zero.lt(x).select(one, not_positive)
}
