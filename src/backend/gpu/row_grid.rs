//! Grids of the kernels that divide rows into tiles and blocks: row reductions and scans.

use super::{MAX_GROUPS, fold_grid};
use crate::graph::canonical_order::reduction::{block_len, level2_lanes};
use crate::tuning::Tuning;

/// Parameters of the division of rows into tiles, for one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiles {
    /// Cost per tile; a power of two.
    pub cost: u32,
    /// Cost of a row in addition to its values; reduced if total costs would exceed 32 bits.
    pub row_cost: u32,
}

impl Tiles {
    /// Tiles for devices without a measured tuning. Row scans use them on every device: their workgroup memory has room
    /// for no others.
    pub const DEFAULT: Self = Self { cost: Tuning::DEFAULT.row_tile, row_cost: Tuning::DEFAULT.row_cost };
}

/// Approximate number of elements per tile of `wide`.
const WIDE_ELEMENTS: u32 = 16_384;

/// Bins searched per workgroup of `level2`.
const BINS_PER_GROUP: u32 = 256;

/// Margin of costs and flat positions below 2^32, so that the shader's sums cannot wrap.
const MARGIN: u64 = 1 << 14;

/// Index of the parameter word that holds the cost of a tile.
pub(super) const TILE_COST: usize = 5;

/// Cost of a tile for one column and partially bound arrays: the input of a tile fits the smallest binding.
const PART_TILE: u32 = 512;

/// Maximum number of columns: at 16 per workgroup, they must fit the third dimension of the grid of `level2`.
const MAX_INNER: u32 = 16 * MAX_GROUPS;

/// Grids, scratch size and parameter words of a row reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// The entry point of level 1.
    pub entry: &'static str,
    /// The grid of level 1.
    pub level1: (u32, u32, u32),
    /// The grid of `level2`; `None` if no row can have more than one block.
    pub level2: Option<(u32, u32, u32)>,
    /// Elements in the scratch buffer `part`, which need not be cleared.
    pub part_len: u32,
    /// The templates' parameter words.
    pub head: [u32; 8],
    /// Values per block.
    block: u32,
}

impl Grid {
    /// The same grid for rows of at most that length: `level2` is needed only for rows of several blocks.
    pub fn for_rows_up_to(self, longest: u32) -> Self {
        if longest > self.block { self } else { Self { level2: None, part_len: 1, ..self } }
    }

    /// The grid of `row_reduce_by_row.wgsl`: a workgroup for each row.
    pub fn by_row(self) -> Self {
        let (x, y) = fold_grid(self.head[0]);
        Self { entry: "by_row", level1: (x, y, 1), level2: None, part_len: 1, ..self }
    }
}

/// Flag in the word of the columns of partials: partials lie by rows.
const PARTIALS_BY_ROW: u32 = 256;

/// The grid of a row reduction or scan with partially bound arrays: the tile of a value and the place of its partial depend
/// on its position only.
pub(super) fn for_partial_bindings(grid: Grid) -> Grid {
    let [rows, nvals, inner, _, _, _, columns, zero] = grid.head;
    let column_bits = columns % PARTIALS_BY_ROW;
    let part_len = if grid.level2.is_some() { 2 * (nvals / grid.block + 1) * inner } else { grid.part_len };
    let tile = if inner == 1 { PART_TILE } else { grid.block };
    let tiles = nvals / tile + 1;
    let (x, y) = fold_grid(tiles);
    let level1 = (x, y, grid.level1.2);
    Grid { level1, part_len, head: [rows, nvals, inner, tiles, 0, tile, column_bits, zero], ..grid }
}

/// The grid for up to `rows` rows and `nvals` values of `inner` columns. `None` if an index would exceed 32 bits, or if
/// there are no rows or no columns.
pub fn grid(nvals: u32, rows: u32, inner: u32, tiles: Tiles) -> Option<Grid> {
    grid_of_blocks(nvals, rows, inner, tiles, block_len(inner as usize) as u32)
}

/// As [`grid`], with blocks of that many values.
pub(super) fn grid_of_blocks(nvals: u32, rows: u32, inner: u32, tiles: Tiles, block: u32) -> Option<Grid> {
    let fits = |n: u64| n < (1 << 32) - MARGIN;
    let (nvals64, rows64, inner64) = (u64::from(nvals), u64::from(rows), u64::from(inner));
    if rows == 0 || inner == 0 || inner > MAX_INNER || !fits(nvals64 * inner64) || !fits(rows64 * inner64) {
        return None;
    }
    let alpha = [tiles.row_cost.into(), 1, 0].into_iter().find(|alpha| fits(nvals64 + alpha * rows64))? as u32;
    let tile = if inner == 1 { tiles.cost } else { wide_tile(inner) };
    let tiles = (nvals + alpha * rows) / tile + 1;
    let (x, y) = fold_grid(tiles);
    let bins = nvals / block + 1;
    let column_bits = (256 / level2_lanes(inner as usize) as u32).ilog2();
    let has_long_rows = nvals > block;
    let by_row = if rows < bins { PARTIALS_BY_ROW } else { 0 };
    let part_len = if has_long_rows { u64::from(bins + bins.min(rows)) * inner64 } else { 1 };
    let level2 = has_long_rows.then(|| {
        let (x, y) = fold_grid(bins.div_ceil(BINS_PER_GROUP));
        (x, y, inner.div_ceil(1 << column_bits))
    });
    Some(Grid {
        entry: if inner == 1 { "main" } else { "wide" },
        level1: (x, y, inner.div_ceil(256)),
        level2,
        part_len: u32::try_from(part_len).ok().filter(|&n| fits(u64::from(n)))?,
        head: [rows, nvals, inner, tiles, alpha, tile, column_bits + by_row, 0],
        block,
    })
}

