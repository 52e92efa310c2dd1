//! The states of an accumulator, of a type known to its column only.

use std::any::Any;

use super::super::accumulate::Float;
use super::super::encoding::{Encoded, Value};
use super::super::floats::{MinMax, SumProd};
use super::super::integers::{IntegerMinMax, IntegerSumProd};
use super::super::moments::MomentsMonoid;
use super::super::online_softmax::OnlineSoftmax;
use super::super::row_reduce::Monoid;
use crate::graph::opcode::ReduceOp;
use crate::graph::reducer::{Empty, Reducer};

/// The states of consecutive rows, or of the blocks of a row.
pub(super) trait States: Any + Send {
    /// The results of a reducer. Moves the states if they are the results and `is_last`.
    fn results(&mut self, reducer: Reducer, is_last: bool) -> Encoded<'static>;
}

/// States of type `S`, whose results are of type `T`.
pub(super) struct StatesOf<T, M: Monoid<T>> {
    pub(super) monoid: M,
    pub(super) states: Vec<M::State>,
}

impl<T: 'static, M: Results<T> + Send + 'static> States for StatesOf<T, M>
where
    M::State: 'static,
{
    fn results(&mut self, reducer: Reducer, is_last: bool) -> Encoded<'static> {
        let states = if is_last { std::mem::take(&mut self.states) } else { self.states.clone() };
        self.monoid.results(states, reducer)
    }
}

/// A monoid whose states give results of the type of the values.
pub(super) trait Results<T>: Monoid<T> {
    fn results(self, states: Vec<Self::State>, reducer: Reducer) -> Encoded<'static>;
}

fn wrapped<S: Copy, T: Value>(states: Vec<S>, result: impl Fn(S) -> T) -> Encoded<'static> {
    T::wrap(states.into_iter().map(result).collect::<Vec<T>>().into())
}

impl<T: Value, const PRODUCT: bool> Results<T> for IntegerSumProd<PRODUCT>
where
    Self: Monoid<T, State = T>,
{
    fn results(self, states: Vec<T>, _: Reducer) -> Encoded<'static> {
        T::wrap(states.into())
    }
}

impl<T: Value, const MAX: bool> Results<T> for IntegerMinMax<MAX>
where
    Self: Monoid<T, State = T>,
{
    fn results(self, states: Vec<T>, _: Reducer) -> Encoded<'static> {
        T::wrap(states.into())
    }
}

impl<F: Float, const PRODUCT: bool> Results<F> for SumProd<PRODUCT> {
    fn results(self, states: Vec<F>, _: Reducer) -> Encoded<'static> {
        F::wrap(states.into())
    }
}

impl<F: Float, const MAX: bool> Results<F> for MinMax<MAX> {
    fn results(self, states: Vec<F::Key>, reducer: Reducer) -> Encoded<'static> {
        let is_finite = matches!(reducer, Reducer::Extreme(_, Empty::Finite));
        let op = if MAX { ReduceOp::Max } else { ReduceOp::Min };
        let empty = if is_finite { Empty::Finite } else { Empty::Infinite };
        let none = Monoid::<F>::identity(self);
        let empty = F::of_scalar(empty.value(op, F::DTYPE));
        wrapped(states, |key| if key == none { empty } else { F::of_key(key) })
    }
}

impl<F: Float> Results<F> for OnlineSoftmax {
    fn results(self, states: Vec<Self::State>, reducer: Reducer) -> Encoded<'static> {
        match reducer {
            Reducer::Greatest => wrapped(states, |state| F::of_key(state.greatest)),
            _ => wrapped(states, |state| state.sum),
        }
    }
}

impl<F: Float> Results<F> for MomentsMonoid {
    fn results(self, states: Vec<Self::State>, _: Reducer) -> Encoded<'static> {
        wrapped(states, |state| state.deviations)
    }
}
