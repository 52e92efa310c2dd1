//! Run-time dispatch of loops to AVX2, and prefetching.
//!
//! Both versions of a loop perform the same operations in the same order. A product and a sum are never contracted:
//! loops that add fused products say so, and without the instruction compute the same bits by other ones. AVX2 pays for
//! values in the L1 or L2 cache.

#[cfg(target_arch = "x86_64")]
use crate::environment;

/// Whether `run` of a loop has fused multiply-adds: AVX2 and FMA are used together, and other processors that lack the
/// instruction compute it.
pub(super) const HAS_FMA: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// A loop to be compiled for AVX2 as well. Functions that `run` calls must be small or `#[inline(always)]`: code that
/// is not inlined is not compiled for AVX2.
pub(crate) trait Loop {
    type Output;
    /// Implementations must be `#[inline(always)]`.
    fn run(self) -> Self::Output;
    /// The loop for x86 processors without AVX2, if that should be less code than `run`. Implementations must be
    /// `#[inline(always)]`, and have the results of `run`.
    #[inline(always)]
    fn run_without_avx2(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run()
    }
}

/// Whether loops run in AVX2: the processor has it, as well as FMA and `popcnt`, and the environment variable `RAGGED_PORTABLE`
/// does not turn it off.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx2() -> bool {
    static HAS_AVX2: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *HAS_AVX2.get_or_init(|| {
        // `CpuBackend` reports a value that is not allowed.
        let is_portable = environment::is_portable().unwrap_or(true);
        !is_portable
            && std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("popcnt")
    })
}

/// Whether loops run with fused multiply-adds.
pub(super) fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return has_avx2();
    #[cfg(not(target_arch = "x86_64"))]
    HAS_FMA
}

/// Runs the loop, in AVX2 where the processor has it.
#[inline]
pub(crate) fn run<L: Loop>(l: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn with_avx2<L: Loop>(l: L) -> L::Output {
            l.run()
        }
        // Not inlined, so that all calls share one copy.
        #[inline(never)]
        fn without_avx2<L: Loop>(l: L) -> L::Output {
            l.run_without_avx2()
        }
        if has_avx2() {
            // SAFETY: `with_avx2` requires only a processor with AVX2 and FMA, which were just detected.
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
        // SAFETY: every x86-64 processor has this instruction. At any address it has no observable effect.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, at);
}
