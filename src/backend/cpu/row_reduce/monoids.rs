//! Sums, products, minima and maxima.

use super::{CheapMonoid, Monoid, RowMonoid, masked_rows};
use crate::backend::cpu::accumulate::Reducible;
use crate::graph::reducer::Reducer;

/// The monoid of sums, or of products if `PRODUCT`.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct SumProd<const PRODUCT: bool>;

/// The monoid of maxima if `MAX`, or of minima. The states are order keys, computed from the values on the fly.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct MinMax<const MAX: bool>;

impl<V: Reducible, const PRODUCT: bool> Monoid<V> for SumProd<PRODUCT> {
    type State = V;
    #[inline(always)]
    fn identity(self) -> V {
        if PRODUCT { V::ONE } else { V::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: V, next: V) -> V {
        self.merge(so_far, self.lift(next))
    }
    #[inline(always)]
    fn merge(self, a: V, b: V) -> V {
        if PRODUCT { a.mul(b) } else { a.add(b) }
    }
}

impl<V: Reducible, const MAX: bool> Monoid<V> for MinMax<MAX> {
    type State = V::Key;
    #[inline(always)]
    fn identity(self) -> V::Key {
        if MAX { V::MIN_KEY } else { V::MAX_KEY }
    }
    #[inline(always)]
    fn push(self, so_far: V::Key, next: V) -> V::Key {
        Monoid::<V>::merge(self, so_far, self.lift(next))
    }
    #[inline(always)]
    fn merge(self, a: V::Key, b: V::Key) -> V::Key {
        if MAX { a.max(b) } else { a.min(b) }
    }
}

impl<V: Reducible, const PRODUCT: bool> CheapMonoid<V> for SumProd<PRODUCT> {
    const IS_ORDERED: bool = V::IS_FLOAT;
    #[inline(always)]
    fn lift(self, value: V) -> V {
        value
    }
}

impl<V: Reducible, const MAX: bool> CheapMonoid<V> for MinMax<MAX> {
    const IS_ORDERED: bool = false;
    #[inline(always)]
    fn lift(self, value: V) -> V::Key {
        // The key of NaN wins against all others.
        value.key_or(if MAX { V::MAX_KEY } else { V::MIN_KEY })
    }
}

impl<V: Reducible, const PRODUCT: bool> RowMonoid<V> for SumProd<PRODUCT> {
    fn results(self, _: Reducer) -> impl Fn(V) -> V {
        |state| state
    }
    fn rows(self, values: &[V], start: impl Fn(usize) -> usize, out: &mut [V]) {
        masked_rows::rows(self, values, start, out);
    }
    fn block(self, values: &[V]) -> V {
        masked_rows::block(self, values)
    }
}

impl<V: Reducible, const MAX: bool> RowMonoid<V> for MinMax<MAX> {
    fn results(self, reducer: Reducer) -> impl Fn(V::Key) -> V {
        let none = Monoid::<V>::identity(self);
        let empty = match reducer {
            Reducer::Extreme(op, empty) => V::of_scalar(empty.value(op, V::DTYPE)),
            _ => V::of_key(none),
        };
        move |key| if key == none { empty } else { V::of_key(key) }
    }
    fn rows(self, values: &[V], start: impl Fn(usize) -> usize, out: &mut [V::Key]) {
        masked_rows::rows(self, values, start, out);
    }
    fn block(self, values: &[V]) -> V::Key {
        masked_rows::block(self, values)
    }
}
