//! Online softmax (Milakov and Gimelshein 2018): the maximum of a row, and the sum of the exponentials of the
//! differences from it.
//!
//! The operations and their order are those of a fold per lane and a halving tree over the lanes. The exponentials, the
//! dominant cost, are vectorized: over several short rows, over the lanes of one row, or over the trees of several
//! rows.

use super::accumulate::Float;
use super::row_reduce::{Monoid, reduce_block_of_columns, reduce_columns, reduce_long_row};
use super::simd::{self, Loop};
use super::transposed_rows::{LaneStates, ROWS, by_algorithm, reduce_short_rows, rows_by_length};
use crate::graph::canonical_order::reduction::LANES;

/// Online softmax state: the order key of the maximum, and the sum of the exponentials of the differences from it.
#[derive(Clone, Copy)]
pub(super) struct SoftmaxState<F: Float> {
    pub(super) greatest: F::Key,
    pub(super) sum: F,
}

/// The monoid of [`SoftmaxState`].
#[derive(Clone, Copy)]
pub(super) struct OnlineSoftmax;

impl<F: Float> Monoid<F> for OnlineSoftmax {
    type State = SoftmaxState<F>;
    #[inline(always)]
    fn identity(self) -> SoftmaxState<F> {
        SoftmaxState { greatest: F::NEG_INFINITY.key(), sum: F::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: SoftmaxState<F>, next: F) -> SoftmaxState<F> {
        self.merge(so_far, SoftmaxState::of(next))
    }
    #[inline(always)]
    fn merge(self, a: SoftmaxState<F>, b: SoftmaxState<F>) -> SoftmaxState<F> {
        a.merged(b, exponent::<F>(a.greatest, b.greatest).exp())
    }

    fn rows(self, values: &[F], inner: usize, start: impl Fn(usize) -> usize, out: &mut [SoftmaxState<F>]) {
        if inner == 1 {
            return simd::run(SoftmaxRows { values, start, out });
        }
        reduce_columns(values, inner, self, start, out);
    }

    fn block(self, values: &[F], inner: usize, out: &mut [SoftmaxState<F>]) {
        if inner == 1 {
            simd::run(SoftmaxBlock { values, out: &mut out[0] });
        } else {
            reduce_block_of_columns(values, inner, self, out);
        }
    }
}

/// The exponent by which a merge scales the sum of the lesser maximum: the lesser minus the greater maximum. Equal
/// values, infinities included, give 0.
#[inline(always)]
fn exponent<F: Float>(a: F::Key, b: F::Key) -> F {
    let (greatest, least) = (a.max(b), a.min(b));
    if least == greatest { F::ZERO } else { F::of_key(least).sub(F::of_key(greatest)) }
}

impl<F: Float> SoftmaxState<F> {
    /// The state of one value. The sum is NaN for +inf and NaN, whose difference from themselves is NaN.
    #[inline(always)]
    fn of(x: F) -> Self {
        let greatest = x.key();
        Self { greatest, sum: if greatest < F::INFINITY.key() { F::ONE } else { F::NAN } }
    }

    /// Merges two states. `scale` multiplies the sum of the state with the lesser maximum.
    #[inline(always)]
    fn merged(self, b: Self, scale: F) -> Self {
        let (sum, scaled) = if self.greatest < b.greatest { (b.sum, self.sum) } else { (self.sum, b.sum) };
        Self { greatest: self.greatest.max(b.greatest), sum: sum.add(scaled.mul(scale)) }
    }
}

/// Replaces each element by its exponential. -inf, the exponent of a lane without a value, gives 0 directly: the
/// evaluation would produce subnormal numbers, on which processors are slow.
#[inline(always)]
fn exponentials<F: Float>(x: &mut [F]) {
    for x in x {
        let is_zero = *x == F::NEG_INFINITY;
        let exp = if is_zero { F::ZERO } else { *x }.exp();
        *x = if is_zero { F::ZERO } else { exp };
    }
}

/// Moves the `N` elements at `from` to `to`, and the following `N` elements to index `to` of `upper`.
#[inline(always)]
fn split_halves<T: Copy, const N: usize>(of: &mut [T], upper: &mut [T], from: usize, to: usize) {
    let copy = |from: usize| -> [T; N] { std::array::from_fn(|k| of[from..from + N][k]) };
    let (low, high) = (copy(from), copy(from + N));
    of[to..to + N].copy_from_slice(&low);
    upper[to..to + N].copy_from_slice(&high);
}

/// `N` states as a structure of arrays.
struct States<F: Float, const N: usize> {
    greatest: [F::Key; N],
    sums: [F; N],
}

impl<F: Float, const N: usize> States<F, N> {
    #[inline(always)]
    fn set(&mut self, k: usize, to: SoftmaxState<F>) {
        (self.greatest[k], self.sums[k]) = (to.greatest, to.sum);
    }

