//! Memory pool: reuses the memory of dropped arrays.
//!
//! The system maps and zeroes the pages of a large allocation at their first write, which takes longer than most
//! operations take to fill them, and unmaps them when the allocation is freed. Pooled memory stays mapped, with the
//! content of its last owner. The pool records from which word on memory is still zero, so that an array whose capacity
//! far exceeds its elements does not zero the rest each time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::zeroed_memory::ZeroedMemory;
use crate::backend::host_memory::{self, Unwritten};
use crate::error::{Error, Result, caller};
use crate::stats::Stats;

/// Least size of pooled memory, in bytes. The allocator caches smaller sizes.
const MIN_POOLED: u64 = 64 << 10;

/// Size in words above which size classes are finer, to reduce internal fragmentation.
const FINE_CLASSES: usize = 1 << 17;

/// Most unused bytes that the pool keeps.
const MAX_UNUSED: u64 = 1 << 30;

/// Least limit on used plus unused bytes: below it, no memory is returned to the system.
const MIN_LIMIT: u64 = 128 << 20;

/// The memory pool of one backend's arrays.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Mutex<FreeList>,
    hits: AtomicU64,
    misses: AtomicU64,
    /// Most bytes of arrays, unused memory and [`HostReservation`]s.
    budget: Option<u64>,
}

#[derive(Debug, Default)]
struct FreeList {
    /// Unused memory, oldest first.
    unused: VecDeque<FreeMemory>,
    unused_bytes: u64,
    /// Bytes requested by the arrays in use.
    in_use: u64,
    in_use_peak: u64,
    /// Bytes allocated for the arrays in use, including the rounding to size classes.
    held: u64,
    /// Bytes of host memory outside of arrays: see [`Pool::reserve_host`].
    host: u64,
}

/// Memory that no array uses.
#[derive(Debug)]
struct FreeMemory {
    words: ZeroedMemory,
    /// All words from this one on are zero.
    zero_from: usize,
}

impl FreeMemory {
    fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }
}

/// Rounds a size up to its size class, so that arrays of similar sizes reuse each other's memory. Class sizes have two
/// significant bits below the leading one, or four for large sizes.
fn size_class(words: usize) -> usize {
    let bits = if words > FINE_CLASSES { 4 } else { 2 };
    let step = 1 << words.max(8).ilog2().saturating_sub(bits);
    words.checked_next_multiple_of(step).unwrap_or(words)
}

impl FreeList {
    fn add_used(&mut self, requested_bytes: u64) {
        self.in_use += requested_bytes;
        self.in_use_peak = self.in_use_peak.max(self.in_use);
    }

    /// Takes the smallest unused memory of at least `words` and at most a quarter more. Of equal sizes the newest is
    /// taken, which is likeliest to be cached.
    fn take(&mut self, words: usize) -> Option<FreeMemory> {
        let fits = |unused: &FreeMemory| (words..=words + words / 4).contains(&unused.words.len());
        let found = self.unused.iter().enumerate().rev().filter(|(_, unused)| fits(unused));
        let (at, _) = found.min_by_key(|(_, unused)| unused.words.len())?;
        let found = self.unused.remove(at)?;
        self.unused_bytes -= found.bytes();
        Some(found)
    }

    /// Most unused bytes to keep now. Used plus unused memory may exceed the peak of requested bytes by an eighth, so
    /// that a loop of equal iterations allocates little after the first one.
    fn unused_limit(&self) -> u64 {
        let total = (self.in_use_peak + self.in_use_peak / 8).max(MIN_LIMIT);
        total.saturating_sub(self.held).min(MAX_UNUSED)
    }

    /// Removes unused memory in excess of [`FreeList::unused_limit`], oldest first.
    fn evict(&mut self) -> Vec<FreeMemory> {
        self.evict_to(self.unused_limit())
    }

    /// Removes unused memory, oldest first, until at most `most` bytes are left.
    fn evict_to(&mut self, most: u64) -> Vec<FreeMemory> {
        let mut evicted = Vec::new();
        while self.unused_bytes > most
            && let Some(oldest) = self.unused.pop_front()
        {
            self.unused_bytes -= oldest.bytes();
            evicted.push(oldest);
        }
        evicted
    }
}

impl Pool {
    /// A pool whose memory, with that of reads, has at most `budget` bytes.
    pub(super) fn new(budget: Option<u64>) -> Self {
        Self { budget, ..Self::default() }
    }

