//! Counters of what a device did.

use std::ops::Sub;

/// What a device has done since it was opened.
///
/// The difference of two snapshots says what happened between them: `device.stats() - before`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Kernels that were started.
    pub dispatches: u64,
    /// Bytes that these kernels read plus wrote, as [`Explain::bytes`](crate::Explain::bytes) counts them: at
    /// capacities. 0 on the CPU backend, whose loops nobody counts.
    pub bytes_moved: u64,
    /// Command buffers given to the device, those that only flush uploads included.
    pub submissions: u64,
    /// Times that a caller was blocked until the device had finished something it wanted to read.
    pub waits: u64,
    /// Times that a submission was held back because too many were under way.
    pub throttles: u64,
    /// Bytes of data copied to the device (parameters of kernels not included).
    pub bytes_uploaded: u64,
    /// Bytes of data copied from the device.
    pub bytes_read_back: u64,
    /// Plans that were made: evaluations for which none was at hand. A plan is at hand where the same operations were
    /// evaluated before over inputs of the same dtypes, whatever their sizes, row lengths and values: sizes are
    /// parameters of a plan. Other numbers in operations make another program, and so do sizes of 0 and 1, which
    /// broadcast or leave nothing to compute. On a GPU, a program over arrays larger than half a binding is planned for
    /// their exact sizes.
    pub plans: u64,
    /// Compute pipelines that were compiled.
    pub pipelines_compiled: u64,
    /// Bind groups that were made because none in the cache fitted.
    pub bind_groups_created: u64,
    /// Buffers that were taken from the pool.
    pub pool_hits: u64,
    /// Buffers that had to be allocated.
    pub pool_misses: u64,
    /// Steps that ran on the host because the device could not do them. None does today: what a device cannot do is
    /// refused.
    pub host_steps: u64,
    /// Bytes of device buffers that are in use now, as asked for. A level, not a count: a difference keeps the later
    /// one.
    pub buffer_bytes: u64,
    /// The most that [`Self::buffer_bytes`] has been. A level too.
    pub buffer_bytes_peak: u64,
    /// Bytes of device memory that arrays take now, in use or kept for reuse, as the driver is asked for them: what
    /// counts towards the budget. A level too.
    pub memory_bytes: u64,
    /// The budget, if there is one: [`DeviceOptions::max_memory`](crate::DeviceOptions::max_memory).
    pub memory_budget: Option<u64>,
}

impl Sub for Stats {
    type Output = Self;

    /// What was added to the counters since `earlier`; the levels are those of `self`.
    fn sub(self, earlier: Self) -> Self {
        Self {
            dispatches: self.dispatches.saturating_sub(earlier.dispatches),
            bytes_moved: self.bytes_moved.saturating_sub(earlier.bytes_moved),
            submissions: self.submissions.saturating_sub(earlier.submissions),
            waits: self.waits.saturating_sub(earlier.waits),
            throttles: self.throttles.saturating_sub(earlier.throttles),
            bytes_uploaded: self.bytes_uploaded.saturating_sub(earlier.bytes_uploaded),
            bytes_read_back: self.bytes_read_back.saturating_sub(earlier.bytes_read_back),
            plans: self.plans.saturating_sub(earlier.plans),
            pipelines_compiled: self.pipelines_compiled.saturating_sub(earlier.pipelines_compiled),
            bind_groups_created: self.bind_groups_created.saturating_sub(earlier.bind_groups_created),
            pool_hits: self.pool_hits.saturating_sub(earlier.pool_hits),
            pool_misses: self.pool_misses.saturating_sub(earlier.pool_misses),
            host_steps: self.host_steps.saturating_sub(earlier.host_steps),
            buffer_bytes: self.buffer_bytes,
            buffer_bytes_peak: self.buffer_bytes_peak,
            memory_bytes: self.memory_bytes,
            memory_budget: self.memory_budget,
        }
    }
}
