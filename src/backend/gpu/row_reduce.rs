//! The host side of `shaders/row_reduce.wgsl` and its parts for several columns (`row_reduce_wide.wgsl`) and for long
//! rows (`row_reduce_long.wgsl`), and of `row_reduce_by_row.wgsl`.

use super::binding_windows::{AccessPattern, LEVEL2, RowTile, own_rows};
use super::codegen::{Kernel, ModuleBuilder, shares_words};
use super::driver_limits::DriverLimits;
use super::launch::{Lowered, Lowering, ROW_TILES, partition_functions, too_many};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use super::runtime::RuntimeChecks;
use super::{MAX_GROUPS, fold_grid};
use crate::error::Result;
use crate::graph::canonical_order::reduction::{FOLD_LEN, block_len, level2_lanes};
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{InPlan, Node, Recipe, RowDomain};
use crate::graph::primitive::Reduce;
use crate::graph::reducer::state_bytes;
use crate::graph::step::row_kernel::RowKernel;
use crate::tuning::Tuning;

/// Maximum accumulator state per row, in bytes. Every device has 16 KiB of workgroup memory, of which the lists of rows
/// and blocks leave 14,276 bytes. The smallest tile holds the states of 264 lanes and two rows: 14,276 / 266, in whole
/// words.
pub(crate) const MAX_STATE: usize = 52;

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
    /// The template's parameter words.
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

const ROW_REDUCE: &str = include_str!("../../../shaders/row_reduce.wgsl");
const ROW_REDUCE_WIDE: &str = include_str!("../../../shaders/row_reduce_wide.wgsl");
const ROW_REDUCE_LONG: &str = include_str!("../../../shaders/row_reduce_long.wgsl");
const ROW_REDUCE_BY_ROW: &str = include_str!("../../../shaders/row_reduce_by_row.wgsl");

/// Maximum accumulator state per row of `row_reduce_by_row.wgsl`, in bytes: 512 of them fit workgroup memory.
const MAX_STATE_BY_ROW: usize = 24;

/// Cost of a tile of `main`, at most `most`, and number of lanes for its blocks, for `state` bytes of accumulator state
/// per row. Each block that may start in a tile takes 8 lanes: later blocks of a row are 256 positions apart, first
/// blocks of different rows at least 17. The lanes fit 16 KiB.
fn lanes(state: usize, most: u32) -> (u32, u32) {
    let tile = match state {
        0..=12 => most,
        13..=24 => most.min(1024),
        _ => most.min(512),
    };
    (tile, 8 * (tile / 256 + tile / 17 + 1))
}

/// Work on short rows that is assigned to invocations by position instead of by row.
struct ByPosition {
    /// Whether values may be staged.
    stages: bool,
    /// Whether elements are mapped.
    maps: bool,
}

/// Workgroup memory of `main`.
struct WorkgroupMemory {
    tile: u32,
    lanes: u32,
    /// Number of values that are staged; `None` without staging.
    stage: Option<u32>,
    /// Number of row results that are kept to map elements by position; `None` if elements are mapped by row.
    rows: Option<u32>,
}

impl WorkgroupMemory {
    /// Bytes of workgroup memory that every device has.
    const ALL: usize = 16 << 10;

    /// Bytes of it that `lib/row_tiles.wgsl` and `row_reduce_wide.wgsl` use for the rows and blocks of a tile.
    const LISTS: usize = 4 * (2 + 1 + 2 * 132 + 256 + 3 + 1);

    /// Allocates the optional arrays that fit.
    fn of(grid: &Grid, lanes: u32, state: usize, by_position: Option<ByPosition>) -> Self {
        let [.., alpha, tile, _, _] = grid.head;
        let mut out = Self { tile, lanes, stage: None, rows: None };
        let Some(ByPosition { stages, maps }) = by_position.filter(|_| grid.entry == "main") else { return out };
        let fits = |all: u32| all as usize * state <= Self::ALL - Self::LISTS;
        // If rows have cost 0, all may lie in one tile.
        let rows = tile.div_ceil(alpha.max(1));
        if maps && alpha > 0 && fits(lanes + rows) {
            out.rows = Some(rows);
        }
        let stage = tile + FOLD_LEN as u32;
        if stages && fits(lanes + out.rows.unwrap_or(0) + stage) {
            out.stage = Some(stage);
        }
        out
    }

