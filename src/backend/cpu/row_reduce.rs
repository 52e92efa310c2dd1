//! Row reductions in the canonical order. Twin of `shaders/row_reduce.wgsl`, which states that order: it depends on the
//! row's length and the inner width alone, so that results have the same bits on every backend.
//!
//! `combine(v, identity)` must be `v` for every `v` that a fold from `identity` can give.

use super::simd::{self, Loop};

/// The longest row of one column that is folded left to right.
const SHORT: usize = 16;

/// Lanes within a block, for one column.
const LANES: usize = 32;

/// Values in a block, which is the part of a row that is reduced on its own. Rows that are given in chunks must be cut at
/// multiples of this, counted from the row's start.
pub const fn block_len(inner: usize) -> usize {
    if inner == 1 { 256 } else { 64 }
}

/// How many lanes fold the partials of a row's blocks.
pub const fn level2_lanes(inner: usize) -> usize {
    if inner >= 16 { 16 } else { 256 / inner.next_power_of_two() }
}

/// Reduces rows of one column that lie one after another: row `k` is `values[start(k)..start(k + 1)]`.
pub(crate) struct ReduceRows<'a, T, S, C> {
    pub(crate) values: &'a [T],
    pub(crate) start: S,
    pub(crate) identity: T,
    pub(crate) combine: C,
    /// Whether the order matters to the result's bits.
    pub(crate) ordered: bool,
    pub(crate) out: &'a mut [T],
}

impl<T: Copy, S: Fn(usize) -> usize, C: Fn(T, T) -> T + Copy> Loop for ReduceRows<'_, T, S, C> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, start, identity, combine, ordered, out } = self;
        let mut from = start(0);
        for (k, out) in out.iter_mut().enumerate() {
            let to = start(k + 1);
            let len = to - from;
            // A row's own values come first; those of the rows behind it fill its last lanes, to be set aside.
            if len == 0 {
                *out = identity;
            } else if len <= LANES {
                let lanes = first_lanes(&values[from..], len, identity);
                let of_tree = fold_lanes(lanes, combine);
                // Both are worked out where lengths vary, since a branch that is guessed wrong takes longer.
                *out = if ordered {
                    let in_order = lanes[..SHORT].iter().fold(identity, |sum, &x| combine(sum, x));
                    if len <= SHORT { in_order } else { of_tree }
                } else {
                    of_tree
                };
            } else if len <= block_len(1) {
                *out = reduce_column(&values[from..], len, identity, combine);
            } else {
                let mut fold = RowFold::new(len, 1, identity);
                fold.push(&values[from..to], combine);
                fold.finish(combine, std::slice::from_mut(out));
            }
            from = to;
        }
    }
}

/// The first `len` of the values, and identities behind them.
#[inline(always)]
fn first_lanes<T: Copy>(values: &[T], len: usize, identity: T) -> [T; LANES] {
    let len = len as u32;
    let mut lanes = match values.first_chunk() {
        Some(lanes) => *lanes,
        None => {
            let mut lanes = [identity; LANES];
            lanes[..values.len()].copy_from_slice(values);
            lanes
        }
    };
    for (lane, k) in lanes.iter_mut().zip(0u32..) {
        *lane = if k < len { *lane } else { identity };
    }
    lanes
}

/// Reduces one whole row, `inner` columns a value, to `inner` results.
pub fn reduce_row<T: Copy>(values: &[T], inner: usize, identity: T, combine: impl Fn(T, T) -> T + Copy, out: &mut [T]) {
    let len = values.len().checked_div(inner).unwrap_or(0);
    debug_assert_eq!(len * inner, values.len(), "whole values");
    debug_assert_eq!(out.len(), inner, "a result a column");
    if inner == 1 && len <= SHORT {
        out[0] = values.iter().fold(identity, |sum, &x| combine(sum, x));
    } else if len <= block_len(inner) {
        reduce_block(values, inner, identity, combine, out);
    } else {
        let mut fold = RowFold::new(len, inner, identity);
        fold.push(values, combine);
        fold.finish(combine, out);
    }
}

/// Reduces one block of a row. (A row of one block is just that, save for short rows of one column.)
pub fn reduce_block<T: Copy>(
    values: &[T],
    inner: usize,
    identity: T,
    combine: impl Fn(T, T) -> T + Copy,
    out: &mut [T],
) {
    simd::run(ReduceBlock { values, inner, identity, combine, out });
}

