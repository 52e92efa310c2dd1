//! What each operation means, once, for all backends.
//!
//! An operation checks its arguments on the host, works out the shape of its result, and records a few nodes; it never
//! computes. One file a family.

mod accessors;
mod axes;
mod binary;
mod broadcast_to;
mod by_key;
mod cast;
mod concat;
mod dropout;
mod dynamic_partition;
mod elementwise;
mod embedding;
mod expand_dims;
mod fill;
mod fill_empty_rows;
mod from_tensor;
mod gather;
mod hash;
mod index;
mod levels;
mod map_rows;
mod map_values;
mod mask;
mod matmul;
mod matrices;
mod merge_dims;
mod ndarray;
mod one_hot;
mod operand;
mod operators;
mod parametric;
mod range;
mod reduce;
mod reshape;
mod reverse;
mod row;
mod rows;
mod segment_ids;
mod select;
mod slice;
mod softmax;
mod span;
mod sparse_concat;
mod sparse_dense;
mod sparse_ragged;
mod split;
mod squeeze;
mod string_pairs;
mod strings;
mod tile;
mod to_tensor;
mod unary;

pub use axes::Axes;
pub use embedding::Combiner;
pub use index::{Ellipsis, Index, NewAxis};
pub use operand::{Operand, OperandOf};
pub use reduce::Averaged;
pub use reshape::NewShape;
pub use row::{Row, RowOperand};
pub use split::Parts;
pub use strings::Pieces;
pub use to_tensor::Padding;
