//! Pool of device buffers, reused by size class.
//!
//! A new buffer costs an allocation and, at its first use, a fill: wgpu zero-fills memory that may be read before it is
//! written, and has no option to disable that. A pooled buffer costs neither.
//!
//! # Why a buffer may be reused immediately
//! An allocation returns to the pool when its last handle is dropped. Commands hold handles, including those that a
//! caller has recorded but not submitted. No unsubmitted command can therefore use an allocation in the pool. Submitted
//! commands run, in queue order, before all submissions and uploads of the next owner.

use std::{
    collections::hash_map::Entry,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use super::{
    free_buffers::{Allocation, FreeBuffers, Use, capacity_for, fresh_id, size_class},
    options::DeviceOptions,
    shared::{Shared, lock},
    stats::Counters,
};
use crate::{Error, Result};

/// The pool of one device.
#[derive(Debug)]
pub(super) struct Pool {
    shared: Arc<Shared>,
    free: Mutex<FreeBuffers>,
    max_pooled: Option<u64>,
    /// Maximum bytes of storage; see [`DeviceOptions::max_memory`].
    budget: Option<u64>,
    /// Buffers destroyed since bind groups were last dropped.
    destroyed: Mutex<Vec<u64>>,
    faults: AtomicU32,
}

/// Total bytes below which, by default, no buffer is returned to the driver.
const MIN_RETAINED: u64 = 1 << 30;

impl Pool {
    pub(super) fn new(shared: Arc<Shared>, options: &DeviceOptions) -> Self {
        Self {
            shared,
            free: Mutex::default(),
            max_pooled: options.max_pooled,
            budget: options.max_memory,
            destroyed: Mutex::default(),
            faults: AtomicU32::new(0),
        }
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Acquires the buffers of these sizes and ids; `None` for a buffer that is in use or has another size class.
    /// `most` maps a size to the largest allowed capacity.
    pub(super) fn acquire_by_id(
        &self,
        wanted: impl Iterator<Item = (u64, u64)>,
        most: impl Fn(u64) -> u64,
    ) -> Vec<Option<Allocation>> {
        let mut free = lock(&self.free);
        let mut again = |(bytes, id)| {
            let capacity = capacity_for(bytes, most(bytes));
            let allocation = free.take_by_id(Use::Storage, capacity, id)?;
            free.count_in_use(capacity);
            Some(allocation)
        };
        let taken: Vec<Option<Allocation>> = wanted.map(&mut again).collect();
        drop(free);
        let allocations: Vec<Option<Allocation>> =
            taken.into_iter().map(|taken| taken.and_then(|allocation| self.if_usable(allocation))).collect();
        Counters::add(&self.shared.counters.pool_hits, allocations.iter().flatten().count() as u64);
        allocations
    }

    /// Acquires a buffer of at least `bytes` bytes with unspecified contents. `most` is the largest allowed capacity,
    /// and caps the size class. Errors name `what` needs it.
    pub(super) fn acquire(&self, what: &str, usage: Use, bytes: u64, most: u64) -> Result<Allocation> {
        self.shared.health.alive()?;
        let capacity = capacity_for(bytes, most);
        if bytes > capacity {
            let whose = "one buffer of this device; use smaller tensors".into();
            return Err(Error::Limit {
                what: what.into(),
                requested: bytes,
                unit: "bytes",
                limit: capacity,
                whose,
                location: crate::error::caller(),
            });
        }
        let counters = &self.shared.counters;
        while let Some(allocation) = self.take(usage, capacity) {
            if let Some(usable) = self.if_usable(allocation) {
                Counters::add(&counters.pool_hits, 1);
                return Ok(usable);
            }
        }
        let surplus = {
            let mut free = lock(&self.free);
            match usage {
                Use::Storage => free.reserve(capacity, self.budget.unwrap_or(u64::MAX)),
                Use::ReadBack => Some(Vec::new()),
            }
        };
        let surplus = surplus.ok_or_else(|| self.over_budget(what, capacity))?;
        surplus.into_iter().for_each(|allocation| self.destroy(allocation));
        Counters::add(&counters.pool_misses, 1);
        let allocation = self.allocate(usage, capacity).or_else(|error| {
            if !matches!(error, wgpu::Error::OutOfMemory { .. }) {
                return Err(error);
            }
            // Unused buffers of other sizes may free enough memory. The device frees them once idle.
            self.trim();
            self.shared.wait_idle();
            self.allocate(usage, capacity)
        });
        let allocation = allocation.map_err(|error| {
            lock(&self.free).count_returned(usage, capacity);
            self.refused(bytes, &error)
        })?;
        // On a lost device wgpu returns invalid buffers without an error.
        self.shared.health.alive()?;
        lock(&self.free).count_in_use(capacity);
        Ok(allocation)
    }

    fn take(&self, usage: Use, capacity: u64) -> Option<Allocation> {
        let mut free = lock(&self.free);
        let allocation = free.take(usage, capacity)?;
        free.count_in_use(capacity);
        Some(allocation)
    }

    /// The allocation, which is counted as in use, unless the program has destroyed its buffer. Only a buffer that the
    /// program has had is checked.
    fn if_usable(&self, allocation: Allocation) -> Option<Allocation> {
        let shared = &self.shared;
        let is_destroyed = allocation.is_exposed
            && shared.scoped(|| shared.bind(&allocation.buffer)).is_err()
            // On a lost device every buffer is invalid.
            && shared.health.alive().is_ok();
        if is_destroyed {
            self.discard(allocation);
            return None;
        }
        Some(allocation)
    }

    /// Fails if buffers of these sizes, in addition to those in use, would exceed the budget. Allocates nothing.
    pub(super) fn check_budget(
        &self,
        what: &str,
        sizes: impl Iterator<Item = u64>,
        most: impl Fn(u64) -> u64,
    ) -> Result<()> {
        let Some(budget) = self.budget else { return Ok(()) };
        let class = |bytes| size_class(bytes).map_or(u64::MAX, |_| capacity_for(bytes, most(bytes)));
        let needed = sizes.fold(0u64, |sum, bytes| sum.saturating_add(class(bytes)));
        let in_use = lock(&self.free).storage_in_use();
        if in_use.saturating_add(needed) <= budget { Ok(()) } else { Err(self.over_budget(what, needed)) }
    }

    fn over_budget(&self, what: &str, needed: u64) -> Error {
        let in_use = lock(&self.free).storage_in_use();
        Error::Limit {
            what: format!("{what} ({needed} bytes besides {in_use} in use)"),
            requested: in_use.saturating_add(needed),
            unit: "bytes of device memory",
            limit: self.budget.unwrap_or(u64::MAX),
            whose:
                "the device's budget; raise DeviceOptions::max_memory, drop tensors, or process fewer rows at a time"
                    .into(),
            location: crate::error::caller(),
        }
    }

    /// Bytes of storage allocated from the driver, and the budget.
    pub(super) fn memory(&self) -> (u64, Option<u64>) {
        (lock(&self.free).held, self.budget)
    }

    fn refused(&self, bytes: u64, error: &wgpu::Error) -> Error {
        if let Err(lost) = self.shared.health.alive() {
            return lost;
        }
        let label = format!("a buffer of {bytes} bytes");
        let message = match error {
            wgpu::Error::OutOfMemory { .. } => {
                let in_use = lock(&self.free).in_use;
                format!(
                    "out of device memory, with {in_use} bytes in use and none pooled; drop tensors, or process fewer rows at \
                     a time"
                )
            }
            other => other.to_string(),
        };
        Error::Gpu { label, message, location: crate::error::caller() }
    }

    fn allocate(&self, usage: Use, capacity: u64) -> Result<Allocation, wgpu::Error> {
        let faulty = self.faults.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        if faulty.is_ok() {
            return Err(wgpu::Error::OutOfMemory { source: "injected fault".into() });
        }
        let descriptor =
            wgpu::BufferDescriptor { label: None, size: capacity, usage: usage.flags(), mapped_at_creation: false };
        let buffer = self.shared.scoped(|| self.shared.device.create_buffer(&descriptor))?;
        Ok(Allocation { buffer, id: fresh_id(), capacity, usage, is_exposed: false })
    }

    /// Returns an allocation to the pool.
    pub(super) fn release(&self, allocation: Allocation) {
        let surplus = {
            let mut free = lock(&self.free);
            free.in_use -= allocation.capacity;
            if free.adopted.contains_key(&allocation.buffer) {
                // The memory is freed with the last handle of the program.
                free.count_returned(allocation.usage, allocation.capacity);
                drop(free);
                return self.forget(allocation.id);
            }
            free.put(allocation);
            let mut surplus = Vec::new();
            while free.pooled > self.allowance(&free) {
                match free.evict_oldest(|_| true) {
                    Some(allocation) => surplus.push(allocation),
                    None => break,
                }
            }
            surplus
        };
        // Outside of the lock: destroying calls into the driver.
        surplus.into_iter().for_each(|allocation| self.destroy(allocation));
    }

    /// Registers a buffer that the program passed in. If it is from this pool, it is not reused until [`Pool::disown`].
    pub(super) fn adopt(&self, buffer: &wgpu::Buffer) {
        *lock(&self.free).adopted.entry(buffer.clone()).or_default() += 1;
    }

    /// Reverts one [`Pool::adopt`].
    pub(super) fn disown(&self, buffer: &wgpu::Buffer) {
        if let Entry::Occupied(mut handles) = lock(&self.free).adopted.entry(buffer.clone()) {
            *handles.get_mut() -= 1;
            if *handles.get() == 0 {
                handles.remove();
            }
        }
    }

    /// Maximum unused bytes. By default, used and unused buffers together may take a quarter more than the largest
    /// working set so far, so that a loop of equal iterations allocates in its first iteration only.
    fn allowance(&self, free: &FreeBuffers) -> u64 {
        self.max_pooled.unwrap_or_else(|| {
            let total = free.in_use_peak.saturating_add(free.in_use_peak / 4).max(MIN_RETAINED);
            total.saturating_sub(free.in_use)
        })
    }

    /// Returns an allocation that is in use to the driver.
    pub(super) fn discard(&self, allocation: Allocation) {
        {
            let mut free = lock(&self.free);
            free.in_use -= allocation.capacity;
            free.count_returned(allocation.usage, allocation.capacity);
        }
        self.destroy(allocation);
    }

    fn destroy(&self, allocation: Allocation) {
        // Dropping the handle would not free the memory, since cached bind groups hold the buffer. wgpu waits for
        // submitted work, and no unsubmitted work uses the buffer.
        allocation.buffer.destroy();
        self.forget(allocation.id);
    }

    /// Schedules the bind groups of a buffer to be dropped at the next submission.
    pub(super) fn forget(&self, id: u64) {
        lock(&self.destroyed).push(id);
    }

    /// Takes the ids of the buffers destroyed since the last call.
    pub(super) fn take_destroyed(&self) -> Vec<u64> {
        std::mem::take(&mut *lock(&self.destroyed))
    }

    /// Returns all unused buffers to the driver.
    pub(super) fn trim(&self) {
        let allocations = {
            let mut free = lock(&self.free);
            free.pooled = 0;
            free.held -= free.idle;
            free.idle = 0;
            std::mem::take(&mut free.allocations)
        };
        allocations.into_values().flatten().for_each(|(_, allocation)| self.destroy(allocation));
    }

    /// Bytes of unused buffers.
    #[cfg(test)]
    pub(super) fn pooled_bytes(&self) -> u64 {
        lock(&self.free).pooled
    }

    /// Makes the next `count` driver allocations fail as if memory were exhausted.
    pub(super) fn inject_faults(&self, count: u32) {
        self.faults.store(count, Relaxed);
    }
}
