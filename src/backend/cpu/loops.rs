//! Element-wise loops over slices: the building blocks of all operations on encoded values.

use std::hint::select_unpredictable;

use super::operand::Operand;
use super::output_writer::OutputWriter;
use super::simd::{self, Loop};
use crate::math::{self, MathFn};

/// Stores `f` of pairs of values in `out`.
struct Map2<'l, A, B, F> {
    a: Operand<'l, A>,
    b: Operand<'l, A>,
    f: F,
    out: &'l mut [B],
}

impl<A: Copy, B: Copy, F: Fn(A, A) -> B> Loop for Map2<'_, A, B, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { a, b, f, out } = self;
        let n = out.len();
        match (a, b) {
            (Operand::Dense(a), Operand::Dense(b)) => {
                for ((out, &a), &b) in out.iter_mut().zip(&a[..n]).zip(&b[..n]) {
                    *out = f(a, b);
                }
            }
            (Operand::Dense(a), Operand::Constant(b)) => {
                for (out, &a) in out.iter_mut().zip(&a[..n]) {
                    *out = f(a, b);
                }
            }
            (Operand::Constant(a), Operand::Dense(b)) => {
                for (out, &b) in out.iter_mut().zip(&b[..n]) {
                    *out = f(a, b);
                }
            }
            (Operand::Constant(a), Operand::Constant(b)) => out.fill(f(a, b)),
        }
    }
}

/// Stores `f` of every value in `out`.
struct Map1<'l, A, B, F> {
    a: &'l [A],
    f: F,
    out: &'l mut [B],
}

impl<A: Copy, B, F: Fn(A) -> B> Loop for Map1<'_, A, B, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { a, f, out } = self;
        for (out, &a) in out.iter_mut().zip(a) {
            *out = f(a);
        }
    }
}

/// Fills `out` with `f` of the values.
#[inline]
pub(super) fn map1<A: Copy, B: Copy>(a: Operand<'_, A>, f: impl Fn(A) -> B, out: &mut [B]) {
    match a {
        Operand::Dense(a) => simd::run(Map1 { a: &a[..out.len()], f, out }),
        Operand::Constant(a) => out.fill(f(a)),
    }
}

/// Fills `out` with `f` of the pairs of values.
#[inline]
pub(super) fn map2<A: Copy, B: Copy>(a: Operand<'_, A>, b: Operand<'_, A>, f: impl Fn(A, A) -> B, out: &mut [B]) {
    simd::run(Map2 { a, b, f, out });
}

/// Selects one of two values per position by a condition.
struct Blend<'l, T> {
    condition: &'l [u8],
    a: Operand<'l, T>,
    b: Operand<'l, T>,
    out: &'l mut [T],
}

impl<T: Copy> Loop for Blend<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { condition, a, b, out } = self;
        let n = out.len();
        let to = out.iter_mut().zip(&condition[..n]);
        match (a, b) {
            (Operand::Dense(a), Operand::Dense(b)) => {
                for (((out, &c), &a), &b) in to.zip(&a[..n]).zip(&b[..n]) {
                    *out = select_unpredictable(c != 0, a, b);
                }
            }
            (Operand::Constant(a), Operand::Dense(b)) => {
                for ((out, &c), &b) in to.zip(&b[..n]) {
                    *out = select_unpredictable(c != 0, a, b);
                }
            }
            (Operand::Dense(a), Operand::Constant(b)) => {
                for ((out, &c), &a) in to.zip(&a[..n]) {
                    *out = select_unpredictable(c != 0, a, b);
                }
            }
            (Operand::Constant(a), Operand::Constant(b)) => {
                for (out, &c) in to {
                    *out = select_unpredictable(c != 0, a, b);
                }
            }
        }
    }
}

/// Fills `out` with the values of `a` where the condition holds, and with those of `b` elsewhere.
pub(super) fn blend<T: Copy>(condition: &[u8], a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) {
    simd::run(Blend { condition, a, b, out });
}

/// Stores the values of segments.
struct Expand<'l, T, F> {
    ends: &'l [u32],
    first: Operand<'l, T>,
    f: F,
    out: &'l mut [T],
}

impl<T: Copy, F: Fn(T, u32) -> T> Loop for Expand<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { ends, first, f, out } = self;
        let mut out = OutputWriter::of(out);
        let mut start = 0;
        for (segment, &end) in ends.iter().enumerate() {
            let first = first.get(segment);
            out.generate((end - start) as usize, |k| f(first, k));
            start = end;
        }
    }
}

/// Fills `out` with the values of segments that end at `ends`: `f` of a segment's first value and the offset in the
/// segment.
pub(super) fn expand<T: Copy>(ends: &[u32], first: Operand<'_, T>, f: impl Fn(T, u32) -> T, out: &mut [T]) {
    simd::run(Expand { ends, first, f, out });
}

/// Applies an elementary function to every value.
macro_rules! elementary {
    ($name:ident, $float:ty, $slice:path) => {
        pub(super) struct $name<'l> {
            pub(super) f: MathFn,
            pub(super) x: &'l [$float],
            pub(super) out: &'l mut [$float],
        }

        impl Loop for $name<'_> {
            type Output = ();
            const HAS_AVX512: bool = true;

            #[inline(always)]
            fn run(self) {
                $slice(self.f, self.x, self.out);
            }
        }
    };
}
elementary!(MathF32, f32, math::f32_unary_slice);
elementary!(MathF64, f64, math::f64_unary_slice);

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all magnitudes, and special values; a whole vector of each set of instructions, and a rest.
    fn numbers() -> Vec<f64> {
        let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 1e-45, f64::MAX];
        let any = (0..241).map(|k| f64::from(k - 120) * 0.37 * 10f64.powi(k % 9 - 4));
        special.into_iter().chain(any).collect()
    }

    /// The loops of each set of vector instructions give the bits of the functions themselves.
    #[test]
    fn elementary_functions_have_the_bits_of_their_definitions() {
        let (x64, x32) = (numbers(), numbers().into_iter().map(|x| x as f32).collect::<Vec<_>>());
        for f in MathFn::ALL.into_iter().filter(|f| !f.is_binary()) {
            simd::for_each_vectors(|| {
                let (mut out64, mut out32) = (vec![0.0; x64.len()], vec![0.0; x32.len()]);
                simd::run(MathF64 { f, x: &x64, out: &mut out64 });
                simd::run(MathF32 { f, x: &x32, out: &mut out32 });
                for k in 0..x64.len() {
                    let (want64, want32) = (math::f64_unary(f)(x64[k]), math::f32_unary(f)(x32[k]));
                    let is_same64 = want64.to_bits() == out64[k].to_bits() || want64.is_nan() && out64[k].is_nan();
                    let is_same32 = want32.to_bits() == out32[k].to_bits() || want32.is_nan() && out32[k].is_nan();
                    assert!(is_same64, "{f:?} of {}: {}, not {want64}", x64[k], out64[k]);
                    assert!(is_same32, "{f:?} of {}: {}, not {want32}", x32[k], out32[k]);
                }
            });
        }
    }
}
