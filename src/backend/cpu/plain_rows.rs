//! Reduces rows for monoids whose states are plain values, in loops compiled for wide vectors. The order is that of
//! `row_reduce`.

use bytemuck::Pod;

use super::accumulate::{Monoid, Plain};
use super::row_reduce::{reduce_block, reduce_row};
use super::simd::Loop;
use crate::graph::canonical_order::reduction::{LANES, SHORT, block_len};

/// Consecutive rows: the values of row `k` begin at value `start(k)`.
pub(super) struct PlainRows<'a, V, F, S> {
    pub(super) plain: Plain<V, F>,
    pub(super) values: &'a [V],
    pub(super) inner: usize,
    pub(super) start: S,
    pub(super) out: &'a mut [V],
}

impl<V, F, S> Loop for PlainRows<'_, V, F, S>
where
    V: Pod + Send + Sync,
    F: Fn(V, V) -> V + Copy + Sync,
    S: Fn(usize) -> usize,
{
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { plain, values, inner, start, out } = self;
        let mut from = start(0);
        for (k, out) in out.chunks_exact_mut(inner).enumerate() {
            let to = start(k + 1);
            match to - from {
                0 => out.fill(plain.identity),
                len @ 1..=LANES if inner == 1 => out[0] = short_row(&values[from..], len, plain),
                len if inner == 1 && len <= block_len(1) => out[0] = row_of_a_block(&values[from..], len, plain),
                _ => reduce_row(&values[from * inner..to * inner], inner, plain, out),
            }
            from = to;
        }
    }
}

/// One block of a row.
pub(super) struct PlainBlock<'a, V, F> {
    pub(super) plain: Plain<V, F>,
    pub(super) values: &'a [V],
    pub(super) inner: usize,
    pub(super) out: &'a mut [V],
}

impl<V: Pod + Send + Sync, F: Fn(V, V) -> V + Copy + Sync> Loop for PlainBlock<'_, V, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        reduce_block(self.values, self.inner, self.plain, self.out);
    }
}

/// Reduces a row of one column and at most [`LANES`] values: the first `len` of `values`, which continue with the next
/// rows.
///
/// Masking unused lanes takes less time than a loop of the row's length, which mispredicts its exit branch where
/// lengths vary. For the same reason both orders, fold and tree, are computed.
#[inline(always)]
fn short_row<V: Pod + Send + Sync, F: Fn(V, V) -> V + Copy + Sync>(values: &[V], len: usize, plain: Plain<V, F>) -> V {
    let mut lanes = first_lanes(values, len, plain.identity);
    let in_order = match plain.ordered {
        true => lanes[..SHORT].iter().fold(plain.identity, |so_far, &x| plain.push(so_far, x)),
        false => plain.identity,
    };
    tree(&mut lanes, plain);
    // A fold from the identity never gives -0. A tree without the identity does if all lanes are -0.
    if plain.ordered && len <= SHORT { in_order } else { plain.push(plain.identity, lanes[0]) }
}

/// Reduces a row of one column, with more than [`LANES`] values and at most one block: the first `len` of `values`,
/// which continue with the next rows.
#[inline(always)]
fn row_of_a_block<V: Pod + Send + Sync, F: Fn(V, V) -> V + Copy + Sync>(
    values: &[V],
    len: usize,
    plain: Plain<V, F>,
) -> V {
    let mut lanes = [plain.identity; LANES];
    let mut push = |values: &[V; LANES]| {
        for (lane, &x) in lanes.iter_mut().zip(values) {
            *lane = plain.push(*lane, x);
        }
    };
    let (groups, rest) = values[..len].as_chunks::<LANES>();
    groups.iter().for_each(&mut push);
    if !rest.is_empty() {
        push(&first_lanes(&values[len - rest.len()..], rest.len(), plain.identity));
    }
    tree(&mut lanes, plain);
    lanes[0]
}