    /// Merges the lanes of each row in a halving tree. The results are contiguous.
    #[inline(always)]
    fn fold_lanes(&mut self, rows: usize) {
        self.halve::<16>(rows);
        self.halve::<8>(rows);
        self.halve::<4>(rows);
        self.halve::<2>(rows);
        self.halve::<1>(rows);
    }

    /// One level of the halving tree: merges the upper half of each row's `2 * REACH` states into the lower half. The
    /// stride between rows is `2 * REACH` states before and `REACH` states after.
    #[inline(always)]
    fn halve<const REACH: usize>(&mut self, rows: usize) {
        let mut upper = Self::none();
        for row in 0..rows {
            let (to, from) = (row * REACH, 2 * row * REACH);
            split_halves::<_, REACH>(&mut self.greatest, &mut upper.greatest, from, to);
            split_halves::<_, REACH>(&mut self.sums, &mut upper.sums, from, to);
        }
        let n = rows * REACH;
        merge_each(&mut self.greatest[..n], &mut self.sums[..n], &upper.greatest[..n], &upper.sums[..n]);
    }
}

impl<F: Float, const N: usize> LaneStates<F, N> for States<F, N> {
    type State = SoftmaxState<F>;

    #[inline(always)]
    fn none() -> Self {
        let none: SoftmaxState<F> = Monoid::<F>::identity(OnlineSoftmax);
        Self { greatest: [none.greatest; N], sums: [none.sum; N] }
    }

    #[inline(always)]
    fn get(&self, k: usize) -> SoftmaxState<F> {
        SoftmaxState { greatest: self.greatest[k], sum: self.sums[k] }
    }

    #[inline(always)]
    fn of(values: &[F; N], is_present: impl Fn(usize) -> bool) -> Self {
        let mut states = Self::none();
        for (k, &x) in values.iter().enumerate() {
            let of = SoftmaxState::of(x);
            states.set(k, if is_present(k) { of } else { states.get(k) });
        }
        states
    }

    #[inline(always)]
    fn push(&mut self, values: &[F; N], is_present: impl Fn(usize) -> bool) {
        let mut scales = [F::ZERO; N];
        for (k, (scale, &x)) in scales.iter_mut().zip(values).enumerate() {
            *scale = exponent(self.greatest[k], x.key());
        }
        exponentials(&mut scales);
        for (k, (&scale, &x)) in scales.iter().zip(values).enumerate() {
            let so_far = self.get(k);
            let merged = so_far.merged(SoftmaxState::of(x), scale);
            self.set(k, if is_present(k) { merged } else { so_far });
        }
    }

