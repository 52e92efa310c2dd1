//! Rows of numbers at any places of a table, folded column by column.

use std::ops::Range;

use super::super::number::Number;
use super::super::simd::{self, Loop};
use super::Monoid;

/// Rows of numbers of a table: row `k` starts at number `firsts[k]`, or follows row `k - 1` if there are no `firsts`.
#[derive(Clone, Copy)]
pub(in super::super) struct TableRows<'v, V> {
    pub(in super::super) table: &'v [V],
    pub(in super::super) firsts: Option<&'v [u32]>,
    /// Numbers per row.
    pub(in super::super) inner: usize,
}

impl<V: Copy> TableRows<'_, V> {
    /// `N` numbers of row `k`, from a column on.
    #[inline(always)]
    fn group<const N: usize>(&self, k: usize, column: usize) -> [V; N] {
        let first = self.firsts.map_or(k * self.inner, |firsts| firsts[k] as usize);
        *self.table[first + column..].first_chunk().expect("bug: a row beyond the table")
    }
}

/// Scales of rows.
pub(in super::super) trait Scales<V>: Copy {
    /// The numbers of row `k`, scaled.
    fn scaled<const N: usize>(self, k: usize, numbers: [V; N]) -> [V; N];
}

/// No scales.
#[derive(Clone, Copy)]
pub(in super::super) struct Unscaled;

impl<V> Scales<V> for Unscaled {
    #[inline(always)]
    fn scaled<const N: usize>(self, _: usize, numbers: [V; N]) -> [V; N] {
        numbers
    }
}

impl<V: Number> Scales<V> for &[V] {
    #[inline(always)]
    fn scaled<const N: usize>(self, k: usize, numbers: [V; N]) -> [V; N] {
        numbers.map(|x| x.mul(self[k]))
    }
}

/// Adds every `step`-th of the rows `picked` to the states of their columns.
pub(in super::super) fn fold_rows<V: Copy, M: Monoid<V>>(
    monoid: M,
    rows: TableRows<'_, V>,
    scales: impl Scales<V>,
    (picked, step): (Range<usize>, usize),
    states: &mut [M::State],
) {
    simd::run(FoldRows { monoid, rows, scales, picked, step, states });
}

/// See [`fold_rows`]. The rows are read once for each group of up to 64 columns, whose states stay in registers.
struct FoldRows<'a, V, M: Monoid<V>, S> {
    monoid: M,
    rows: TableRows<'a, V>,
    scales: S,
    picked: Range<usize>,
    step: usize,
    states: &'a mut [M::State],
}

impl<V: Copy, M: Monoid<V>, S: Scales<V>> Loop for FoldRows<'_, V, M, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { monoid, rows, scales, picked, step, states } = self;
        let n = picked.len().div_ceil(step);
        let mut column = 0;
        macro_rules! groups {
            ($($n:literal),*) => {$(
                while let Some(states) = states[column..].first_chunk_mut::<$n>() {
                    // Positions by multiplication: iterators with a step cost more than a row of few columns.
                    let places = (0..n).map(|k| picked.start + k * step);
                    monoid.fold_columns(states, places.map(|k| scales.scaled(k, rows.group::<$n>(k, column))));
                    column += $n;
                }
            )*};
        }
        groups!(64, 16, 4, 1);
    }
}
