//! Operators on tensors.
//!
//! Each returns a `Result`, so that a chain reads `((&x + 3)? * &y)?`. Operands are tensors or references to tensors,
//! typed or not, and numbers on either side. A number takes the tensor's dtype: `&x * 0.5` works for every float dtype,
//! and is an error for integers, which have no 0.5. A number on the left is of the element type or a literal; beside a
//! [`Tensor`] it is an `i32` or `f64`.
//!
//! | operator | element types | is |
//! |---|---|---|
//! | `+` | numbers and strings | [`Tensor::add`] |
//! | `-` `*` | numbers | [`Tensor::subtract`], [`Tensor::multiply`] |
//! | `/` | floats; on [`Tensor`] all numbers | [`Tensor::truediv`]; typed integers: methods `truediv`, `floordiv` |
//! | `%` | numbers | [`Tensor::floormod`], the divisor's sign as in Python |
//! | `&` `\|` `^` `!` | bools and integers | logical on bools, bitwise on integers |
//! | `<<` `>>` | integers | [`Tensor::left_shift`], [`Tensor::right_shift`] |
//! | unary `-` | signed numbers | [`Tensor::negative`] |
//!
//! Comparisons are methods: [`Tensor::equal`], [`Tensor::less`], …
//!
//! ```
//! # use ragged::{Device, RaggedTensor};
//! let x = RaggedTensor::from_nested([1.0f32, 2.0], &Device::cpu())?;
//! assert_eq!(((&x + 3)? * &x)?.to_vec()?, [4.0, 10.0]);
//! assert_eq!((1 / &x)?.to_vec()?, [1.0, 0.5]);
//! # Ok::<(), ragged::Error>(())
//! ```

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use half::{bf16, f16};

use crate::dtype::DType;
use crate::element::{Arithmetic, BitElement, Element, FloatElement, IntegerElement, Number, SignedElement, Summable};
use crate::error::Result;
use crate::graph::scalar::Scalar;
use crate::ops::Operand;
use crate::tensor::{RaggedTensor, Tensor};

/// Implements one operator for all pairs of owned tensors and references, typed or not, and for numbers on the right.
/// The result has the type of the left tensor.
macro_rules! operator {
    ($operator:ident, $method:ident, $bound:ident, |$a:ident, $b:ident| $result:expr) => {
        operator!(lhs [T: $bound] [RaggedTensor<T>] $operator, $method, RaggedTensor<T>, |$a, $b| $result);
        operator!(lhs [T: $bound] [RaggedTensor<T>] $operator, $method, &RaggedTensor<T>, |$a, $b| $result);
        operator!(lhs [] [Tensor] $operator, $method, Tensor, |$a, $b| $result);
        operator!(lhs [] [Tensor] $operator, $method, &Tensor, |$a, $b| $result);
        operator!(one [T: $bound] [Tensor] $operator, $method, Tensor, RaggedTensor<T>, |$a, $b| $result);
        operator!(one [T: $bound] [Tensor] $operator, $method, Tensor, &RaggedTensor<T>, |$a, $b| $result);
        operator!(one [T: $bound] [Tensor] $operator, $method, &Tensor, RaggedTensor<T>, |$a, $b| $result);
        operator!(one [T: $bound] [Tensor] $operator, $method, &Tensor, &RaggedTensor<T>, |$a, $b| $result);
        operator!(one [T: $bound] [RaggedTensor<T>] $operator, $method, RaggedTensor<T>, Tensor, |$a, $b| $result);
        operator!(one [T: $bound] [RaggedTensor<T>] $operator, $method, RaggedTensor<T>, &Tensor, |$a, $b| $result);
        operator!(one [T: $bound] [RaggedTensor<T>] $operator, $method, &RaggedTensor<T>, Tensor, |$a, $b| $result);
        operator!(one [T: $bound] [RaggedTensor<T>] $operator, $method, &RaggedTensor<T>, &Tensor, |$a, $b| $result);
    };
    (
        lhs [$($generics:tt)*] [$own:ty] $operator:ident, $method:ident, $lhs:ty, |$a:ident, $b:ident| $result:expr
    ) => {
        operator!(one [$($generics)*] [$own] $operator, $method, $lhs, $own, |$a, $b| $result);
        operator!(one [$($generics)*] [$own] $operator, $method, $lhs, &$own, |$a, $b| $result);

        impl<N: Number, $($generics)*> $operator<N> for $lhs {
            type Output = Result<$own>;
            #[track_caller]
            fn $method(self, rhs: N) -> Self::Output {
                let $a = Operand::Tensor(self.as_ref());
                let operation = operation(stringify!($method), $a.dtype());
                let $b = Operand::from(Into::<Scalar>::into(rhs)).of_dtype(operation, $a.dtype())?;
                <$own>::of_dynamic($result?)
            }
        }
    };
    (
        one [$($generics:tt)*] [$out:ty] $operator:ident, $method:ident, $lhs:ty, $rhs:ty,
        |$a:ident, $b:ident| $result:expr
    ) => {
        impl<$($generics)*> $operator<$rhs> for $lhs {
            type Output = Result<$out>;
            #[track_caller]
            fn $method(self, rhs: $rhs) -> Self::Output {
                let ($a, $b) = (Operand::Tensor(self.as_ref()), Operand::Tensor(rhs.as_ref()));
                <$out>::of_dynamic($result?)
            }
        }
    };
}

