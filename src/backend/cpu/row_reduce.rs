//! Row reductions in the canonical order. CPU counterpart of `shaders/row_reduce.wgsl`, which defines that order. It
//! depends only on the row's length and the inner width, so that results have the same bits on every backend.

mod table_rows;

pub(super) use table_rows::{TableRows, Unscaled, fold_rows};

use super::simd::{self, Loop};
use crate::graph::canonical_order::reduction::{
    COLUMNS_FOLD_LEN, FOLD_LEN, LANES, block_len, level2_lanes, wide_lanes,
};

/// A monoid that reduces values of type `V`. Merging a state with the identity element must not change the state.
pub trait Monoid<V>: Copy + Sync {
    /// The accumulator of a row.
    type State: Copy + Send + Sync;
    /// Identity element: the state of no values.
    fn identity(self) -> Self::State;
    /// Adds the next value to a state.
    fn push(self, so_far: Self::State, next: V) -> Self::State;
    /// Merges two states into the state of the values of both.
    fn merge(self, a: Self::State, b: Self::State) -> Self::State;

    /// Reduces consecutive rows of `inner` columns each to their states, in the order of [`reduce_row`]. The values of
    /// row `k` begin at value `start(k)`. A monoid may override this with a faster loop.
    fn rows(self, values: &[V], inner: usize, start: impl Fn(usize) -> usize, out: &mut [Self::State])
    where
        V: Copy,
    {
        if inner > 1 {
            return reduce_columns(values, inner, self, start, out);
        }
        for (k, out) in out.iter_mut().enumerate() {
            reduce_row(&values[start(k)..start(k + 1)], 1, self, std::slice::from_mut(out));
        }
    }

    /// Adds values of `N` columns, in order, to the states of the columns. A monoid may override this with a faster
    /// loop.
    #[inline(always)]
    fn fold_columns<const N: usize>(self, states: &mut [Self::State; N], values: impl Iterator<Item = [V; N]>) {
        // A local copy stays in registers, since it cannot alias the values.
        let mut so_far = *states;
        for value in values {
            for (state, x) in so_far.iter_mut().zip(value) {
                *state = self.push(*state, x);
            }
        }
        *states = so_far;
    }

    /// Reduces one block of a row of several blocks.
    fn block(self, values: &[V], inner: usize, out: &mut [Self::State])
    where
        V: Copy,
    {
        reduce_block(values, inner, self, out);
    }
}

/// Monoid whose states are values, merged by a plain function.
#[cfg(test)]
#[derive(Clone, Copy)]
pub struct Plain<V, F> {
    /// Identity element of `combine`, at least for all results of folds that start from it.
    pub identity: V,
    /// The operator.
    pub combine: F,
}

#[cfg(test)]
impl<V: bytemuck::Pod + Send + Sync, F: Fn(V, V) -> V + Copy + Sync> Monoid<V> for Plain<V, F> {
    type State = V;
    fn identity(self) -> V {
        self.identity
    }
    fn push(self, so_far: V, next: V) -> V {
        (self.combine)(so_far, next)
    }
    fn merge(self, a: V, b: V) -> V {
        (self.combine)(a, b)
    }
}

/// A monoid with the default loops of [`Monoid`], the reference of the monoid's own loops.
#[cfg(test)]
#[derive(Clone, Copy)]
pub(super) struct DefaultLoops<M>(pub(super) M);

#[cfg(test)]
impl<V, M: Monoid<V>> Monoid<V> for DefaultLoops<M> {
    type State = M::State;
    fn identity(self) -> M::State {
        self.0.identity()
    }
    fn push(self, so_far: M::State, next: V) -> M::State {
        self.0.push(so_far, next)
    }
    fn merge(self, a: M::State, b: M::State) -> M::State {
        self.0.merge(a, b)
    }
}

/// Reduces one whole row, with `inner` columns per value, to `inner` states.
#[inline(always)]
pub fn reduce_row<V: Copy, M: Monoid<V>>(values: &[V], inner: usize, monoid: M, out: &mut [M::State]) {
    let len = values.len().checked_div(inner).unwrap_or(0);
    debug_assert_eq!(len * inner, values.len(), "values of `inner` columns");
    debug_assert_eq!(out.len(), inner, "one result per column");
    if inner == 1 && len <= FOLD_LEN {
        out[0] = values.iter().fold(monoid.identity(), |state, &x| monoid.push(state, x));
    } else if inner > 1 && len <= COLUMNS_FOLD_LEN {
        fold_values(values, inner, monoid, out);
    } else {
        reduce_long_row(values, inner, monoid, out);
    }
}

