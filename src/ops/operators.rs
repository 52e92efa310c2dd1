//! Operators on tensors.
//!
//! Each returns a `Result`, so that a chain reads `((&x + 3)? * &y)?`. The left operand is a tensor or a reference to
//! one, the right operand one of these or a number. A number on the left has the element type of a typed tensor, or any
//! concrete number type beside a [`Tensor`].
//!
//! | operator | element types | is |
//! |---|---|---|
//! | `+` `-` `*` | numbers | [`Tensor::add`], [`Tensor::subtract`], [`Tensor::multiply`] |
//! | `/` | floats; on [`Tensor`] all numbers | [`Tensor::truediv`]; typed integers: methods `truediv`, `floordiv` |
//! | `%` | numbers | [`Tensor::floormod`], the divisor's sign as in Python |
//! | `&` `\|` `^` `!` | bools and integers | logical on bools, bitwise on integers |
//! | `<<` `>>` | integers | [`Tensor::left_shift`], [`Tensor::right_shift`] |
//! | unary `-` | signed numbers | [`Tensor::negative`] |
//!
//! Comparisons are methods: [`Tensor::equal`], [`Tensor::less`], …
//!
//! ```
//! # use ragged::{Device, HostTensor, HostValues, RaggedTensor};
//! # fn main() -> ragged::Result<()> {
//! let cpu = Device::cpu();
//! let x = HostTensor::dense(&[2], HostValues::F32(vec![1.0, 2.0])).to_device(&cpu)?;
//! let x = RaggedTensor::<f32>::try_from(x)?;
//! assert_eq!(((&x + 3.0)? * &x)?.to_vec()?, [4.0, 10.0]);
//! assert_eq!((1.0 / &x)?.to_vec()?, [1.0, 0.5]);
//! # Ok(())
//! # }
//! ```

use std::borrow::Borrow;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use half::{bf16, f16};

use super::Operand;
use crate::dtype::DType;
use crate::element::{Arithmetic, BitElement, FloatElement, IntegerElement, Number, SignedElement};
use crate::error::Result;
use crate::tensor::{RaggedTensor, Tensor};

/// Implements one operator for all pairs of owned tensors and references, and for numbers on the right.
macro_rules! operator {
    ($operator:ident, $method:ident, $bound:ident, |$a:ident, $b:ident| $result:expr) => {
        operator!(typed $operator, $method, $bound, |$a, $b| $result, [RaggedTensor<T>] [&RaggedTensor<T>]);
        operator!(erased $operator, $method, |$a, $b| $result, [Tensor] [&Tensor]);
    };
    (typed $operator:ident, $method:ident, $bound:ident, |$a:ident, $b:ident| $result:expr, $([$lhs:ty])+) => {$(
        operator!(one [T: $bound] $operator, $method, $lhs, RaggedTensor<T>, RaggedTensor<T>, |$a, $b| $result);
        operator!(one [T: $bound] $operator, $method, $lhs, &RaggedTensor<T>, RaggedTensor<T>, |$a, $b| $result);

        impl<T: $bound> $operator<T> for $lhs {
            type Output = Result<RaggedTensor<T>>;
            #[track_caller]
            fn $method(self, rhs: T) -> Self::Output {
                let ($a, $b) = (Operand::Tensor(self.erased()), Operand::from(rhs));
                RaggedTensor::try_from($result?)
            }
        }
    )+};
    (erased $operator:ident, $method:ident, |$a:ident, $b:ident| $result:expr, $([$lhs:ty])+) => {$(
        impl $operator<Tensor> for $lhs {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $method(self, rhs: Tensor) -> Self::Output {
                let ($a, $b) = (Operand::Tensor(self.borrow()), Operand::Tensor(&rhs));
                $result
            }
        }
        impl $operator<&Tensor> for $lhs {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $method(self, rhs: &Tensor) -> Self::Output {
                let ($a, $b) = (Operand::Tensor(self.borrow()), Operand::Tensor(rhs));
                $result
            }
        }
        impl<N: Number> $operator<N> for $lhs {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $method(self, rhs: N) -> Self::Output {
                let ($a, $b) = (Operand::Tensor(self.borrow()), Operand::from(rhs));
                $result
            }
        }
    )+};
    (
        one [$($generics:tt)*] $operator:ident, $method:ident, $lhs:ty, $rhs:ty, $out:ty,
        |$a:ident, $b:ident| $result:expr
    ) => {
        impl<$($generics)*> $operator<$rhs> for $lhs {
            type Output = Result<$out>;
            #[track_caller]
            fn $method(self, rhs: $rhs) -> Self::Output {
                let ($a, $b) = (Operand::Tensor(self.erased()), Operand::Tensor(rhs.erased()));
                <$out>::try_from($result?)
            }
        }
    };
}