    fn lock(&self) -> MutexGuard<'_, FreeList> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates at least `words` words with arbitrary content, for the operation `op`.
    ///
    /// # Errors
    /// The budget or the available memory does not suffice.
    pub(super) fn take(self: &Arc<Self>, op: &str, words: usize) -> Result<Memory> {
        let requested_bytes = words as u64 * 8;
        let is_small = requested_bytes < MIN_POOLED;
        let class = if is_small { words } else { size_class(words) };
        if !is_small {
            let mut free = self.lock();
            if let Some(FreeMemory { words, zero_from }) = free.take(class) {
                free.held += words.len() as u64 * 8;
                free.add_used(requested_bytes);
                drop(free);
                self.hits.fetch_add(1, Relaxed);
                let mut memory = Memory { words, zero_from, requested_bytes, unwritten: None, pool: self.clone() };
                // Words that are still zero may have no pages yet.
                let zero_bytes = memory.words.len().saturating_sub(zero_from) as u64 * 8;
                memory.unwritten = Some(host_memory::reserve(op, zero_bytes, || self.trim())?);
                return Ok(memory);
            }
        }
        // The exact size where its size class does not fit.
        let allocated = self.allocate(op, class).or_else(|_| self.allocate(op, words));
        let (words, unwritten) = allocated?;
        self.lock().add_used(requested_bytes);
        if !is_small {
            self.misses.fetch_add(1, Relaxed);
        }
        Ok(Memory { words, zero_from: 0, requested_bytes, unwritten: Some(unwritten), pool: self.clone() })
    }

    /// Allocates exactly `words` zeroed words and counts them as held.
    fn allocate(&self, op: &str, words: usize) -> Result<(ZeroedMemory, Unwritten)> {
        let held = words as u64 * 8;
        let evicted = {
            let mut free = self.lock();
            let mut evicted = self.make_room(&mut free, op, held)?;
            free.held += held;
            evicted.extend(free.evict());
            evicted
        };
        drop(evicted);
        let allocated = host_memory::reserve(op, held, || self.trim()).and_then(|unwritten| {
            let words = ZeroedMemory::zeroed(words).ok_or_else(|| host_memory::refused(op, held))?;
            Ok((words, unwritten))
        });
        allocated.inspect_err(|_| self.lock().held -= held)
    }

    /// Counts `bytes` of host memory outside of arrays, such as the result of a read, until the reservation is dropped.
    ///
    /// # Errors
    /// The budget or the available memory does not suffice.
    pub(super) fn reserve_host(self: &Arc<Self>, op: &str, bytes: u64) -> Result<HostReservation> {
        let evicted = {
            let mut free = self.lock();
            let evicted = self.make_room(&mut free, op, bytes)?;
            free.host += bytes;
            evicted
        };
        drop(evicted);
        let unwritten = host_memory::reserve(op, bytes, || self.trim());
        let unwritten = unwritten.inspect_err(|_| self.lock().host -= bytes)?;
        Ok(HostReservation { bytes, _unwritten: unwritten, pool: self.clone() })
    }

    /// Removes unused memory, oldest first, until `bytes` more are within the budget.
    fn make_room(&self, free: &mut FreeList, op: &str, bytes: u64) -> Result<Vec<FreeMemory>> {
        let Some(budget) = self.budget else { return Ok(Vec::new()) };
        let in_use = free.held + free.host;
        let requested = in_use.saturating_add(bytes);
        if requested > budget {
            return Err(Error::Limit {
                what: format!("{op} ({bytes} bytes besides {in_use} in use)"),
                requested,
                unit: "bytes of memory",
                limit: budget,
                whose:
                    "the device's budget; raise CpuOptions::max_memory, drop tensors, or process fewer rows at a time"
                        .into(),
                location: caller(),
            });
        }
        Ok(free.evict_to(budget - requested))
    }

    fn release(&self, unused: FreeMemory, requested_bytes: u64) {
        let mut free = self.lock();
        free.in_use -= requested_bytes;
        free.held -= unused.bytes();
        if unused.bytes() >= MIN_POOLED {
            free.unused_bytes += unused.bytes();
            free.unused.push_back(unused);
        }
        let evicted = free.evict();
        // Unmapping is slow: release the lock first.
        drop(free);
        drop(evicted);
    }

    /// Returns all unused memory to the system.
    fn trim(&self) {
        let mut free = self.lock();
        free.unused_bytes = 0;
        let unused = std::mem::take(&mut free.unused);
        drop(free);
        drop(unused);
    }

    /// The pool's share of the device statistics.
    pub(super) fn stats(&self) -> Stats {
        let free = self.lock();
        Stats {
            pool_hits: self.hits.load(Relaxed),
            pool_misses: self.misses.load(Relaxed),
            buffer_bytes: free.in_use,
            buffer_bytes_peak: free.in_use_peak,
            memory_bytes: free.held + free.unused_bytes,
            memory_budget: self.budget,
            ..Stats::default()
        }
    }
}

/// Memory of an array; dropping it returns it to its pool.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) words: ZeroedMemory,
    /// All words from this one on are zero; the owner maintains this invariant.
    pub(super) zero_from: usize,
    requested_bytes: u64,
    /// Until the owner has written all words.
    unwritten: Option<Unwritten>,
    pool: Arc<Pool>,
}