    /// The template's constants.
    fn declared(&self) -> String {
        let Self { tile, lanes, stage, rows } = *self;
        let (stages, maps) = (stage.is_some(), rows.is_some());
        let (stage, rows) = (stage.unwrap_or(1), rows.unwrap_or(1));
        format!(
            "const MAIN_TILE = {tile}u;\nconst LANES = {lanes}u;\n\
             const STAGES = {stages};\nconst STAGE = {stage}u;\nconst BY_POSITION = {maps};\nconst ROWS = {rows}u;"
        )
    }
}

/// The kernel that folds rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct RowReduceKernel {
    /// The cost of a row, which the scratch arrays of the module depend on.
    alpha: u32,
    /// Whether a workgroup reduces a row.
    by_row: bool,
}

/// Whether a workgroup reduces a row: where the partials of long rows would take far more memory than the operands of the
/// products whose numbers are reduced.
fn is_by_row(step: &Step, kernel: &RowKernel, (inner, state): (u32, usize)) -> bool {
    let computes_products = !step.recomputed.is_empty() && !step.is_oversized();
    computes_products && inner == 1 && kernel.map.is_none() && state <= MAX_STATE_BY_ROW
}

impl Kernel for RowReduceKernel {
    fn name(self) -> &'static str {
        "row_reduce"
    }
}

impl GpuPrimitive for Reduce<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Lowering { first_slot, sizes, modules, .. } = to;
        let kernel = step.row_kernel.as_ref().expect("bug: a row reduction without a row kernel");
        let RowDomain { rows, nrows, nvals, inner } = &self.on;
        if sizes.capacity(nrows) == 0 || *inner == 0 {
            return Ok(Lowered::default());
        }
        let columns = kernel.columns();
        let state = state_bytes(columns.iter().map(|(accumulator, value)| (*accumulator, value.dtype())));
        let tuning = step.limits.tuning;
        let (tile, lanes) = lanes(state, tuning.row_tile);
        let tiles = Tiles { cost: tile, row_cost: tuning.row_cost };
        let grid = grid(sizes.capacity(nvals), sizes.capacity(nrows), *inner, tiles);
        let Some(mut grid) = grid.map(|g| g.for_rows_up_to(sizes.longest_class(rows))) else {
            return Err(too_many(step, (sizes.capacity(nrows), sizes.capacity(nvals), *inner), "a row reduction"));
        };
        let by_row = is_by_row(step, kernel, (*inner, state));
        if by_row {
            grid = grid.by_row();
        } else if step.is_oversized() {
            grid = for_partial_bindings(grid);
        }
        let g = modules.get(step, RowReduceKernel { alpha: grid.head[4], by_row }, || {
            let mut m = ModuleBuilder::new(step, first_slot);
            partition_functions(&mut m, rows, nrows);
            let elem = m.row_kernel(kernel, rows);
            if by_row {
                return m.finish_row_kernel(&[ROW_REDUCE_BY_ROW, ROW_TILES], (&elem, state), kernel);
            }
            // Partially bound arrays may lack some positions of a tile.
            let coalesces = tuning.coalesce_rows && !step.is_oversized();
            let by_position =
                coalesces.then(|| ByPosition { stages: !m.loads_by_row(kernel), maps: kernel.map.is_some() });
            m.push(&WorkgroupMemory::of(&grid, lanes, state, by_position).declared());
            let templates = [ROW_REDUCE, ROW_REDUCE_WIDE, ROW_REDUCE_LONG, ROW_TILES];
            m.finish_row_kernel(&templates, (&elem, state), kernel)
        });
        let mut launches = vec![g.launch(sizes, grid.entry, grid.head, grid.level1.0 * grid.level1.1, grid.level1.2)];
        if let Some((x, y, z)) = grid.level2 {
            launches.push(g.launch(sizes, LEVEL2, grid.head, x * y, z));
            if kernel.map.is_some() {
                launches.push(g.launch(sizes, "map_long", grid.head, grid.level1.0 * grid.level1.1, 1));
            }
        }
        launches.iter_mut().for_each(|launch| launch.checks = launch.module.checks(CHECKS));
        let scratch = vec![u64::from(grid.part_len) * state as u64];
        let cleared_outputs = (0..).zip(kernel.outputs()).filter(|(_, n)| shares_words(n)).map(|(k, _)| k).collect();
        Ok(Lowered { launches, scratch, cleared_outputs, ..Lowered::default() })
    }
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let (on, value) = to.row_input(&self.value, &self.on);
        Recipe::Reduce(Self { on, value, ..*self })
    }
    /// An output, and the partials of blocks.
    fn buffers(&self, _: DriverLimits, _: SizedLimits<'_>) -> u32 {
        2
    }
    fn access_pattern(&self, at: &Bound<'_>) -> Option<AccessPattern> {
        let (splits, inner) = (own_rows(&self.on, &self.value)?, self.on.inner);
        let bytes = u64::from(inner) * at.step.out.dtype().size() as u64;
        let tile = RowTile { splits, inner, block: block_len(inner as usize) };
        Some(tile.access_pattern(at, at.launch.params[TILE_COST], |_| AccessPattern::PerRow { bytes, more: 0 }))
    }
}

