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
mod binary;
mod broadcast_like;
mod cast;
mod elementwise;
mod map_values;
mod operand;
mod parametric;
mod string_pairs;
mod unary;

pub use operand::{Operand, OperandOf};
mod axes;
mod by_key;
mod concat;
mod levels;
mod reduce;
mod reverse;

pub use axes::Axes;
pub use reduce::Averaged;
