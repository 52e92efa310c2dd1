//! Register tiles of a matrix product: a few rows of results, each of two AVX2 vectors or one of AVX-512.

use super::super::number::Number;
use crate::graph::canonical_order::product::RUN;

/// Rows of a packed panel: two tiles. AVX-512 computes both at a time: their eight vectors of sums hide the latency of two units
/// that add in four cycles.
pub(super) const PANEL_ROWS: usize = 8;
/// Rows of a tile. In AVX2 their sums, a row of the right factor, a number of the left one and, if they are not fused, a product
/// fit its 16 registers.
pub(super) const TILE_ROWS: usize = PANEL_ROWS / 2;

/// The sums of a tile.
type TileSums<T, const N: usize> = [[T; N]; TILE_ROWS];

/// The sums of the products of a tile of a panel of rows, from row `FIRST` on, and a panel of columns, by runs of the canonical order
/// or as one run, added to 0.
#[inline(always)]
fn sum_of_products<T: Number, const N: usize, const FIRST: usize, const HAS_FMA: bool>(
    a: &[[T; PANEL_ROWS]],
    b: &[[T; N]],
    in_runs: bool,
) -> TileSums<T, N> {
    let mut sums = [[T::default(); N]; TILE_ROWS];
    let run = if in_runs { RUN as usize } else { a.len().max(1) };
    for (a, b) in a.chunks(run).zip(b.chunks(run)) {
        let mut of_run = [[T::default(); N]; TILE_ROWS];
        for (a, b) in a.iter().zip(b) {
            add_products::<T, N, FIRST, HAS_FMA>(&mut of_run, a, b);
        }
        add_tile(&mut sums, &of_run);
    }
    sums
}

/// The sums of both tiles of a panel of rows, which are computed at a time.
#[inline(always)]
fn sums_of_products<T: Number, const N: usize, const HAS_FMA: bool>(
    a: &[[T; PANEL_ROWS]],
    b: &[[T; N]],
    in_runs: bool,
) -> [TileSums<T, N>; 2] {
    let (mut first, mut second) = ([[T::default(); N]; TILE_ROWS], [[T::default(); N]; TILE_ROWS]);
    let run = if in_runs { RUN as usize } else { a.len().max(1) };
    for (a, b) in a.chunks(run).zip(b.chunks(run)) {
        // Two loops, which compilers unroll; one over all rows is too long for that.
        let (mut of_first, mut of_second) = ([[T::default(); N]; TILE_ROWS], [[T::default(); N]; TILE_ROWS]);
        for (a, b) in a.iter().zip(b) {
            add_products::<T, N, 0, HAS_FMA>(&mut of_first, a, b);
            add_products::<T, N, TILE_ROWS, HAS_FMA>(&mut of_second, a, b);
        }
        add_tile(&mut first, &of_first);
        add_tile(&mut second, &of_second);
    }
    [first, second]
}

/// Adds the products of a term to the sums of a run, which may be -0.
#[inline(always)]
fn add_products<T: Number, const N: usize, const FIRST: usize, const HAS_FMA: bool>(
    sums: &mut TileSums<T, N>,
    a: &[T; PANEL_ROWS],
    b: &[T; N],
) {
    for r in 0..TILE_ROWS {
        for c in 0..N {
            sums[r][c] = sums[r][c].add_product::<HAS_FMA>(a[FIRST + r], b[c]);
        }
    }
}

/// Adds sums to sums.
#[inline(always)]
fn add_tile<T: Number, const N: usize>(sums: &mut TileSums<T, N>, added: &TileSums<T, N>) {
    for (sums, added) in sums.iter_mut().zip(added) {
        for (sum, &added) in sums.iter_mut().zip(added) {
            *sum = sum.add(added);
        }
    }
}

/// Place of the products of two panels in the results.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    pub(super) row: usize,
    pub(super) column: usize,
    /// Rows and columns that are results.
    pub(super) size: (usize, usize),
    /// Whether rows and columns are exchanged in the results.
    pub(super) is_transposed: bool,
}

impl Tile {
    /// Stores the sums of the products of a panel of rows and a panel of columns, or adds them to those that are stored.
    #[inline(always)]
    pub(super) fn compute<T: Number, const N: usize, const HAS_FMA: bool, const IS_WIDE: bool>(
        self,
        (a, b): (&[[T; PANEL_ROWS]], &[[T; N]]),
        in_runs: bool,
        adds: bool,
        out: &mut [&mut [T]],
    ) {
        let (height, width) = self.size;
        let first = Self { size: (height.min(TILE_ROWS), width), ..self };
        let second = Self { row: self.row + TILE_ROWS, size: (height.saturating_sub(TILE_ROWS), width), ..self };
        if height <= TILE_ROWS {
            first.put(sum_of_products::<T, N, 0, HAS_FMA>(a, b, in_runs), adds, out);
        } else if IS_WIDE {
            let [of_first, of_second] = sums_of_products::<T, N, HAS_FMA>(a, b, in_runs);
            first.put(of_first, adds, out);
            second.put(of_second, adds, out);
        } else {
            first.put(sum_of_products::<T, N, 0, HAS_FMA>(a, b, in_runs), adds, out);
            second.put(sum_of_products::<T, N, TILE_ROWS, HAS_FMA>(a, b, in_runs), adds, out);
        }
    }

    /// Stores sums, or adds them to those that are stored.
    #[inline(always)]
    fn put<T: Number, const N: usize>(self, mut sums: TileSums<T, N>, adds: bool, out: &mut [&mut [T]]) {
        if adds {
            let of_block = std::mem::replace(&mut sums, self.load(out));
            add_tile(&mut sums, &of_block);
        }
        self.store(&sums, out);
    }

    /// The sums that were stored.
    #[inline(always)]
    fn load<T: Number, const N: usize>(self, out: &[&mut [T]]) -> TileSums<T, N> {
        let (height, width) = self.size;
        let mut sums = [[T::default(); N]; TILE_ROWS];
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
    fn store<T: Number, const N: usize>(self, sums: &TileSums<T, N>, out: &mut [&mut [T]]) {
        let (height, width) = self.size;
        if self.size == (TILE_ROWS, N) && !self.is_transposed {
            // Compilers store the sums of a whole tile from registers.
            for (out, sums) in out[self.row..][..TILE_ROWS].iter_mut().zip(sums) {
                out[self.column..][..N].copy_from_slice(sums);
            }
            return;
        }
        for (r, sums) in sums[..height].iter().enumerate() {
            if self.is_transposed {
                for (c, &sum) in sums[..width].iter().enumerate() {
                    out[self.column + c][self.row + r] = sum;
                }
            } else {
                out[self.row + r][self.column..][..width].copy_from_slice(&sums[..width]);
            }
        }
    }
}
