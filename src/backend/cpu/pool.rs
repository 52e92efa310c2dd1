//! Memory of arrays that were dropped, kept for arrays to come.
//!
//! A large allocation comes from the system as pages that are mapped and cleared one by one as they are first written,
//! which takes longer than most operations take to fill them; and it goes back when it is dropped. Memory that is kept
//! has its pages. What it holds is what its last owner left; how much of that may be other than zero is remembered, so
//! that an array whose capacity is far more than what lives in it does not pay for the difference each time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::available;
use super::block::Block;
use crate::error::{Error, Result};
use crate::stats::Stats;

/// Less than this many bytes is left to the allocator, which keeps such sizes itself.
const SMALL: u64 = 64 << 10;

/// From so many words on little is wasted of each.
const LARGE: usize = 1 << 17;

/// The most bytes that lie unused.
const MOST_UNUSED: u64 = 1 << 30;

/// Below this in all, nothing is given back.
const FLOOR: u64 = 64 << 20;

/// The memory that one backend's arrays share.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Mutex<Free>,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Debug, Default)]
struct Free {
    /// Oldest first.
    unused: VecDeque<Unused>,
    unused_bytes: u64,
    /// Bytes that arrays in use asked for.
    in_use: u64,
    in_use_peak: u64,
    /// Bytes of the memory that they have.
    held: u64,
}

/// Memory without an owner.
#[derive(Debug)]
struct Unused {
    words: Block,
    /// From this word on there are zeros.
    zero_from: usize,
}

impl Unused {
    fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }
}

/// A size and a few more, so that sizes which differ a little find each other's memory: two bits below the leading one, of
/// large sizes four.
fn size_class(words: usize) -> usize {
    let bits = if words > LARGE { 4 } else { 2 };
    let step = 1 << words.max(8).ilog2().saturating_sub(bits);
    words.checked_next_multiple_of(step).unwrap_or(words)
}

impl Free {
    fn add_used(&mut self, asked: u64) {
        self.in_use += asked;
        self.in_use_peak = self.in_use_peak.max(self.in_use);
    }

    /// The smallest memory of at least that size, and of a quarter more at most; the newest of these, which is likeliest
    /// to be in a cache still.
    fn take(&mut self, words: usize) -> Option<Unused> {
        let fits = |unused: &Unused| (words..=words + words / 4).contains(&unused.words.len());
        let found = self.unused.iter().enumerate().rev().filter(|(_, unused)| fits(unused));
        let (at, _) = found.min_by_key(|(_, unused)| unused.words.len())?;
        let found = self.unused.remove(at)?;
        self.unused_bytes -= found.bytes();
        Some(found)
    }

    /// Memory in use and unused memory together may be an eighth more than arrays ever asked for: a loop of equal rounds
    /// hardly allocates after its first one.
    fn may_keep(&self) -> u64 {
        let total = (self.in_use_peak + self.in_use_peak / 8).max(FLOOR);
        total.saturating_sub(self.held).min(MOST_UNUSED)
    }