/// Implements one operator with a number on the left, for the pairs of number and tensor types in the list.
macro_rules! number_first {
    ($operator:ident, $method:ident, |$a:ident, $b:ident| $result:expr, $($t:ty: $own:ty),+ $(,)?) => {$(
        impl $operator<&$own> for $t {
            type Output = Result<$own>;
            #[track_caller]
            fn $method(self, rhs: &$own) -> Self::Output {
                let $b = Operand::Tensor(rhs.as_ref());
                let $a = Operand::from(self).of_dtype(operation(stringify!($method), $b.dtype()), $b.dtype())?;
                <$own>::of_dynamic($result?)
            }
        }
        impl $operator<$own> for $t {
            type Output = Result<$own>;
            #[track_caller]
            fn $method(self, rhs: $own) -> Self::Output {
                $operator::$method(self, &rhs)
            }
        }
    )+};
}

/// [`number_first`] for numbers of a float tensor's own type, for integers, and for floats beside half precision. One
/// integer and one float type per tensor type: with more, the type of a literal would be ambiguous.
macro_rules! number_before_floats {
    ($operator:ident, $method:ident, |$a:ident, $b:ident| $result:expr) => {
        number_first!(
            $operator, $method, |$a, $b| $result,
            f16: RaggedTensor<f16>, bf16: RaggedTensor<bf16>, f32: RaggedTensor<f32>, f64: RaggedTensor<f64>,
            f64: RaggedTensor<f16>, f64: RaggedTensor<bf16>, i32: RaggedTensor<f16>, i32: RaggedTensor<bf16>,
            i32: RaggedTensor<f32>, i32: RaggedTensor<f64>, i32: Tensor, f64: Tensor,
        );
    };
}

/// [`number_first`] for numbers of an integer tensor's own type.
macro_rules! number_before_integers {
    ($operator:ident, $method:ident, |$a:ident, $b:ident| $result:expr) => {
        number_first!(
            $operator, $method, |$a, $b| $result,
            u8: RaggedTensor<u8>, i8: RaggedTensor<i8>, u16: RaggedTensor<u16>, i16: RaggedTensor<i16>,
            i32: RaggedTensor<i32>, u32: RaggedTensor<u32>, i64: RaggedTensor<i64>, u64: RaggedTensor<u64>,
        );
    };
}

