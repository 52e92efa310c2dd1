//! Operations on rows against naive loops over nested lists.

mod concat;
mod nest;
mod reduce;
mod sort;
