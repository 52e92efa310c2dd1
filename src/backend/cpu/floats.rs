//! Sums, products, minima and maxima of rows of f32 and f64.

use std::marker::PhantomData;

use super::accumulate::Float;
use super::encoding::Dense;
use super::loops::map1;
use super::masked_rows;
use super::operand::Operand;
use super::row_reduce::{Monoid, reduce_columns};
use super::vector_op::{VectorMonoid, VectorOp};
use super::vector_rows;

/// The monoid of sums, or of products if `PRODUCT`.
#[derive(Clone, Copy)]
pub(super) struct SumProd<const PRODUCT: bool>;

impl<F: Float, const PRODUCT: bool> VectorMonoid<F> for SumProd<PRODUCT> {
    const OP: VectorOp = if PRODUCT { VectorOp::FloatProduct } else { VectorOp::FloatSum };
}

impl<F: Float, const PRODUCT: bool> Monoid<F> for SumProd<PRODUCT> {
    type State = F;
    #[inline(always)]
    fn identity(self) -> F {
        if PRODUCT { F::ONE } else { F::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: F, next: F) -> F {
        self.merge(so_far, next)
    }
    #[inline(always)]
    fn merge(self, a: F, b: F) -> F {
        if PRODUCT { a.mul(b) } else { a.add(b) }
    }

    fn rows(self, values: &[F], inner: usize, start: impl Fn(usize) -> usize, out: &mut [F]) {
        vector_rows::rows_of_values(self, values, inner, start, out);
    }

    fn block(self, values: &[F], inner: usize, out: &mut [F]) {
        vector_rows::block_of_values(self, values, inner, out);
    }
}

/// The monoid of maxima if `MAX`, or of minima. The states are order keys, converted from the floats on the fly.
#[derive(Clone, Copy)]
pub(super) struct MinMax<const MAX: bool>;

impl<const MAX: bool> MinMax<MAX> {
    /// The key of NaN, which wins against all others.
    #[inline(always)]
    fn key_of_nan<F: Float>() -> F::Key {
        if MAX { F::MAX_KEY } else { F::MIN_KEY }
    }
}

/// The monoid of [`MinMax`] over keys.
#[derive(Clone, Copy)]
struct KeyMinMax<F, const MAX: bool>(PhantomData<fn(F)>);

impl<F: Float, const MAX: bool> Monoid<F::Key> for KeyMinMax<F, MAX> {
    type State = F::Key;
    #[inline(always)]
    fn identity(self) -> F::Key {
        Monoid::<F>::identity(MinMax::<MAX>)
    }
    #[inline(always)]
    fn push(self, so_far: F::Key, next: F::Key) -> F::Key {
        Monoid::<F>::merge(MinMax::<MAX>, so_far, next)
    }
    #[inline(always)]
    fn merge(self, a: F::Key, b: F::Key) -> F::Key {
        Monoid::<F>::merge(MinMax::<MAX>, a, b)
    }
}

impl<F: Float, const MAX: bool> VectorMonoid<F> for MinMax<MAX> {
    const OP: VectorOp = if MAX { VectorOp::FloatMax } else { VectorOp::FloatMin };
}

impl<F: Float, const MAX: bool> Monoid<F> for MinMax<MAX> {
    type State = F::Key;
    #[inline(always)]
    fn identity(self) -> F::Key {
        if MAX { F::MIN_KEY } else { F::MAX_KEY }
    }
    #[inline(always)]
    fn push(self, so_far: F::Key, next: F) -> F::Key {
        Monoid::<F>::merge(self, so_far, next.key_or(Self::key_of_nan::<F>()))
    }
    #[inline(always)]
    fn merge(self, a: F::Key, b: F::Key) -> F::Key {
        if MAX { a.max(b) } else { a.min(b) }
    }

