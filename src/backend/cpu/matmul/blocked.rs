//! The blocked loop of a matrix product. Terms are added in the canonical order of
//! [`canonical_order::product`](crate::graph::canonical_order::product), so that the bits of a result do not depend on
//! the blocking of rows and columns.

use std::ops::Range;

use super::super::number::Number;
use super::super::simd::{self, Loop};
use super::factor::Factor;
use super::tile::{PANEL_ROWS, TILE_ROWS, Tile};
use crate::graph::canonical_order::product::{BLOCK as TERMS, GROUP, SECTION};

/// Terms per block of the canonical order. A panel of that many terms of columns stays in the L1 cache.
const TERMS_PER_BLOCK: usize = TERMS as usize;
/// Rows per block and columns per block: the packed panels stay in the L2 cache.
const BLOCK: [usize; 2] = [96, 256];

/// Packed blocks of both factors. Consecutive products share them.
#[derive(Debug)]
pub(crate) struct Panels<T, const N: usize> {
    rows: Vec<[T; PANEL_ROWS]>,
    columns: Vec<[T; N]>,
}

impl<T, const N: usize> Panels<T, N> {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), columns: Vec::new() }
    }
}

/// Computes a product of sums of `terms` terms with register tiles of `N` columns. `out` are its rows, of equal
/// lengths.
pub(crate) fn product<T: Number, const N: usize>(
    left: Factor<'_, T>,
    right: Factor<'_, T>,
    terms: usize,
    out: &mut [&mut [T]],
    panels: &mut Panels<T, N>,
) {
    if terms <= TERMS_PER_BLOCK {
        product_of_range(left, right, (terms, terms), out, panels);
    } else {
        sums(left, right, 0..terms, out, panels);
    }
}

/// Adds sums to sums.
pub(super) fn add_to<T: Number>(sums: &mut [T], added: &[T]) {
    for (sum, &added) in sums.iter_mut().zip(added) {
        *sum = sum.add(added);
    }
}

/// Computes the sums of a range of more than one block of terms: all, or one block, section or group of them.
pub(super) fn sums<T: Number, const N: usize>(
    left: Factor<'_, T>,
    right: Factor<'_, T>,
    terms: Range<usize>,
    out: &mut [&mut [T]],
    panels: &mut Panels<T, N>,
) {
    by_parts(terms, out, &mut |terms, out| {
        simd::run(Sums { left, right, terms, in_runs: true, out, panels });
    });
}

/// Computes a product of at most one section of terms, which are a part of a sum of `all` terms.
pub(super) fn product_of_range<T: Number, const N: usize>(
    left: Factor<'_, T>,
    right: Factor<'_, T>,
    (terms, all): (usize, usize),
    out: &mut [&mut [T]],
    panels: &mut Panels<T, N>,
) {
    simd::run(Sums { left, right, terms: 0..terms, in_runs: all > TERMS_PER_BLOCK, out, panels });
}

/// Computes the sums of a range of terms, for rows of results.
type Sum<'f, T> = dyn FnMut(Range<usize>, &mut [&mut [T]]) + 'f;

/// Computes the sums of a range of terms from those of its parts, at most one section each, which `sums` computes.
pub(super) fn by_parts<T: Number>(terms: Range<usize>, out: &mut [&mut [T]], sums: &mut Sum<'_, T>) {
    let columns = out.first().map_or(0, |row| row.len());
    // The largest parts that are shorter than the range.
    let Some(len) = [GROUP, SECTION].map(|n| n as usize).into_iter().find(|&n| n < terms.len() && columns > 0) else {
        return sums(terms, out);
    };
    by_parts(terms.start..terms.start + len, out, sums);
    let mut of_part = vec![T::default(); out.len() * columns];
    for first in terms.clone().step_by(len).skip(1) {
        let rows = &mut of_part.chunks_mut(columns).collect::<Vec<_>>();
        by_parts(first..terms.end.min(first + len), rows, sums);
        for (row, added) in out.iter_mut().zip(of_part.chunks(columns)) {
            add_to(row, added);
        }
    }
}

/// The loop over the blocks of a range of at most one section.
struct Sums<'a, 'o, T, const N: usize> {
    left: Factor<'a, T>,
    right: Factor<'a, T>,
    terms: Range<usize>,
    /// Whether the terms of a block are added by runs.
    in_runs: bool,
    out: &'a mut [&'o mut [T]],
    panels: &'a mut Panels<T, N>,
}

impl<T: Number, const N: usize> Loop for Sums<'_, '_, T, N> {
    type Output = ();
    const HAS_AVX512: bool = true;

    #[inline(always)]
    fn run(self) {
        self.compute::<{ simd::HAS_FMA }, false>();
    }
    #[inline(always)]
    fn run_with_avx512(self) {
        self.compute::<{ simd::HAS_FMA }, true>();
    }
    #[inline(always)]
    fn run_without_avx2(self) {
        self.compute::<false, false>();
    }
}