/// Merges the lanes in a halving tree; the result is in the first lane.
#[inline(always)]
fn tree<V: Pod + Send + Sync, F: Fn(V, V) -> V + Copy + Sync>(lanes: &mut [V; LANES], plain: Plain<V, F>) {
    for reach in [16, 8, 4, 2, 1] {
        for k in 0..reach {
            lanes[k] = plain.merge(lanes[k], lanes[k + reach]);
        }
    }
}

/// The first `len` values, padded with the identity. The selection masks bits, because compilers turn a conditional
/// into branches.
#[inline(always)]
fn first_lanes<V: Pod>(values: &[V], len: usize, identity: V) -> [V; LANES] {
    let mut lanes = match values.first_chunk() {
        Some(lanes) => *lanes,
        None => {
            let mut lanes = [identity; LANES];
            lanes[..values.len()].copy_from_slice(values);
            lanes
        }
    };
    let masks = masks(len).iter();
    macro_rules! mask {
        ($bits:ty) => {{
            let identity: $bits = bytemuck::cast(identity);
            for (lane, &mask) in bytemuck::cast_slice_mut::<V, $bits>(&mut lanes).iter_mut().zip(masks) {
                let mask = mask as i32 as $bits;
                *lane = *lane & mask | identity & !mask;
            }
        }};
    }
    match size_of::<V>() {
        4 => mask!(u32),
        8 => mask!(u64),
        _ => lanes[len..].fill(identity),
    }
    lanes
}

/// Lane masks: all bits set in the first `n` lanes, none in the others.
#[inline(always)]
pub(super) fn masks(n: usize) -> &'static [u32; LANES] {
    static WINDOWS: [u32; 2 * LANES] = {
        let mut windows = [0; 2 * LANES];
        let mut k = 0;
        while k < LANES {
            windows[k] = u32::MAX;
            k += 1;
        }
        windows
    };
    WINDOWS[LANES - n..].first_chunk().expect("bug: more lanes than there are")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks rows of various lengths, some of which end where the values end.
    fn check<V: Pod + Send + Sync + PartialEq + std::fmt::Debug>(
        value: impl Fn(usize) -> V,
        plain: Plain<V, impl Fn(V, V) -> V + Copy + Sync>,
    ) {
        for inner in [1, 2, 3, 7, 16, 40] {
            let lens = (0..70).chain([255, 256, 257, 300, 0, 513, 1030, 5, 1]);
            let starts: Vec<usize> = lens.scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
            let rows = starts.len() - 1;
            let values: Vec<V> = (0..starts[rows] * inner).map(&value).collect();
            let mut crowd = vec![value(1); rows * inner];
            plain.rows(&values, inner, |k| starts[k], &mut crowd);
            for (k, crowd) in crowd.chunks_exact(inner).enumerate() {
                let mut alone = vec![value(2); inner];
                reduce_row(&values[starts[k] * inner..starts[k + 1] * inner], inner, plain, &mut alone);
                assert_eq!(crowd, alone, "row {k}, {inner} columns");
            }
        }
    }

    #[test]
    fn rows_in_a_crowd_have_the_bits_of_rows_alone() {
        let fraction = |k: usize| 1.0 / (1.0 + (k * 7919 % 1009) as f32);
        check(fraction, Plain { identity: 0.0, combine: |a: f32, b: f32| a + b, ordered: true });
        // Minima do not depend on the order.
        check(fraction, Plain { identity: f32::INFINITY, combine: f32::min, ordered: false });
        let wide = |k: usize| f64::from(fraction(k));
        check(wide, Plain { identity: 0.0, combine: |a: f64, b: f64| a + b, ordered: true });
        let near_one = |k: usize| 0.5 + wide(k);
        check(near_one, Plain { identity: 1.0, combine: |a: f64, b: f64| a * b, ordered: true });
        let long = |k: usize| (k as i64).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
        check(long, Plain { identity: 0, combine: i64::wrapping_add, ordered: false });
        check(long, Plain { identity: i64::MIN, combine: i64::max, ordered: false });
        let byte = |k: usize| (k * 7919 % 251) as u8;
        check(byte, Plain { identity: 0, combine: u8::max, ordered: false });
    }
}
