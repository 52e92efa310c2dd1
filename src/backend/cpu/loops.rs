//! Element-wise loops over slices, of which all operations on lanes are made.

use std::ops::DerefMut;

use super::filling::Filling;
use super::lanes::{Lane, Lanes, Operand};
use super::simd::{self, Loop};
use crate::math::{self, MathFn};

/// Collects the values of an iterator, at most `n`.
///
/// Memory is written without being cleared first: for a cached block, clearing takes as long as a sum. `collect` does
/// not clear memory either but is not inlined, so its loop is not compiled for wide vectors. Measured: chains of
/// operations take 8 % longer with clearing.
#[inline(always)]
fn listed<T>(n: usize, values: impl Iterator<Item = T>) -> Vec<T> {
    let mut out = Vec::with_capacity(n);
    let mut len = 0;
    for (slot, value) in out.spare_capacity_mut()[..n].iter_mut().zip(values) {
        slot.write(value);
        len += 1;
    }
    // SAFETY: the first `len` slots of the spare capacity have been written, one after another.
    unsafe { out.set_len(len) };
    out
}

/// `f` of every value.
struct Map1<'l, A, F> {
    a: &'l [A],
    f: F,
}

impl<A: Copy, B, F: Fn(A) -> B> Loop for Map1<'_, A, F> {
    type Output = Vec<B>;
    #[inline(always)]
    fn run(self) -> Vec<B> {
        listed(self.a.len(), self.a.iter().map(|&a| (self.f)(a)))
    }
}

/// `f` of every pair of values.
struct Map2<'l, A, F> {
    a: &'l [A],
    b: &'l [A],
    f: F,
}

impl<A: Copy, B, F: Fn(A, A) -> B> Loop for Map2<'_, A, F> {
    type Output = Vec<B>;
    #[inline(always)]
    fn run(self) -> Vec<B> {
        listed(self.a.len(), self.a.iter().zip(self.b).map(|(&a, &b)| (self.f)(a, b)))
    }
}

/// Stores `f` of pairs of values in `out`.
struct Store2<'l, A, F> {
    a: Operand<'l, A>,
    b: Operand<'l, A>,
    f: F,
    out: &'l mut [A],
}

impl<A: Copy, F: Fn(A, A) -> A> Loop for Store2<'_, A, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { a, b, f, out } = self;
        let n = out.len();
        match (a, b) {
            (Operand::Many(a), Operand::Many(b)) => {
                for ((out, &a), &b) in out.iter_mut().zip(&a[..n]).zip(&b[..n]) {
                    *out = f(a, b);
                }
            }
            (Operand::Many(a), Operand::One(b)) => {
                for (out, &a) in out.iter_mut().zip(&a[..n]) {
                    *out = f(a, b);
                }
            }
            (Operand::One(a), Operand::Many(b)) => {
                for (out, &b) in out.iter_mut().zip(&b[..n]) {
                    *out = f(a, b);
                }
            }
            (Operand::One(a), Operand::One(b)) => out.fill(f(a, b)),
        }
    }
}

/// Fills `out` with `f` of the pairs of values.
#[inline]
pub(super) fn store2<A: Lane>(a: Operand<'_, A>, b: Operand<'_, A>, f: impl Fn(A, A) -> A, out: &mut [A]) {
    simd::run(Store2 { a, b, f, out });
}

/// `f` of the values at `n` positions.
#[inline]
pub(super) fn map1<'x, A: Lane, B: Lane>(n: usize, a: &Lanes<'_>, f: impl Fn(A) -> B) -> Lanes<'x> {
    B::wrap(match A::operand(a) {
        Operand::Many(a) => simd::run(Map1 { a: &a[..n], f }).into(),
        Operand::One(a) => vec![f(a); n].into(),
    })
}

/// `f` of the pairs of values at `n` positions.
#[inline]
pub(super) fn map2<'x, A: Lane, B: Lane>(
    n: usize,
    a: &Lanes<'_>,
    b: &Lanes<'_>,
    f: impl Fn(A, A) -> B + Copy,
) -> Lanes<'x> {
    let values: Vec<B> = match (A::operand(a), A::operand(b)) {
        (Operand::Many(a), Operand::Many(b)) => simd::run(Map2 { a: &a[..n], b: &b[..n], f }),
        (Operand::Many(a), Operand::One(b)) => simd::run(Map1 { a: &a[..n], f: |a| f(a, b) }),
        (Operand::One(a), Operand::Many(b)) => simd::run(Map1 { a: &b[..n], f: |b| f(a, b) }),
        (Operand::One(a), Operand::One(b)) => vec![f(a, b); n],
    };
    B::wrap(values.into())
}

/// Selects one of two values per lane by a condition.
pub(super) struct Blend<'l, T, F> {
    pub(super) condition: &'l [bool],
    pub(super) a: Operand<'l, T>,
    pub(super) b: Operand<'l, T>,
    /// Selects one of two values.
    pub(super) either: F,
}

/// Selects one of two flags without a branch: the compiler does not vectorize a branch that loads flags.
#[inline(always)]
pub(super) fn either_flag(c: bool, a: bool, b: bool) -> bool {
    (c & a) | (!c & b)
}

impl<T: Copy, F: Fn(bool, T, T) -> T> Loop for Blend<'_, T, F> {
    type Output = Vec<T>;
    #[inline(always)]
    fn run(self) -> Vec<T> {
        let n = self.condition.len();
        let lanes = self.condition.iter();
        let either = self.either;
        match (self.a, self.b) {
            (Operand::Many(a), Operand::Many(b)) => {
                listed(n, lanes.zip(a[..n].iter().zip(&b[..n])).map(|(&c, (&a, &b))| either(c, a, b)))
            }
            (Operand::One(a), Operand::Many(b)) => listed(n, lanes.zip(&b[..n]).map(|(&c, &b)| either(c, a, b))),
            (Operand::Many(a), Operand::One(b)) => listed(n, lanes.zip(&a[..n]).map(|(&c, &a)| either(c, a, b))),
            (Operand::One(a), Operand::One(b)) => listed(n, lanes.map(|&c| either(c, a, b))),
        }
    }
}

/// Expands one value per run to one value per position.
pub(super) fn spread<T: Copy + Default>(ends: &[u32], values: &[T]) -> Vec<T> {
    let out = Filling::new(ends.last().map_or(0, |&n| n as usize));
    simd::run(Spread { ends, values, f: |x| x, out }).finish()
}

/// Stores `f` of one value per run at each position of the run.
pub(super) struct Spread<'l, T, F, B> {
    pub(super) ends: &'l [u32],
    pub(super) values: &'l [T],
    pub(super) f: F,
    pub(super) out: Filling<B>,
}

impl<T: Copy, S: Copy, F: Fn(T) -> S, B: DerefMut<Target = [S]>> Loop for Spread<'_, T, F, B> {
    type Output = Filling<B>;
    #[inline(always)]
    fn run(self) -> Filling<B> {
        let Self { ends, values, f, mut out } = self;
        let mut start = 0;
        for (&end, &value) in ends.iter().zip(values) {
            out.repeat(f(value), (end - start) as usize);
            start = end;
        }
        out
    }
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
            #[inline(always)]
            fn run(self) {
                $slice(self.f, self.x, self.out);
            }
        }
    };
}
elementary!(MathF32, f32, math::f32_unary_slice);
elementary!(MathF64, f64, math::f64_unary_slice);