/// Implements one operator with a number on the left.
macro_rules! number_first {
    ($operator:ident, $method:ident, |$a:ident, $b:ident| $result:expr, $($t:ty),+) => {$(
        impl $operator<&RaggedTensor<$t>> for $t {
            type Output = Result<RaggedTensor<$t>>;
            #[track_caller]
            fn $method(self, rhs: &RaggedTensor<$t>) -> Self::Output {
                let ($a, $b) = (Operand::from(self), Operand::Tensor(rhs.erased()));
                RaggedTensor::try_from($result?)
            }
        }
        impl $operator<RaggedTensor<$t>> for $t {
            type Output = Result<RaggedTensor<$t>>;
            #[track_caller]
            fn $method(self, rhs: RaggedTensor<$t>) -> Self::Output {
                $operator::$method(self, &rhs)
            }
        }
        impl $operator<&Tensor> for $t {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $method(self, rhs: &Tensor) -> Self::Output {
                let ($a, $b) = (Operand::from(self), Operand::Tensor(rhs));
                $result
            }
        }
        impl $operator<Tensor> for $t {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $method(self, rhs: Tensor) -> Self::Output {
                $operator::$method(self, &rhs)
            }
        }
    )+};
}

operator!(Add, add, Arithmetic, |a, b| a.add(b));
operator!(Sub, sub, Arithmetic, |a, b| a.subtract(b));
operator!(Mul, mul, Arithmetic, |a, b| a.multiply(b));
operator!(Div, div, FloatElement, |a, b| a.truediv(b));
operator!(Rem, rem, Arithmetic, |a, b| a.floormod(b));
operator!(BitAnd, bitand, BitElement, |a, b| if is_bool(&a) { a.logical_and(b) } else { a.bitwise_and(b) });
operator!(BitOr, bitor, BitElement, |a, b| if is_bool(&a) { a.logical_or(b) } else { a.bitwise_or(b) });
operator!(BitXor, bitxor, BitElement, |a, b| if is_bool(&a) { a.logical_xor(b) } else { a.bitwise_xor(b) });
operator!(Shl, shl, IntegerElement, |a, b| a.left_shift(b));
operator!(Shr, shr, IntegerElement, |a, b| a.right_shift(b));

number_first!(Add, add, |a, b| a.add(b), u8, i8, u16, i16, i32, u32, i64, u64, f16, bf16, f32, f64);
number_first!(Sub, sub, |a, b| a.subtract(b), u8, i8, u16, i16, i32, u32, i64, u64, f16, bf16, f32, f64);
number_first!(Mul, mul, |a, b| a.multiply(b), u8, i8, u16, i16, i32, u32, i64, u64, f16, bf16, f32, f64);
number_first!(Div, div, |a, b| a.truediv(b), f16, bf16, f32, f64);
number_first!(Rem, rem, |a, b| a.floormod(b), u8, i8, u16, i16, i32, u32, i64, u64, f16, bf16, f32, f64);

fn is_bool(operand: &Operand<'_>) -> bool {
    operand.dtype() == DType::Bool
}

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