    fn rows(self, values: &[F], inner: usize, start: impl Fn(usize) -> usize, out: &mut [F::Key]) {
        if inner > 1 {
            reduce_columns(values, inner, self, start, out);
        } else if !vector_rows::rows(self, values, &start, out) {
            let nan = Self::key_of_nan::<F>();
            let keys = Dense::filled(values.len(), |keys| map1(Operand::Dense(values), |x: F| x.key_or(nan), keys));
            masked_rows::reduce_rows(&keys, KeyMinMax::<F, MAX>(PhantomData), false, start, out);
        }
    }

    fn block(self, values: &[F], inner: usize, out: &mut [F::Key]) {
        vector_rows::block_of_values(self, values, inner, out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_reduce::{reduce_block, reduce_row};
    use super::*;

    /// Row starts, and values that include infinities, NaN and signed zeros.
    fn batch() -> (Vec<usize>, Vec<f64>) {
        // Consecutive short rows, which are reduced several at a time.
        let short = (0..80).map(|k| k * 5 % 33);
        let lens = (0..70).chain([255, 256, 257, 300, 0, 513, 1030, 5, 1, 32, 16, 33]).chain(short).chain([40]);
        let starts: Vec<usize> = lens.scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
        let n = starts[starts.len() - 1];
        // Values of various magnitudes, so that sums depend on their order.
        let mut values: Vec<f64> = (0..n).map(|k| 1.0 / (1.0 + (k * 7919 % 1009) as f64) - 0.01).collect();
        let specials = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN, -0.0, 0.0];
        for (k, special) in specials.into_iter().cycle().take(30).enumerate() {
            values[100 + 89 * k] = special;
        }
        // Rows that are reduced one at a time, and two rows of more than 16 values among short ones.
        for row in [10, 16, 32, 40, 64, 95, 101] {
            values[starts[row]..starts[row + 1]].fill(-0.0);
        }
        (starts, values)
    }

    /// Maps a finite non-zero value close to 1, so that products of many such values stay finite and non-zero.
    fn near_one(x: f64) -> f64 {
        if x.is_finite() && x != 0.0 { 1.0 + x * 0.1 } else { x }
    }

    fn check<F: Float, M: Monoid<F>>(monoid: M, of: impl Fn(f64) -> F, same: impl Fn(M::State, M::State) -> bool) {
        let (starts, values) = batch();
        let values: Vec<F> = values.into_iter().map(of).collect();
        for inner in [1, 3] {
            let rows = starts.len() / inner - 1;
            let mut batch = vec![monoid.identity(); rows * inner];
            monoid.rows(&values, inner, |k| starts[k], &mut batch);
            for (k, batch) in batch.chunks_exact(inner).enumerate() {
                let mut single = vec![monoid.identity(); inner];
                let row = &values[starts[k] * inner..starts[k + 1] * inner];
                reduce_row(row, inner, monoid, &mut single);
                assert!(batch.iter().zip(&single).all(|(&a, &b)| same(a, b)), "row {k}, {inner} columns");
            }
        }
        for len in [1, 7, 32, 33, 250, 256] {
            let (mut block, mut expected) = ([monoid.identity()], [monoid.identity()]);
            monoid.block(&values[..len], 1, &mut block);
            reduce_block(&values[..len], 1, monoid, &mut expected);
            assert!(same(block[0], expected[0]), "a block of {len}");
        }
    }

    #[test]
    fn batched_rows_have_the_bits_of_the_canonical_order() {
        let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        check(SumProd::<false>, |x| x as f32, same);
        check(SumProd::<true>, |x| near_one(x) as f32, same);
        check::<f32, _>(MinMax::<true>, |x| x as f32, |a, b| a == b);
        check::<f32, _>(MinMax::<false>, |x| x as f32, |a, b| a == b);
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        check(SumProd::<false>, |x: f64| x, same);
        check(SumProd::<true>, near_one, same);
        check::<f64, _>(MinMax::<true>, |x| x, |a, b| a == b);
        check::<f64, _>(MinMax::<false>, |x| x, |a, b| a == b);
    }
}