/// As [`reduce_row`], for a row that is too long to be folded left to right. Not inlined: such a row takes far longer
/// than a call.
#[inline(never)]
pub(super) fn reduce_long_row<V: Copy, M: Monoid<V>>(values: &[V], inner: usize, monoid: M, out: &mut [M::State]) {
    if values.len() <= block_len(inner) * inner {
        return monoid.block(values, inner, out);
    }
    let mut fold = RowFold::new(values.len() / inner, inner, monoid);
    fold.push(values);
    fold.finish(out);
}

/// Reduces consecutive rows of several columns. The values of row `k` begin at value `start(k)`.
pub(super) fn reduce_columns<V: Copy, M: Monoid<V>>(
    values: &[V],
    inner: usize,
    monoid: M,
    start: impl Fn(usize) -> usize,
    out: &mut [M::State],
) {
    simd::run(RowsOfColumns { values, inner, monoid, start, out });
}

struct RowsOfColumns<'a, V, M: Monoid<V>, S> {
    values: &'a [V],
    inner: usize,
    monoid: M,
    start: S,
    out: &'a mut [M::State],
}

impl<V: Copy, M: Monoid<V>, S: Fn(usize) -> usize> Loop for RowsOfColumns<'_, V, M, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, inner, monoid, start, out } = self;
        let mut from = start(0);
        for (k, out) in out.chunks_exact_mut(inner).enumerate() {
            let to = start(k + 1);
            let values = &values[from * inner..to * inner];
            if to - from <= COLUMNS_FOLD_LEN {
                fold_values(values, inner, monoid, out);
            } else {
                reduce_long_row(values, inner, monoid, out);
            }
            from = to;
        }
    }
}

/// Reduces one block of a row of several columns.
pub(super) fn reduce_block_of_columns<V: Copy, M: Monoid<V>>(
    values: &[V],
    inner: usize,
    monoid: M,
    out: &mut [M::State],
) {
    simd::run(BlockOfColumns { values, inner, monoid, out });
}

struct BlockOfColumns<'a, V, M: Monoid<V>> {
    values: &'a [V],
    inner: usize,
    monoid: M,
    out: &'a mut [M::State],
}

impl<V: Copy, M: Monoid<V>> Loop for BlockOfColumns<'_, V, M> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, inner, monoid, out } = self;
        match inner {
            0 => {}
            2 => out.copy_from_slice(&fold_columns::<V, M, 2>(values, monoid)),
            // The lanes are folded as additional columns.
            3 => merge_lanes(&mut fold_columns::<V, M, 6>(values, monoid), monoid, out),
            4 => merge_lanes(&mut fold_columns::<V, M, 8>(values, monoid), monoid, out),
            8 => merge_lanes(&mut fold_columns::<V, M, 32>(values, monoid), monoid, out),
            16 => merge_lanes(&mut fold_columns::<V, M, 128>(values, monoid), monoid, out),
            _ => {
                let (step, rows) = (wide_lanes(inner), TableRows { table: values, firsts: None, inner });
                let mut lanes = vec![monoid.identity(); step * inner];
                for (lane, states) in lanes.chunks_exact_mut(inner).enumerate() {
                    fold_rows(monoid, rows, Unscaled, (lane..values.len() / inner, step), states);
                }
                merge_lanes(&mut lanes, monoid, out);
            }
        }
    }
}

/// Reduces one block of a row. Rows of one block are reduced in the same way, except for those that are folded.
pub fn reduce_block<V: Copy, M: Monoid<V>>(values: &[V], inner: usize, monoid: M, out: &mut [M::State]) {
    match inner {
        1 => out[0] = reduce_column(values, monoid),
        _ => reduce_block_of_columns(values, inner, monoid, out),
    }
}

/// Merges lanes in a halving tree. Each lane has as many columns as `out`.
#[inline(always)]
pub(super) fn merge_lanes<V: Copy, M: Monoid<V>>(lanes: &mut [M::State], monoid: M, out: &mut [M::State]) {
    let mut reach = lanes.len() / 2;
    while reach >= out.len() {
        let (low, high) = lanes.split_at_mut(reach);
        merge_each(low, &high[..reach], monoid);
        reach /= 2;
    }
    out.copy_from_slice(&lanes[..out.len()]);
}

