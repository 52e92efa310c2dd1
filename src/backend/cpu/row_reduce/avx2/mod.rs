//! Sums, products, minima and maxima of rows of one column in AVX2, in the order of `row_reduce`.
//!
//! The dominant cost of short rows is the misprediction of loop exits. A row is therefore folded in 32 lanes, with the
//! lanes beyond its end masked, so that no branch depends on a length from 1 to 31. The kernels use intrinsics, because
//! compilers turn the masks of array loops into branches, or their lanes into scalars. Measured, for rows of 0 to 31
//! values: 9 to 16 ns per row with array loops, 4 to 6 ns with intrinsics, and half of that for eight rows at a time.
//!
//! A vector holds `W` numbers: 8 of one word (32 bits), or 4 of two. The lanes of a row occupy `N` vectors: 4 or 8.

mod vector;

use std::arch::x86_64::__m256;

use self::vector::{combine, exceed, identity, lift, mask_tail, reduce_each, transpose, zero};
use super::VectorMonoid;
use super::reduce_long_row;
use crate::backend::cpu::accumulate::Reducible;
use crate::graph::canonical_order::reduction::{FOLD_LEN, LANES, block_len};

/// Reduces consecutive rows. The values of row `k` begin at value `start(k)`.
#[target_feature(enable = "avx2")]
pub(super) fn rows<V: Reducible, M: VectorMonoid<V>>(
    monoid: M,
    values: &[V],
    start: impl Fn(usize) -> usize,
    out: &mut [M::State],
) {
    match const { size_of::<V>() } {
        4 => rows_of::<V, M, 4, 8>(monoid, values, start, out),
        8 => rows_of::<V, M, 8, 4>(monoid, values, start, out),
        _ => unreachable!("bug: numbers of one word or two"),
    }
}

/// Reduces one block of a row of several blocks.
#[target_feature(enable = "avx2")]
pub(super) fn block<V: Reducible, M: VectorMonoid<V>>(values: &[V]) -> M::State {
    match const { size_of::<V>() } {
        4 => tree::<V, M, 4>(lanes::<V, M, 4, 8>(values, values.len())),
        8 => tree::<V, M, 8>(lanes::<V, M, 8, 4>(values, values.len())),
        _ => unreachable!("bug: numbers of one word or two"),
    }
}

/// As [`rows`]; short rows are reduced `W` at a time.
#[target_feature(enable = "avx2")]
#[inline]
fn rows_of<V: Reducible, M: VectorMonoid<V>, const N: usize, const W: usize>(
    monoid: M,
    values: &[V],
    start: impl Fn(usize) -> usize,
    out: &mut [M::State],
) {
    let mut first = 0;
    for out in out.chunks_mut(W) {
        let end = first + out.len();
        let mut starts = [start(first); W];
        for (k, slot) in starts.iter_mut().enumerate() {
            *slot = start(end.min(first + k));
        }
        let last = start(end.min(first + W));
        let mut ends = [last; W];
        ends[..W - 1].copy_from_slice(&starts[1..]);
        first = end;
        if starts[0] == last {
            out.fill(monoid.identity());
        } else if let Some(states) = short_rows::<V, M, N, W>(values, &starts, &ends) {
            out.copy_from_slice(&bytemuck::cast_slice(&[states])[..out.len()]);
        } else {
            for (out, (&from, &to)) in out.iter_mut().zip(starts.iter().zip(&ends)) {
                *out = one_row::<V, M, N, W>(monoid, values, from, to);
            }
        }
    }
}

/// Reduces the row `values[from..to]`.
#[target_feature(enable = "avx2")]
#[inline]
fn one_row<V: Reducible, M: VectorMonoid<V>, const N: usize, const W: usize>(
    monoid: M,
    values: &[V],
    from: usize,
    to: usize,
) -> M::State {
    let mut out = monoid.identity();
    match to - from {
        0 => {}
        len if len <= block_len(1) => out = row::<V, M, N, W>(monoid, &values[from..], len),
        _ => out = reduce_long_row(monoid, &values[from..to]),
    }
    out
}

