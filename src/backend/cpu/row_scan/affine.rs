//! The monoid of linear recurrences. CPU twin of `backend/gpu/codegen/affine.rs`.

use super::super::number::Number;

/// The affine map `y -> factor * y + term`: a step of a linear recurrence, or several composed steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Affine<T> {
    pub(crate) factor: T,
    pub(crate) term: T,
}

impl<T: Number> Affine<T> {
    /// This map, followed by `next`. A term of 0 contributes 0 for any factor, and no term is -0, so that a factor of 1
    /// with a term of 0 is the identity of all prefixes, even of those with infinite factors.
    #[inline(always)]
    pub(crate) fn then(self, next: Self) -> Self {
        let zero = T::zeroed();
        let carried = if self.term == zero { zero } else { self.term.mul(next.factor) };
        let term = carried.add(next.term);
        Self { factor: self.factor.mul(next.factor), term: if term == zero { zero } else { term } }
    }
}
