//! Element-wise operations on two operands.

use crate::dtype::DType;
use crate::element::{Arithmetic, Element, FloatElement, IntegerElement, Summable};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::recorder::Recorder;
use crate::math::MathFn;
use crate::ops::elementwise::division::{self, by_nonzero};
use crate::ops::elementwise::string_pairs;
use crate::ops::operations;
use crate::ops::{IntoOperand, IntoOperandOf};
use crate::record::elementwise::{Takes, map_together, math, number, rounded_once};
use crate::record::next_after::next_after;
use crate::record::operand::Operand;
use crate::tensor::Tensor;

/// Builds the result expression for two numbers.
type Pair = fn(Recorder<'_>, Expr, Expr) -> Expr;
/// Computes the result for two string operands.
type Strings = fn(Recorder<'_>, Operand<'_>, Operand<'_>) -> Result<Tensor>;

#[track_caller]
fn binary(
    op: &'static str,
    takes: Takes,
    operands: [Operand<'_>; 2],
    strings: Option<Strings>,
    pair: Pair,
) -> Result<Tensor> {
    let [a, b] = operands;
    let rec = Operand::recorder(op, [&a, &b])?;
    let [a, b] = Operand::of_one_dtype(op, a, b)?;
    if let (DType::Str, Some(strings)) = (a.dtype(), strings) {
        return strings(rec, a, b);
    }
    takes.check(op, a.dtype())?;
    map_together(rec, &[a, b], |mut numbers| {
        let b = numbers.remove(1);
        pair(rec, numbers.remove(0), b)
    })
}

/// Declares operations with another tensor or value. An entry has its names elsewhere, its gradient, an example and the
/// expression of its value. It needs no page about broadcasting, errors and cost, no function, and no method of
/// [`Operand`] for values on the left: those are the same for all.
macro_rules! binary_ops {
    ($list:ident $topic:literal: $takes:ident, $dtypes:literal, [$elem:ident $(: $bound:ident)?] => $result:tt; $(
        $(#[doc = $doc:literal])+
        $name:ident [$($elsewhere:tt)*] $gradient:ident $($no_gradient:literal)?
            $in:ident $a:tt $b:tt => $c:tt $(or $strings:path)?, $pair:expr;
    )+) => {
        operations! {
            #[doc = $topic]
            const $list: family "Element-wise, several operands" on RaggedTensor<$elem> $(where $elem: $bound)?;

            $(
                $(#[doc = $doc])+
                ///
                /// Shapes broadcast. The operand of lower rank gets leading dimensions of size 1. A uniform dimension
                /// of size 1 repeats, also over rows of different lengths. Ragged rows match only rows of equal
                /// lengths. A number takes the tensor's dtype and applies to every element. Empty rows stay empty. The
                /// result keeps the partitions of an operand that does not repeat.
                ///
                /// # Errors
                #[doc = concat!("Operands of different dtypes or on different devices; a dtype other than ", $dtypes, ";")]
                /// shapes that do not broadcast. Rows of different lengths fail at the call where the host has the
                /// splits, and at the read otherwise.
                ///
                /// # Cost
                /// One map over the result, fused with its producers and consumers. Nothing is read back.
                ///
                /// ```
                /// use ragged::{Device, RaggedTensor};
                /// let device = Device::cpu();
                #[doc = concat!(
                    "let x = RaggedTensor::<", stringify!($in), ">::from_nested(", stringify!($a), ", &device)?;"
                )]
                #[doc = concat!("let y = RaggedTensor::from_nested(", stringify!($b), ", &device)?;")]
                #[doc = concat!("assert_eq!(x.", stringify!($name), "(&y)?.to_vec()?, ", stringify!($c), ");")]
                /// # Ok::<(), ragged::Error>(())
                /// ```
                fn $name<'a>(&self, other: impl IntoOperandOf<'a, $elem> as broadcast) -> $result;
                $($elsewhere)*
                gradient $gradient $($no_gradient)?;
            )+
        }
        $(
            #[track_caller]
            fn $name<'a>(x: &Tensor, other: impl IntoOperand<'a>) -> Result<Tensor> {
                Operand::from(x).$name(other.into())
            }
        )+

        /// Operations where a value may stand on the left.
        impl Operand<'_> {$(
            $(#[doc = $doc])+
            ///
            #[doc = concat!("Besides what [`Tensor::", stringify!($name), "`] takes, a plain value may be the left operand.")]
            /// It takes the dtype of the tensor on the right and applies to every element.
            ///
            /// Shapes broadcast. The operand of lower rank gets leading dimensions of size 1. A uniform dimension of size 1
            /// repeats, also over rows of different lengths. Ragged rows match only rows of equal lengths. Empty rows stay
            /// empty. The result keeps the partitions of an operand that does not repeat.
            ///
            /// # Errors
            /// Two plain values; a value that the tensor's dtype cannot represent; tensors of different dtypes or on
            #[doc = concat!("different devices; a dtype other than ", $dtypes, ";")]
            /// shapes that do not broadcast. Rows of different lengths fail at the call where the host has the splits, and
            /// at the read otherwise.
            ///
            /// # Cost
            /// One map over the result, fused with its producers and consumers. Nothing is read back.
            ///
            /// ```
            /// use ragged::arguments::Operand;
            /// use ragged::{Device, RaggedTensor};
            /// let device = Device::cpu();
            #[doc = concat!(
                "let x = RaggedTensor::<", stringify!($in), ">::from_nested(", stringify!($a), ", &device)?;"
            )]
            #[doc = concat!(
                "let y = RaggedTensor::<", stringify!($in), ">::from_nested(", stringify!($b), ", &device)?;"
            )]
            #[doc = concat!(
                "let result = Operand::from(", stringify!($a), "[0]).", stringify!($name), "(Operand::from(&y))?;"
            )]
            #[doc = concat!(
                "assert!(result.slice(ragged::s![0])?.equals(&x.", stringify!($name), "(&y)?.slice(ragged::s![0])?)?);"
            )]
            /// # Ok::<(), ragged::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self, other: Operand<'_>) -> Result<Tensor> {
                let strings: &[Strings] = &[$($strings)?];
                binary(stringify!($name), Takes::$takes, [self.clone(), other], strings.first().copied(), $pair)
            }
        )+}
    };
}

