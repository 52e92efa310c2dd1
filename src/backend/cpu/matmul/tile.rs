//! Register tile of a matrix product: a few rows of results, each of two AVX2 vectors.

use super::super::number::Number;
use crate::graph::canonical_order::product::RUN;

/// Rows of a tile: their sums, a row of the right factor, a number of the left one and, if they are not fused, a product fit
/// the 16 registers of AVX2.
pub(super) const ROWS: usize = 4;

/// The sums of the products of a panel of rows and a panel of columns, by runs of the canonical order or as one run, added
/// to 0.
#[inline(always)]
pub(super) fn sum_of_products<T: Number, const N: usize, const HAS_FMA: bool>(
    a: &[[T; ROWS]],
    b: &[[T; N]],
    in_runs: bool,
) -> [[T; N]; ROWS] {
    let mut sums = [[T::default(); N]; ROWS];
    if !in_runs {
        add_tile(&mut sums, &sum_of_run::<T, N, HAS_FMA>(a, b));
        return sums;
    }
    for (a, b) in a.chunks(RUN as usize).zip(b.chunks(RUN as usize)) {
        add_tile(&mut sums, &sum_of_run::<T, N, HAS_FMA>(a, b));
    }
    sums
}

/// The sums of the products of a run, term by term. They may be -0.
#[inline(always)]
fn sum_of_run<T: Number, const N: usize, const HAS_FMA: bool>(a: &[[T; ROWS]], b: &[[T; N]]) -> [[T; N]; ROWS] {
    let mut sums = [[T::default(); N]; ROWS];
    for (a, b) in a.iter().zip(b) {
        for r in 0..ROWS {
            for c in 0..N {
                sums[r][c] = sums[r][c].add_product::<HAS_FMA>(a[r], b[c]);
            }
        }
    }
    sums
}

/// Adds sums to sums.
#[inline(always)]
pub(super) fn add_tile<T: Number, const N: usize>(sums: &mut [[T; N]; ROWS], added: &[[T; N]; ROWS]) {
    for (sums, added) in sums.iter_mut().zip(added) {
        for (sum, &added) in sums.iter_mut().zip(added) {
            *sum = sum.add(added);
        }
    }
}

/// Place of a tile in the results.
pub(super) struct Tile {
    pub(super) row: usize,
    pub(super) column: usize,
    /// Rows and columns of the tile that are results.
    pub(super) size: (usize, usize),
    /// Whether rows and columns are exchanged in the results.
    pub(super) is_transposed: bool,
}

impl Tile {
    /// The sums that were stored.
    #[inline(always)]
    pub(super) fn load<T: Number, const N: usize>(&self, out: &[&mut [T]]) -> [[T; N]; ROWS] {
        let (height, width) = self.size;
        let mut sums = [[T::default(); N]; ROWS];
        for (r, sums) in sums[..height].iter_mut().enumerate() {
            if self.is_transposed {
                for (c, sum) in sums[..width].iter_mut().enumerate() {
                    *sum = out[self.column + c][self.row + r];
                }
            } else {
                let row = &out[self.row + r][self.column..][..width];
                match row.first_chunk() {
                    Some(all) => *sums = *all,
                    None => sums[..width].copy_from_slice(row),
                }
            }
        }
        sums
    }

    #[inline(always)]
    pub(super) fn store<T: Number, const N: usize>(&self, sums: &[[T; N]; ROWS], out: &mut [&mut [T]]) {
        let (height, width) = self.size;
        for (r, sums) in sums[..height].iter().enumerate() {
            if self.is_transposed {
                for (c, &sum) in sums[..width].iter().enumerate() {
                    out[self.column + c][self.row + r] = sum;
                }
            } else {
                let row = &mut out[self.row + r][self.column..][..width];
                match row.first_chunk_mut() {
                    Some(all) => *all = *sums,
                    None => row.copy_from_slice(&sums[..width]),
                }
            }
        }
    }
}
