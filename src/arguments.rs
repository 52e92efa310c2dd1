//! What arguments may be: traits, and types without options, that signatures name and that a program seldom does.
//!
//! A program passes numbers, ranges, lists and tensors, which convert to them. The documentation of a method links to the
//! one that its argument takes. A type that has options, or that is a choice between some, is in [`opt`](crate::opt).

pub use crate::ops::{
    Axes, CrossInput, GroupKeys, Index, IntoAxes, IntoGatherIndices, IntoOperand, IntoOperandOf, IntoReduceAxes,
    LookupRows, MaxLength, NewShape, Operand, OperandOf, Padding, Parts, Quantiles, RowOperand, RowResults,
    SearchValues, Separators, SliceItems, SortBy,
};
pub use crate::structured::RecordKeys;
pub use crate::tensor::{Fill, FromNested, Integers, IntoNested, IntoValues, ReadTogether, TensorSet};