/// Folds the values left to right, column by column.
#[inline(always)]
fn fold_values<V: Copy, M: Monoid<V>>(values: &[V], inner: usize, monoid: M, out: &mut [M::State]) {
    match inner {
        // A compile-time width keeps the states in registers.
        2 => out.copy_from_slice(&fold_columns::<V, M, 2>(values, monoid)),
        3 => out.copy_from_slice(&fold_columns::<V, M, 3>(values, monoid)),
        4 => out.copy_from_slice(&fold_columns::<V, M, 4>(values, monoid)),
        8 => out.copy_from_slice(&fold_columns::<V, M, 8>(values, monoid)),
        16 => out.copy_from_slice(&fold_columns::<V, M, 16>(values, monoid)),
        _ => {
            out.fill(monoid.identity());
            let rows = TableRows { table: values, firsts: None, inner };
            fold_rows(monoid, rows, Unscaled, (0..values.len() / inner, 1), out);
        }
    }
}

#[inline(always)]
fn push_each<V: Copy, M: Monoid<V>>(states: &mut [M::State], values: &[V], monoid: M) {
    for (state, &x) in states.iter_mut().zip(values) {
        *state = monoid.push(*state, x);
    }
}

#[inline(always)]
fn merge_each<V: Copy, M: Monoid<V>>(states: &mut [M::State], more: &[M::State], monoid: M) {
    for (state, &x) in states.iter_mut().zip(more) {
        *state = monoid.merge(*state, x);
    }
}

#[inline(always)]
fn fold_columns<V: Copy, M: Monoid<V>, const N: usize>(values: &[V], monoid: M) -> [M::State; N] {
    let mut states = [monoid.identity(); N];
    let (chunks, rest) = values.as_chunks::<N>();
    monoid.fold_columns(&mut states, chunks.iter().copied());
    push_each(&mut states, rest, monoid);
    states
}

/// Reduces one block of one column.
#[inline(always)]
fn reduce_column<V: Copy, M: Monoid<V>>(values: &[V], monoid: M) -> M::State {
    let mut lanes = [monoid.identity(); LANES];
    let (groups, rest) = values.as_chunks::<LANES>();
    for group in groups {
        for (lane, &x) in lanes.iter_mut().zip(group) {
            *lane = monoid.push(*lane, x);
        }
    }
    push_each(&mut lanes, rest, monoid);
    let mut reach = LANES / 2;
    while reach > 0 {
        for k in 0..reach {
            lanes[k] = monoid.merge(lanes[k], lanes[k + reach]);
        }
        reach /= 2;
    }
    lanes[0]
}

/// Incremental reduction of a row of more than one block. The row is given as values, or as the partials of blocks that
/// were reduced elsewhere, such as by [`reduce_block`] in parallel.
pub struct RowFold<V, M: Monoid<V>> {
    inner: usize,
    monoid: M,
    /// Value-major, `inner` columns each.
    lanes: Vec<M::State>,
    /// Number of blocks so far.
    blocks: usize,
    block: Vec<M::State>,
}

impl<V: Copy, M: Monoid<V>> RowFold<V, M> {
    /// Starts a row of `len` values.
    ///
    /// # Panics
    /// If the row fits one block: such rows are reduced in another order (see [`reduce_row`]).
    pub fn new(len: usize, inner: usize, monoid: M) -> Self {
        assert!(len > block_len(inner), "a row of one block is reduced at once");
        // Lanes without a partial would only merge identity elements.
        let lanes = len.div_ceil(block_len(inner)).next_power_of_two().min(level2_lanes(inner));
        let none = monoid.identity();
        Self { inner, monoid, lanes: vec![none; lanes * inner], blocks: 0, block: vec![none; inner] }
    }

    /// Adds the next values. Every chunk but the last must hold a multiple of [`block_len`] values.
    pub fn push(&mut self, values: &[V]) {
        let mut block = std::mem::take(&mut self.block);
        for values in values.chunks(block_len(self.inner) * self.inner) {
            self.monoid.block(values, self.inner, &mut block);
            self.push_partial(&block);
        }
        self.block = block;
    }

    /// Adds the partial of the next block, `inner` columns.
    pub fn push_partial(&mut self, partial: &[M::State]) {
        let lane = self.blocks & (self.lanes.len() / self.inner - 1);
        merge_each(&mut self.lanes[lane * self.inner..][..self.inner], partial, self.monoid);
        self.blocks += 1;
    }

    /// Stores the row's results.
    pub fn finish(mut self, out: &mut [M::State]) {
        merge_lanes(&mut self.lanes, self.monoid, out);
    }
}

#[cfg(test)]
mod tests;
