//! What arguments may be: traits and types that signatures name and that a program seldom does.
//!
//! They have a module of their own since a program passes numbers, ranges, lists and tensors, which convert to them; the
//! documentation of a method links to the one that its argument takes.

pub use crate::ops::{
    Axes, CrossInput, Index, IntoAxes, IntoGatherIndices, IntoOperand, IntoOperandOf, IntoReduceAxes, NewShape,
    Operand, OperandOf, Parts, Quantiles, RowFactor, RowOperand, RowResults, RowSought, SliceItems,
};
pub use crate::structured::RecordKeys;
pub use crate::tensor::{FromNested, Integers, IntoNested, IntoValues, ReadTogether, TensorSet};
