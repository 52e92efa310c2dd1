//! Where a graph is computed: the CPU, which is the reference, and the GPU, which gives the same bits.
#![allow(dead_code)]

pub mod cpu;
pub mod gpu;
