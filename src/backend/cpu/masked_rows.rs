//! Row reductions of one column in portable Rust, with masked lanes for short rows: the fallback of `vector_rows`
//! without AVX2. The order of operations is that of `row_reduce`.

use bytemuck::Pod;

use super::row_reduce::{Monoid, reduce_long_row};
use crate::graph::canonical_order::reduction::{FOLD_LEN, LANES, block_len};

/// Reduces consecutive rows: the values of row `k` begin at value `start(k)`. If `ordered`, the bits of a result depend
/// on the order of the values.
pub(super) fn reduce_rows<V: Pod, M: Monoid<V, State = V>>(
    values: &[V],
    monoid: M,
    ordered: bool,
    start: impl Fn(usize) -> usize,
    out: &mut [V],
) {
    let mut from = start(0);
    for (k, out) in out.iter_mut().enumerate() {
        let to = start(k + 1);
        match to - from {
            0 => *out = monoid.identity(),
            len @ 1..=LANES => *out = short_row(&values[from..], len, monoid, ordered),
            len if len <= block_len(1) => *out = row_of_a_block(&values[from..], len, monoid),
            _ => reduce_long_row(&values[from..to], 1, monoid, std::slice::from_mut(out)),
        }
        from = to;
    }
}

/// Reduces a row of one column and at most [`LANES`] values: the first `len` of `values`. The following values belong
/// to the next rows and are masked.
///
/// A loop of the row's length would mispredict its exit branch. For the same reason both orders, fold and tree, are
/// computed and one is selected.
#[inline(always)]
fn short_row<V: Pod, M: Monoid<V, State = V>>(values: &[V], len: usize, monoid: M, ordered: bool) -> V {
    let mut lanes = first_lanes(values, len, monoid.identity());
    let in_order = match ordered {
        true => lanes[..FOLD_LEN].iter().fold(monoid.identity(), |so_far, &x| monoid.push(so_far, x)),
        false => monoid.identity(),
    };
    tree(&mut lanes, monoid);
    // A fold from the identity element 0 never gives -0. The tree alone gives -0 if all lanes are -0.
    if ordered && len <= FOLD_LEN { in_order } else { monoid.push(monoid.identity(), lanes[0]) }
}

/// Reduces a row of one column, with more than [`LANES`] values and at most one block: the first `len` of `values`. The
/// following values belong to the next rows.
#[inline(always)]
fn row_of_a_block<V: Pod, M: Monoid<V, State = V>>(values: &[V], len: usize, monoid: M) -> V {
    let mut lanes = [monoid.identity(); LANES];
    let mut push = |values: &[V; LANES]| {
        for (lane, &x) in lanes.iter_mut().zip(values) {
            *lane = monoid.push(*lane, x);
        }
    };
    let (groups, rest) = values[..len].as_chunks::<LANES>();
    groups.iter().for_each(&mut push);
    if !rest.is_empty() {
        push(&first_lanes(&values[len - rest.len()..], rest.len(), monoid.identity()));
    }
    tree(&mut lanes, monoid);
    lanes[0]
}

/// Merges the lanes in a halving tree; the result is in the first lane.
#[inline(always)]
fn tree<V: Pod, M: Monoid<V, State = V>>(lanes: &mut [V; LANES], monoid: M) {
    for reach in [16, 8, 4, 2, 1] {
        for k in 0..reach {
            lanes[k] = monoid.merge(lanes[k], lanes[k + reach]);
        }
    }
}

/// The first `len` values, padded with the identity element. The padding masks bits, because compilers turn
/// conditionals into branches.
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
    let masks = lane_masks(len).iter();
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
pub(super) fn lane_masks(n: usize) -> &'static [u32; LANES] {
    static MASKS: [u32; 2 * LANES] = {
        let mut masks = [0; 2 * LANES];
        let mut k = 0;
        while k < LANES {
            masks[k] = u32::MAX;
            k += 1;
        }
        masks
    };
    MASKS[LANES - n..].first_chunk().expect("bug: a mask of too many lanes")
}

#[cfg(test)]
mod tests {
    use super::super::row_reduce::{Plain, reduce_row};
    use super::*;

    /// Compares rows of various lengths, up to the end of the values, with `reduce_row`.
    fn check<V: Pod + PartialEq + std::fmt::Debug, M: Monoid<V, State = V>>(
        value: impl Fn(usize) -> V,
        monoid: M,
        ordered: bool,
    ) {
        let lens = (0..70).chain([255, 256, 257, 300, 0, 513, 1030, 5, 1]);
        let starts: Vec<usize> = lens.scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
        let rows = starts.len() - 1;
        let values: Vec<V> = (0..starts[rows]).map(&value).collect();
        let mut batch = vec![value(1); rows];
        reduce_rows(&values, monoid, ordered, |k| starts[k], &mut batch);
        for (k, &reduced) in batch.iter().enumerate() {
            let mut single = [value(2)];
            reduce_row(&values[starts[k]..starts[k + 1]], 1, monoid, &mut single);
            assert_eq!(reduced, single[0], "row {k}");
        }
    }

    #[test]
    fn batched_rows_have_the_bits_of_the_canonical_order() {
        let fraction = |k: usize| 1.0 / (1.0 + (k * 7919 % 1009) as f32);
        check(fraction, Plain { identity: 0.0, combine: |a, b| a + b }, true);
        let wide = |k: usize| f64::from(fraction(k));
        check(wide, Plain { identity: 0.0, combine: |a, b| a + b }, true);
        check(|k| 0.5 + wide(k), Plain { identity: 1.0, combine: |a, b| a * b }, true);
        let word = |k: usize| (k as u32).wrapping_mul(0x9e37_79b9);
        check(word, Plain { identity: 0, combine: u32::wrapping_add }, false);
        check(word, Plain { identity: u32::MAX, combine: u32::min }, false);
        let long = |k: usize| (k as i64).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
        check(long, Plain { identity: 0, combine: i64::wrapping_add }, false);
        check(long, Plain { identity: i64::MIN, combine: i64::max }, false);
    }
}
