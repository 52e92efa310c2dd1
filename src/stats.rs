//! Counters of what a device did.

/// What a device did since it was opened: every dispatch, wait and byte. Subtract two snapshots for what lies between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Kernels started (on the CPU backend: passes over an array).
    pub dispatches: u64,
    /// Command buffers handed to the GPU.
    pub submissions: u64,
    /// Times the host waited for the GPU.
    pub waits: u64,
    /// Bytes copied to the device.
    pub bytes_uploaded: u64,
    /// Bytes copied back to the host.
    pub bytes_read_back: u64,
    /// Pipelines compiled.
    pub pipelines_compiled: u64,
    /// Buffers served from the pool.
    pub pool_hits: u64,
    /// Buffers newly allocated.
    pub pool_misses: u64,
    /// Most bytes of device memory held at one time.
    pub peak_bytes: u64,
}
