//! Row reductions in the canonical order. Twin of `shaders/row_reduce.wgsl`, which states that order. The order depends
//! only on the row's length and the inner width, so results have the same bits on every backend.
//!
//! The monoid's identity must be neutral: merging any state with it must leave that state unchanged.

use super::accumulate::Monoid;
use super::simd::{self, Loop};

/// The longest row of one column that is folded left to right.
pub(super) const FOLD_LEN: usize = 16;

/// Encoded within a block, for one column.
pub(super) const LANES: usize = 32;

/// The longest row of several columns that is folded left to right; also the number of values per lane in a block of
/// several columns.
pub(super) const COLUMNS_FOLD_LEN: usize = 64;

/// Encoded within a block, for several columns.
pub(super) const fn wide_lanes(inner: usize) -> usize {
    if inner > 8 { 8 } else { inner.next_power_of_two() / 2 }
}

/// Values per block, the part of a row that is reduced independently. Rows given in chunks must be cut at multiples of
/// this, counted from the row's start.
pub const fn block_len(inner: usize) -> usize {
    if inner <= 1 { 256 } else { COLUMNS_FOLD_LEN * wide_lanes(inner) }
}

/// Number of lanes that fold the partials of a row's blocks.
pub const fn level2_lanes(inner: usize) -> usize {
    if inner >= 16 { 16 } else { 256 / inner.next_power_of_two() }
}

/// Reduces one whole row, with `inner` columns per value, to `inner` states.
#[inline(always)]
pub fn reduce_row<V: Copy, M: Monoid<V>>(values: &[V], inner: usize, monoid: M, out: &mut [M::State]) {
    let len = values.len().checked_div(inner).unwrap_or(0);
    debug_assert_eq!(len * inner, values.len(), "whole values");
    debug_assert_eq!(out.len(), inner, "a result a column");
    if inner == 1 && len <= FOLD_LEN {
        out[0] = values.iter().fold(monoid.identity(), |state, &x| monoid.push(state, x));
    } else if inner > 1 && len <= COLUMNS_FOLD_LEN {
        fold_values(values, inner, monoid, out);
    } else {
        reduce_long_row(values, inner, monoid, out);
    }
}

/// As [`reduce_row`], for a row that is not folded left to right. Not inlined: such a row takes far longer than a call.
#[inline(never)]
pub(super) fn reduce_long_row<V: Copy, M: Monoid<V>>(values: &[V], inner: usize, monoid: M, out: &mut [M::State]) {
    if values.len() <= block_len(inner) * inner {
        return monoid.block(values, inner, out);
    }
    let mut fold = RowFold::new(values.len() / inner, inner, monoid);
    fold.push(values);
    fold.finish(out);
}

/// Reduces consecutive rows of several columns. The values of row `k` begin at value `start(k)`.
pub(super) fn reduce_columns<V: Copy, M: Monoid<V>>(
    values: &[V],
    inner: usize,
    monoid: M,
    start: impl Fn(usize) -> usize,
    out: &mut [M::State],
) {
    simd::run(RowsOfColumns { values, inner, monoid, start, out });
}

struct RowsOfColumns<'a, V, M: Monoid<V>, S> {
    values: &'a [V],
    inner: usize,
    monoid: M,
    start: S,
    out: &'a mut [M::State],
}

impl<V: Copy, M: Monoid<V>, S: Fn(usize) -> usize> Loop for RowsOfColumns<'_, V, M, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, inner, monoid, start, out } = self;
        let mut from = start(0);
        for (k, out) in out.chunks_exact_mut(inner).enumerate() {
            let to = start(k + 1);
            let values = &values[from * inner..to * inner];
            if to - from <= COLUMNS_FOLD_LEN {
                fold_values(values, inner, monoid, out);
            } else {
                reduce_long_row(values, inner, monoid, out);
            }
            from = to;
        }
    }
}

/// Reduces one block of a row of several columns.
pub(super) fn reduce_block_of_columns<V: Copy, M: Monoid<V>>(
    values: &[V],
    inner: usize,
    monoid: M,
    out: &mut [M::State],
) {
    simd::run(BlockOfColumns { values, inner, monoid, out });
}

struct BlockOfColumns<'a, V, M: Monoid<V>> {
    values: &'a [V],
    inner: usize,
    monoid: M,
    out: &'a mut [M::State],
}