/// The runtime checks of the kernels. Bounds are checked, since indices of partials derive from the splits, which the
/// user's program can write to.
///
/// SAFETY: every loop ends for any splits. The splits are clamped to the number of values, which `grid` keeps 2^14
/// below 2^32, a margin that exceeds the step of any loop: a position that starts beyond its end wraps at most once,
/// and one that has passed its end stays there. At most STAGE values are staged, and mapping by position ends at the
/// number of values. Searches halve the remaining range, and no midpoint wraps. The loops over listed blocks and long
/// rows are bounded by the lengths of the lists, with steps of 1 or more; those of `by_row` over blocks by the number of blocks
/// of a row, at most 2^24. Functions that expressions call end too: see
/// `map.rs`.
const CHECKS: RuntimeChecks = unsafe { RuntimeChecks::ALL.without_loops() };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::row_lengths::class;

    #[test]
    fn the_maximum_state_fits_workgroup_memory() {
        // One value each for staging and for mapping by position.
        let takes = |state: usize| (lanes(state, 2048).1 as usize + 2) * state + WorkgroupMemory::LISTS;
        assert!(takes(MAX_STATE) <= WorkgroupMemory::ALL && takes(MAX_STATE + 4) > WorkgroupMemory::ALL);
        assert!((4..MAX_STATE).all(|state| takes(state) <= WorkgroupMemory::ALL));
    }

    #[test]
    fn work_by_position_fits_workgroup_memory() {
        let mut seen = [0; 2];
        for (state, most, row_cost) in (1..=MAX_STATE)
            .flat_map(|state| [512, 1024, 2048].map(|most| [1, 4].map(|cost| (state, most, cost))))
            .flatten()
        {
            let (tile, lanes) = lanes(state, most);
            let grid = grid(1 << 20, 1 << 16, 1, Tiles { cost: tile, row_cost }).unwrap();
            let WorkgroupMemory { stage, rows, .. } =
                WorkgroupMemory::of(&grid, lanes, state, Some(ByPosition { stages: true, maps: true }));
            let values = lanes + stage.unwrap_or(1) + rows.unwrap_or(1);
            assert!(
                values as usize * state + WorkgroupMemory::LISTS <= WorkgroupMemory::ALL,
                "{state} bytes in tiles of {tile}"
            );
            seen = [seen[0] + usize::from(stage.is_some()), seen[1] + usize::from(rows.is_some())];
        }
        assert!(seen.iter().all(|&n| n > 0));
    }

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
