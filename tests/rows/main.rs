//! Operations on rows against naive loops over nested lists.

#[path = "../common/mod.rs"]
mod common;

mod concat;
mod nest;
mod reduce;
mod scan;
