//! Gradients: derivatives of a number by the tensors that it is computed from.
//!
//! Reverse mode, by primitive: [`reverse`] walks the recording from the results to the inputs, and records the
//! cotangent of each array with ordinary nodes. Forward and backward pass are therefore one program, which is fused,
//! planned and run like any other, with equal bits on all backends; and a gradient is differentiated like any other value.
//!
//! The matches over primitives ([`primitive`]), expressions ([`expr`], [`scalar`]) and accesses ([`access`]) are
//! exhaustive: a primitive without a rule does not compile.
//!
//! Inputs are fresh leaves ([`Node::leaf`](crate::graph::node::Node::leaf)). What is computed from one keeps its recipe
//! when it is read, so that values that were read are differentiated as if they were not.

mod access;
mod call;
mod cotangents;
mod expr;
mod factors;
mod given;
mod inverse;
mod keyed_rows;
mod lines;
mod own_columns;
mod place;
mod preimage;
mod primitive;
mod product;
mod recurrence;
mod repetition;
mod reverse;
mod rows;
mod rows_gradient;
mod rows_ref;
mod scalar;
mod scan;
mod sized;
mod sized_rows;
mod strided;
#[cfg(test)]
mod tests;
mod unique_rows;
mod value_and_grad;
mod zero_columns;

pub use rows_gradient::{Gradient, RowsGradient};
pub(crate) use value_and_grad::{dense, of_function};
pub use value_and_grad::{grad, sparse_value_and_grad, value_and_grad};
