//! What each operation means, once, for all backends.
//!
//! An operation checks its arguments on the host, works out the shape of its result, and records a few nodes; it never
//! computes. One file a family.

mod embedding;
mod gather;
mod index;
mod rows;
mod slice;
mod span;

pub use embedding::Combiner;
pub use index::{Ellipsis, Index, NewAxis};
