//! An allocator that counts the bytes of all threads.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn add(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(held, Relaxed);
}

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller guarantees.
        let at = unsafe { System.alloc(layout) };
        if !at.is_null() {
            add(layout.size());
        }
        at
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller guarantees.
        let at = unsafe { System.alloc_zeroed(layout) };
        if !at.is_null() {
            add(layout.size());
        }
        at
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller guarantees.
        let to = unsafe { System.realloc(at, layout, size) };
        if !to.is_null() {
            // Large blocks are moved by the system without a copy.
            if size > layout.size() {
                add(size - layout.size());
            } else {
                HELD.fetch_sub(layout.size() - size, Relaxed);
            }
        }
        to
    }
}

/// The result of `f`, and the most bytes that the process held above those before.
pub fn peak_of<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let out = f();
    (out, PEAK.load(Relaxed) - before)
}