/// Cost of a tile of `wide`: a power of two, for which a tile has about [`WIDE_ELEMENTS`] elements.
fn wide_tile(inner: u32) -> u32 {
    WIDE_ELEMENTS.div_ceil(inner.min(256)).next_power_of_two().clamp(64, 4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::row_lengths::class;

    #[test]
    fn last_costs_have_a_tile() {
        for (nvals, rows, inner) in [(0, 1, 1), (2048, 1, 1), (1 << 24, 1 << 20, 1), (1000, 3, 33), (64, 1, 4096)] {
            let grid = grid(nvals, rows, inner, Tiles::DEFAULT).unwrap();
            let [.., tiles, alpha, tile, _, _] = grid.head;
            assert!(tiles * tile > nvals + alpha * (rows - 1));
            assert!(grid.level1.0 * grid.level1.1 >= tiles);
            assert!(grid.level1.2 * 256 >= inner);
        }
    }

    #[test]
    fn alpha_decreases_before_costs_wrap() {
        assert_eq!(grid(1 << 31, 1 << 28, 1, Tiles::DEFAULT).unwrap().head[4], 4);
        assert_eq!(grid(1 << 31, 1 << 29, 1, Tiles::DEFAULT).unwrap().head[4], 1);
        assert_eq!(grid(1 << 31, 1 << 31, 1, Tiles::DEFAULT).unwrap().head[4], 0);
        assert_eq!(grid(u32::MAX, 1, 1, Tiles::DEFAULT), None);
        assert_eq!(grid(1 << 20, 1 << 10, 1 << 12, Tiles::DEFAULT), None);
        assert_eq!(grid(5, 0, 1, Tiles::DEFAULT), None);
    }

    #[test]
    fn level2_runs_only_where_a_row_may_have_two_blocks() {
        assert_eq!(grid(256, 1, 1, Tiles::DEFAULT).unwrap().level2, None);
        assert_eq!(grid(257, 1, 1, Tiles::DEFAULT).unwrap().level2, Some((1, 1, 1)));
        assert_eq!(grid(256, 9, 5, Tiles::DEFAULT).unwrap().level2, None);
        assert_eq!(grid(257, 9, 5, Tiles::DEFAULT).unwrap().level2, Some((1, 1, 1)));
        assert_eq!(grid(513, 9, 40, Tiles::DEFAULT).unwrap().level2, Some((1, 1, 3)));
        assert_eq!(grid(513, 9, 40, Tiles::DEFAULT).unwrap().part_len, 2 * 2 * 40);
        let few = grid(5000, 3, 1, Tiles::DEFAULT).unwrap();
        assert_eq!((few.part_len, for_partial_bindings(few).part_len), (20 + 3, 2 * 20));
        let long = grid(5000, 100, 1, Tiles::DEFAULT).unwrap();
        assert_eq!(long.for_rows_up_to(257), long);
        let short = long.for_rows_up_to(256);
        assert_eq!((short.level2, short.part_len, short.level1), (None, 1, long.level1));
        assert_eq!(grid(5000, 100, 2, Tiles::DEFAULT).unwrap().for_rows_up_to(64).level2, None);
        assert!(grid(5000, 100, 2, Tiles::DEFAULT).unwrap().for_rows_up_to(65).level2.is_some());
    }

    #[test]
    fn block_lengths_of_reductions_are_length_classes() {
        for inner in 1..100 {
            let block = block_len(inner) as u32;
            assert_eq!(class(block), block, "{inner} columns: a plan for longer rows would be reused for these");
        }
    }

    #[test]
    fn grids_stay_within_the_limits_of_a_dimension() {
        for inner in [1, 2, 3, 5, 16, 17, 255, 256, 257, 4096, 1 << 19] {
            let most = (u32::MAX - (1 << 15)) / inner;
            for nvals in [0, 1, most / 100, most] {
                let Some(grid) = grid(nvals, 1, inner, Tiles::DEFAULT) else { panic!("{nvals} x {inner}") };
                for (x, y, z) in [Some(grid.level1), grid.level2].into_iter().flatten() {
                    assert!(x.max(y).max(z) <= MAX_GROUPS, "{nvals} x {inner}: {grid:?}");
                }
                assert!(grid.head[5] / 64 <= 64);
            }
        }
    }
}
