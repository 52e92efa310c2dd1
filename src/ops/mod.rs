//! What each operation means, once, for all backends.
//!
//! An operation checks its arguments on the host, works out the shape of its result, and records a few nodes; it never
//! computes. One file a family.

mod embedding;
mod gather;
mod hash;
mod rows;
mod strings;

pub use strings::Pieces;
mod index;
mod slice;
mod span;

pub use embedding::Combiner;
pub use index::{Ellipsis, Index, NewAxis};
mod accessors;
mod axes;
mod binary;
mod broadcast_like;
mod by_key;
mod cast;
mod concat;
mod elementwise;
mod from_tensor;
mod levels;
mod map_values;
mod ndarray;
mod operand;
mod operators;
mod parametric;
mod reduce;
mod reverse;
mod segment_ids;
mod sparse_ragged;
mod string_pairs;
mod to_tensor;
mod unary;

pub use axes::Axes;
pub use operand::{Operand, OperandOf};
pub use reduce::Averaged;
pub use to_tensor::Padding;
