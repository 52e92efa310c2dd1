//! Operations on numbers of one word or two that whole rows of one column are reduced by in wide vectors, where the
//! processor has them.

use bytemuck::Pod;

use super::accumulate::Monoid;
#[cfg(target_arch = "x86_64")]
use super::avx2;

/// The operations that there are.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no wide vectors yet"))]
pub(super) enum Op {
    Sum,
    Product,
    /// Of the floats' keys: see `order_key`.
    Greatest,
    /// As well.
    Least,
    /// Of integers, which wrap; signed or not.
    IntegerSum,
    IntegerProduct,
    GreatestSigned,
    LeastSigned,
    GreatestUnsigned,
    LeastUnsigned,
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no wide vectors yet"))]
impl Op {
    /// Whether the order of the values matters to the result's bits.
    pub(super) const fn is_ordered(self) -> bool {
        matches!(self, Self::Sum | Self::Product)
    }
}

/// A monoid that is one of the operations, on values of one word or two; its states have as many.
pub(super) trait Wide<V: Pod>: Monoid<V, State: Pod> {
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no wide vectors yet"))]
    const OP: Op;
}

/// The states of rows that lie one after another: the values of row `k` begin at value `start(k)`. Returns false, and
/// does nothing, where there are no wide vectors.
pub(super) fn rows<V: Pod, M: Wide<V>>(
    monoid: M,
    values: &[V],
    start: impl Fn(usize) -> usize,
    out: &mut [M::State],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the only thing that the function needs is a processor with AVX2, which this one is.
        unsafe { avx2::rows(monoid, values, start, out) };
        return true;
    }
    let _ = (monoid, values, start, out);
    false
}

/// The state of one block of a row of several; nothing where there are no wide vectors.
pub(super) fn block<V: Pod, M: Wide<V>>(values: &[V]) -> Option<M::State> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the only thing that the function needs is a processor with AVX2, which this one is.
        return Some(unsafe { avx2::block::<V, M>(values) });
    }
    let _ = values;
    None
}