/// Reduces `W` rows of at most [`LANES`] values each; row `k` is `values[starts[k]..ends[k]]`. `None` if a row is
/// longer, or if fewer than [`LANES`] values follow the last row's start. Values beyond a row's end are read and
/// masked.
///
/// The values of `W` rows form squares of `W` by `W`. A transposed square holds the first values of all rows in one
/// vector, their second values in the next, and so on, so that `W` left folds run in parallel. `W` halving trees in
/// parallel cost little more than one.
#[target_feature(enable = "avx2")]
#[inline]
fn short_rows<V: Reducible, M: VectorMonoid<V>, const N: usize, const W: usize>(
    values: &[V],
    starts: &[usize; W],
    ends: &[usize; W],
) -> Option<__m256> {
    let mut lens = [0; W];
    for k in 0..W {
        lens[k] = ends[k] - starts[k];
    }
    let longest = lens.iter().fold(0, |longest, &len| len.max(longest));
    if longest > LANES || starts[W - 1] + LANES > values.len() {
        return None;
    }
    // Square `j` holds values `j * W..(j + 1) * W` of all rows.
    let (mut squares, mut folded) = ([[zero(); W]; N], [zero(); W]);
    for k in 0..W {
        let values: &[V; LANES] = values.get(starts[k]..)?.first_chunk()?;
        let mut kept = [zero(); N];
        for (j, values) in values.as_chunks::<W>().0.iter().enumerate() {
            kept[j] = mask_tail::<W>(identity::<V, M>(), lift::<V, M, W>(values), lens[k], j);
            squares[j][k] = kept[j];
        }
        folded[k] = merge_vectors::<V, M, N>(kept);
    }
    let of_lanes = reduce_each::<V, M, W>(folded);
    if !M::IS_ORDERED {
        return Some(of_lanes);
    }
    // Both orders are computed, as in `row`.
    let mut in_order = identity::<V, M>();
    for square in &squares[..FOLD_LEN / W] {
        for values in transpose::<W>(*square) {
            in_order = combine::<V, M>(in_order, values);
        }
    }
    let of_lanes = combine::<V, M>(of_lanes, identity::<V, M>());
    Some(vector::blend(exceed::<W>(&lens, FOLD_LEN), of_lanes, in_order))
}

/// Reduces a row of at most one block: the first `len` of `values`. The following values belong to the next rows.
#[target_feature(enable = "avx2")]
#[inline]
fn row<V: Reducible, M: VectorMonoid<V>, const N: usize, const W: usize>(
    monoid: M,
    values: &[V],
    len: usize,
) -> M::State {
    let lanes = lanes::<V, M, N, W>(values, len);
    let of_lanes = tree::<V, M, N>(lanes);
    if !M::IS_ORDERED {
        return of_lanes;
    }
    // Both orders are computed, since a branch on the length would be mispredicted.
    let first: &[V] = bytemuck::cast_slice(&lanes[..FOLD_LEN / W]);
    let in_order = first.iter().fold(monoid.identity(), |so_far, &x| monoid.push(so_far, x));
    std::hint::select_unpredictable(len <= FOLD_LEN, in_order, of_lanes)
}

/// Folds the values of a row into `N` vectors of lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn lanes<V: Reducible, M: VectorMonoid<V>, const N: usize, const W: usize>(values: &[V], len: usize) -> [__m256; N] {
    let mut lanes = [identity::<V, M>(); N];
    let (groups, rest) = values[..len].as_chunks::<LANES>();
    for group in groups {
        for (lanes, values) in lanes.iter_mut().zip(group.as_chunks::<W>().0) {
            *lanes = combine::<V, M>(*lanes, lift::<V, M, W>(values));
        }
    }
    if !rest.is_empty() {
        let mut copy = [V::zeroed(); LANES];
        // Values beyond the row's end, if any, are read and masked.
        let group = values[len - rest.len()..].first_chunk().unwrap_or_else(|| {
            copy[..rest.len()].copy_from_slice(rest);
            &copy
        });
        for (j, values) in group.as_chunks::<W>().0.iter().enumerate() {
            let kept = mask_tail::<W>(identity::<V, M>(), lift::<V, M, W>(values), rest.len(), j);
            lanes[j] = combine::<V, M>(lanes[j], kept);
        }
    }
    lanes
}

/// A halving tree over the lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn tree<V: Reducible, M: VectorMonoid<V>, const N: usize>(lanes: [__m256; N]) -> M::State {
    let one = vector::reduce::<V, M>(merge_vectors::<V, M, N>(lanes));
    // A fold from the identity element 0 never gives -0. The tree alone gives -0 if all lanes are -0.
    let one = if M::IS_ORDERED { combine::<V, M>(one, identity::<V, M>()) } else { one };
    bytemuck::cast_slice(&[one])[0]
}

/// The first levels of the halving tree: merges `N` vectors into one.
#[target_feature(enable = "avx2")]
#[inline]
fn merge_vectors<V: Reducible, M: VectorMonoid<V>, const N: usize>(mut lanes: [__m256; N]) -> __m256 {
    let mut reach = N / 2;
    while reach > 0 {
        for j in 0..reach {
            lanes[j] = combine::<V, M>(lanes[j], lanes[j + reach]);
        }
        reach /= 2;
    }
    lanes[0]
}