struct ReduceBlock<'a, T, C> {
    values: &'a [T],
    inner: usize,
    identity: T,
    combine: C,
    out: &'a mut [T],
}

impl<T: Copy, C: Fn(T, T) -> T + Copy> Loop for ReduceBlock<'_, T, C> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, inner, identity, combine, out } = self;
        match inner {
            0 => {}
            1 => out[0] = reduce_column(values, values.len(), identity, combine),
            // with the width known, the sums stay in registers
            2 => out.copy_from_slice(&fold_columns::<T, 2>(values, identity, combine)),
            3 => out.copy_from_slice(&fold_columns::<T, 3>(values, identity, combine)),
            4 => out.copy_from_slice(&fold_columns::<T, 4>(values, identity, combine)),
            8 => out.copy_from_slice(&fold_columns::<T, 8>(values, identity, combine)),
            16 => out.copy_from_slice(&fold_columns::<T, 16>(values, identity, combine)),
            _ => {
                out.fill(identity);
                for value in values.chunks_exact(inner) {
                    accumulate(out, value, combine);
                }
            }
        }
    }
}

#[inline(always)]
fn accumulate<T: Copy>(sums: &mut [T], value: &[T], combine: impl Fn(T, T) -> T + Copy) {
    for (sum, &x) in sums.iter_mut().zip(value) {
        *sum = combine(*sum, x);
    }
}

#[inline(always)]
fn fold_columns<T: Copy, const N: usize>(values: &[T], identity: T, combine: impl Fn(T, T) -> T + Copy) -> [T; N] {
    let mut sums = [identity; N];
    for value in values.as_chunks::<N>().0 {
        for (sum, &x) in sums.iter_mut().zip(value) {
            *sum = combine(*sum, x);
        }
    }
    sums
}

/// One block of one column: the first `len` of the values.
#[inline(always)]
fn reduce_column<T: Copy>(values: &[T], len: usize, identity: T, combine: impl Fn(T, T) -> T + Copy) -> T {
    let mut lanes = [identity; LANES];
    let (groups, rest) = values.split_at(len - len % LANES);
    for group in groups.as_chunks::<LANES>().0 {
        for (lane, &x) in lanes.iter_mut().zip(group) {
            *lane = combine(*lane, x);
        }
    }
    if !len.is_multiple_of(LANES) {
        let last = first_lanes(rest, len % LANES, identity);
        for (lane, x) in lanes.iter_mut().zip(last) {
            *lane = combine(*lane, x);
        }
    }
    fold_lanes(lanes, combine)
}

/// The lanes as one, the upper half added to the lower one again and again.
#[inline(always)]
fn fold_lanes<T: Copy>(mut lanes: [T; LANES], combine: impl Fn(T, T) -> T) -> T {
    for reach in [16, 8, 4, 2, 1] {
        for k in 0..reach {
            lanes[k] = combine(lanes[k], lanes[k + reach]);
        }
    }
    lanes[0]
}

/// A row of more than one block, given piece by piece: as values, or as the partials of blocks that were reduced
/// elsewhere (by [`reduce_block`], in parallel, say).
pub struct RowFold<T> {
    inner: usize,
    identity: T,
    /// Lane-major, `inner` columns each.
    lanes: Vec<T>,
    /// Blocks so far.
    blocks: usize,
    block: Vec<T>,
}

impl<T: Copy> RowFold<T> {
    /// Starts a row of `len` values.
    ///
    /// # Panics
    /// If the row fits one block: its order is another one, see [`reduce_row`].
    pub fn new(len: usize, inner: usize, identity: T) -> Self {
        assert!(len > block_len(inner), "a row of one block is reduced at once");
        // lanes without a partial would only ever add the identity
        let lanes = len.div_ceil(block_len(inner)).next_power_of_two().min(level2_lanes(inner));
        Self { inner, identity, lanes: vec![identity; lanes * inner], blocks: 0, block: vec![identity; inner] }
    }

    /// The next values. Every chunk but the last holds a multiple of [`block_len`] values.
    pub fn push(&mut self, values: &[T], combine: impl Fn(T, T) -> T + Copy) {
        let mut block = std::mem::take(&mut self.block);
        for values in values.chunks(block_len(self.inner) * self.inner) {
            reduce_block(values, self.inner, self.identity, combine, &mut block);
            self.push_partial(&block, combine);
        }
        self.block = block;
    }

