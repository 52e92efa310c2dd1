//! Variances: a monoid of count, mean and sum of squared deviations from the mean (Chan, Golub and LeVeque 1979).
//!
//! A merge contains a division and depends on the previous merge of its lane. Several lanes are therefore processed at
//! a time: one per row for short rows, else all lanes of one row. The operations and their order are those of a fold
//! per lane and a halving tree over the lanes.

use super::accumulate::Float;
use super::row_reduce::{Monoid, reduce_block_of_columns, reduce_columns, reduce_long_row};
use super::simd::{self, Loop};
use super::transposed_rows::{LaneStates, ROWS, by_algorithm, reduce_short_rows, rows_by_length};
use crate::graph::canonical_order::reduction::LANES;

/// Moments of a set of values: their count, one of the values (`pivot`), the mean minus the pivot (`offset`), and the
/// sum of the squared deviations from the mean.
#[derive(Clone, Copy)]
pub(super) struct MomentsState<F> {
    count: F,
    pivot: F,
    offset: F,
    pub(super) deviations: F,
}

/// The monoid of [`MomentsState`].
#[derive(Clone, Copy)]
pub(super) struct MomentsMonoid;

impl<F: Float> Monoid<F> for MomentsMonoid {
    type State = MomentsState<F>;
    #[inline(always)]
    fn identity(self) -> MomentsState<F> {
        MomentsState { count: F::ZERO, pivot: F::ZERO, offset: F::ZERO, deviations: F::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: MomentsState<F>, next: F) -> MomentsState<F> {
        self.merge(so_far, MomentsState::of(next))
    }
    #[inline(always)]
    fn merge(self, a: MomentsState<F>, b: MomentsState<F>) -> MomentsState<F> {
        let count = a.count.add(b.count);
        let weight = b.count.div(if count < F::ONE { F::ONE } else { count });
        let pivot = if a.count < F::ONE { b.pivot } else { a.pivot };
        let delta = b.pivot.sub(pivot).add(b.offset.sub(a.offset));
        let squares = delta.mul(delta.mul(a.count.mul(weight)));
        MomentsState {
            count,
            pivot,
            offset: a.offset.add(delta.mul(weight)),
            deviations: a.deviations.add(b.deviations).add(squares),
        }
    }

    #[inline(always)]
    fn fold_columns<const N: usize>(self, states: &mut [MomentsState<F>; N], values: impl Iterator<Item = [F; N]>) {
        // All columns have equal counts: their values are those of the same elements. The weight of a value is therefore
        // computed once for all columns, and the other fields are vectorized.
        let mut count = states.first().map_or(F::ZERO, |state| state.count);
        let mut pivots = states.map(|state| state.pivot);
        let mut offsets = states.map(|state| state.offset);
        let mut deviations = states.map(|state| state.deviations);
        for value in values {
            let before = count;
            count = count.add(F::ONE);
            let weight = F::ONE.div(count);
            let share = before.mul(weight);
            let is_first = before < F::ONE;
            for (k, x) in value.into_iter().enumerate() {
                let pivot = if is_first { x } else { pivots[k] };
                // As in a merge, whose other offset is 0.
                let delta = x.sub(pivot).sub(offsets[k]);
                let squares = delta.mul(delta.mul(share));
                let of_value = if x.is_finite() { F::ZERO } else { F::NAN };
                pivots[k] = pivot;
                offsets[k] = offsets[k].add(delta.mul(weight));
                deviations[k] = deviations[k].add(of_value).add(squares);
            }
        }
        for (k, state) in states.iter_mut().enumerate() {
            *state = MomentsState { count, pivot: pivots[k], offset: offsets[k], deviations: deviations[k] };
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
    /// The state of one value. The deviation of a finite value is 0, of any other value NaN.
    #[inline(always)]
    fn of(x: F) -> Self {
        let deviations = if x.is_finite() { F::ZERO } else { F::NAN };
        Self { count: F::ONE, pivot: x, offset: F::ZERO, deviations }
    }
}

/// `N` states as a structure of arrays.
#[derive(Clone, Copy)]
struct States<F, const N: usize> {
    count: [F; N],
    pivot: [F; N],
    offset: [F; N],
    deviations: [F; N],
}

impl<F: Float, const N: usize> States<F, N> {
    #[inline(always)]
    fn set(&mut self, k: usize, to: MomentsState<F>) {
        (self.count[k], self.pivot[k], self.offset[k], self.deviations[k]) =
            (to.count, to.pivot, to.offset, to.deviations);
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

impl<F: Float, const N: usize> LaneStates<F, N> for States<F, N> {
    type State = MomentsState<F>;

    #[inline(always)]
    fn none() -> Self {
        let none = [F::ZERO; N];
        Self { count: none, pivot: none, offset: none, deviations: none }
    }

    #[inline(always)]
    fn get(&self, k: usize) -> MomentsState<F> {
        MomentsState {
            count: self.count[k],
            pivot: self.pivot[k],
            offset: self.offset[k],
            deviations: self.deviations[k],
        }
    }

    #[inline(always)]
    fn push(&mut self, values: &[F; N], is_present: impl Fn(usize) -> bool) {
        for (k, &x) in values.iter().enumerate() {
            let so_far = self.get(k);
            let merged = MomentsMonoid.push(so_far, x);
            let is_present = is_present(k);
            self.count[k] = if is_present { merged.count } else { so_far.count };
            self.pivot[k] = if is_present { merged.pivot } else { so_far.pivot };
            self.offset[k] = if is_present { merged.offset } else { so_far.offset };
            self.deviations[k] = if is_present { merged.deviations } else { so_far.deviations };
        }
    }

    #[inline(always)]
    fn merge(&mut self, other: &Self) {
        for k in 0..N {
            self.set(k, MomentsMonoid.merge(self.get(k), other.get(k)));
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
        let len = rest.len() as u32;
        lanes.push(&padded, |k| (k as u32) < len);
    }
    lanes.halve::<16>();
    lanes.halve::<8>();
    lanes.halve::<4>();
    lanes.halve::<2>();
    lanes.halve::<1>();
    lanes.get(0)
}

/// Reduces one block of one column by [`MomentsMonoid`].
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

/// Reduces consecutive rows of one column by [`MomentsMonoid`]. The values of row `k` begin at value `start(k)`.
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
        let [folded, short, one_block, long] = by_algorithm(&rows);
        reduce_short_rows::<F, States<F, ROWS>>(values, folded, short, out);
        for &(row, from, len) in one_block {
            out[row] = of_block(&values[from..from + len]);
        }
        for &(row, from, len) in long {
            reduce_long_row(&values[from..from + len], 1, MomentsMonoid, &mut out[row..=row]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_reduce::{DefaultLoops, reduce_row};
    use super::*;

    #[test]
    fn batched_rows_have_the_bits_of_the_canonical_order() {
        let lens = (0..70).chain([255, 256, 257, 300, 0, 513, 1030, 5, 1]).chain((0..200).map(|k| k * 37 % 40));
        let starts: Vec<usize> = lens.scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
        let rows = starts.len() - 1;
        let mut values: Vec<f32> = (0..starts[rows]).map(|k| ((k * 7919 % 1009) as f32).sqrt() - 20.0).collect();
        for (k, special) in [f32::INFINITY, f32::MAX, f32::NAN, -0.0, 1e-42].into_iter().cycle().take(25).enumerate() {
            values[100 + 97 * k] = special;
        }
        let mut batch = vec![Monoid::<f32>::identity(MomentsMonoid); rows];
        MomentsMonoid.rows(&values, 1, |k| starts[k], &mut batch);
        for (k, batch) in batch.iter().enumerate() {
            let mut single = [Monoid::<f32>::identity(MomentsMonoid)];
            reduce_row(&values[starts[k]..starts[k + 1]], 1, DefaultLoops(MomentsMonoid), &mut single);
            let (got, want) = (batch.deviations, single[0].deviations);
            let len = starts[k + 1] - starts[k];
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "row {k} of {len}: {got} {want}");
            assert_eq!(batch.count, single[0].count, "row {k} of {len}");
        }
    }
}
