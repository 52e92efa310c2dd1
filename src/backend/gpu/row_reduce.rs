//! The host side of `shaders/row_reduce.wgsl` and its parts for several columns (`row_reduce_wide.wgsl`) and for long
//! rows (`row_reduce_long.wgsl`), and of `row_reduce_by_row.wgsl`.

use super::binding_windows::{AccessPattern, LEVEL2, RowTile, own_rows};
use super::codegen::{Kernel, ModuleBuilder, shares_words};
use super::driver_limits::DriverLimits;
use super::launch::{Lowered, Lowering, ROW_TILES, partition_functions, too_many};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use super::row_grid::{Grid, TILE_COST, Tiles, for_partial_bindings, grid};
use crate::error::Result;
use crate::graph::canonical_order::reduction::{FOLD_LEN, block_len};
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{InPlan, Node, Recipe, RowDomain};
use crate::graph::primitive::Reduce;
use crate::graph::reducer::state_bytes;
use crate::graph::step::cost::evaluation_cost;
use crate::graph::step::row_kernel::RowKernel;

/// Maximum accumulator state per row, in bytes. Every device has 16 KiB of workgroup memory, of which the lists of rows
/// and blocks leave 14,276 bytes. The smallest tile holds the states of 264 lanes and two rows: 14,276 / 266, in whole
/// words.
pub(crate) const MAX_STATE: usize = 52;

const ROW_REDUCE: &str = include_str!("../../../shaders/row_reduce.wgsl");
const ROW_REDUCE_WIDE: &str = include_str!("../../../shaders/row_reduce_wide.wgsl");
const ROW_REDUCE_LONG: &str = include_str!("../../../shaders/row_reduce_long.wgsl");
const ROW_REDUCE_BY_ROW: &str = include_str!("../../../shaders/row_reduce_by_row.wgsl");

/// Maximum accumulator state per row of `row_reduce_by_row.wgsl`, in bytes: 512 of them fit workgroup memory.
const MAX_STATE_BY_ROW: usize = 24;

/// Most values that an invocation loads together to stage them, and their limits: bytes of accumulator state, and operations
/// of a value.
const MAX_BATCH: u32 = 8;
const MAX_STATE_OF_BATCHES: usize = 8;
const MAX_COST_OF_BATCHES: u32 = 16;

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
    /// Whether a value costs few operations, so that a kernel has room for several copies of them.
    is_light: bool,
}

/// Workgroup memory of `main`.
struct WorkgroupMemory {
    tile: u32,
    lanes: u32,
    /// Number of values that are staged; `None` without staging.
    stage: Option<u32>,
    /// Number of them that an invocation loads together.
    batch: u32,
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
        let mut out = Self { tile, lanes, stage: None, batch: 1, rows: None };
        let Some(ByPosition { stages, maps, is_light }) = by_position.filter(|_| grid.entry == "main") else {
            return out;
        };
        let fits = |all: u32| all as usize * state <= Self::ALL - Self::LISTS;
        // If rows have cost 0, all may lie in one tile.
        let rows = tile.div_ceil(alpha.max(1));
        if maps && alpha > 0 && fits(lanes + rows) {
            out.rows = Some(rows);
        }
        let stage = tile + FOLD_LEN as u32;
        if stages && fits(lanes + out.rows.unwrap_or(0) + stage) {
            out.stage = Some(stage);
            if is_light && state <= MAX_STATE_OF_BATCHES {
                out.batch = (tile / 256).clamp(1, MAX_BATCH);
            }
        }
        out
    }

    /// The template's constants.
    fn declared(&self) -> String {
        let Self { tile, lanes, stage, batch, rows } = *self;
        let (stages, maps) = (stage.is_some(), rows.is_some());
        let (stage, rows) = (stage.unwrap_or(1), rows.unwrap_or(1));
        format!(
            "const MAIN_TILE = {tile}u;\nconst LANES = {lanes}u;\n\
             const STAGES = {stages};\nconst STAGE = {stage}u;\nconst BATCH = {batch}u;\nconst BY_POSITION = {maps};\nconst ROWS = {rows}u;"
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
    // The loops of emulated doubles, times a long row, could exceed the driver's limit.
    let is_short = !step.emulates_doubles();
    computes_products && is_short && inner == 1 && kernel.map.is_none() && state <= MAX_STATE_BY_ROW
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
            let costs = columns.iter().map(|(_, value)| evaluation_cost(value, None));
            let cost = costs.fold(0, u32::saturating_add);
            let is_light = cost <= MAX_COST_OF_BATCHES && !step.emulates_doubles() && step.recomputed.is_empty();
            let by_position =
                coalesces.then(|| ByPosition { stages: !m.loads_by_row(kernel), maps: kernel.map.is_some(), is_light });
            m.push(&WorkgroupMemory::of(&grid, lanes, state, by_position).declared());
            m.push(&format!("const COMPACT = {};", step.emulates_doubles()));
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

#[cfg(test)]
mod tests {
    use super::*;

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
                WorkgroupMemory::of(&grid, lanes, state, Some(ByPosition { stages: true, maps: true, is_light: true }));
            let values = lanes + stage.unwrap_or(1) + rows.unwrap_or(1);
            assert!(
                values as usize * state + WorkgroupMemory::LISTS <= WorkgroupMemory::ALL,
                "{state} bytes in tiles of {tile}"
            );
            seen = [seen[0] + usize::from(stage.is_some()), seen[1] + usize::from(rows.is_some())];
        }
        assert!(seen.iter().all(|&n| n > 0));
    }
}