impl<V: Copy, M: Monoid<V>> Loop for BlockOfColumns<'_, V, M> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, inner, monoid, out } = self;
        match inner {
            0 => {}
            2 => out.copy_from_slice(&fold_columns::<V, M, 2>(values, monoid)),
            // All lanes side by side are folded as that many more columns.
            3 => merge_lanes(&mut fold_columns::<V, M, 6>(values, monoid), monoid, out),
            4 => merge_lanes(&mut fold_columns::<V, M, 8>(values, monoid), monoid, out),
            8 => merge_lanes(&mut fold_columns::<V, M, 32>(values, monoid), monoid, out),
            16 => merge_lanes(&mut fold_columns::<V, M, 128>(values, monoid), monoid, out),
            _ => {
                let mut lanes = vec![monoid.identity(); wide_lanes(inner) * inner];
                for values in values.chunks(lanes.len()) {
                    push_each(&mut lanes, values, monoid);
                }
                merge_lanes(&mut lanes, monoid, out);
            }
        }
    }
}

/// Reduces one block of a row. A row of one block is reduced in the same way, except for short rows.
pub fn reduce_block<V: Copy, M: Monoid<V>>(values: &[V], inner: usize, monoid: M, out: &mut [M::State]) {
    match inner {
        1 => out[0] = reduce_column(values, monoid),
        _ => reduce_block_of_columns(values, inner, monoid, out),
    }
}

/// Merges lanes in a halving tree. Each lane has as many columns as `out`.
#[inline(always)]
pub(super) fn merge_lanes<V: Copy, M: Monoid<V>>(lanes: &mut [M::State], monoid: M, out: &mut [M::State]) {
    let mut reach = lanes.len() / 2;
    while reach >= out.len() {
        let (low, high) = lanes.split_at_mut(reach);
        merge_each(low, &high[..reach], monoid);
        reach /= 2;
    }
    out.copy_from_slice(&lanes[..out.len()]);
}

/// Folds the values left to right, column by column.
#[inline(always)]
fn fold_values<V: Copy, M: Monoid<V>>(values: &[V], inner: usize, monoid: M, out: &mut [M::State]) {
    match inner {
        // A constant width keeps the states in registers.
        2 => out.copy_from_slice(&fold_columns::<V, M, 2>(values, monoid)),
        3 => out.copy_from_slice(&fold_columns::<V, M, 3>(values, monoid)),
        4 => out.copy_from_slice(&fold_columns::<V, M, 4>(values, monoid)),
        8 => out.copy_from_slice(&fold_columns::<V, M, 8>(values, monoid)),
        16 => out.copy_from_slice(&fold_columns::<V, M, 16>(values, monoid)),
        _ => {
            out.fill(monoid.identity());
            for value in values.chunks_exact(inner) {
                push_each(out, value, monoid);
            }
        }
    }
}

#[inline(always)]
pub(super) fn push_each<V: Copy, M: Monoid<V>>(states: &mut [M::State], values: &[V], monoid: M) {
    for (state, &x) in states.iter_mut().zip(values) {
        *state = monoid.push(*state, x);
    }
}

#[inline(always)]
fn merge_each<V: Copy, M: Monoid<V>>(states: &mut [M::State], more: &[M::State], monoid: M) {
    for (state, &x) in states.iter_mut().zip(more) {
        *state = monoid.merge(*state, x);
    }
}

#[inline(always)]
fn fold_columns<V: Copy, M: Monoid<V>, const N: usize>(values: &[V], monoid: M) -> [M::State; N] {
    let mut states = [monoid.identity(); N];
    let (chunks, rest) = values.as_chunks::<N>();
    for value in chunks {
        for (state, &x) in states.iter_mut().zip(value) {
            *state = monoid.push(*state, x);
        }
    }
    push_each(&mut states, rest, monoid);
    states
}

/// Reduces one block of one column.
#[inline(always)]
fn reduce_column<V: Copy, M: Monoid<V>>(values: &[V], monoid: M) -> M::State {
    let mut lanes = [monoid.identity(); LANES];
    let (groups, rest) = values.as_chunks::<LANES>();
    for group in groups {
        for (lane, &x) in lanes.iter_mut().zip(group) {
            *lane = monoid.push(*lane, x);
        }
    }
    push_each(&mut lanes, rest, monoid);
    let mut reach = LANES / 2;
    while reach > 0 {
        for k in 0..reach {
            lanes[k] = monoid.merge(lanes[k], lanes[k + reach]);
        }
        reach /= 2;
    }
    lanes[0]
}