    /// The partial of the next block, `inner` columns.
    pub fn push_partial(&mut self, partial: &[T], combine: impl Fn(T, T) -> T + Copy) {
        let lane = self.blocks & (self.lanes.len() / self.inner - 1);
        accumulate(&mut self.lanes[lane * self.inner..][..self.inner], partial, combine);
        self.blocks += 1;
    }

    /// The row's results.
    pub fn finish(mut self, combine: impl Fn(T, T) -> T + Copy, out: &mut [T]) {
        let mut reach = self.lanes.len() / 2;
        while reach >= self.inner {
            let (low, high) = self.lanes.split_at_mut(reach);
            accumulate(low, &high[..reach], combine);
            reach /= 2;
        }
        out.copy_from_slice(&self.lanes[..self.inner]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f32], inner: usize) -> Vec<f32> {
        let mut out = vec![f32::NAN; inner];
        reduce_row(values, inner, 0.0, |a, b| a + b, &mut out);
        out
    }

    /// The canonical order, spelled out.
    fn literal(values: &[f32]) -> f32 {
        fn tree(lanes: &[f32]) -> f32 {
            match lanes {
                [one] => *one,
                _ => {
                    let (low, high) = lanes.split_at(lanes.len() / 2);
                    tree(&low.iter().zip(high).map(|(a, b)| a + b).collect::<Vec<_>>())
                }
            }
        }
        fn strided(values: &[f32], lanes: usize) -> f32 {
            let fold = |l| values.iter().skip(l).step_by(lanes).fold(0.0, |a, b| a + b);
            tree(&(0..lanes).map(fold).collect::<Vec<_>>())
        }
        match values.len() {
            0..=16 => values.iter().fold(0.0, |a, b| a + b),
            17..=256 => strided(values, 32),
            _ => strided(&values.chunks(256).map(|block| strided(block, 32)).collect::<Vec<_>>(), 256),
        }
    }

    #[test]
    fn one_column_follows_the_stated_order() {
        for len in (0..600).chain([65_535, 65_536, 65_537, 200_001]) {
            let values: Vec<_> = (0..len).map(|k| 1.0 / (1.0 + (k * 7919 % 1009) as f32)).collect();
            assert_eq!(sum(&values, 1)[0].to_bits(), literal(&values).to_bits(), "{len}");
        }
    }

    #[test]
    fn empty_rows_and_negative_zeros_give_zero() {
        for inner in [1, 2, 5] {
            assert!(sum(&[], inner).iter().all(|x| x.to_bits() == 0));
            assert!(sum(&vec![-0.0; 700 * inner], inner).iter().all(|x| x.to_bits() == 0));
        }
    }

    #[test]
    fn chunks_and_partials_give_the_bits_of_the_whole_row() {
        for inner in [1, 2, 3, 7, 16, 40] {
            let block = block_len(inner);
            for len in [block + 1, 5 * block, 33 * block + 3, 300 * block - 1] {
                let values: Vec<_> = (0..len * inner).map(|k| ((k * 31 % 101) as f32).sqrt()).collect();
                let whole = sum(&values, inner);
                let mut out = vec![0.0; inner];
                let mut fold = RowFold::new(len, inner, 0.0);
                values.chunks(3 * block * inner).for_each(|chunk| fold.push(chunk, |a, b| a + b));
                fold.finish(|a, b| a + b, &mut out);
                assert_eq!(out, whole, "{len} x {inner} in chunks");
                let mut fold = RowFold::new(len, inner, 0.0);
                for values in values.chunks(block * inner) {
                    let mut partial = vec![0.0; inner];
                    reduce_block(values, inner, 0.0, |a, b| a + b, &mut partial);
                    fold.push_partial(&partial, |a, b| a + b);
                }
                fold.finish(|a, b| a + b, &mut out);
                assert_eq!(out, whole, "{len} x {inner} in partials");
            }
        }
    }

    #[test]
    fn several_columns_agree_with_exact_sums() {
        for inner in [2usize, 3, 4, 5, 8, 16, 33] {
            for len in [0usize, 1, 63, 64, 65, 1000, 20_000] {
                let values: Vec<u64> =
                    (0..len * inner).map(|k| (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
                let mut out = vec![1; inner];
                reduce_row(&values, inner, 0, u64::wrapping_add, &mut out);
                for (column, &x) in out.iter().enumerate() {
                    let exact = values.iter().skip(column).step_by(inner).fold(0, |a: u64, &b| a.wrapping_add(b));
                    assert_eq!(x, exact, "{len} x {inner}");
                }
            }
        }
    }
}
