//! The live counters of a device.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::stats::Stats;

/// The live counters behind [`Stats`]. They synchronize nothing, so relaxed ordering suffices.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(super) dispatches: AtomicU64,
    pub(super) bytes_moved: AtomicU64,
    pub(super) submissions: AtomicU64,
    pub(super) waits: AtomicU64,
    pub(super) throttles: AtomicU64,
    pub(super) bytes_uploaded: AtomicU64,
    pub(super) bytes_read_back: AtomicU64,
    pub(super) pipelines_compiled: AtomicU64,
    pub(super) bind_groups_created: AtomicU64,
    pub(super) pool_hits: AtomicU64,
    pub(super) pool_misses: AtomicU64,
    pub(super) host_steps: AtomicU64,
    pub(super) buffer_bytes: AtomicU64,
    pub(super) buffer_bytes_peak: AtomicU64,
}

impl Counters {
    pub(super) fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Relaxed);
    }

    /// Counts a buffer that is acquired.
    pub(super) fn buffer_taken(&self, bytes: u64) {
        let now = self.buffer_bytes.fetch_add(bytes, Relaxed).saturating_add(bytes);
        self.buffer_bytes_peak.fetch_max(now, Relaxed);
    }

    /// Counts a buffer whose last handle was dropped.
    pub(super) fn buffer_given_back(&self, bytes: u64) {
        self.buffer_bytes.fetch_sub(bytes, Relaxed);
    }

    /// Counts a host step.
    pub(crate) fn host_step(&self) {
        Self::add(&self.host_steps, 1);
    }

    /// Counts the bytes that a submission's kernels read plus write.
    pub(crate) fn moved(&self, bytes: u64) {
        Self::add(&self.bytes_moved, bytes);
    }

    pub(super) fn snapshot(&self) -> Stats {
        Stats {
            dispatches: self.dispatches.load(Relaxed),
            bytes_moved: self.bytes_moved.load(Relaxed),
            submissions: self.submissions.load(Relaxed),
            waits: self.waits.load(Relaxed),
            throttles: self.throttles.load(Relaxed),
            bytes_uploaded: self.bytes_uploaded.load(Relaxed),
            bytes_read_back: self.bytes_read_back.load(Relaxed),
            pipelines_compiled: self.pipelines_compiled.load(Relaxed),
            bind_groups_created: self.bind_groups_created.load(Relaxed),
            pool_hits: self.pool_hits.load(Relaxed),
            pool_misses: self.pool_misses.load(Relaxed),
            host_steps: self.host_steps.load(Relaxed),
            buffer_bytes: self.buffer_bytes.load(Relaxed),
            buffer_bytes_peak: self.buffer_bytes_peak.load(Relaxed),
            // Set by the backend.
            plans: 0,
            // Set by `Runtime::stats` from the pool.
            memory_bytes: 0,
            memory_budget: None,
        }
    }
}
