//! Sums, products and extremes of f32: row by row in AVX2 where the processor has it.

use super::accumulate::{Monoid, Plain};
use super::order_key::key_of_f32;
use super::row_reduce::{reduce_block, reduce_row};
use super::simd::{self, Loop};
use super::wide_rows::{self, Op, Wide};

/// The monoid of sums, or of products.
#[derive(Clone, Copy)]
pub(super) struct Total<const PRODUCT: bool>;

impl<const PRODUCT: bool> Total<PRODUCT> {
    /// What it does without wide vectors of its own.
    fn plain(self) -> Plain<f32, impl Fn(f32, f32) -> f32 + Copy + Sync> {
        Plain { identity: self.identity(), combine: move |a, b| self.merge(a, b), ordered: true }
    }
}

impl<const PRODUCT: bool> Wide<f32> for Total<PRODUCT> {
    const OP: Op = if PRODUCT { Op::Product } else { Op::Sum };
}

impl<const PRODUCT: bool> Monoid<f32> for Total<PRODUCT> {
    type State = f32;
    #[inline(always)]
    fn identity(self) -> f32 {
        if PRODUCT { 1.0 } else { 0.0 }
    }
    #[inline(always)]
    fn push(self, so_far: f32, next: f32) -> f32 {
        self.merge(so_far, next)
    }
    #[inline(always)]
    fn merge(self, a: f32, b: f32) -> f32 {
        if PRODUCT { a * b } else { a + b }
    }

    fn rows(self, values: &[f32], inner: usize, start: impl Fn(usize) -> usize, out: &mut [f32]) {
        if inner != 1 || !wide_rows::rows(self, values, &start, out) {
            self.plain().rows(values, inner, start, out);
        }
    }

    fn block(self, values: &[f32], inner: usize, out: &mut [f32]) {
        if inner == 1
            && let Some(total) = wide_rows::block::<_, Self>(values)
        {
            out[0] = total;
        } else {
            self.plain().block(values, inner, out);
        }
    }
}

/// The monoid of the greatest value, or of the least, as keys: the floats need not be stored as such.
#[derive(Clone, Copy)]
pub(super) struct Extreme<const GREATEST: bool>;

impl<const GREATEST: bool> Wide<f32> for Extreme<GREATEST> {
    const OP: Op = if GREATEST { Op::Greatest } else { Op::Least };
}

impl<const GREATEST: bool> Monoid<f32> for Extreme<GREATEST> {
    type State = i32;
    #[inline(always)]
    fn identity(self) -> i32 {
        if GREATEST { i32::MIN } else { i32::MAX }
    }
    #[inline(always)]
    fn push(self, so_far: i32, next: f32) -> i32 {
        self.merge(so_far, key_of_f32(next, if GREATEST { i32::MAX } else { i32::MIN }))
    }
    #[inline(always)]
    fn merge(self, a: i32, b: i32) -> i32 {
        if GREATEST { a.max(b) } else { a.min(b) }
    }

    fn rows(self, values: &[f32], inner: usize, start: impl Fn(usize) -> usize, out: &mut [i32]) {
        if inner != 1 || !wide_rows::rows(self, values, &start, out) {
            simd::run(EachRow { monoid: self, values, inner, start, out });
        }
    }

    fn block(self, values: &[f32], inner: usize, out: &mut [i32]) {
        if inner == 1
            && let Some(extreme) = wide_rows::block::<_, Self>(values)
        {
            out[0] = extreme;
        } else {
            simd::run(EachBlock { monoid: self, values, inner, out });
        }
    }
}

/// Rows one by one, in loops compiled for wide vectors.
struct EachRow<'a, M: Monoid<f32>, S> {
    monoid: M,
    values: &'a [f32],
    inner: usize,
    start: S,
    out: &'a mut [M::State],
}

impl<M: Monoid<f32>, S: Fn(usize) -> usize> Loop for EachRow<'_, M, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { monoid, values, inner, start, out } = self;
        for (k, out) in out.chunks_exact_mut(inner).enumerate() {
            reduce_row(&values[start(k) * inner..start(k + 1) * inner], inner, monoid, out);
        }
    }
}

/// One block of a row.
struct EachBlock<'a, M: Monoid<f32>> {
    monoid: M,
    values: &'a [f32],
    inner: usize,
    out: &'a mut [M::State],
}

impl<M: Monoid<f32>> Loop for EachBlock<'_, M> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        reduce_block(self.values, self.inner, self.monoid, self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of rows, and values for them with what extremes and sums stumble over.
    fn crowd() -> (Vec<usize>, Vec<f32>) {
        // Of the rows that eight are taken of at once, too.
        let short = (0..80).map(|k| k * 5 % 33);
        let lens = (0..70).chain([255, 256, 257, 300, 0, 513, 1030, 5, 1, 32, 16, 33]).chain(short).chain([40]);
        let starts: Vec<usize> = lens.scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
        let n = starts[starts.len() - 1];
        // Of many magnitudes, so that the order of sums shows.
        let mut values: Vec<f32> = (0..n).map(|k| 1.0 / (1.0 + (k * 7919 % 1009) as f32) - 0.01).collect();
        let specials = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, -0.0, 0.0];
        for (k, special) in specials.into_iter().cycle().take(30).enumerate() {
            values[100 + 89 * k] = special;
        }
        for row in [10, 16, 32, 40, 64] {
            values[starts[row]..starts[row + 1]].fill(-0.0);
        }
        (starts, values)
    }

    /// The same value, so far from 0 that products of many stay numbers.
    fn near_one(x: f32) -> f32 {
        if x.is_finite() && x != 0.0 { 1.0 + x * 0.1 } else { x }
    }

    fn check<M: Monoid<f32>>(monoid: M, same: impl Fn(M::State, M::State) -> bool) {
        check_of(monoid, |x| x, same);
    }

    fn check_of<M: Monoid<f32>>(monoid: M, of: impl Fn(f32) -> f32, same: impl Fn(M::State, M::State) -> bool) {
        let (starts, mut values) = crowd();
        values.iter_mut().for_each(|x| *x = of(*x));
        for inner in [1, 3] {
            let rows = starts.len() / inner - 1;
            let mut crowd = vec![monoid.identity(); rows * inner];
            monoid.rows(&values, inner, |k| starts[k], &mut crowd);
            for (k, crowd) in crowd.chunks_exact(inner).enumerate() {
                let mut alone = vec![monoid.identity(); inner];
                let row = &values[starts[k] * inner..starts[k + 1] * inner];
                simd::run(EachRow { monoid, values: row, inner, start: |k| k * row.len() / inner, out: &mut alone });
                assert!(crowd.iter().zip(&alone).all(|(&a, &b)| same(a, b)), "row {k}, {inner} columns");
            }
        }
        for len in [1, 7, 32, 33, 250, 256] {
            let (mut block, mut expected) = ([monoid.identity()], [monoid.identity()]);
            monoid.block(&values[..len], 1, &mut block);
            reduce_block(&values[..len], 1, monoid, &mut expected);
            assert!(same(block[0], expected[0]), "a block of {len}");
        }
    }

    #[test]
    fn rows_in_a_crowd_have_the_bits_of_the_stated_order() {
        let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        check(Total::<false>, same);
        check_of(Total::<true>, near_one, same);
        check(Extreme::<true>, |a, b| a == b);
        check(Extreme::<false>, |a, b| a == b);
    }
}
