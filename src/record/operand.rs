//! Operand of an operation: a tensor or a constant.

use std::marker::PhantomData;

use crate::dtype::DType;
use crate::element::{Element, Number, Str};
use crate::error::{Error, Result, caller};
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::tensor::{Fill, RaggedTensor, Tensor};

/// A tensor, or one value that applies to every element. A number takes the dtype of the other operand, rounded to it if
/// that is a float; one that the dtype cannot represent is an error. It is a parameter of the kernel and takes no memory.
///
/// Converts from any number, string, and reference to a type that is `AsRef<Tensor>`. A number of a generic type
/// `N: Number` converts through [`Scalar`]: `x.less(Into::<Scalar>::into(n))`.
///
/// Beside a typed tensor, the operand of a `RaggedTensor<T>` is an [`OperandOf`](crate::arguments::OperandOf), which takes a
/// user's type that holds a tensor as `x.as_ref()`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Operand<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// One number or byte string.
    Value(Fill),
}

/// Dtype.
impl<'a> Operand<'a> {
    /// The tensor, if it is one.
    pub(crate) fn tensor(&self) -> Option<&'a Tensor> {
        match self {
            Self::Tensor(t) => Some(t),
            Self::Value(_) => None,
        }
    }

    /// The recorder of an operation of these operands, on the device of the first tensor.
    ///
    /// # Errors
    /// None of them is a tensor.
    #[track_caller]
    pub(crate) fn recorder<'o>(op: &'static str, operands: impl IntoIterator<Item = &'o Self>) -> Result<Recorder<'a>>
    where
        'a: 'o,
    {
        match operands.into_iter().find_map(Self::tensor) {
            Some(tensor) => Ok(tensor.recorder(op)),
            None => Err(Error::argument(op, "it needs a tensor")),
        }
    }

    /// The operand in this dtype.
    ///
    /// # Errors
    /// A number that the dtype cannot represent; a tensor of another dtype.
    #[track_caller]
    pub(crate) fn of_dtype(self, op: &'static str, dtype: DType) -> Result<Self> {
        match self {
            Self::Value(value) => Ok(Self::Value(value.of_dtype(op, dtype)?)),
            Self::Tensor(t) if t.dtype() == dtype => Ok(self),
            Self::Tensor(t) => Err(Error::DTypes { op, lhs: dtype, rhs: t.dtype(), location: caller() }),
        }
    }

    /// Both operands in one dtype: a number takes the dtype of the tensor beside it.
    ///
    /// # Errors
    /// A number that the dtype cannot represent; different dtypes.
    #[track_caller]
    pub(crate) fn of_one_dtype(op: &'static str, a: Self, b: Self) -> Result<[Self; 2]> {
        let dtypes = (a.dtype(), b.dtype());
        match (a.tensor(), b.tensor()) {
            (None, Some(_)) => Ok([a.of_dtype(op, dtypes.1)?, b]),
            (Some(_), None) => Ok([a, b.of_dtype(op, dtypes.0)?]),
            _ if dtypes.0 == dtypes.1 => Ok([a, b]),
            _ => Err(Error::DTypes { op, lhs: dtypes.0, rhs: dtypes.1, location: caller() }),
        }
    }

    /// The element type.
    ///
    /// ```
    /// use ragged::arguments::Operand;
    /// use ragged::DType;
    /// assert_eq!(Operand::from(0.5f32).dtype(), DType::F32);
    /// assert_eq!(Operand::from("a").dtype(), DType::Str);
    /// ```
    pub fn dtype(&self) -> DType {
        match self {
            Self::Tensor(t) => t.dtype(),
            Self::Value(v) => v.dtype(),
        }
    }
}

/// Tensors, and types of users that hold one.
impl<'a, X: AsRef<Tensor>> From<&'a X> for Operand<'a> {
    fn from(x: &'a X) -> Self {
        Self::Tensor(x.as_ref())
    }
}
/// Implements a conversion for each type of numbers. One for every `T: Number` would exclude those for references.
macro_rules! of_numbers {
    ($operand:ident: $($number:ty)+) => {$(
        impl From<$number> for $operand<'_> {
            fn from(v: $number) -> Self {
                crate::graph::scalar::Scalar::from(v).into()
            }
        }
    )+};
    ($operand:ident) => {
        $crate::record::operand::of_numbers! {
            $operand: bool u8 i8 u16 i16 i32 u32 i64 u64 half::f16 half::bf16 f32 f64
        }
    };
}
pub(crate) use of_numbers;
of_numbers!(Operand);
impl From<Scalar> for Operand<'_> {
    fn from(v: Scalar) -> Self {
        Self::Value(Fill::Number(v))
    }
}
impl From<&str> for Operand<'_> {
    fn from(v: &str) -> Self {
        Self::Value(v.into())
    }
}

/// An [`Operand`] whose elements are of type `T`. A tensor of run-time dtype is checked where it is used.
///
/// A type of the user that holds a tensor, `AsRef<Tensor>`, is passed as `x.as_ref()`: `typed.add(scores.as_ref())`. Beside
/// a [`Tensor`] a reference to it is enough, `tensor.add(&scores)`. Here the compiler would have to exclude that
/// `RaggedTensor<T>` and `Tensor`, which are `AsRef<Tensor>` too, convert in two ways, and Rust's rule of coherence does not
/// allow it to.
///
/// A type of the user that holds a tensor, `AsRef<Tensor>`, is passed as `x.as_ref()`: `typed.add(scores.as_ref())`. Beside
/// a [`Tensor`] a reference to it is enough, `tensor.add(&scores)`. Here the compiler would have to exclude that
/// `RaggedTensor<T>` and `Tensor`, which are `AsRef<Tensor>` too, convert in two ways, and Rust's rule of coherence does not
/// allow it to.
#[derive(Debug, Clone)]
pub struct OperandOf<'a, T: Element> {
    erased: Operand<'a>,
    element: PhantomData<fn() -> T>,
}

impl<'a, T: Element> OperandOf<'a, T> {
    /// The operand in the dtype of `T`.
    ///
    /// # Errors
    /// A number that the dtype cannot represent; a tensor of another dtype.
    #[track_caller]
    pub(crate) fn erased(self, op: &'static str) -> Result<Operand<'a>> {
        self.erased.of_dtype(op, T::DTYPE)
    }
}
impl<'a, T: Element> From<&'a RaggedTensor<T>> for OperandOf<'a, T> {
    fn from(t: &'a RaggedTensor<T>) -> Self {
        Self { erased: t.into(), element: PhantomData }
    }
}
impl<'a, T: Element> From<&'a Tensor> for OperandOf<'a, T> {
    fn from(t: &'a Tensor) -> Self {
        Self { erased: t.into(), element: PhantomData }
    }
}
impl<N: Number, T: Element> From<N> for OperandOf<'_, T> {
    fn from(v: N) -> Self {
        Self { erased: Operand::Value(Fill::Number(v.into())), element: PhantomData }
    }
}
impl From<&str> for OperandOf<'_, Str> {
    fn from(v: &str) -> Self {
        Self { erased: v.into(), element: PhantomData }
    }
}
