//! Sharing of wgpu devices, queues and buffers between the program and the engine, in both directions.

#[path = "../common/mod.rs"]
mod common;

mod buffers;
mod callbacks;
mod devices;
mod kernels;
mod pool;
mod program;
