//! Row reductions in the canonical order. Twin of `shaders/row_reduce.wgsl`, which states that order: it depends on the
//! row's length and the inner width alone, so that results have the same bits on every backend.
//!
//! `combine(v, identity)` must be `v` for every `v` that a fold from `identity` can give.

/// The longest row of one column that is folded left to right.
const SHORT: usize = 16;

/// Lanes within a block, for one column.
const LANES: usize = 32;

/// The longest row of several columns that is folded, and the values of a lane in a block of such.
const FOLDED: usize = 64;

/// Lanes within a block, for several columns.
const fn wide_lanes(inner: usize) -> usize {
    if inner > 8 { 8 } else { inner.next_power_of_two() / 2 }
}

/// Values in a block, which is the part of a row that is reduced on its own. Rows that are given in chunks must be cut at
/// multiples of this, counted from the row's start.
pub const fn block_len(inner: usize) -> usize {
    if inner <= 1 { 256 } else { FOLDED * wide_lanes(inner) }
}

/// How many lanes fold the partials of a row's blocks.
pub const fn level2_lanes(inner: usize) -> usize {
    if inner >= 16 { 16 } else { 256 / inner.next_power_of_two() }
}

/// Reduces one whole row, `inner` columns a value, to `inner` results.
pub fn reduce_row<T: Copy>(values: &[T], inner: usize, identity: T, combine: impl Fn(T, T) -> T + Copy, out: &mut [T]) {
    let len = values.len().checked_div(inner).unwrap_or(0);
    debug_assert_eq!(len * inner, values.len(), "whole values");
    debug_assert_eq!(out.len(), inner, "a result a column");
    if inner == 1 && len <= SHORT {
        out[0] = values.iter().fold(identity, |sum, &x| combine(sum, x));
    } else if inner > 1 && len <= FOLDED {
        fold_values(values, inner, identity, combine, out);
    } else if len <= block_len(inner) {
        reduce_block(values, inner, identity, combine, out);
    } else {
        let mut fold = RowFold::new(len, inner, identity);
        fold.push(values, combine);
        fold.finish(combine, out);
    }
}

/// Reduces one block of a row. (A row of one block is just that, save for short rows.)
pub fn reduce_block<T: Copy>(
    values: &[T],
    inner: usize,
    identity: T,
    combine: impl Fn(T, T) -> T + Copy,
    out: &mut [T],
) {
    match inner {
        0 => {}
        1 => out[0] = reduce_column(values, identity, combine),
        2 => fold_values(values, inner, identity, combine, out),
        // The values of all lanes side by side are so many columns more.
        3 => combine_lanes(&mut fold_columns::<T, 6>(values, identity, combine), combine, out),
        4 => combine_lanes(&mut fold_columns::<T, 8>(values, identity, combine), combine, out),
        8 => combine_lanes(&mut fold_columns::<T, 32>(values, identity, combine), combine, out),
        16 => combine_lanes(&mut fold_columns::<T, 128>(values, identity, combine), combine, out),
        _ => {
            let mut lanes = vec![identity; wide_lanes(inner) * inner];
            for values in values.chunks(lanes.len()) {
                accumulate(&mut lanes, values, combine);
            }
            combine_lanes(&mut lanes, combine, out);
        }
    }
}

/// A halving tree over lanes of as many columns as `out` has.
fn combine_lanes<T: Copy>(lanes: &mut [T], combine: impl Fn(T, T) -> T + Copy, out: &mut [T]) {
    let mut reach = lanes.len() / 2;
    while reach >= out.len() {
        let (low, high) = lanes.split_at_mut(reach);
        accumulate(low, &high[..reach], combine);
        reach /= 2;
    }
    out.copy_from_slice(&lanes[..out.len()]);
}

/// Folds the values, column by column.
fn fold_values<T: Copy>(values: &[T], inner: usize, identity: T, combine: impl Fn(T, T) -> T + Copy, out: &mut [T]) {
    match inner {
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

fn accumulate<T: Copy>(sums: &mut [T], value: &[T], combine: impl Fn(T, T) -> T + Copy) {
    for (sum, &x) in sums.iter_mut().zip(value) {
        *sum = combine(*sum, x);
    }
}

fn fold_columns<T: Copy, const N: usize>(values: &[T], identity: T, combine: impl Fn(T, T) -> T + Copy) -> [T; N] {
    let mut sums = [identity; N];
    let (chunks, rest) = values.as_chunks::<N>();
    for value in chunks {
        for (sum, &x) in sums.iter_mut().zip(value) {
            *sum = combine(*sum, x);
        }
    }
    accumulate(&mut sums, rest, combine);
    sums
}

/// One block of one column.
fn reduce_column<T: Copy>(values: &[T], identity: T, combine: impl Fn(T, T) -> T + Copy) -> T {
    let mut lanes = [identity; LANES];
    let (groups, rest) = values.as_chunks::<LANES>();
    for group in groups {
        for (lane, &x) in lanes.iter_mut().zip(group) {
            *lane = combine(*lane, x);
        }
    }
    accumulate(&mut lanes, rest, combine);
    let mut reach = LANES / 2;
    while reach > 0 {
        for k in 0..reach {
            lanes[k] = combine(lanes[k], lanes[k + reach]);
        }
        reach /= 2;
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
        combine_lanes(&mut self.lanes, combine, out);
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
