//! Matrices on the host, their product by definition, and their tensors in every layout.

use ragged::{Device, Element, HostTensor, Tensor};

use super::common::random::Random;

/// An element type of matrix products.
pub trait Number: Element<Host = Self> + Copy + PartialEq + std::fmt::Debug {
    const ZERO: Self;
    fn small(v: i32) -> Self;
    fn add(self, other: Self) -> Self;
    fn add_product(self, a: Self, b: Self) -> Self;
    /// The bits, with one pattern for all NaNs.
    fn bits(self) -> u64;
}

macro_rules! integers {
    ($($t:ty),*) => {$(impl Number for $t {
        const ZERO: Self = 0;
        fn small(v: i32) -> Self {
            // So large that products wrap.
            (v as $t).wrapping_mul(<$t>::MAX / 37)
        }
        fn add(self, other: Self) -> Self {
            self.wrapping_add(other)
        }
        fn add_product(self, a: Self, b: Self) -> Self {
            self.wrapping_add(a.wrapping_mul(b))
        }
        fn bits(self) -> u64 {
            self as u64
        }
    })*};
}
integers!(u8, i32, u32, i64, u64);

macro_rules! floats {
    ($($t:ty, |$sum:ident, $a:ident, $b:ident| $added:expr);*) => {$(impl Number for $t {
        const ZERO: Self = 0.0;
        fn small(v: i32) -> Self {
            // Products and sums round, so that the bits depend on the order.
            v as $t / 7.0
        }
        fn add(self, other: Self) -> Self {
            self + other
        }
        fn add_product(self, $a: Self, $b: Self) -> Self {
            let $sum = self;
            $added
        }
        fn bits(self) -> u64 {
            if self.is_nan() { u64::MAX } else { u64::from(self.to_bits()) }
        }
    })*};
}
// Products of f32 are fused.
floats!(f32, |sum, a, b| a.mul_add(b, sum); f64, |sum, a, b| sum + a * b);

/// A matrix. The number of columns is defined even without rows.
#[derive(Clone, Debug)]
pub struct Matrix<T> {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<T>,
}

impl<T: Number> Matrix<T> {
    pub fn random(random: &mut Random, rows: usize, columns: usize) -> Self {
        let values = (0..rows * columns).map(|_| T::small(random.below(2000) as i32 - 1000)).collect();
        Self { rows, columns, values }
    }
    pub fn transpose(&self) -> Self {
        let at = |p: usize| self.values[p % self.rows * self.columns + p / self.rows];
        Self { rows: self.columns, columns: self.rows, values: (0..self.values.len()).map(at).collect() }
    }
    /// The product, whose sums are those of runs of 16 terms, of 16 runs, and so on up to 65,536 terms, and of these. At
    /// most 256 terms have one sum.
    pub fn times(&self, other: &Self) -> Vec<Vec<T>> {
        assert_eq!(self.columns, other.rows);
        let terms: Vec<usize> = (0..self.columns).collect();
        let sum = |i: usize, j: usize| {
            let of_run = |terms: &[usize]| {
                terms.iter().fold(T::ZERO, |sum, &l| {
                    sum.add_product(self.values[i * self.columns + l], other.values[l * other.columns + j])
                })
            };
            if terms.len() <= 256 {
                return T::ZERO.add(of_run(&terms));
            }
            let of_block = |terms: &[usize]| terms.chunks(16).map(of_run).fold(T::ZERO, T::add);
            let of_section = |terms: &[usize]| terms.chunks(256).map(of_block).fold(T::ZERO, T::add);
            let of_group = |terms: &[usize]| terms.chunks(4096).map(of_section).fold(T::ZERO, T::add);
            terms.chunks(65_536).map(of_group).fold(T::ZERO, T::add)
        };
        (0..self.rows).map(|i| (0..other.columns).map(|j| sum(i, j)).collect()).collect()
    }
    pub fn stored(&self, transposed: bool) -> Self {
        if transposed { self.transpose() } else { self.clone() }
    }
}

pub fn splits(lengths: impl IntoIterator<Item = usize>) -> Vec<u32> {
    let mut out = vec![0];
    lengths.into_iter().for_each(|len| out.push(out[out.len() - 1] + len as u32));
    out
}

pub fn host<T: Number>(nested_row_splits: Vec<Vec<u32>>, inner_shape: Vec<usize>, values: Vec<T>) -> HostTensor {
    let uniform_row_lengths = vec![None; nested_row_splits.len()];
    HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values: T::wrap(values) }
}

/// `[batches, (rows), (columns)]`
pub fn ragged<T: Number>(of: &[Matrix<T>]) -> HostTensor {
    let rows = splits(of.iter().map(|m| m.rows));
    let columns = splits(of.iter().flat_map(|m| vec![m.columns; m.rows]));
    let values: Vec<T> = of.iter().flat_map(|m| m.values.clone()).collect();
    host(vec![rows, columns], vec![values.len()], values)
}

/// `[batches, (rows), columns]`
pub fn half_ragged<T: Number>(of: &[Matrix<T>], columns: usize) -> HostTensor {
    let rows = splits(of.iter().map(|m| m.rows));
    let values: Vec<T> = of.iter().flat_map(|m| m.values.clone()).collect();
    host(vec![rows.clone()], vec![rows[of.len()] as usize, columns], values)
}

/// `[batches, rows, columns]`
pub fn dense<T: Number>(of: &[Matrix<T>], rows: usize, columns: usize) -> HostTensor {
    host(vec![], vec![of.len(), rows, columns], of.iter().flat_map(|m| m.values.clone()).collect())
}

/// The tensor, with splits that only the device knows if asked for.
pub fn on(t: &HostTensor, device: &Device, hidden: bool) -> Tensor {
    let x = t.to_device(device).expect("a valid tensor");
    // Two reversals on the device restore the rows.
    if hidden { x.reverse(0).and_then(|x| x.reverse(0)).expect("recorded") } else { x }
}

pub fn bits<T: Number>(t: &HostTensor) -> Vec<u64> {
    T::unwrap(t.values.clone()).expect("the operands' dtype").into_iter().map(T::bits).collect()
}