impl<T: Number, const N: usize> Sums<'_, '_, T, N> {
    #[inline(always)]
    fn compute<const HAS_FMA: bool, const IS_WIDE: bool>(self) {
        let Self { mut left, mut right, terms: all, in_runs, out, panels } = self;
        if all.is_empty() {
            out.iter_mut().for_each(|row| row.fill(T::default()));
        }
        let (mut m, mut n) = (out.len(), out.first().map_or(0, |row| row.len()));
        // A narrow product is computed as its transpose where that fills the tiles better.
        let padded = |m: usize, n: usize| m.next_multiple_of(TILE_ROWS) * n.next_multiple_of(N);
        let is_transposed = n < N && padded(n, m) < padded(m, n);
        if is_transposed {
            (left, right, m, n) = (right, left, n, m);
        }
        for first in all.clone().step_by(TERMS_PER_BLOCK) {
            let depth = TERMS_PER_BLOCK.min(all.end - first);
            let terms = first..first + depth;
            for j in (0..n).step_by(BLOCK[1]) {
                let columns = j..n.min(j + BLOCK[1]);
                let b = first_of(&mut panels.columns, [T::default(); N], columns.len().div_ceil(N) * depth);
                right.pack(columns.clone(), terms.clone(), b);
                for i in (0..m).step_by(BLOCK[0]) {
                    let rows = i..m.min(i + BLOCK[0]);
                    let a =
                        first_of(&mut panels.rows, [T::default(); PANEL_ROWS], rows.len().div_ceil(PANEL_ROWS) * depth);
                    left.pack(rows.clone(), terms.clone(), a);
                    for (b, column) in b.chunks_exact(depth).zip(columns.clone().step_by(N)) {
                        for (a, row) in a.chunks_exact(depth).zip(rows.clone().step_by(PANEL_ROWS)) {
                            let size = (PANEL_ROWS.min(rows.end - row), N.min(columns.end - column));
                            let tile = Tile { row, column, size, is_transposed };
                            tile.compute::<T, N, HAS_FMA, IS_WIDE>((a, b), in_runs, first > all.start, out);
                        }
                    }
                }
            }
        }
    }
}

/// Most terms of a packed factor: the sums of its blocks are of one level.
pub(crate) const MOST_PACKED_TERMS: usize = SECTION as usize;

/// A right factor that many products share: panels of `N` adjacent columns, term by term, for each block of terms.
#[derive(Debug)]
pub(crate) struct Packed<T, const N: usize> {
    panels: Vec<[T; N]>,
    terms: usize,
    columns: usize,
}

impl<T: Number, const N: usize> Packed<T, N> {
    pub(crate) fn new(right: Factor<'_, T>, (terms, columns): (usize, usize)) -> Self {
        let width = columns.div_ceil(N);
        let mut panels = vec![[T::default(); N]; width * terms];
        for first in (0..terms).step_by(TERMS_PER_BLOCK) {
            let block = first..terms.min(first + TERMS_PER_BLOCK);
            let len = width * block.len();
            right.pack(0..columns, block, &mut panels[width * first..][..len]);
        }
        Self { panels, terms, columns }
    }
}

/// As [`product`], with a right factor that is packed already.
pub(crate) fn product_packed<T: Number, const N: usize>(
    left: Factor<'_, T>,
    right: &Packed<T, N>,
    out: &mut [&mut [T]],
    panels: &mut Panels<T, N>,
) {
    simd::run(PackedProduct { left, right, out, panels });
}

struct PackedProduct<'a, 'o, T, const N: usize> {
    left: Factor<'a, T>,
    right: &'a Packed<T, N>,
    out: &'a mut [&'o mut [T]],
    panels: &'a mut Panels<T, N>,
}

impl<T: Number, const N: usize> Loop for PackedProduct<'_, '_, T, N> {
    type Output = ();
    const HAS_AVX512: bool = true;

    #[inline(always)]
    fn run(self) {
        self.compute::<{ simd::HAS_FMA }, false>();
    }
    #[inline(always)]
    fn run_with_avx512(self) {
        self.compute::<{ simd::HAS_FMA }, true>();
    }
    #[inline(always)]
    fn run_without_avx2(self) {
        self.compute::<false, false>();
    }
}

impl<T: Number, const N: usize> PackedProduct<'_, '_, T, N> {
    #[inline(always)]
    fn compute<const HAS_FMA: bool, const IS_WIDE: bool>(self) {
        let Self { left, right: Packed { panels: columns, terms, columns: n }, out, panels } = self;
        let width = n.div_ceil(N);
        if *terms == 0 {
            out.iter_mut().for_each(|row| row.fill(T::default()));
        }
        let in_runs = *terms > TERMS_PER_BLOCK;
        for first in (0..*terms).step_by(TERMS_PER_BLOCK) {
            let block = first..(*terms).min(first + TERMS_PER_BLOCK);
            let depth = block.len();
            let a = first_of(&mut panels.rows, [T::default(); PANEL_ROWS], out.len().div_ceil(PANEL_ROWS) * depth);
            left.pack(0..out.len(), block, a);
            let b = &columns[width * first..][..width * depth];
            for (b, column) in b.chunks_exact(depth).zip((0..*n).step_by(N)) {
                for (a, row) in a.chunks_exact(depth).zip((0..out.len()).step_by(PANEL_ROWS)) {
                    let size = (PANEL_ROWS.min(out.len() - row), N.min(n - column));
                    let tile = Tile { row, column, size, is_transposed: false };
                    tile.compute::<T, N, HAS_FMA, IS_WIDE>((a, b), in_runs, first > 0, out);
                }
            }
        }
    }
}

/// The first `len` elements of a vector, which is extended if it is shorter.
#[inline(always)]
fn first_of<T: Clone>(v: &mut Vec<T>, fill: T, len: usize) -> &mut [T] {
    if v.len() < len {
        v.resize(len, fill);
    }
    &mut v[..len]
}