/// The operation that an operator's method is: errors name one operation alike, however it is called.
pub(in crate::ops) fn operation(method: &'static str, dtype: DType) -> &'static str {
    let (of_bools, of_numbers) = match method {
        "sub" => ("subtract", "subtract"),
        "mul" => ("multiply", "multiply"),
        "div" => ("truediv", "truediv"),
        "rem" => ("floormod", "floormod"),
        "bitand" => ("logical_and", "bitwise_and"),
        "bitor" => ("logical_or", "bitwise_or"),
        "bitxor" => ("logical_xor", "bitwise_xor"),
        "shl" => ("left_shift", "left_shift"),
        "shr" => ("right_shift", "right_shift"),
        other => (other, other),
    };
    if dtype == DType::Bool { of_bools } else { of_numbers }
}

/// Conversion of a result of run-time dtype to the type of the left operand.
trait OfDynamic: Sized {
    #[track_caller]
    fn of_dynamic(result: Tensor) -> Result<Self>;
}
impl OfDynamic for Tensor {
    #[track_caller]
    fn of_dynamic(result: Tensor) -> Result<Self> {
        Ok(result)
    }
}
impl<T: Element> OfDynamic for RaggedTensor<T> {
    #[track_caller]
    fn of_dynamic(result: Tensor) -> Result<Self> {
        result.try_into()
    }
}

operator!(Add, add, Summable, |a, b| a.add(b));
operator!(Sub, sub, Arithmetic, |a, b| a.subtract(b));
operator!(Mul, mul, Arithmetic, |a, b| a.multiply(b));
operator!(Div, div, FloatElement, |a, b| a.truediv(b));
operator!(Rem, rem, Arithmetic, |a, b| a.floormod(b));
operator!(BitAnd, bitand, BitElement, |a, b| if is_bool(&a) { a.logical_and(b) } else { a.bitwise_and(b) });
operator!(BitOr, bitor, BitElement, |a, b| if is_bool(&a) { a.logical_or(b) } else { a.bitwise_or(b) });
operator!(BitXor, bitxor, BitElement, |a, b| if is_bool(&a) { a.logical_xor(b) } else { a.bitwise_xor(b) });
operator!(Shl, shl, IntegerElement, |a, b| a.left_shift(b));
operator!(Shr, shr, IntegerElement, |a, b| a.right_shift(b));

number_before_floats!(Add, add, |a, b| a.add(b));
number_before_floats!(Sub, sub, |a, b| a.subtract(b));
number_before_floats!(Mul, mul, |a, b| a.multiply(b));
number_before_floats!(Div, div, |a, b| a.truediv(b));
number_before_floats!(Rem, rem, |a, b| a.floormod(b));
number_before_integers!(Add, add, |a, b| a.add(b));
number_before_integers!(Sub, sub, |a, b| a.subtract(b));
number_before_integers!(Mul, mul, |a, b| a.multiply(b));
number_before_integers!(Rem, rem, |a, b| a.floormod(b));

pub(in crate::ops) fn is_bool(operand: &Operand<'_>) -> bool {
    operand.dtype() == DType::Bool
}

#[track_caller]
fn complement(x: &Tensor) -> Result<Tensor> {
    if x.dtype() == DType::Bool { x.logical_not() } else { x.bitwise_invert() }
}

/// Implements one prefix operator.
macro_rules! prefix {
    ($operator:ident, $method:ident, $bound:ident, $result:expr) => {
        impl<T: $bound> $operator for RaggedTensor<T> {
            type Output = Result<RaggedTensor<T>>;
            fn $method(self) -> Self::Output {
                RaggedTensor::try_from($result(self.erased())?)
            }
        }
        impl<T: $bound> $operator for &RaggedTensor<T> {
            type Output = Result<RaggedTensor<T>>;
            fn $method(self) -> Self::Output {
                RaggedTensor::try_from($result(self.erased())?)
            }
        }
        impl $operator for Tensor {
            type Output = Result<Tensor>;
            fn $method(self) -> Self::Output {
                $result(&self)
            }
        }
        impl $operator for &Tensor {
            type Output = Result<Tensor>;
            fn $method(self) -> Self::Output {
                $result(self)
            }
        }
    };
}

prefix!(Neg, neg, SignedElement, Tensor::negative);
prefix!(Not, not, BitElement, complement);
