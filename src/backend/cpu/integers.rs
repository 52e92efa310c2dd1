//! Wrapping sums and products, minima and maxima of rows of integers.

use super::number::Number;
use super::row_reduce::Monoid;
use super::vector_op::{VectorMonoid, VectorOp};
use super::vector_rows;

/// The monoid of wrapping sums, or of wrapping products if `PRODUCT`.
#[derive(Clone, Copy)]
pub(super) struct IntegerSumProd<const PRODUCT: bool>;

/// The monoid of maxima if `MAX`, or of minima.
#[derive(Clone, Copy)]
pub(super) struct IntegerMinMax<const MAX: bool>;

/// Implements a monoid for an integer type, given its identity element, operator and vector operation.
macro_rules! integers {
    ($monoid:ty, $t:ty, $identity:expr, $combine:path, $op:expr) => {
        impl VectorMonoid<$t> for $monoid {
            const OP: VectorOp = $op;
        }

        impl Monoid<$t> for $monoid {
            type State = $t;
            #[inline(always)]
            fn identity(self) -> $t {
                $identity
            }
            #[inline(always)]
            fn push(self, so_far: $t, next: $t) -> $t {
                $combine(so_far, next)
            }
            #[inline(always)]
            fn merge(self, a: $t, b: $t) -> $t {
                $combine(a, b)
            }

            fn rows(self, values: &[$t], inner: usize, start: impl Fn(usize) -> usize, out: &mut [$t]) {
                vector_rows::rows_of_values(self, values, inner, start, out);
            }

            fn block(self, values: &[$t], inner: usize, out: &mut [$t]) {
                vector_rows::block_of_values(self, values, inner, out);
            }
        }
    };
}

/// Implements all monoids for an integer type, given its vector operations for maxima and minima.
macro_rules! all {
    ($t:ident, $greatest:expr, $least:expr) => {
        integers!(IntegerSumProd<false>, $t, 0, Number::add, VectorOp::IntegerSum);
        integers!(IntegerSumProd<true>, $t, 1, Number::mul, VectorOp::IntegerProduct);
        integers!(IntegerMinMax<true>, $t, $t::MIN, Number::maximum, $greatest);
        integers!(IntegerMinMax<false>, $t, $t::MAX, Number::minimum, $least);
    };
}
all!(i32, VectorOp::SignedMax, VectorOp::SignedMin);
all!(i64, VectorOp::SignedMax, VectorOp::SignedMin);
all!(u32, VectorOp::UnsignedMax, VectorOp::UnsignedMin);
all!(u64, VectorOp::UnsignedMax, VectorOp::UnsignedMin);

#[cfg(test)]
mod tests {
    use super::super::row_reduce::{reduce_block, reduce_row};
    use super::*;

    fn check<V: Copy + PartialEq + std::fmt::Debug, M: Monoid<V, State = V>>(monoid: M, value: impl Fn(u64) -> V) {
        // Consecutive short rows, which are reduced several at a time.
        let short = (0..80).map(|k| k * 5 % 33);
        let lens = (0..70).chain([255, 256, 257, 300, 0, 513, 1030, 5, 1, 32, 16, 33]).chain(short).chain([40]);
        let starts: Vec<usize> = lens.scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
        for inner in [1, 3] {
            let rows = starts.len() - 1;
            let n = starts[rows] * inner;
            // Values of both signs.
            let values: Vec<V> = (0..n as u64).map(|k| value(k.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
            let mut batch = vec![monoid.identity(); rows * inner];
            monoid.rows(&values, inner, |k| starts[k], &mut batch);
            for (k, batch) in batch.chunks_exact(inner).enumerate() {
                let mut single = vec![monoid.identity(); inner];
                reduce_row(&values[starts[k] * inner..starts[k + 1] * inner], inner, monoid, &mut single);
                assert_eq!(batch, single, "row {k}, {inner} columns");
            }
            for len in [1, 7, 32, 33, 250, 256] {
                let (mut block, mut expected) = (vec![monoid.identity(); inner], vec![monoid.identity(); inner]);
                monoid.block(&values[..len * inner], inner, &mut block);
                reduce_block(&values[..len * inner], inner, monoid, &mut expected);
                assert_eq!(block, expected, "a block of {len}, {inner} columns");
            }
        }
    }

    #[test]
    fn batched_rows_equal_single_rows() {
        macro_rules! all {
            ($($t:ident),*) => {$(
                check::<$t, _>(IntegerSumProd::<false>, |x| x as $t);
                // Odd numbers: products of even numbers would soon be 0.
                check::<$t, _>(IntegerSumProd::<true>, |x| x as $t | 1);
                check::<$t, _>(IntegerMinMax::<true>, |x| x as $t);
                check::<$t, _>(IntegerMinMax::<false>, |x| x as $t);
            )*};
        }
        all!(i32, i64, u32, u64);
    }
}
