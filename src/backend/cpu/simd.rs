//! Processor features without a portable Rust interface: loops compiled for wide vectors, selected at run time, and
//! prefetching.
//!
//! Both versions of a loop perform the same operations in the same order. AVX2 is used without fused multiply-adds,
//! which would round once instead of twice. Eight floats at a time instead of four pay off where a loop's values lie in
//! a near cache.

/// A loop to be compiled for wide vectors. All functions that `run` calls must be small, or marked `#[inline(always)]`:
/// a function that is not inlined is not compiled for wide vectors.
pub(crate) trait Loop {
    type Output;
    /// Implementations must be marked `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// Runs the loop, compiled for AVX2 where the processor has it.
#[inline]
pub(crate) fn run<L: Loop>(l: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2<L: Loop>(l: L) -> L::Output {
            l.run()
        }
        // Not inlined: all uses of a loop share one copy.
        #[inline(never)]
        fn without_avx2<L: Loop>(l: L) -> L::Output {
            l.run()
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: `with_avx2` requires only a processor with AVX2, which was just detected.
            return unsafe { with_avx2(l) };
        }
        without_avx2(l)
    }
    #[cfg(not(target_arch = "x86_64"))]
    l.run()
}

/// Bytes per cache line.
pub(super) const LINE: usize = 64;

/// Prefetches the cache line of an element; does nothing if the index is out of range.
#[inline(always)]
pub(crate) fn prefetch<T>(from: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = from.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has this instruction, and it has no effect that a program could observe, at
        // any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, at);
}
