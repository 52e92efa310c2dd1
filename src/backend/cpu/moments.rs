//! Sums of squared deviations from the mean, for variances: a monoid of count, mean and deviations.
//!
//! Each merge needs a division and depends on the previous merge of its lane. Lanes are therefore processed side by
//! side, either those of many short rows or those of one row. The operations and their order are those of a fold per
//! lane and a tree over the lanes.

use super::accumulate::Float;
use super::row_reduce::{Monoid, reduce_block_of_columns, reduce_columns, reduce_long_row};
use super::simd::{self, Loop};
use super::transposed_rows::{ROWS, Row, TransposedRows, classes, rows_by_length};
use crate::graph::canonical_order::reduction::{FOLD_LEN, LANES};

/// The state of some values: their count, one of them (`near`), the offset of their mean from it (`off`), and the sum
/// of the squared deviations from the mean.
#[derive(Clone, Copy)]
pub(super) struct MomentsState<F> {
    count: F,
    near: F,
    off: F,
    pub(super) deviations: F,
}

/// The monoid of [`MomentsState`].
#[derive(Clone, Copy)]
pub(super) struct MomentsMonoid;

impl<F: Float> Monoid<F> for MomentsMonoid {
    type State = MomentsState<F>;
    #[inline(always)]
    fn identity(self) -> MomentsState<F> {
        MomentsState { count: F::ZERO, near: F::ZERO, off: F::ZERO, deviations: F::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: MomentsState<F>, next: F) -> MomentsState<F> {
        self.merge(so_far, MomentsState::of(next))
    }
    #[inline(always)]
    fn merge(self, a: MomentsState<F>, b: MomentsState<F>) -> MomentsState<F> {
        let count = a.count.add(b.count);
        let share = b.count.div(if count < F::ONE { F::ONE } else { count });
        let near = if a.count < F::ONE { b.near } else { a.near };
        let apart = b.near.sub(near).add(b.off.sub(a.off));
        let squares = apart.mul(apart.mul(a.count.mul(share)));
        MomentsState {
            count,
            near,
            off: a.off.add(apart.mul(share)),
            deviations: a.deviations.add(b.deviations).add(squares),
        }
    }

    fn rows(self, values: &[F], inner: usize, start: impl Fn(usize) -> usize, out: &mut [MomentsState<F>]) {
        if inner == 1 {
            return simd::run(MomentsRows { values, start, out });
        }
        reduce_columns(values, inner, self, start, out);
    }

    fn block(self, values: &[F], inner: usize, out: &mut [MomentsState<F>]) {
        if inner == 1 {
            simd::run(MomentsBlock { values, out: &mut out[0] });
        } else {
            reduce_block_of_columns(values, inner, self, out);
        }
    }
}

impl<F: Float> MomentsState<F> {
    /// The state of one value. Its deviation is zero if the value is finite, else NaN.
    #[inline(always)]
    fn of(x: F) -> Self {
        let deviations = if x.is_finite() { F::ZERO } else { F::NAN };
        Self { count: F::ONE, near: x, off: F::ZERO, deviations }
    }
}

/// `N` states as a structure of arrays.
#[derive(Clone, Copy)]
struct States<F, const N: usize> {
    count: [F; N],
    near: [F; N],
    off: [F; N],
    deviations: [F; N],
}

impl<F: Float, const N: usize> States<F, N> {
    #[inline(always)]
    fn none() -> Self {
        let none = [F::ZERO; N];
        Self { count: none, near: none, off: none, deviations: none }
    }

    #[inline(always)]
    fn get(&self, k: usize) -> MomentsState<F> {
        MomentsState { count: self.count[k], near: self.near[k], off: self.off[k], deviations: self.deviations[k] }
    }

    #[inline(always)]
    fn set(&mut self, k: usize, to: MomentsState<F>) {
        (self.count[k], self.near[k], self.off[k], self.deviations[k]) = (to.count, to.near, to.off, to.deviations);
    }

    /// The states of single values where `is_present` holds; the identity state elsewhere.
    #[inline(always)]
    fn of(values: &[F; N], is_present: impl Fn(usize) -> bool) -> Self {
        let mut states = Self::none();
        states.push(values, is_present);
        states
    }

    /// Adds a value to each state for which `is_present` holds.
    #[inline(always)]
    fn push(&mut self, values: &[F; N], is_present: impl Fn(usize) -> bool) {
        for (k, &x) in values.iter().enumerate() {
            let so_far = self.get(k);
            let merged = MomentsMonoid.push(so_far, x);
            let is_present = is_present(k);
            self.count[k] = if is_present { merged.count } else { so_far.count };
            self.near[k] = if is_present { merged.near } else { so_far.near };
            self.off[k] = if is_present { merged.off } else { so_far.off };
            self.deviations[k] = if is_present { merged.deviations } else { so_far.deviations };
        }
    }

    /// Merges other states into these.
    #[inline(always)]
    fn merge(&mut self, other: &Self) {
        for k in 0..N {
            self.set(k, MomentsMonoid.merge(self.get(k), other.get(k)));
        }
    }