/// Incremental reduction of a row of more than one block. The row is given as values, or as the partials of blocks that
/// were reduced elsewhere, such as by [`reduce_block`] in parallel.
pub struct RowFold<V, M: Monoid<V>> {
    inner: usize,
    monoid: M,
    /// Value-major, `inner` columns each.
    lanes: Vec<M::State>,
    /// Number of blocks so far.
    blocks: usize,
    block: Vec<M::State>,
}

impl<V: Copy, M: Monoid<V>> RowFold<V, M> {
    /// Starts a row of `len` values.
    ///
    /// # Panics
    /// If the row fits one block, whose order differs: see [`reduce_row`].
    pub fn new(len: usize, inner: usize, monoid: M) -> Self {
        assert!(len > block_len(inner), "a row of one block is reduced at once");
        // Encoded without a partial would only merge the identity state.
        let lanes = len.div_ceil(block_len(inner)).next_power_of_two().min(level2_lanes(inner));
        let none = monoid.identity();
        Self { inner, monoid, lanes: vec![none; lanes * inner], blocks: 0, block: vec![none; inner] }
    }

    /// Adds the next values. Every chunk but the last must hold a multiple of [`block_len`] values.
    pub fn push(&mut self, values: &[V]) {
        let mut block = std::mem::take(&mut self.block);
        for values in values.chunks(block_len(self.inner) * self.inner) {
            self.monoid.block(values, self.inner, &mut block);
            self.push_partial(&block);
        }
        self.block = block;
    }

    /// Adds the partial of the next block, `inner` columns.
    pub fn push_partial(&mut self, partial: &[M::State]) {
        let lane = self.blocks & (self.lanes.len() / self.inner - 1);
        merge_each(&mut self.lanes[lane * self.inner..][..self.inner], partial, self.monoid);
        self.blocks += 1;
    }

    /// Stores the row's results.
    pub fn finish(mut self, out: &mut [M::State]) {
        merge_lanes(&mut self.lanes, self.monoid, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::accumulate::Plain;

    const ADD: Plain<f32, fn(f32, f32) -> f32> = Plain { identity: 0.0, combine: |a, b| a + b };

    fn sum(values: &[f32], inner: usize) -> Vec<f32> {
        let mut out = vec![f32::NAN; inner];
        reduce_row(values, inner, ADD, &mut out);
        out
    }

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

    /// The canonical order of one column of several, spelled out.
    fn literal_of_several(values: &[f32], inner: usize) -> f32 {
        let (lanes, level2) = match inner {
            2 => (1, 128),
            3..=4 => (2, 64),
            5..=8 => (4, 32),
            _ => (8, 16),
        };
        match values.len() {
            0..=64 => strided(values, 1),
            _ => {
                let partials: Vec<_> = values.chunks(64 * lanes).map(|block| strided(block, lanes)).collect();
                if partials.len() == 1 { partials[0] } else { strided(&partials, level2) }
            }
        }
    }

    #[test]
    fn several_columns_follow_the_stated_order() {
        for inner in [2, 3, 4, 5, 7, 8, 9, 16, 40] {
            for len in [0, 1, 5, 63, 64, 65, 66, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1025, 9000] {
                let values: Vec<_> = (0..len * inner).map(|k| 1.0 / (1.0 + (k * 7919 % 1009) as f32)).collect();
                for (column, sum) in sum(&values, inner).into_iter().enumerate() {
                    let of_column: Vec<f32> = values.iter().skip(column).step_by(inner).copied().collect();
                    let want = literal_of_several(&of_column, inner);
                    assert_eq!(sum.to_bits(), want.to_bits(), "{len} x {inner}, column {column}");
                }
            }
        }
    }

    /// The canonical order of one column, spelled out.
    fn literal(values: &[f32]) -> f32 {
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
                let mut fold = RowFold::new(len, inner, ADD);
                values.chunks(3 * block * inner).for_each(|chunk| fold.push(chunk));
                fold.finish(&mut out);
                assert_eq!(out, whole, "{len} x {inner} in chunks");
                let mut fold = RowFold::new(len, inner, ADD);
                for values in values.chunks(block * inner) {
                    let mut partial = vec![0.0; inner];
                    reduce_block(values, inner, ADD, &mut partial);
                    fold.push_partial(&partial);
                }
                fold.finish(&mut out);
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
                let add = Plain { identity: 0, combine: u64::wrapping_add };
                reduce_row(&values, inner, add, &mut out);
                for (column, &x) in out.iter().enumerate() {
                    let exact = values.iter().skip(column).step_by(inner).fold(0, |a: u64, &b| a.wrapping_add(b));
                    assert_eq!(x, exact, "{len} x {inner}");
                }
            }
        }
    }
}
