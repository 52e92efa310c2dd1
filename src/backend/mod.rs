//! Who computes a graph.

pub(crate) mod cpu;
pub(crate) mod gpu;
