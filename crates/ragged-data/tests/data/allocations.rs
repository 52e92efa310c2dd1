//! An allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pub struct Counting;

thread_local! {
    /// Bytes that this thread has allocated and not freed since [`peak_of`] began, and the most so far.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // A thread that ends has no cell any more.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + bytes, most.max(now + bytes)));
    });
}

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(at, layout) }
    }
}

/// The result of `f`, and the most bytes that this thread held meanwhile.
pub fn peak_of<T>(f: impl FnOnce() -> T) -> (T, usize) {
    HELD.set((0, 0));
    let out = f();
    (out, HELD.get().1.max(0) as usize)
}