impl Memory {
    /// Notes that all words that are not zero have been written: from here on the system counts them.
    pub(super) fn set_written(&mut self) {
        self.unwritten = None;
    }
}

/// Host memory outside of arrays that counts towards the pool's budget; dropping it ends that.
#[derive(Debug)]
pub(super) struct HostReservation {
    bytes: u64,
    _unwritten: Unwritten,
    pool: Arc<Pool>,
}

impl Drop for HostReservation {
    fn drop(&mut self) {
        self.pool.lock().host -= self.bytes;
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let unused = FreeMemory { words: std::mem::take(&mut self.words), zero_from: self.zero_from };
        self.pool.release(unused, self.requested_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = MIN_POOLED as usize;

    #[test]
    fn memory_is_reused_with_its_content() {
        let pool = Arc::new(Pool::default());
        let mut first = pool.take("test", LARGE).expect("small enough");
        assert_eq!(first.zero_from, 0, "new memory is zero");
        first.words[5] = 7;
        first.zero_from = 6;
        drop(first);
        let second = pool.take("test", LARGE - 3).expect("small enough");
        assert_eq!((second.words[5], second.zero_from), (7, 6), "a size of the same class");
        let third = pool.take("test", LARGE).expect("small enough");
        assert_eq!((third.words[5], third.zero_from), (0, 0), "the other is in use");
        let stats = pool.stats();
        assert_eq!((stats.pool_hits, stats.pool_misses), (1, 2));
        assert_eq!(stats.buffer_bytes, 8 * (2 * LARGE as u64 - 3));
    }

    #[test]
    fn at_most_the_peak_and_an_eighth_is_kept() {
        let pool = Arc::new(Pool::default());
        let size = MIN_LIMIT as usize / 8;
        let round = |n: usize, words: usize| {
            drop((0..n).map(|_| pool.take("test", words).expect("small enough")).collect::<Vec<_>>());
        };
        round(3, size);
        assert_eq!(pool.lock().unused_bytes, 3 * MIN_LIMIT);
        // Memory in use counts as well.
        let one = pool.take("test", 3 * size).expect("small enough");
        assert!(pool.lock().unused_bytes <= 3 * MIN_LIMIT / 8);
        drop(one);
        round(3, size);
        // Memory of another size evicts the oldest memory.
        round(3, size / 2);
        let unused = pool.lock().unused_bytes;
        assert!((3 * MIN_LIMIT / 2..=3 * MIN_LIMIT + 3 * MIN_LIMIT / 8).contains(&unused), "{unused}");
        assert_eq!(pool.lock().unused.iter().filter(|unused| unused.words.len() == size / 2).count(), 3);
        pool.trim();
        assert_eq!(pool.stats().buffer_bytes, 0);
        assert_eq!(pool.lock().unused_bytes, 0);
    }

    #[test]
    fn small_memory_is_not_pooled() {
        let pool = Arc::new(Pool::default());
        drop(pool.take("test", LARGE / 8 - 1).expect("small"));
        assert_eq!(pool.lock().unused_bytes, 0);
        assert!(pool.take("test", 0).is_ok());
    }

    #[test]
    fn excessive_requests_are_errors() {
        let pool = Arc::new(Pool::default());
        let Err(Error::Limit { what, requested, limit, .. }) = pool.take("test", 1 << 50) else {
            panic!("no machine has eight pebibytes")
        };
        assert!(what == "test" && requested == 1 << 53 && limit < requested || limit == isize::MAX as u64);
    }

    #[test]
    fn the_budget_counts_arrays_unused_memory_and_reads() {
        let words = LARGE;
        let bytes = 8 * words as u64;
        let pool = Arc::new(Pool::new(Some(3 * bytes)));
        let limit = |outcome: Result<()>| match outcome {
            Err(Error::Limit { what, requested, limit, .. }) => (what, requested, limit),
            other => panic!("{other:?}"),
        };
        let first = pool.take("a", words).expect("within the budget");
        let read = pool.reserve_host("a read", bytes).expect("within the budget");
        let refused = limit(pool.take("b", 2 * words).map(drop));
        let what = format!("b ({} bytes besides {} in use)", 2 * bytes, 2 * bytes);
        assert_eq!(refused, (what, 4 * bytes, 3 * bytes));
        assert_eq!(limit(pool.reserve_host("b", bytes + 1).map(drop)).1, 3 * bytes + 1);
        drop(read);
        drop(first);
        assert_eq!(pool.stats().memory_bytes, bytes, "kept for reuse");
        let all = pool.reserve_host("all", 3 * bytes).expect("unused memory is evicted");
        assert_eq!(pool.stats().memory_bytes, 0);
        drop(all);
        drop(pool.take("c", 3 * words).expect("nothing else is in use"));
    }
}
