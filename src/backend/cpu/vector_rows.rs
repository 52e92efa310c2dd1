//! Row reductions in AVX2, with `masked_rows` as the fallback.

use bytemuck::Pod;

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::masked_rows;
use super::row_reduce::{reduce_block, reduce_columns};
#[cfg(target_arch = "x86_64")]
use super::simd;
use super::vector_op::VectorMonoid;

/// Computes the states of consecutive rows. The values of row `k` begin at value `start(k)`. Returns false and does
/// nothing without AVX2.
pub(super) fn rows<V: Pod, M: VectorMonoid<V>>(
    monoid: M,
    values: &[V],
    start: impl Fn(usize) -> usize,
    out: &mut [M::State],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if simd::has_avx2() {
        // SAFETY: the function requires only a processor with AVX2, which was just detected.
        unsafe { avx2::rows(monoid, values, start, out) };
        return true;
    }
    let _ = (monoid, values, start, out);
    false
}

/// The state of one block of a row of several blocks; `None` without AVX2.
pub(super) fn block<V: Pod, M: VectorMonoid<V>>(values: &[V]) -> Option<M::State> {
    #[cfg(target_arch = "x86_64")]
    if simd::has_avx2() {
        // SAFETY: the function requires only a processor with AVX2, which was just detected.
        return Some(unsafe { avx2::block::<V, M>(values) });
    }
    let _ = values;
    None
}

/// Reduces consecutive rows of `inner` columns each, for monoids whose states are values. The values of row `k` begin
/// at value `start(k)`.
pub(super) fn rows_of_values<V: Pod, M: VectorMonoid<V, State = V>>(
    monoid: M,
    values: &[V],
    inner: usize,
    start: impl Fn(usize) -> usize,
    out: &mut [V],
) {
    if inner > 1 {
        reduce_columns(values, inner, monoid, start, out);
    } else if !rows(monoid, values, &start, out) {
        masked_rows::reduce_rows(values, monoid, M::OP.is_ordered(), start, out);
    }
}

/// Reduces one block of a row of several blocks, with `inner` columns per value.
pub(super) fn block_of_values<V: Pod, M: VectorMonoid<V>>(monoid: M, values: &[V], inner: usize, out: &mut [M::State]) {
    match if inner == 1 { block::<V, M>(values) } else { None } {
        Some(state) => out[0] = state,
        None => reduce_block(values, inner, monoid, out),
    }
}
