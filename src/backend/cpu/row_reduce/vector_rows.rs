//! Rows of one column by monoids that are cheap, one row at a time: in AVX2, or in portable lanes.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::lanes::{LaneStates, PlainLanes, lanes_of_block, state_of_block};
use super::{VectorMonoid, reduce_long_row};
use crate::backend::cpu::accumulate::Reducible;
#[cfg(target_arch = "x86_64")]
use crate::backend::cpu::simd;
use crate::graph::canonical_order::reduction::{FOLD_LEN, LANES, block_len};

/// Computes the states of consecutive rows. The values of row `k` begin at value `start(k)`.
pub(super) fn rows<V: Reducible, M: VectorMonoid<V>>(
    monoid: M,
    values: &[V],
    start: impl Fn(usize) -> usize,
    out: &mut [M::State],
) {
    #[cfg(target_arch = "x86_64")]
    if simd::has_avx2() {
        // SAFETY: the function requires only a processor with AVX2, which was just detected.
        return unsafe { avx2::rows(monoid, values, start, out) };
    }
    reduce_each_row(monoid, values, start, out);
}

/// The state of one block of a row of several blocks.
pub(super) fn block<V: Reducible, M: VectorMonoid<V>>(_: M, values: &[V]) -> M::State {
    #[cfg(target_arch = "x86_64")]
    if simd::has_avx2() {
        // SAFETY: the function requires only a processor with AVX2, which was just detected.
        return unsafe { avx2::block::<V, M>(values) };
    }
    state_of_block::<V, PlainLanes<M, M::State, LANES>>(values, 0, values.len())
}

/// As [`rows`], in portable loops.
fn reduce_each_row<V: Reducible, M: VectorMonoid<V>>(
    monoid: M,
    values: &[V],
    start: impl Fn(usize) -> usize,
    out: &mut [M::State],
) {
    let mut from = start(0);
    for (k, out) in out.iter_mut().enumerate() {
        let to = start(k + 1);
        *out = match to - from {
            0 => monoid.identity(),
            len @ 1..=LANES if M::IS_ORDERED => {
                let mut states: PlainLanes<M, M::State, LANES> = lanes_of_block(values, from, len);
                // Both orders are computed and one is selected, since a branch on the length would be mispredicted.
                let in_order = (0..FOLD_LEN).fold(monoid.identity(), |all, k| monoid.merge(all, states.get(k)));
                states.merge_lanes(1);
                if len <= FOLD_LEN { in_order } else { states.get(0) }
            }
            len if len <= block_len(1) => state_of_block::<V, PlainLanes<M, M::State, LANES>>(values, from, len),
            _ => reduce_long_row(monoid, &values[from..to]),
        };
        from = to;
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::check;
    use super::super::{MinMax, SumProd};
    use super::*;

    #[test]
    fn rows_have_the_bits_of_the_canonical_order() {
        fn all<V: Reducible>(of: impl Fn(f64) -> V + Copy) {
            check(SumProd::<false>, of);
            // Values close to 1, so that products of many of them stay finite and non-zero.
            check(SumProd::<true>, |x| of(if x.is_finite() && x != 0.0 { 1.0 + x * 0.1 } else { x }));
            check(MinMax::<true>, of);
            check(MinMax::<false>, of);
        }
        all(|x| x as f32);
        all(|x| x);
        // Integers of many bits and both signs.
        all(|x| x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) as i32 | 1);
        all(|x| x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) as u32 | 1);
        all(|x| x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64 | 1);
        all(|x| x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    }
}
