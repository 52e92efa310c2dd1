//! Operations for which rows of one column are reduced in wide vectors where the processor has them, on numbers of one
//! or two words.

use bytemuck::Pod;

use super::row_reduce::Monoid;

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
