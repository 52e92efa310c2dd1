//! Matrix products, compared with the definition, in every tensor layout; on every device, within the minimum limits of
//! WebGPU, fused and not.

#[path = "../common/mod.rs"]
mod common;

mod attention;
mod errors;
mod independence;
mod kernels;
mod layouts;
mod long_attention;
mod long_rows;
mod matrix;
mod ragged_dot;
mod terms;