    /// One level of a halving tree: merges states `REACH..2 * REACH` into states `..REACH`.
    #[inline(always)]
    fn halve<const REACH: usize>(&mut self) {
        let upper = *self;
        for k in 0..REACH {
            self.set(k, MomentsMonoid.merge(self.get(k), upper.get(k + REACH)));
        }
    }
}

/// Reduces one block of one column: a fold per lane, then a halving tree over the lanes.
#[inline(always)]
fn of_block<F: Float>(values: &[F]) -> MomentsState<F> {
    let mut lanes = States::<F, LANES>::none();
    let (groups, rest) = values.as_chunks::<LANES>();
    for group in groups {
        lanes.push(group, |_| true);
    }
    if !rest.is_empty() {
        let mut padded = [F::ZERO; LANES];
        padded[..rest.len()].copy_from_slice(rest);
        let there = rest.len() as u32;
        lanes.push(&padded, |k| (k as u32) < there);
    }
    lanes.halve::<16>();
    lanes.halve::<8>();
    lanes.halve::<4>();
    lanes.halve::<2>();
    lanes.halve::<1>();
    lanes.get(0)
}

/// [`MomentsMonoid`] of one block of one column.
struct MomentsBlock<'a, F> {
    values: &'a [F],
    out: &'a mut MomentsState<F>,
}

impl<F: Float> Loop for MomentsBlock<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        *self.out = of_block(self.values);
    }
}

/// Consecutive rows of one column: the values of row `k` begin at value `start(k)`.
struct MomentsRows<'a, F, S> {
    values: &'a [F],
    start: S,
    out: &'a mut [MomentsState<F>],
}

impl<F: Float, S: Fn(usize) -> usize> Loop for MomentsRows<'_, F, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, start, out } = self;
        let rows = rows_by_length(values, start, out.len());
        out.fill(Monoid::<F>::identity(MomentsMonoid));
        let [folded, short, one_block, long] = classes(&rows);
        let mut columns = TransposedRows::new();
        for rows in folded.chunks(ROWS) {
            columns.take(values, rows);
            set_each(out, rows, &folded_together(&columns));
        }
        let mut states = [States::none(); LANES / 2];
        for rows in short.chunks(ROWS) {
            columns.take(values, rows);
            let of = |k: usize| States::of(&columns.values[k], |r| k < FOLD_LEN || (k as u32) < columns.lens[r]);
            set_each(out, rows, columns.merged(&mut states, of, States::merge));
        }
        for &(row, from, len) in one_block {
            out[row] = of_block(&values[from..from + len]);
        }
        for &(row, from, len) in long {
            reduce_long_row(&values[from..from + len], 1, MomentsMonoid, &mut out[row..=row]);
        }
    }
}

/// Folds rows of up to [`FOLD_LEN`] values each.
#[inline(always)]
fn folded_together<F: Float>(columns: &TransposedRows<F>) -> States<F, ROWS> {
    let mut states = States::none();
    for (k, column) in (0..columns.longest as u32).zip(&columns.values) {
        states.push(column, |r| k < columns.lens[r]);
    }
    states
}

/// Stores the first states as the results of `rows`.
#[inline(always)]
fn set_each<F: Float>(out: &mut [MomentsState<F>], rows: &[Row], states: &States<F, ROWS>) {
    for (k, &(row, ..)) in rows.iter().enumerate() {
        out[row] = states.get(k);
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_reduce::reduce_row;
    use super::*;

    /// [`MomentsMonoid`] with the default loops of [`Monoid`]: one value at a time.
    #[derive(Clone, Copy)]
    struct DefaultLoops;
    impl Monoid<f32> for DefaultLoops {
        type State = MomentsState<f32>;
        fn identity(self) -> MomentsState<f32> {
            Monoid::<f32>::identity(MomentsMonoid)
        }
        fn push(self, so_far: MomentsState<f32>, next: f32) -> MomentsState<f32> {
            MomentsMonoid.push(so_far, next)
        }
        fn merge(self, a: MomentsState<f32>, b: MomentsState<f32>) -> MomentsState<f32> {
            Monoid::<f32>::merge(MomentsMonoid, a, b)
        }
    }

    #[test]
    fn batched_rows_have_the_bits_of_the_canonical_order() {
        let lens = (0..70).chain([255, 256, 257, 300, 0, 513, 1030, 5, 1]).chain((0..200).map(|k| k * 37 % 40));
        let starts: Vec<usize> = lens.scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
        let rows = starts.len() - 1;
        let mut values: Vec<f32> = (0..starts[rows]).map(|k| ((k * 7919 % 1009) as f32).sqrt() - 20.0).collect();
        for (k, special) in [f32::INFINITY, f32::MAX, f32::NAN, -0.0, 1e-42].into_iter().cycle().take(25).enumerate() {
            values[100 + 97 * k] = special;
        }
        let mut batch = vec![DefaultLoops.identity(); rows];
        MomentsMonoid.rows(&values, 1, |k| starts[k], &mut batch);
        for (k, batch) in batch.iter().enumerate() {
            let mut single = [DefaultLoops.identity()];
            reduce_row(&values[starts[k]..starts[k + 1]], 1, DefaultLoops, &mut single);
            let (got, want) = (batch.deviations, single[0].deviations);
            let len = starts[k + 1] - starts[k];
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "row {k} of {len}: {got} {want}");
            assert_eq!(batch.count, single[0].count, "row {k} of {len}");
        }
    }
}
