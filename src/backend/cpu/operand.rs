//! Operands of element-wise loops.

use std::ops::Range;

/// One operand: a value for all positions, or one value per position.
#[derive(Clone, Copy)]
pub(crate) enum Operand<'a, T> {
    Constant(T),
    Dense(&'a [T]),
}

impl<T: Copy> Operand<'_, T> {
    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> T {
        match self {
            Self::Constant(v) => *v,
            Self::Dense(s) => s[i],
        }
    }

    /// The operand at position `i`, as a constant.
    pub(crate) fn one(&self, i: usize) -> Self {
        Self::Constant(self.get(i))
    }
}

impl<'a, T: Copy> Operand<'a, T> {
    /// The operand at a range of positions.
    pub(crate) fn part(&self, positions: Range<usize>) -> Self {
        match self {
            Self::Constant(v) => Self::Constant(*v),
            Self::Dense(s) => Self::Dense(&s[positions]),
        }
    }
}
