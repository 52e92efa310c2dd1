//! What arguments convert from, as traits of their own: the compiler's message says what to write instead.

use half::{bf16, f16};

use super::gather::GatherIndices;
use super::reduce::ReduceAxes;
use crate::element::Element;
use crate::graph::scalar::Scalar;
use crate::record::axes::Axes;
use crate::record::operand::{Operand, OperandOf};
use crate::tensor::Tensor;

/// What [`Operand`] converts from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand",
    label = "expected a number or a reference to a tensor",
    note = "operations take tensors by reference: write `&x` for a tensor `x`",
    note = "operations return a `Result`: write `&x.reduce_sum(1)?`, with `?` and `&`, to use one as an operand"
)]
pub trait IntoOperand<'a>: Into<Operand<'a>> {}
// One implementation for all that converts would give the compiler's message of the conversion, which teaches less.
impl<'a> IntoOperand<'a> for Operand<'a> {}
impl<'a, X: AsRef<Tensor>> IntoOperand<'a> for &'a X {}
impl IntoOperand<'_> for Scalar {}
impl IntoOperand<'_> for &str {}
macro_rules! numbers {
    ($($number:ty)+) => {$(
        impl IntoOperand<'_> for $number {}
    )+};
}
numbers!(bool u8 i8 u16 i16 i32 u32 i64 u64 f16 bf16 f32 f64);

/// What [`OperandOf`] converts from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand for elements of type `{T}`",
    label = "expected a number or a reference to a tensor of `{T}`",
    note = "operations take tensors by reference: write `&x` for a tensor `x`",
    note = "operations return a `Result`: write `&x.reduce_sum(1)?`, with `?` and `&`, to use one as an operand",
    note = "no element type is converted in silence: cast a tensor of another one, as in `&x.cast::<{T}>()?`",
    note = "a type that holds a tensor, `AsRef<Tensor>`, is passed as `x.as_ref()`"
)]
pub trait IntoOperandOf<'a, T: Element>: Into<OperandOf<'a, T>> {}
impl<'a, T: Element, X: Into<OperandOf<'a, T>>> IntoOperandOf<'a, T> for X {}

/// What [`Axes`] converts from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no axes",
    label = "expected an axis, a list of axes, or `..`",
    note = "axes are an integer, a list of integers, or `..` for all axes: `x.reverse(..)`"
)]
pub trait IntoAxes: Into<Axes> {}
impl<X: Into<Axes>> IntoAxes for X {}

/// What [`ReduceAxes`] converts from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no axes",
    label = "expected an axis, a list of axes, or `..`",
    note = "axes are an integer, a list of integers, or `..` for all axes: `x.reduce_sum(..)`",
    note = "`keep(1)` keeps the axis, with size 1"
)]
pub trait IntoReduceAxes: Into<ReduceAxes> {}
impl<X: Into<ReduceAxes>> IntoReduceAxes for X {}

/// What [`GatherIndices`] converts from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tensor of indices",
    label = "expected a reference to a tensor of indices",
    note = "a list becomes a tensor by `RaggedTensor::from_nested([0, 2], &x.device())?`; then pass it by reference",
    note = "constant indices need no tensor: `x.slice(s![0..2])`"
)]
pub trait IntoGatherIndices<'a>: Into<GatherIndices<'a>> {}
impl<'a, X: Into<GatherIndices<'a>>> IntoGatherIndices<'a> for X {}