    /// Takes what is more than may be kept, the oldest first.
    fn surplus(&mut self) -> Vec<Unused> {
        let mut surplus = Vec::new();
        while self.unused_bytes > self.may_keep()
            && let Some(oldest) = self.unused.pop_front()
        {
            self.unused_bytes -= oldest.bytes();
            surplus.push(oldest);
        }
        surplus
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At least so many words for the operation, which hold anything.
    ///
    /// # Errors
    /// The memory is not to be had.
    pub(super) fn take(self: &Arc<Self>, op: &str, words: usize) -> Result<Memory> {
        let asked = words as u64 * 8;
        let is_small = asked < SMALL;
        let class = if is_small { words } else { size_class(words) };
        if !is_small {
            let mut free = self.lock();
            if let Some(Unused { words, zero_from }) = free.take(class) {
                free.held += words.len() as u64 * 8;
                free.add_used(asked);
                self.hits.fetch_add(1, Relaxed);
                return Ok(Memory { words, zero_from, asked, pool: self.clone() });
            }
        }
        let refused = |limit: u64, whose: &str| {
            Err(Error::Limit { what: op.into(), requested: asked, unit: "bytes", limit, whose: whose.into() })
        };
        if asked >= available::WORTH_ASKING {
            // What lies unused here is not what is available elsewhere.
            self.trim();
            if let Some(most) = available::bytes().filter(|&most| asked > most) {
                return refused(most, "the memory that is available on this machine");
            }
        }
        let held = class as u64 * 8;
        let mut free = self.lock();
        free.held += held;
        let surplus = free.surplus();
        drop(free);
        drop(surplus);
        let Some(words) = Block::zeroed(class) else {
            self.lock().held -= held;
            return refused(isize::MAX as u64, "what this machine can address; it is out of memory before");
        };
        self.lock().add_used(asked);
        if !is_small {
            self.misses.fetch_add(1, Relaxed);
        }
        Ok(Memory { words, zero_from: 0, asked, pool: self.clone() })
    }

    fn release(&self, unused: Unused, asked: u64) {
        let mut free = self.lock();
        free.in_use -= asked;
        free.held -= unused.bytes();
        if unused.bytes() >= SMALL {
            free.unused_bytes += unused.bytes();
            free.unused.push_back(unused);
        }
        let surplus = free.surplus();
        // Unmapping takes a while; others need not wait for it.
        drop(free);
        drop(surplus);
    }

    /// Gives back all that lies unused.
    fn trim(&self) {
        let mut free = self.lock();
        free.unused_bytes = 0;
        let unused = std::mem::take(&mut free.unused);
        drop(free);
        drop(unused);
    }

    /// What the pool knows of a device's statistics.
    pub(super) fn stats(&self) -> Stats {
        let free = self.lock();
        Stats {
            pool_hits: self.hits.load(Relaxed),
            pool_misses: self.misses.load(Relaxed),
            buffer_bytes: free.in_use,
            buffer_bytes_peak: free.in_use_peak,
            ..Stats::default()
        }
    }
}

/// Memory of an array, which goes back to its pool.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) words: Block,
    /// From this word on there are zeros: its owner keeps it so.
    pub(super) zero_from: usize,
    asked: u64,
    pool: Arc<Pool>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        let unused = Unused { words: std::mem::take(&mut self.words), zero_from: self.zero_from };
        self.pool.release(unused, self.asked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = SMALL as usize;

    #[test]
    fn memory_is_used_again_with_what_it_held() {
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
    fn no_more_is_kept_than_was_in_use_and_an_eighth() {
        let pool = Arc::new(Pool::default());
        let size = FLOOR as usize / 8;
        let round = |n: usize, words: usize| {
            drop((0..n).map(|_| pool.take("test", words).expect("small enough")).collect::<Vec<_>>());
        };
        round(3, size);
        assert_eq!(pool.lock().unused_bytes, 3 * FLOOR);
        // What is in use is counted too.
        let one = pool.take("test", 3 * size).expect("small enough");
        assert!(pool.lock().unused_bytes <= 3 * FLOOR / 8);
        drop(one);
        round(3, size);
        // Another size takes the place of the oldest.
        round(3, size / 2);
        let unused = pool.lock().unused_bytes;
        assert!((3 * FLOOR / 2..=3 * FLOOR + 3 * FLOOR / 8).contains(&unused), "{unused}");
        assert_eq!(pool.lock().unused.iter().filter(|unused| unused.words.len() == size / 2).count(), 3);
        pool.trim();
        assert_eq!(pool.stats().buffer_bytes, 0);
        assert_eq!(pool.lock().unused_bytes, 0);
    }

    #[test]
    fn small_memory_is_not_kept() {
        let pool = Arc::new(Pool::default());
        drop(pool.take("test", LARGE / 8 - 1).expect("small"));
        assert_eq!(pool.lock().unused_bytes, 0);
        assert!(pool.take("test", 0).is_ok());
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        let pool = Arc::new(Pool::default());
        let Err(Error::Limit { what, requested, limit, .. }) = pool.take("test", 1 << 50) else {
            panic!("no machine has eight pebibytes")
        };
        assert!(what == "test" && requested == 1 << 53 && limit < requested || limit == isize::MAX as u64);
    }
}
