//! The GPU backend: WGSL over wgpu.
pub(crate) mod runtime;
