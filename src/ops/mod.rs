//! What each operation means, once, for all backends.
//!
//! An operation checks its arguments on the host, works out the shape of its result, and records a few nodes; it never
//! computes. One file a family.

mod binary;
mod cast;
mod elementwise;
mod map_values;
mod operand;
mod parametric;
mod rows;
mod string_pairs;
mod unary;

pub use operand::{Operand, OperandOf};
