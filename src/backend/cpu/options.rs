//! Options of a CPU device.

/// Options of a device that computes on this machine's CPU: see [`Device::cpu_with`](crate::Device::cpu_with).
///
/// # Example
/// ```
/// let options = ragged::CpuOptions::default().max_memory(64 << 20);
/// assert_eq!(options.max_memory, Some(64 << 20));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CpuOptions {
    /// Budget: maximum bytes of memory for arrays, including memory kept for reuse and intermediate results, and for the
    /// results of reads while they are assembled. An upload, a computation or a read that would exceed the budget fails
    /// with [`Error::Limit`](crate::Error::Limit), before it allocates. Unused memory is returned to the system first,
    /// oldest first. Sizes are those requested from the system, [`Stats::memory_bytes`](crate::Stats::memory_bytes),
    /// which are up to a quarter larger than the arrays.
    ///
    /// Excludes values that the program holds: the arguments of uploads, and results of reads once they are returned.
    /// Excludes plans, and scratch memory of a few MiB per thread. By default the memory that the system reports as
    /// available is the limit.
    pub max_memory: Option<u64>,
}

/// Limits.
impl CpuOptions {
    /// Sets [`Self::max_memory`](#structfield.max_memory).
    #[must_use]
    pub fn max_memory(mut self, max_memory: u64) -> Self {
        self.max_memory = Some(max_memory);
        self
    }
}
