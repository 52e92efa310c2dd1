//! Counters of a device's work.

use std::ops::Sub;

/// Counters of a device's work since it was opened.
///
/// The CPU backend counts dispatches, bytes moved, plans, pool hits and misses, and the bytes of buffers and memory. It
/// submits nothing, waits for nothing and copies nothing between memories: the other counters stay 0.
///
/// Subtract two snapshots for the work between them: `device.stats() - before`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Dispatches of kernels; on the CPU backend, steps.
    pub dispatches: u64,
    /// Bytes that these kernels read plus wrote, counted as by [`Explain::bytes`](crate::Explain::bytes): at capacities
    /// on a GPU, at exact sizes on the CPU backend.
    pub bytes_moved: u64,
    /// Command buffers submitted, including those that only flush uploads.
    pub submissions: u64,
    /// Number of times that a caller blocked until the device had finished.
    pub waits: u64,
    /// Number of times that a submission was delayed because too many were in flight.
    pub throttles: u64,
    /// Bytes of data copied to the device, excluding parameters of kernels.
    pub bytes_uploaded: u64,
    /// Bytes of data copied from the device.
    pub bytes_read_back: u64,
    /// Plans compiled: evaluations without a cached plan. A cached plan serves all evaluations of the same operations
    /// over inputs of the same dtypes, with any sizes, row lengths and values: sizes are parameters of a plan.
    /// Numbers that are passed to operations, such as a learning rate or a seed, are parameters too. Inputs with sizes of
    /// 0 or 1, which are empty or broadcast, are another program. On a GPU, a program over arrays larger than half a
    /// binding is planned for their exact sizes.
    pub plans: u64,
    /// Compute pipelines compiled.
    pub pipelines_compiled: u64,
    /// Bind groups created: misses of their cache.
    pub bind_groups_created: u64,
    /// Buffers taken from the pool.
    pub pool_hits: u64,
    /// Buffers allocated.
    pub pool_misses: u64,
    /// Operations that ran on the host because no kernel computes them:
    /// [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    pub host_steps: u64,
    /// Bytes of tensors' buffers in use now, as requested. A gauge, not a counter: a difference keeps the later value.
    pub buffer_bytes: u64,
    /// Peak of [`Self::buffer_bytes`]; also a gauge.
    pub buffer_bytes_peak: u64,
    /// Bytes of memory held for arrays now, in use or pooled for reuse, as requested from the driver or, on the CPU
    /// backend, from the system. Counts towards the budget; also a gauge.
    pub memory_bytes: u64,
    /// The budget, if any: [`DeviceOptions::max_memory`](crate::DeviceOptions::max_memory) or
    /// [`CpuOptions::max_memory`](crate::CpuOptions::max_memory).
    pub memory_budget: Option<u64>,
}

impl Sub for Stats {
    type Output = Self;

    /// The counters' increase since `earlier`; gauges are those of `self`.
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
