//! Run-time dispatch of loops to AVX2 and AVX-512, and prefetching.
//!
//! All versions of a loop perform the same operations in the same order. A product and a sum are never contracted:
//! loops that add fused products say so, and without the instruction compute the same bits by other ones. AVX2 pays for
//! values in the L1 or L2 cache, AVX-512 for loops that compute much more than they load.

#[cfg(target_arch = "x86_64")]
use crate::environment;

/// Whether `run` of a loop has fused multiply-adds: AVX2 and FMA are used together, and other processors that lack the
/// instruction compute it.
pub(super) const HAS_FMA: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// A loop to be compiled for AVX2 as well, and for AVX-512 if it says so. Functions that `run` calls must be small or
/// `#[inline(always)]`: code that is not inlined is not compiled for these.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other processors have one version of each loop"))]
pub(crate) trait Loop {
    type Output;
    /// Whether there is a version for AVX-512. Measured for each loop that has one.
    const HAS_AVX512: bool = false;
    /// Implementations must be `#[inline(always)]`.
    fn run(self) -> Self::Output;
    /// The loop for AVX-512, if that should be other code than `run`. Implementations must be `#[inline(always)]`, and have
    /// the results of `run`.
    #[inline(always)]
    fn run_with_avx512(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run()
    }
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

/// Vector instructions that loops are compiled for, each with those before.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Vectors {
    /// Those of every x86-64 processor.
    Portable,
    /// With FMA.
    Avx2,
    /// AVX-512 F, BW, DQ and VL.
    Avx512,
}

/// The vector instructions that loops use: those that the processor has, unless the environment variable `RAGGED_PORTABLE`
/// turns them off.
#[cfg(target_arch = "x86_64")]
pub(super) fn vectors() -> Vectors {
    static FOUND: std::sync::OnceLock<Vectors> = std::sync::OnceLock::new();
    let found = *FOUND.get_or_init(|| {
        use std::arch::is_x86_feature_detected as has;
        // `CpuBackend` reports a value that is not allowed.
        let is_portable = environment::is_portable().unwrap_or(true);
        if is_portable || !(has!("avx2") && has!("fma") && has!("popcnt")) {
            return Vectors::Portable;
        }
        let has_avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        if has_avx512 { Vectors::Avx512 } else { Vectors::Avx2 }
    });
    #[cfg(test)]
    return found.min(limit::LIMIT.get());
    #[cfg(not(test))]
    found
}

/// Tests of loops with fewer vector instructions than the processor has.
#[cfg(all(test, target_arch = "x86_64"))]
mod limit {
    use super::Vectors;

    thread_local! {
        pub(super) static LIMIT: std::cell::Cell<Vectors> = const { std::cell::Cell::new(Vectors::Avx512) };
    }

    /// Calls `f` with each set of instructions that the processor has. Loops of other threads use all.
    pub(in super::super) fn for_each_vectors(mut f: impl FnMut()) {
        for vectors in [Vectors::Portable, Vectors::Avx2, Vectors::Avx512] {
            LIMIT.set(vectors);
            if super::vectors() == vectors {
                f();
            }
        }
        LIMIT.set(Vectors::Avx512);
    }
}
#[cfg(all(test, target_arch = "x86_64"))]
pub(super) use limit::for_each_vectors;

/// Calls `f` with the only set of vector instructions.
#[cfg(all(test, not(target_arch = "x86_64")))]
pub(super) fn for_each_vectors(mut f: impl FnMut()) {
    f();
}

/// Whether loops run in AVX2.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx2() -> bool {
    vectors() >= Vectors::Avx2
}

/// Whether loops run with fused multiply-adds.
pub(super) fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return has_avx2();
    #[cfg(not(target_arch = "x86_64"))]
    HAS_FMA
}

/// Runs the loop, in AVX2 where the processor has it, and in AVX-512 where the loop gains by it.
#[inline]
pub(crate) fn run<L: Loop>(l: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
        fn with_avx512<L: Loop>(l: L) -> L::Output {
            l.run_with_avx512()
        }
        #[target_feature(enable = "avx2,fma")]
        fn with_avx2<L: Loop>(l: L) -> L::Output {
            l.run()
        }
        // Not inlined, so that all calls share one copy.
        #[inline(never)]
        fn without_avx2<L: Loop>(l: L) -> L::Output {
            l.run_without_avx2()
        }
        match vectors() {
            // SAFETY: `with_avx512` requires only a processor with these parts of AVX-512, which were just detected, as AVX2 and
            // FMA were. The compiler takes F16C to be a part of AVX-512 F, and so does the detection.
            Vectors::Avx512 if L::HAS_AVX512 => unsafe { with_avx512(l) },
            // SAFETY: `with_avx2` requires only a processor with AVX2 and FMA, which were just detected.
            Vectors::Avx512 | Vectors::Avx2 => unsafe { with_avx2(l) },
            Vectors::Portable => without_avx2(l),
        }
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
