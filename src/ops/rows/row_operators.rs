//! Operators on rows: between rows, and with numbers and tensors that are the same for all rows, on either side.
//!
//! ```
//! # use ragged::{Device, RaggedTensor};
//! let device = Device::cpu();
//! let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &device)?;
//! let scale = RaggedTensor::from_nested([10.0f32], &device)?;
//! let y: RaggedTensor<f32> = x.map_rows(|row| (1 - (row * &scale)?)? * 2.0)?;
//! assert_eq!(y.to_vec()?, [-18.0, -38.0, -58.0]);
//! # Ok::<(), ragged::Error>(())
//! ```

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use crate::dtype::DType;
use crate::element::{Element, Number};
use crate::error::Result;
use crate::ops::elementwise::operators::{is_bool, operation};
use crate::ops::{Row, RowOperand};
use crate::tensor::{RaggedTensor, Tensor};

/// Implements one operator for rows and references to rows, with all operands on either side.
macro_rules! operator {
    ($operator:ident, $method:ident, |$a:ident, $b:ident| $result:expr) => {
        operator!(with Row, $operator, $method, |$a, $b| $result);
        operator!(with &Row, $operator, $method, |$a, $b| $result);
    };
    (with $row:ty, $operator:ident, $method:ident, |$a:ident, $b:ident| $result:expr) => {
        operator!(right [] [] $row, Row, $operator, $method, |$a, $b| $result);
        operator!(right [] [] $row, &Row, $operator, $method, |$a, $b| $result);
        operator!(right [] [] $row, &Tensor, $operator, $method, |$a, $b| $result);
        operator!(right [T: Element] [] $row, &RaggedTensor<T>, $operator, $method, |$a, $b| $result);
        operator!(right [N: Number] [RowOperand<'static>: From<N>] $row, N, $operator, $method, |$a, $b| $result);
        operator!(left [] &Tensor, $row, $operator, $method, |$a, $b| $result);
        operator!(left [T: Element] &RaggedTensor<T>, $row, $operator, $method, |$a, $b| $result);
        operator!(left [] i32, $row, $operator, $method, |$a, $b| $result);
        operator!(left [] f64, $row, $operator, $method, |$a, $b| $result);
    };
    (
        right [$($generics:tt)*] [$($bound:tt)*] $row:ty, $other:ty, $operator:ident, $method:ident,
        |$a:ident, $b:ident| $result:expr
    ) => {
        impl<$($generics)*> $operator<$other> for $row
        where
            $($bound)*
        {
            type Output = Result<Row>;
            #[track_caller]
            fn $method(self, other: $other) -> Self::Output {
                let op = operation(stringify!($method), self.dtype());
                self.meet(op, &RowOperand::from(other), |$a, $b| $result)
            }
        }
    };
    (
        left [$($generics:tt)*] $other:ty, $row:ty, $operator:ident, $method:ident, |$a:ident, $b:ident| $result:expr
    ) => {
        impl<$($generics)*> $operator<$row> for $other {
            type Output = Result<Row>;
            #[track_caller]
            fn $method(self, row: $row) -> Self::Output {
                let op = operation(stringify!($method), row.dtype());
                row.meet(op, &RowOperand::from(self), |$b, $a| $result)
            }
        }
    };
}

operator!(Add, add, |a, b| a.add(b));
operator!(Sub, sub, |a, b| a.subtract(b));
operator!(Mul, mul, |a, b| a.multiply(b));
operator!(Div, div, |a, b| a.truediv(b));
operator!(Rem, rem, |a, b| a.floormod(b));
operator!(BitAnd, bitand, |a, b| if is_bool(&a) { a.logical_and(b) } else { a.bitwise_and(b) });
operator!(BitOr, bitor, |a, b| if is_bool(&a) { a.logical_or(b) } else { a.bitwise_or(b) });
operator!(BitXor, bitxor, |a, b| if is_bool(&a) { a.logical_xor(b) } else { a.bitwise_xor(b) });
operator!(Shl, shl, |a, b| a.left_shift(b));
operator!(Shr, shr, |a, b| a.right_shift(b));

/// Implements one prefix operator.
macro_rules! prefix {
    ($operator:ident, $method:ident, $result:expr) => {
        impl $operator for Row {
            type Output = Result<Row>;
            #[track_caller]
            fn $method(self) -> Self::Output {
                $result(&self)
            }
        }
        impl $operator for &Row {
            type Output = Result<Row>;
            #[track_caller]
            fn $method(self) -> Self::Output {
                $result(self)
            }
        }
    };
}

prefix!(Neg, neg, Row::negative);
prefix!(Not, not, inverted);

/// The negation of bools, or the complement of integers.
#[track_caller]
fn inverted(row: &Row) -> Result<Row> {
    if row.dtype() == DType::Bool { row.logical_not() } else { row.bitwise_invert() }
}
