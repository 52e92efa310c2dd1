//! Row reductions in the canonical order. CPU counterpart of `shaders/row_reduce.wgsl`, which defines that order. It
//! depends only on the row's length and the inner width, so that results have the same bits on every backend.
//!
//! A reduction is a [`RowMonoid`]. Rows of one column are reduced in lanes (`lanes`): masked (`masked_rows`), or sorted by
//! length (`rows_by_length`). Rows of several columns are reduced column by column (`columns`), possibly through a chain
//! of element-wise operations (`row_chain`). A row of several blocks is reduced block by block; [`RowFold`] merges the
//! blocks. `reference` is the naive reference implementation.

mod columns;
mod lanes;
mod masked_rows;
mod moments;
mod monoids;
mod online_softmax;
#[cfg(test)]
pub mod reference;
mod row_chain;
mod rows_by_length;

use bytemuck::Pod;

pub(super) use columns::Columns;
pub(super) use moments::Moments;
pub(super) use monoids::{MinMax, SumProd};
pub(super) use online_softmax::OnlineSoftmax;
pub(super) use row_chain::{ChainStep, chain_of};

use super::accumulate::Reducible;
use crate::graph::canonical_order::reduction::{block_len, level2_lanes};
use crate::graph::reducer::Reducer;

/// A monoid that reduces values of type `V`. Merging a state with the identity element must not change the state.
pub trait Monoid<V>: Copy + Send + Sync + 'static {
    /// The accumulator of a row.
    type State: Copy + Send + Sync + 'static;
    /// Identity element: the state of no values.
    fn identity(self) -> Self::State;
    /// Adds the next value to a state.
    fn push(self, so_far: Self::State, next: V) -> Self::State;
    /// Merges two states into the state of the values of both.
    fn merge(self, a: Self::State, b: Self::State) -> Self::State;
}

/// A monoid with loops over rows, in the canonical order.
pub(super) trait RowMonoid<V: Pod>: Monoid<V> {
    /// The results of rows, from their states.
    fn results(self, reducer: Reducer) -> impl Fn(Self::State) -> V;
    /// Reduces consecutive rows of one column. The values of row `k` begin at value `start(k)`.
    fn rows(self, values: &[V], start: impl Fn(usize) -> usize, out: &mut [Self::State]);
    /// Reduces one block of a row of one column.
    fn block(self, values: &[V]) -> Self::State;

    /// Adds the first `n` values of `N` columns, in order, to the states of the columns.
    #[inline(always)]
    fn fold_columns<const N: usize>(self, states: &mut [Self::State; N], n: usize, values: impl ValuesOfColumns<V, N>) {
        // A local copy stays in registers, since it cannot alias the values.
        let mut so_far = *states;
        for k in 0..n {
            for (state, x) in so_far.iter_mut().zip(values.get(k)) {
                *state = self.push(*state, x);
            }
        }
        *states = so_far;
    }
}

/// Values of `N` columns. Not an iterator, whose `next` might not be inlined into an AVX2 loop.
pub(super) trait ValuesOfColumns<V, const N: usize> {
    /// The numbers of value `k`.
    fn get(&self, k: usize) -> [V; N];
}

/// A monoid whose merges cost less than a sort of the rows by length.
trait CheapMonoid<V: Reducible>: RowMonoid<V> + Default {
    /// Whether the order of the values affects the bits of a result. If not, merges are associative and commutative.
    const IS_ORDERED: bool;
    /// The state of one value. `push(state, value)` is `merge(state, lift(value))`.
    fn lift(self, value: V) -> Self::State;
}

/// Reduces a row of several blocks, of one column. Not inlined: such a row takes far longer than a call.
#[inline(never)]
fn reduce_long_row<V: Pod, M: RowMonoid<V>>(monoid: M, values: &[V]) -> M::State {
    let mut fold = RowFold::new(values.len(), 1, monoid);
    values.chunks(block_len(1)).for_each(|block| fold.push(&[monoid.block(block)]));
    let mut out = [monoid.identity()];
    fold.finish(&mut out);
    out[0]
}

/// Merges lanes in a halving tree. Each lane has as many columns as `out`.
#[inline(always)]
fn merge_lanes<V, M: Monoid<V>>(lanes: &mut [M::State], monoid: M, out: &mut [M::State]) {
    let mut reach = lanes.len() / 2;
    while reach >= out.len() {
        let (low, high) = lanes.split_at_mut(reach);
        merge_each(low, &high[..reach], monoid);
        reach /= 2;
    }
    out.copy_from_slice(&lanes[..out.len()]);
}

#[inline(always)]
fn merge_each<V, M: Monoid<V>>(states: &mut [M::State], more: &[M::State], monoid: M) {
    for (state, &x) in states.iter_mut().zip(more) {
        *state = monoid.merge(*state, x);
    }
}

/// Merges the blocks of a row of several blocks, of which each was reduced independently.
pub(super) struct RowFold<V, M: Monoid<V>> {
    inner: usize,
    monoid: M,
    /// Lane-major, `inner` columns each.
    lanes: Vec<M::State>,
    /// Number of blocks so far.
    blocks: usize,
}

impl<V, M: Monoid<V>> RowFold<V, M> {
    /// Starts a row of `len` values.
    ///
    /// # Panics
    /// If the row fits one block: such rows are reduced in another order.
    pub(super) fn new(len: usize, inner: usize, monoid: M) -> Self {
        assert!(len > block_len(inner), "a row of one block is reduced at once");
        // Lanes without a block would only merge identity elements.
        let lanes = len.div_ceil(block_len(inner)).next_power_of_two().min(level2_lanes(inner));
        Self { inner, monoid, lanes: vec![monoid.identity(); lanes * inner], blocks: 0 }
    }

    /// Adds the next block, by the states of its columns.
    pub(super) fn push(&mut self, block: &[M::State]) {
        let lane = self.blocks & (self.lanes.len() / self.inner - 1);
        merge_each(&mut self.lanes[lane * self.inner..][..self.inner], block, self.monoid);
        self.blocks += 1;
    }

    /// Stores the states of the row's columns.
    pub(super) fn finish(mut self, out: &mut [M::State]) {
        merge_lanes(&mut self.lanes, self.monoid, out);
    }
}

#[cfg(test)]
mod tests;