binary_ops! {
    ARITHMETIC "Arithmetic of two operands.": Numbers, "numbers", [T: Arithmetic] => T;
    /// The difference of the elements; integers wrap.
    subtract [tensorflow "tf.math.subtract"; awkward "np.subtract"; polars "Expr.sub";] yes
        f32 [5.0, 2.0] [1.0, 3.0] => [4.0, -1.0], |_, a, b| a.sub(b);
    /// The product of the elements; integers wrap.
    multiply [alias "scalar_mul"; tensorflow "tf.math.multiply"; awkward "np.multiply"; polars "Expr.mul";] yes
        f32 [5.0, 2.0] [1.0, 3.0] => [5.0, 6.0], |_, a, b| a.mul(b);
    /// The quotient rounded down, as Python's `//`; an integer divisor of 0 fails at the read.
    ///
    /// The exact quotient of floats is rounded: `1.0 // 0.1` is 9 in f64, where TensorFlow rounds the quotient to 10
    /// first. Beyond 2^24 (f64: 2^53) in magnitude, the result is the quotient rounded to nearest. A divisor of 0 gives
    /// an infinity or NaN, as a division does, and an infinite dividend stays infinite.
    floordiv [tensorflow "tf.math.floordiv"; awkward "np.floor_divide"; polars "Expr.floordiv";] none "constant almost everywhere"
        i32 [7, -7] [2, 2] => [3, -4], division::floordiv;
    /// The remainder with the divisor's sign, as Python's `%`; an integer divisor of 0 fails at the read.
    ///
    /// Of floats, the exact remainder of the dividend, plus the divisor where the signs differ, which rounds once. 0
    /// has the divisor's sign too. NaN for a divisor of 0 and for an infinite dividend.
    floormod [tensorflow "tf.math.floormod"; awkward "np.remainder"; polars "Expr.mod";] yes
        i32 [7, -7] [3, 3] => [1, 2], division::floormod;
    /// The quotient rounded towards zero; an integer divisor of 0 fails at the read.
    ///
    /// The exact quotient of floats is rounded, with the limits of [`Tensor::floordiv`].
    truncatediv [tensorflow "tf.truncatediv";] none "constant almost everywhere"
        i32 [7, -7] [2, 2] => [3, -3], division::truncatediv;
    /// The remainder with the dividend's sign; an integer divisor of 0 fails at the read.
    truncatemod [tensorflow "tf.truncatemod"; awkward "np.fmod";] yes i32 [7, -7] [3, 3] => [1, -1],
        |rec, a, b| by_nonzero(rec, b.clone(), a.remainder(b));
    /// The elements to the power of the other operand; integers wrap, and a negative integer exponent fails at the
    /// read.
    pow [tensorflow "tf.math.pow"; awkward "np.power"; polars "Expr.pow";] yes
        i32 [2, -3] [10, 3] => [1024, -27], power;
    /// The greater of two elements; NaN if either is NaN.
    maximum [tensorflow "tf.math.maximum"; awkward "np.maximum"; polars "pl.max_horizontal";] yes
        i32 [2, -3] [1, 3] => [2, 3], |_, a, b| a.max(b);
    /// The lesser of two elements; NaN if either is NaN.
    minimum [tensorflow "tf.math.minimum"; awkward "np.minimum"; polars "pl.min_horizontal";] yes
        i32 [2, -3] [1, 3] => [1, -3], |_, a, b| a.min(b);
    /// The square of the difference of the elements; integers wrap.
    squared_difference [tensorflow "tf.math.squared_difference";] yes f32 [5.0, 2.0] [1.0, 3.0] => [16.0, 1.0],
        |_, a, b| rounded_once([a, b], |[a, b]| {
            let d = a.sub(b);
            d.clone().mul(d)
        });
}

