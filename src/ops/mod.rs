//! What each operation means, once, for all backends.
//!
//! An operation checks its arguments on the host, works out the shape of its result, and records a few nodes; it never
//! computes. One file a family.

mod accessors;
mod from_tensor;
mod ndarray;
mod rows;
mod segment_ids;
mod sparse_ragged;
mod to_tensor;

pub use to_tensor::Padding;
