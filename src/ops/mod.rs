//! What each operation means, once, for all backends.
//!
//! An operation checks its arguments on the host, works out the shape of its result, and records a few nodes; it never
//! computes. One file a family.

mod axes;
mod by_key;
mod concat;
mod levels;
mod reduce;
mod reverse;
mod rows;

pub use axes::Axes;
pub use reduce::Averaged;
