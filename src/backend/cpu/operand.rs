//! Operands of element-wise loops.

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
}