binary_ops! {
    SUMS "Sums of two operands.": Numbers, "numbers and byte strings", [T: Summable] => T;
    /// The sum of the elements; integers wrap, and byte strings are concatenated.
    add [tensorflow "tf.math.add"; awkward "np.add"; polars "Expr.add";] yes
        f32 [5.0, 2.0] [1.0, 3.0] => [6.0, 5.0] or string_pairs::join,
        |_, a, b| a.add(b);
}

binary_ops! {
    QUOTIENTS "Quotients of two operands.": Numbers, "numbers", [T: Arithmetic] => (T::Quotient);
    /// The quotient: floats in their own type, 8-bit and 16-bit integers in f32, wider integers in f64. Division by
    /// zero gives an infinity or NaN.
    truediv [alias "realdiv"; tensorflow "tf.math.truediv"; awkward "np.true_divide"; polars "Expr.truediv";] yes
        i32 [1, -3] [2, 2] => [0.5, -1.5], |_, a, b| {
        let to = quotient_dtype(a.dtype());
        a.cast(to).quotient(b.cast(to))
    };
    /// The quotient, but 0 where the divisor is 0.
    ///
    /// Floats in their own type, 8-bit and 16-bit integers in f32, wider integers in f64.
    divide_no_nan [tensorflow "tf.math.divide_no_nan";] yes f32 [1.0, -3.0] [0.0, 2.0] => [0.0, -1.5], |_, a, b| {
        let to = quotient_dtype(a.dtype());
        let b = b.cast(to);
        unless_zero(b.clone(), a.cast(to).quotient(b))
    };
}

