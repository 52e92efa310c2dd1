//! Operand of an operation: a tensor or a constant.

use crate::dtype::DType;
use crate::element::{Element, Number, Str};
use crate::graph::scalar::Scalar;
use crate::tensor::{Fill, RaggedTensor, Tensor};

/// A tensor, or one value that applies to every element. A number is a parameter of the kernel and takes no memory.
#[derive(Debug, Clone)]
pub enum Operand<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// One number or byte string.
    Value(Fill),
}

impl<'a> Operand<'a> {
    /// The tensor, if it is one.
    pub(crate) fn tensor(&self) -> Option<&'a Tensor> {
        match self {
            Self::Tensor(t) => Some(t),
            Self::Value(_) => None,
        }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        match self {
            Self::Tensor(t) => t.dtype(),
            Self::Value(v) => v.dtype(),
        }
    }
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    fn from(t: &'a Tensor) -> Self {
        Self::Tensor(t)
    }
}
impl<'a, T: Element> From<&'a RaggedTensor<T>> for Operand<'a> {
    fn from(t: &'a RaggedTensor<T>) -> Self {
        Self::Tensor(t.erased())
    }
}
impl<T: Number> From<T> for Operand<'_> {
    fn from(v: T) -> Self {
        Self::Value(Fill::Number(v.into()))
    }
}
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

/// An [`Operand`] whose elements are of type `T`.
#[derive(Debug, Clone)]
pub struct OperandOf<'a, T: Element> {
    pub(crate) erased: Operand<'a>,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<'a, T: Element> OperandOf<'a, T> {
    fn new(erased: Operand<'a>) -> Self {
        Self { erased, element: std::marker::PhantomData }
    }
}
impl<'a, T: Element> From<&'a RaggedTensor<T>> for OperandOf<'a, T> {
    fn from(t: &'a RaggedTensor<T>) -> Self {
        Self::new(t.into())
    }
}
impl<T: Number> From<T> for OperandOf<'_, T> {
    fn from(v: T) -> Self {
        Self::new(Operand::from(v))
    }
}
impl From<&str> for OperandOf<'_, Str> {
    fn from(v: &str) -> Self {
        Self::new(v.into())
    }
}
