//! Matrices that many small products share, such as the weights of a recurrence: packed once.

use super::array::{Array, ArrayElement};
use super::encoding::{Dense, Encoded, Value};
use super::matmul::blocked::{MOST_PACKED_TERMS, Packed, Panels, product, product_packed};
use super::matmul::factor::Factor;
use super::number::Number;
use crate::dtype::DType;

/// Most vectors of a product.
pub(super) const VECTORS: usize = 32;

/// A matrix of any dtype, which all threads share.
pub(super) trait Matrix: Sync {
    /// What a thread needs to multiply vectors by the matrix.
    fn multiplier(&self) -> Box<dyn Multiplier + '_>;
}

/// Multiplies vectors by a matrix; keeps its buffers.
pub(super) trait Multiplier {
    /// The products of `n` vectors with the matrix, at most [`VECTORS`].
    fn products(&mut self, vectors: &Encoded<'static>, n: usize) -> Encoded<'static>;
}

/// Sizes and layout of a matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) terms: usize,
    pub(super) columns: usize,
    /// Whether the matrix is stored as columns times terms.
    pub(super) transposed: bool,
}

impl Layout {
    /// Upper bound of the bytes of the packed matrix.
    pub(super) fn bytes(self, dtype: DType) -> u64 {
        self.terms as u64 * (self.columns.next_multiple_of(16) * dtype.size()) as u64
    }
}

/// Packs a matrix.
pub(super) fn packed<'a>(matrix: &'a Array, dtype: DType, layout: Layout) -> Box<dyn Matrix + 'a> {
    match dtype {
        DType::I32 => Box::new(Typed::<i32, 16>::new(matrix, layout)),
        DType::U32 => Box::new(Typed::<u32, 16>::new(matrix, layout)),
        DType::I64 => Box::new(Typed::<i64, 8>::new(matrix, layout)),
        DType::U64 => Box::new(Typed::<u64, 8>::new(matrix, layout)),
        DType::F32 => Box::new(Typed::<f32, 16>::new(matrix, layout)),
        DType::F64 => Box::new(Typed::<f64, 8>::new(matrix, layout)),
        d => unreachable!("bug: a product of {d}, which is recorded as u32 or f32"),
    }
}

struct Typed<'a, T, const N: usize> {
    factor: Factor<'a, T>,
    layout: Layout,
    /// The packed matrix; `None` for narrow ones, which products may exchange with the vectors, and for long ones.
    packed: Option<Packed<T, N>>,
}

impl<'a, T: Number + ArrayElement, const N: usize> Typed<'a, T, N> {
    fn new(matrix: &'a Array, layout: Layout) -> Self {
        let Layout { terms, columns, transposed } = layout;
        let factor = Factor::right(matrix.slice::<T>(), 0, (terms, columns), transposed);
        let is_packed = columns >= N && terms <= MOST_PACKED_TERMS;
        Self { factor, layout, packed: is_packed.then(|| Packed::new(factor, (terms, columns))) }
    }
}

impl<T: Value + Number + ArrayElement + Sync, const N: usize> Matrix for Typed<'_, T, N> {
    fn multiplier(&self) -> Box<dyn Multiplier + '_> {
        Box::new(OfThread { matrix: self, panels: Panels::new() })
    }
}

struct OfThread<'m, 'a, T, const N: usize> {
    matrix: &'m Typed<'a, T, N>,
    panels: Panels<T, N>,
}

impl<T: Value + Number + ArrayElement, const N: usize> Multiplier for OfThread<'_, '_, T, N> {
    fn products(&mut self, vectors: &Encoded<'static>, n: usize) -> Encoded<'static> {
        let Self { matrix: Typed { factor, layout, packed }, panels } = self;
        let Layout { terms, columns, .. } = *layout;
        let left: Dense<'_, T> = T::expanded(n * terms, vectors);
        let left = Factor::left(&left, 0, (n, terms), false);
        T::wrap(Dense::<T>::filled(n * columns, |out| {
            let mut rows = out.chunks_exact_mut(columns);
            let mut rows: [&mut [T]; VECTORS] = std::array::from_fn(|_| rows.next().unwrap_or_default());
            match packed {
                Some(packed) => product_packed(left, packed, &mut rows[..n], panels),
                None => product(left, *factor, terms, &mut rows[..n], panels),
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::simd;
    use super::*;

    /// A packed matrix gives the bits of one that is packed by every product, in the loops of each set of vector instructions.
    #[test]
    fn products_by_packed_matrices() {
        let mut bits: Option<Vec<Vec<f32>>> = None;
        simd::for_each_vectors(|| {
            let found = packed_products();
            assert_eq!(bits.get_or_insert_with(|| found.clone()), &found);
        });
    }

    fn packed_products() -> Vec<Vec<f32>> {
        let mut all = Vec::new();
        let number = |k: usize| ((k * 7919) % 2003) as f32 / 977.0 - 1.0;
        for (terms, columns) in [(1, 16), (32, 128), (255, 17), (256, 16), (257, 40), (700, 31), (4096, 16), (300, 3)] {
            let values: Vec<f32> = (0..terms * columns).map(number).collect();
            let vectors: Vec<f32> = (0..VECTORS * terms).map(|k| number(k + 5)).collect();
            for transposed in [false, true] {
                let matrix = Factor::right(&values, 0, (terms, columns), transposed);
                let packed = Packed::<f32, 16>::new(matrix, (terms, columns));
                for n in [1, 2, 5, 31, VECTORS] {
                    let left = Factor::left(&vectors, 0, (n, terms), false);
                    let mut found = [vec![0f32; n * columns], vec![0f32; n * columns]];
                    let [a, b] = &mut found;
                    let mut rows: Vec<&mut [f32]> = a.chunks_exact_mut(columns).collect();
                    product(left, matrix, terms, &mut rows, &mut Panels::<f32, 16>::new());
                    let mut rows: Vec<&mut [f32]> = b.chunks_exact_mut(columns).collect();
                    product_packed(left, &packed, &mut rows, &mut Panels::<f32, 16>::new());
                    let [a, b] = found;
                    assert_eq!(a, b, "{n} x {terms} x {columns}, transposed {transposed}");
                    all.push(a);
                }
            }
        }
        all
    }
}