binary_ops! {
    OF_FLOATS "Functions of two floats.": Floats, "floats", [T: FloatElement] => T;
    /// The product, but 0 where the other operand is 0, even if this one is NaN or infinite.
    multiply_no_nan [tensorflow "tf.math.multiply_no_nan";] yes f32 [f32::NAN, 3.0] [0.0, 2.0] => [0.0, 6.0],
        |_, a, b| a.binary(BinaryOp::MulNoNan, b);
    /// The angle of the point (`other`, `self`): the first operand is the y coordinate.
    atan2 [tensorflow "tf.math.atan2"; awkward "np.arctan2"; polars "pl.arctan2";] yes
        f32 [1.0, -1.0] [1.0, 0.0] => [0.7853982, -1.5707964],
        |_, a, b| a.binary(BinaryOp::Atan2, b);
    /// The next float towards the other operand, or the operand itself where both are equal; NaN if either is NaN.
    nextafter [tensorflow "tf.math.nextafter"; awkward "np.nextafter";] none "a step between neighbouring floats"
        f32 [1.0, 0.0] [2.0, -1.0] => [1.0000001, -1e-45],
        |_, a, b| next_after(a, b);
    /// `x * log(y)`, but 0 where x is 0.
    xlogy [tensorflow "tf.math.xlogy";] yes f32 [0.0, 2.0] [0.0, 10.0] => [0.0, 4.6051702],
        |_, a, b| rounded_once([a, b], |[a, b]| unless_zero(a.clone(), a.mul(math(MathFn::Log, b))));
    /// `x * log(1 + y)`, but 0 where x is 0.
    xlog1py [tensorflow "tf.math.xlog1py";] yes f32 [0.0, 2.0] [-1.0, 9.0] => [0.0, 4.6051702],
        |_, a, b| rounded_once([a, b], |[a, b]| unless_zero(a.clone(), a.mul(math(MathFn::Log1p, b))));
    /// `x / y`, but 0 where x is 0.
    xdivy [tensorflow "tf.math.xdivy";] yes f32 [0.0, 3.0] [0.0, 2.0] => [0.0, 1.5],
        |_, a, b| unless_zero(a.clone(), a.quotient(b));
    /// The cross entropy of the logits `x` (this operand) with the labels `z` (the other operand), in a form that does
    /// not overflow: `max(x, 0) - x * z + log(1 + exp(-|x|))`.
    sigmoid_cross_entropy_with_logits [tensorflow "tf.nn.sigmoid_cross_entropy_with_logits";] yes
        f32 [2.0, -1000.0] [1.0, 0.0] => [0.12692802, 0.0], |_, x, z| rounded_once([x, z], |[x, z]| {
        // By one condition, so that the gradient at 0 is that of the sum.
        let zero = number(x.dtype(), 0.0);
        let is_positive = zero.clone().le(x.clone());
        let above = is_positive.clone().select(x.clone(), zero).sub(x.clone().mul(z));
        above.add(math(MathFn::Softplus, is_positive.select(x.clone().unary(UnaryOp::Neg), x)))
    });
}

binary_ops! {
    EQUALITY "Equality.": NumbersAndBools, "numbers, bools and byte strings", [T: Element] => bool;
    /// Whether the elements are equal; NaN equals nothing. Shapes that do not broadcast are an error, not `false`.
    equal [tensorflow "tf.math.equal"; awkward "np.equal"; polars "Expr.eq";] none "the result holds bools"
        i32 [2, -3] [2, 3] => [true, false] or string_pairs::equal,
        |_, a, b| a.eq(b);
    /// Whether the elements differ; NaN differs from everything. Shapes that do not broadcast are an error, not `true`.
    not_equal [tensorflow "tf.math.not_equal"; awkward "np.not_equal"; polars "Expr.ne";] none "the result holds bools"
        i32 [2, -3] [2, 3] => [false, true] or string_pairs::not_equal,
        |_, a, b| a.ne(b);
}

binary_ops! {
    ORDER "Order.": Numbers, "numbers", [T: Arithmetic] => bool;
    /// Whether this element is less; false if either is NaN.
    less [tensorflow "tf.math.less"; awkward "np.less"; polars "Expr.lt";] none "the result holds bools"
        i32 [2, -3] [2, 3] => [false, true], |_, a, b| a.lt(b);
    /// Whether this element is less or equal; false if either is NaN.
    less_equal [tensorflow "tf.math.less_equal"; awkward "np.less_equal"; polars "Expr.le";] none "the result holds bools"
        i32 [2, 4] [2, 3] => [true, false], |_, a, b| a.le(b);
    /// Whether this element is greater; false if either is NaN.
    greater [tensorflow "tf.math.greater"; awkward "np.greater"; polars "Expr.gt";] none "the result holds bools"
        i32 [2, 4] [2, 3] => [false, true], |_, a, b| b.lt(a);
    /// Whether this element is greater or equal; false if either is NaN.
    greater_equal [tensorflow "tf.math.greater_equal"; awkward "np.greater_equal"; polars "Expr.ge";] none "the result holds bools"
        i32 [2, -3] [2, 3] => [true, false],
        |_, a, b| b.le(a);
}

