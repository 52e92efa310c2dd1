//! The backends, which evaluate graphs.

pub(crate) mod cpu;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
pub(crate) mod host_memory;
pub(crate) mod upload;
