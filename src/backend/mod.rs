//! What runs a graph: one module a backend.
pub(crate) mod gpu;
