//! What each operation means, once, for all backends.
//!
//! An operation checks its arguments on the host, works out the shape of its result, and records a few nodes; it never
//! computes. One file a family.

mod accessors;
mod axes;
mod binary;
mod broadcast_like;
mod by_key;
mod cast;
mod concat;
mod elementwise;
mod embedding;
mod embedding_sparse;
mod from_tensor;
mod gather;
mod hash;
mod index;
mod levels;
mod map_values;
mod ndarray;
mod next_after;
mod norm;
mod operand;
mod operators;
mod parametric;
mod range;
mod reduce;
mod reverse;
mod rows;
mod segment_ids;
mod slice;
mod span;
mod sparse_ragged;
mod string_pairs;
mod strings;
mod to_tensor;
mod unary;

pub use axes::Axes;
pub use embedding_sparse::Combiner;
pub use index::{Ellipsis, Index, NewAxis};
pub use operand::{Operand, OperandOf};
pub use reduce::Averaged;
pub use strings::Pieces;
pub use to_tensor::Padding;
