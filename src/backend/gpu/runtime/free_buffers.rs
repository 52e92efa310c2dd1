//! Unused buffers by size class, and accounting of allocated, used and unused bytes.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Purpose of a buffer. A buffer is reused for the same purpose only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// Read and written by kernels and copies.
    Storage,
    /// Destination of copies, mapped by the host.
    ReadBack,
}

impl Use {
    pub(super) fn flags(self) -> wgpu::BufferUsages {
        use wgpu::BufferUsages as U;
        match self {
            Self::Storage => U::STORAGE | U::COPY_SRC | U::COPY_DST,
            Self::ReadBack => U::MAP_READ | U::COPY_DST,
        }
    }
}

/// One wgpu buffer of the pool. Its owner returns it with `Pool::release` or `Pool::discard`. If it is dropped instead,
/// the memory is freed with the last cached bind group of the buffer.
#[derive(Debug)]
pub(super) struct Allocation {
    pub(super) buffer: wgpu::Buffer,
    /// Unique in this process.
    pub(super) id: u64,
    /// The size of the wgpu buffer: a multiple of 16.
    pub(super) capacity: u64,
    pub(super) usage: Use,
    /// Whether the program has had the wgpu buffer, and may have destroyed it.
    pub(super) is_exposed: bool,
}

/// An id that is unique in this process.
pub(super) fn fresh_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Relaxed)
}

/// Smallest allocation, and granularity of sizes. wgpu has no bindings of zero bytes, and loads of 16 bytes may read
/// the tail of an array.
const GRANULARITY: u64 = 16;

/// Size above which size classes are finer, to limit the waste.
const LARGE: u64 = 1 << 20;

/// Rounds a size up to its class: two bits below the leading one, so that at most a quarter is wasted; above [`LARGE`]
/// four bits, and at most a sixteenth. `None` above 2^63.
pub(super) fn size_class(bytes: u64) -> Option<u64> {
    let bytes = bytes.max(GRANULARITY);
    let bits = if bytes > LARGE { 4 } else { 2 };
    let step = 1u64 << bytes.ilog2().saturating_sub(bits);
    bytes.checked_next_multiple_of(step)?.checked_next_multiple_of(GRANULARITY)
}

/// Capacity of a buffer for `bytes` bytes: its size class, capped at `most`.
pub(super) fn capacity_for(bytes: u64, most: u64) -> u64 {
    let most = most & !(GRANULARITY - 1);
    size_class(bytes).map_or(most, |class| class.min(most))
}

/// The unused buffers of a pool, and the bytes in use.
#[derive(Debug, Default)]
pub(super) struct FreeBuffers {
    /// Unused allocations with the time of their release, oldest first.
    pub(super) allocations: BTreeMap<(Use, u64), VecDeque<(u64, Allocation)>>,
    clock: u64,
    pub(super) pooled: u64,
    pub(super) in_use: u64,
    pub(super) in_use_peak: u64,
    /// Bytes of storage allocated from the driver, and the unused ones among them.
    pub(super) held: u64,
    pub(super) idle: u64,
    /// Buffers that the program passed in, with the number of handles. Pooled buffers among them are not reused
    /// meanwhile.
    pub(super) adopted: HashMap<wgpu::Buffer, usize>,
}

impl FreeBuffers {
    pub(super) fn take(&mut self, usage: Use, capacity: u64) -> Option<Allocation> {
        // The most recently used allocation is the most likely to be in a cache; the least recently used are evicted.
        let (_, allocation) = self.allocations.get_mut(&(usage, capacity))?.pop_back()?;
        self.count_reused(&allocation);
        Some(allocation)
    }

    /// Takes the unused allocation with this id, if there is one.
    pub(super) fn take_by_id(&mut self, usage: Use, capacity: u64, id: u64) -> Option<Allocation> {
        let allocations = self.allocations.get_mut(&(usage, capacity))?;
        let at = allocations.iter().rposition(|(_, allocation)| allocation.id == id)?;
        let (_, allocation) = allocations.remove(at)?;
        self.count_reused(&allocation);
        Some(allocation)
    }

    pub(super) fn storage_in_use(&self) -> u64 {
        self.held - self.idle
    }

    /// Accounts for an allocation that leaves the unused ones.
    fn count_reused(&mut self, allocation: &Allocation) {
        self.pooled -= allocation.capacity;
        if allocation.usage == Use::Storage {
            self.idle -= allocation.capacity;
        }
    }

    /// Accounts for an allocation that returns to the driver.
    pub(super) fn count_returned(&mut self, usage: Use, capacity: u64) {
        if usage == Use::Storage {
            self.held -= capacity;
        }
    }

    /// Reserves budget for a storage allocation, and accounts for it. Returns the evicted allocations, which the caller
    /// must return to the driver. `None`, without effect, if evicting all unused storage is not enough.
    pub(super) fn reserve(&mut self, capacity: u64, budget: u64) -> Option<Vec<Allocation>> {
        if self.storage_in_use() + capacity > budget {
            return None;
        }
        let mut surplus = Vec::new();
        while self.held + capacity > budget {
            surplus.push(self.evict_oldest(|usage| usage == Use::Storage)?);
        }
        self.held += capacity;
        Some(surplus)
    }

    pub(super) fn count_in_use(&mut self, capacity: u64) {
        self.in_use += capacity;
        self.in_use_peak = self.in_use_peak.max(self.in_use);
    }

    pub(super) fn put(&mut self, allocation: Allocation) {
        self.clock += 1;
        self.pooled += allocation.capacity;
        if allocation.usage == Use::Storage {
            self.idle += allocation.capacity;
        }
        self.allocations
            .entry((allocation.usage, allocation.capacity))
            .or_default()
            .push_back((self.clock, allocation));
    }

    /// Evicts the least recently used allocation among the uses accepted by `of`. The caller must return it to the
    /// driver.
    pub(super) fn evict_oldest(&mut self, of: impl Fn(Use) -> bool) -> Option<Allocation> {
        let oldest = |(_, queue): &(_, &VecDeque<(u64, Allocation)>)| queue.front().map_or(u64::MAX, |(time, _)| *time);
        let candidates = self.allocations.iter().filter(|((usage, _), queue)| of(*usage) && !queue.is_empty());
        let (key, _) = candidates.min_by_key(oldest)?;
        let key = *key;
        let (_, allocation) = self.allocations.get_mut(&key)?.pop_front()?;
        self.count_reused(&allocation);
        self.count_returned(allocation.usage, allocation.capacity);
        Some(allocation)
    }
}

#[cfg(test)]
mod tests {
    use super::size_class;

    #[test]
    fn classes_waste_at_most_a_quarter() {
        assert_eq!(size_class(0), Some(16));
        assert_eq!(size_class(16), Some(16));
        assert_eq!(size_class(17), Some(32));
        assert_eq!(size_class(65), Some(80));
        assert_eq!(size_class(129), Some(160));
        assert_eq!(size_class(1 << 20), Some(1 << 20));
        assert_eq!(size_class((1 << 20) + 1), Some(17 << 16));
        assert_eq!(size_class(u64::MAX), None);
        for bytes in (64..100_000).chain((1 << 32) - 1000..(1 << 32) + 1000) {
            let class = size_class(bytes).expect("small enough");
            assert!(class >= bytes && class.is_multiple_of(16) && class - bytes <= bytes / 4 + 1, "{bytes} -> {class}");
            assert_eq!(size_class(class), Some(class), "a class is its own class");
        }
    }
}
