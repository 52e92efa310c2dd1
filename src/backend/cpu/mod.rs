//! The CPU kernels, one file a primitive. Each is the twin of the shader of the same name and defines what that computes.

pub mod row_reduce;
pub mod scan;
pub mod sort;
