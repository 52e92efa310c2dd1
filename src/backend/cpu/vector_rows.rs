//! Operations for which rows of one column are reduced in wide vectors where the processor has them, on numbers of one
//! or two words.

use bytemuck::Pod;

use super::accumulate::Monoid;
#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::masked_rows;
use super::row_reduce::{reduce_block, reduce_columns};

/// The supported operations.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no wide vectors yet"))]
pub(super) enum VectorOp {
    Sum,
    Product,
    /// Maximum of floats by their keys: see `order_key`.
    Greatest,
    /// Minimum of floats by their keys.
    Least,
    /// Wrapping sum of integers, signed or unsigned; the product wraps as well.
    IntegerSum,
    IntegerProduct,
    GreatestSigned,
    LeastSigned,
    GreatestUnsigned,
    LeastUnsigned,
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no wide vectors yet"))]
impl VectorOp {
    /// Whether the order of the values affects the result's bits.
    pub(super) const fn is_ordered(self) -> bool {
        matches!(self, Self::Sum | Self::Product)
    }
}

/// A monoid that implements one of the operations on values of one or two words; its states have the same size.
pub(super) trait VectorMonoid<V: Pod>: Monoid<V, State: Pod> {
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no wide vectors yet"))]
    const OP: VectorOp;
}

/// Computes the states of consecutive rows: the values of row `k` begin at value `start(k)`. Returns false and does
/// nothing without wide vectors.
pub(super) fn rows<V: Pod, M: VectorMonoid<V>>(
    monoid: M,
    values: &[V],
    start: impl Fn(usize) -> usize,
    out: &mut [M::State],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the function requires only a processor with AVX2, which was just detected.
        unsafe { avx2::rows(monoid, values, start, out) };
        return true;
    }
    let _ = (monoid, values, start, out);
    false
}

/// The state of one block of a row of several blocks; `None` without wide vectors.
pub(super) fn block<V: Pod, M: VectorMonoid<V>>(values: &[V]) -> Option<M::State> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the function requires only a processor with AVX2, which was just detected.
        return Some(unsafe { avx2::block::<V, M>(values) });
    }
    let _ = values;
    None
}

/// Reduces consecutive rows of `inner` columns each to plain values. The values of row `k` begin at value `start(k)`.
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
