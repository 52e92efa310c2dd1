//! What processors have and Rust has no name for: loops compiled for wide vectors where there are any, chosen as the
//! program runs, and asking for memory ahead.
//!
//! The same operations in the same order: AVX2 without fused multiply-adds, which would round once where two roundings
//! are due. Eight floats at a time instead of four is worth it where a loop's values lie in a near cache.

/// A loop. Everything that `run` calls must be small, or marked `#[inline(always)]`: what is not inlined is not
/// compiled for wide vectors.
pub(crate) trait Loop {
    type Output;
    /// To be marked `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// Runs it.
#[inline]
pub(crate) fn run<L: Loop>(l: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2<L: Loop>(l: L) -> L::Output {
            l.run()
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the only thing that `with_avx2` needs is a processor with AVX2, which this one is.
            return unsafe { with_avx2(l) };
        }
    }
    l.run()
}

/// Bytes of a line of the cache.
pub(super) const LINE: usize = 64;

/// Asks for the memory of an element, if there is one, before it is needed.
#[inline(always)]
pub(crate) fn prefetch<T>(from: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = from.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has it, and it does nothing that a program could see, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, at);
}
