//! The forms of fused multiply-adds.

/// The fused multiply-adds of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fused {
    /// WGSL's `fma`.
    Native,
    /// Those by 64-bit floats.
    Doubles,
    /// Those by integers.
    Words,
}
