//! Operations whose row reductions of one column have an AVX2 implementation, on numbers of one or two words.

use bytemuck::Pod;

use super::row_reduce::Monoid;

/// A reduction with an AVX2 implementation.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "AVX2 only"))]
pub(super) enum VectorOp {
    FloatSum,
    FloatProduct,
    /// Maximum of floats by their order keys (see `Float::Key`).
    FloatMax,
    /// Minimum of floats by their order keys.
    FloatMin,
    /// Wrapping sum of integers, signed or unsigned.
    IntegerSum,
    /// Wrapping product of integers, signed or unsigned.
    IntegerProduct,
    SignedMax,
    SignedMin,
    UnsignedMax,
    UnsignedMin,
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "AVX2 only"))]
impl VectorOp {
    /// Whether the order of the values affects the result's bits.
    pub(super) const fn is_ordered(self) -> bool {
        matches!(self, Self::FloatSum | Self::FloatProduct)
    }
}

/// The monoid of a [`VectorOp`] on values of one or two words. Its states have the size of its values.
pub(super) trait VectorMonoid<V: Pod>: Monoid<V, State: Pod> {
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "AVX2 only"))]
    const OP: VectorOp;
}
