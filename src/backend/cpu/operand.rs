//! Operands of element-wise loops.

use bytemuck::Pod;

use crate::graph::scalar::Scalar;

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

/// An operand of any dtype. Dense values are bytes, aligned for their dtype.
#[derive(Clone, Copy)]
pub(crate) enum AnyOperand<'a> {
    Constant(Scalar),
    Dense(&'a [u8]),
}

impl<'a> AnyOperand<'a> {
    /// The operand's bits as values of a type of the dtype's size.
    #[inline]
    pub(crate) fn of<T: Pod>(self) -> Operand<'a, T> {
        match self {
            Self::Constant(s) => Operand::Constant(word(s)),
            Self::Dense(bytes) => Operand::Dense(bytemuck::cast_slice(bytes)),
        }
    }
}

/// The bits of a scalar, as a value of a type of its size.
pub(crate) fn word<T: Pod>(s: Scalar) -> T {
    let bits = s.bits();
    match size_of::<T>() {
        1 => bytemuck::cast(bits as u8),
        2 => bytemuck::cast(bits as u16),
        4 => bytemuck::cast(bits as u32),
        _ => bytemuck::cast(bits),
    }
}
