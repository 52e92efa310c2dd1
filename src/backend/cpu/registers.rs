//! Registers: memory for the intermediate values of a block, reused by later operations and blocks of the same thread.
//!
//! A block frees the values of an operation after their last reader (see `eval`). The memory then returns to a free list
//! of the thread, and the next operation takes it while it is cached.

use std::cell::RefCell;
use std::fmt;

/// Least size of a register, in words: a block of u32.
const MIN_WORDS: usize = 4096;

/// Size in words from which on a register is returned to the allocator.
const MAX_WORDS: usize = 1 << 16;

/// Registers in a thread's free list.
const MAX_FREE: usize = 32;

/// Fill byte of new registers in tests and debug builds, which exposes reads of values that were never set.
const POISON: u8 = 0xa5;

thread_local! {
    static FREE: RefCell<Vec<Vec<u64>>> = const { RefCell::new(Vec::new()) };
}

/// Memory of a given number of bytes, aligned for every dtype.
pub(crate) struct Register {
    words: Vec<u64>,
    bytes: usize,
}

impl Register {
    /// A register of unspecified content.
    pub(super) fn new(bytes: usize) -> Self {
        let needed = bytes.div_ceil(size_of::<u64>());
        let mut words = FREE.with_borrow_mut(Vec::pop).unwrap_or_default();
        if words.len() < needed.max(MIN_WORDS) {
            words = vec![0; needed.next_power_of_two().max(MIN_WORDS)];
        }
        let mut out = Self { words, bytes };
        if cfg!(any(test, debug_assertions)) {
            out.bytes_mut().fill(POISON);
        }
        out
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }
}

impl Drop for Register {
    fn drop(&mut self) {
        let words = std::mem::take(&mut self.words);
        // A thread that ends has no free list any more.
        let _ = FREE.try_with(|free| {
            let mut free = free.borrow_mut();
            if words.len() <= MAX_WORDS && free.len() < MAX_FREE {
                free.push(words);
            }
        });
    }
}

impl fmt::Debug for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_is_reused() {
        let first = Register::new(100);
        let at = first.bytes().as_ptr();
        assert_ne!(Register::new(100).bytes().as_ptr(), at, "memory in use");
        drop(first);
        let second = Register::new(MIN_WORDS * 8);
        assert_eq!((second.bytes().as_ptr(), second.bytes().len()), (at, MIN_WORDS * 8));
        assert_eq!(Register::new(MIN_WORDS * 8 + 1).bytes().len(), MIN_WORDS * 8 + 1);
    }
}
