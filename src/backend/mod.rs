//! Who computes a graph.

pub(crate) mod cpu;