binary_ops! {
    LOGIC "Logic of two operands.": Bools, "bool", [bool] => bool;
    /// Whether both elements are true.
    logical_and [tensorflow "tf.math.logical_and"; awkward "np.logical_and"; polars "Expr.and_";] none "it takes bools"
        bool [true, true] [true, false] => [true, false],
        |_, a, b| a.and(b);
    /// Whether either element is true.
    logical_or [tensorflow "tf.math.logical_or"; awkward "np.logical_or"; polars "Expr.or_";] none "it takes bools"
        bool [false, true] [false, false] => [false, true],
        |_, a, b| a.or(b);
    /// Whether exactly one element is true.
    logical_xor [tensorflow "tf.math.logical_xor"; awkward "np.logical_xor"; polars "Expr.xor";] none "it takes bools"
        bool [true, true] [true, false] => [false, true],
        |_, a, b| a.binary(BinaryOp::Xor, b);
}

binary_ops! {
    BITS "Bits of two operands.": Integers, "integers", [T: IntegerElement] => T;
    /// The bits that are set in both elements.
    bitwise_and [tensorflow "tf.bitwise.bitwise_and"; awkward "np.bitwise_and"; polars "Expr.and_";] none "it takes integers"
        i32 [6, 5] [3, 4] => [2, 4], |_, a, b| a.and(b);
    /// The bits that are set in either element.
    bitwise_or [tensorflow "tf.bitwise.bitwise_or"; awkward "np.bitwise_or"; polars "Expr.or_";] none "it takes integers"
        i32 [6, 5] [3, 8] => [7, 13], |_, a, b| a.or(b);
    /// The bits that are set in exactly one element.
    bitwise_xor [tensorflow "tf.bitwise.bitwise_xor"; awkward "np.bitwise_xor"; polars "Expr.xor";] none "it takes integers"
        i32 [6, 5] [3, 4] => [5, 1],
        |_, a, b| a.binary(BinaryOp::Xor, b);
    /// The bits shifted left; 0 where the other operand, read as unsigned, is at least the bit width.
    left_shift [tensorflow "tf.bitwise.left_shift"; awkward "np.left_shift";] none "it takes integers"
        i32 [1, 5] [3, 1] => [8, 10],
        |_, a, b| a.binary(BinaryOp::Shl, b);
    /// The bits shifted right, filled with the sign; 0 or -1 where the other operand, read as unsigned, is at least the
    /// bit width.
    right_shift [tensorflow "tf.bitwise.right_shift"; awkward "np.right_shift";] none "it takes integers"
        i32 [8, -5] [3, 1] => [1, -3],
        |_, a, b| a.binary(BinaryOp::Shr, b);
}

/// Result dtype of `truediv` of numbers.
const fn quotient_dtype(dtype: DType) -> DType {
    dtype.quotient().expect("bug: a quotient of numbers")
}

/// `value`, but 0 where `x` is 0.
fn unless_zero(x: Expr, value: Expr) -> Expr {
    let zero = number(x.dtype(), 0.0);
    x.eq(zero.clone()).select(zero, value)
}

fn power(rec: Recorder<'_>, a: Expr, b: Expr) -> Expr {
    let power = a.binary(BinaryOp::Pow, b.clone());
    if b.dtype().is_float() || !b.dtype().is_signed() {
        return power;
    }
    let zero = number(b.dtype(), 0.0);
    rec.checked("an integer to a negative integer power", zero.le(b), power)
}
