//! The host side of `shaders/row_scan.wgsl`.

use super::binding_windows::{AccessPattern, LEVEL2, RowTile, own_rows};
use super::codegen::{AFFINE, Binding, Element, Kernel, ModuleBuilder, StorageArray, value_type};
use super::driver_limits::DriverLimits;
use super::launch::{Lowered, Lowering, ROW_TILES, WORKGROUP_SCAN, partition_functions, too_many};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use super::row_grid;
use crate::error::Result;
use crate::graph::canonical_order::row_scan::block_len;
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{InPlan, Node, Recipe, RowDomain};
use crate::graph::primitive::RowScan;

/// Grids, scratch size and parameter words of a row scan. Its tiles and partials are those of a row reduction with the
/// same blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid(row_grid::Grid);

impl Grid {
    /// The entry points with their grids, in order: `level2` and `add` only if a row may have several blocks.
    pub fn stages(&self) -> impl Iterator<Item = (&'static str, (u32, u32, u32))> {
        let Self(g) = *self;
        let long = g.level2.map(|level2| [(LEVEL2, level2), ("add", g.level1)]);
        std::iter::once((g.entry, g.level1)).chain(long.into_iter().flatten())
    }

    /// The same grid for rows of at most that length.
    pub fn for_rows_up_to(self, longest: u32) -> Self {
        Self(self.0.for_rows_up_to(longest))
    }

    /// Whether a row may have several blocks.
    fn has_several_blocks(&self) -> bool {
        self.0.level2.is_some()
    }

    /// Elements in the scratch buffer `part`, which need not be cleared.
    pub fn part_len(&self) -> u32 {
        self.0.part_len
    }

    /// The template's parameter words.
    pub fn head(&self) -> [u32; 8] {
        self.0.head
    }
}

/// The grid for up to `rows` rows and `nvals` values of `inner` columns. `None` if an index would exceed 32 bits, or if
/// there are no rows or no columns.
pub fn grid(nvals: u32, rows: u32, inner: u32) -> Option<Grid> {
    row_grid::grid_of_blocks(nvals, rows, inner, row_grid::Tiles::DEFAULT, block_len(inner as usize) as u32).map(Grid)
}

const ROW_SCAN: &str = include_str!("../../../shaders/row_scan.wgsl");

/// Accessors of the prefixes that a scan stores, for prefixes that are the results.
pub(super) const PREFIXES: &str = "fn load_prefix(i: u32) -> Elem {\n    return load_out(i);\n}\n\
    fn store_prefix(i: u32, v: Elem, is_partial: bool) {\n    store_out(i, v);\n}";

/// The scratch buffer with the factor of each prefix of a recurrence.
const FACTORS: usize = 1;

/// The kernel that scans rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct RowScanKernel;

impl Kernel for RowScanKernel {
    fn name(self) -> &'static str {
        "row_scan"
    }
}

impl GpuPrimitive for RowScan<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Lowering { first_slot, sizes, modules, .. } = to;
        let Self { op, on, value, decay } = self;
        let RowDomain { rows, nrows, nvals, inner } = on;
        // A read in between may have found that there are no rows, of which values were expected.
        if sizes.capacity(nrows) == 0 || *inner == 0 {
            return Ok(Lowered::default());
        }
        let grid = grid(sizes.capacity(nvals), sizes.capacity(nrows), *inner);
        let Some(mut grid) = grid.map(|g| g.for_rows_up_to(sizes.longest_class(rows))) else {
            return Err(too_many(step, (sizes.capacity(nrows), sizes.capacity(nvals), *inner), "a row scan"));
        };
        if step.is_oversized() {
            grid = Grid(row_grid::for_partial_bindings(grid.0));
        }
        let g = modules.get(step, RowScanKernel, || {
            let mut m = ModuleBuilder::new(step, first_slot);
            partition_functions(&mut m, rows, nrows);
            let element = Element::of(value.dtype());
            let templates = [ROW_SCAN, ROW_TILES, WORKGROUP_SCAN];
            let part = |element| StorageArray::new("part", element, Binding::Scratch(0));
            match decay {
                None => {
                    m.value_function("load", value);
                    m.monoid(*op, value.dtype(), op.identity(value.dtype()));
                    m.push(PREFIXES);
                    let ty = value_type(value.dtype());
                    m.finish(&templates, ty, Some(element.clone()), vec![part(element)])
                }
                Some(decay) => {
                    m.affine_maps(value, decay);
                    let factor = StorageArray::new("factor", element.clone(), Binding::Scratch(FACTORS));
                    let part = part(Element::new("Elem", 2 * value.dtype().size()));
                    m.finish(&templates, AFFINE, Some(element), vec![part, factor])
                }
            }
        });
        let stages = grid.stages();
        let launches = stages.map(|(entry, (x, y, z))| g.launch(sizes, entry, grid.head(), x * y, z));
        let bytes = |elements: u64| elements * value.dtype().size() as u64;
        let scratch = match decay {
            None => vec![bytes(grid.part_len().into())],
            Some(_) => {
                let factors = if grid.has_several_blocks() { sizes.bytes(&step.out) } else { bytes(1) };
                vec![bytes(2 * u64::from(grid.part_len())), factors]
            }
        };
        Ok(Lowered { launches: launches.collect(), scratch, ..Lowered::default() })
    }
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let (on, value) = to.row_input(&self.value, &self.on);
        let decay = self.decay.as_ref().map(|decay| to.row_input(decay, &self.on).1);
        Recipe::RowScan(Self { on, value, decay, ..*self })
    }
    /// The output, the partials of blocks, and the factors of a recurrence.
    fn buffers(&self, _: DriverLimits, _: SizedLimits<'_>) -> u32 {
        if self.decay.is_some() { 3 } else { 2 }
    }
    fn output_windows(&self, out: &Node, limits: SizedLimits<'_>) -> u32 {
        limits.extra_windows(out) * if self.decay.is_some() { 2 } else { 1 }
    }
    fn access_pattern(&self, at: &Bound<'_>) -> Option<AccessPattern> {
        let splits = own_rows(&self.on, &self.value)?;
        if let Some(decay) = &self.decay {
            own_rows(&self.on, decay)?;
        }
        let tile = RowTile { splits, inner: self.on.inner, block: block_len(self.on.inner as usize) };
        let cost = at.launch.params[row_grid::TILE_COST];
        // Factors are stored as results are.
        let binding = if matches!(at.binding, Binding::Scratch(FACTORS)) { &Binding::Output(0) } else { at.binding };
        Some(tile.access_pattern(&Bound { binding, ..*at }, cost, |values| values(&at.step.out)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::row_lengths::class;

    fn entries(nvals: u32, inner: u32) -> Vec<&'static str> {
        grid(nvals, 3, inner).unwrap().stages().map(|(entry, _)| entry).collect()
    }

    #[test]
    fn block_lengths_of_scans_are_length_classes() {
        for inner in 1..100 {
            let block = block_len(inner) as u32;
            assert_eq!(class(block), block, "{inner} columns: a plan for longer rows would be reused for these");
        }
    }

    #[test]
    fn rows_of_one_block_take_one_dispatch() {
        assert_eq!(entries(block_len(1) as u32, 1), ["main"]);
        assert_eq!(entries(block_len(1) as u32 + 1, 1), ["main", "level2", "add"]);
        assert_eq!(entries(block_len(5) as u32, 5), ["wide"]);
        assert_eq!(entries(block_len(5) as u32 + 1, 5), ["wide", "level2", "add"]);
    }
}