    #[inline(always)]
    fn merge(&mut self, other: &Self) {
        merge_each(&mut self.greatest, &mut self.sums, &other.greatest, &other.sums);
    }
}

/// Merges other states into these, at most `TREES * LANES / 2` of each.
#[inline(always)]
fn merge_each<F: Float>(greatest: &mut [F::Key], sums: &mut [F], other_greatest: &[F::Key], other_sums: &[F]) {
    let others = other_greatest.iter().zip(other_sums);
    let mut scales = [F::ZERO; TREES * LANES / 2];
    for ((scale, &a), (&b, _)) in scales.iter_mut().zip(&*greatest).zip(others.clone()) {
        *scale = exponent(a, b);
    }
    exponentials(&mut scales[..greatest.len()]);
    for (((greatest, sum), (&b, &of_b)), &scale) in greatest.iter_mut().zip(sums).zip(others).zip(&scales) {
        let merged =
            SoftmaxState { greatest: *greatest, sum: *sum }.merged(SoftmaxState { greatest: b, sum: of_b }, scale);
        (*greatest, *sum) = (merged.greatest, merged.sum);
    }
}

/// The lane states of one block, which has at least one value.
#[inline(always)]
fn lanes_of<F: Float>(values: &[F]) -> States<F, LANES> {
    let mut groups = values.chunks(LANES);
    let mut padded = [F::ZERO; LANES];
    let mut next = |group: &[F]| {
        padded[..group.len()].copy_from_slice(group);
        padded
    };
    let first = groups.next().unwrap_or_default();
    let mut lanes = States::of(&next(first), |k| k < first.len());
    for group in groups {
        match group.first_chunk() {
            Some(group) => lanes.push(group, |_| true),
            None => lanes.push(&next(group), |k| k < group.len()),
        }
    }
    lanes
}

/// Reduces one block of one column by [`OnlineSoftmax`].
struct SoftmaxBlock<'a, F: Float> {
    values: &'a [F],
    out: &'a mut SoftmaxState<F>,
}

impl<F: Float> Loop for SoftmaxBlock<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let mut lanes = lanes_of(self.values);
        lanes.fold_lanes(1);
        *self.out = lanes.get(0);
    }
}

/// Reduces consecutive rows of one column by [`OnlineSoftmax`]. The values of row `k` begin at value `start(k)`.
struct SoftmaxRows<'a, F: Float, S> {
    values: &'a [F],
    start: S,
    out: &'a mut [SoftmaxState<F>],
}

/// One-block rows whose trees are computed at a time.
const TREES: usize = 8;

impl<F: Float, S: Fn(usize) -> usize> Loop for SoftmaxRows<'_, F, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, start, out } = self;
        let rows = rows_by_length(values, start, out.len());
        for row in out.iter_mut() {
            *row = Monoid::<F>::identity(OnlineSoftmax);
        }
        let [folded, short, one_block, long] = by_algorithm(&rows);
        reduce_short_rows::<F, States<F, ROWS>>(values, folded, short, out);
        for rows in one_block.chunks(TREES) {
            let mut states = States::<F, { TREES * LANES }>::none();
            for (&(_, from, len), k) in rows.iter().zip((0..).step_by(LANES)) {
                let lanes = lanes_of(&values[from..from + len]);
                states.greatest[k..k + LANES].copy_from_slice(&lanes.greatest);
                states.sums[k..k + LANES].copy_from_slice(&lanes.sums);
            }
            states.fold_lanes(TREES);
            states.store(rows, out);
        }
        for &(row, from, len) in long {
            reduce_long_row(&values[from..from + len], 1, OnlineSoftmax, &mut out[row..=row]);
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
        for (k, special) in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0].into_iter().cycle().take(24).enumerate()
        {
            values[100 + 97 * k] = special;
        }
        values[starts[20]..starts[24]].fill(f32::NEG_INFINITY);
        let mut batch = vec![OnlineSoftmax.identity(); rows];
        OnlineSoftmax.rows(&values, 1, |k| starts[k], &mut batch);
        for (k, batch) in batch.iter().enumerate() {
            let mut single = [OnlineSoftmax.identity()];
            reduce_row(&values[starts[k]..starts[k + 1]], 1, DefaultLoops(OnlineSoftmax), &mut single);
            let len = starts[k + 1] - starts[k];
            assert_eq!(batch.greatest, single[0].greatest, "row {k} of {len}");
            let same = batch.sum.to_bits() == single[0].sum.to_bits() || batch.sum.is_nan() && single[0].sum.is_nan();
            assert!(same, "row {k} of {len}: {} {}", batch.sum, single[0].sum);
        }
    }
}
