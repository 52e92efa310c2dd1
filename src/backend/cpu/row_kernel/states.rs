//! The states of an accumulator, of a type known to its column only.

use std::any::Any;

use super::super::accumulate::Reducible;
use super::super::encoding::Encoded;
use super::super::row_reduce::{Monoid, RowMonoid};
use crate::graph::reducer::Reducer;

/// The states of consecutive rows, or of the blocks of a row.
pub(super) trait States: Any + Send {
    /// The results of a reducer. Takes the states if `is_last`.
    fn results(&mut self, reducer: Reducer, is_last: bool) -> Encoded<'static>;
}

/// States of a monoid of values of type `V`.
pub(super) struct StatesOf<V, M: Monoid<V>> {
    pub(super) monoid: M,
    pub(super) states: Vec<M::State>,
}

impl<V: Reducible, M: RowMonoid<V>> States for StatesOf<V, M> {
    fn results(&mut self, reducer: Reducer, is_last: bool) -> Encoded<'static> {
        let states = if is_last { std::mem::take(&mut self.states) } else { self.states.clone() };
        let results: Vec<V> = states.into_iter().map(self.monoid.results(reducer)).collect();
        V::wrap(results.into())
    }
}
