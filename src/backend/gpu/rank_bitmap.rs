//! The host side of `shaders/rank_bitmap.wgsl`.

use super::binding_windows::AccessPattern;
use super::codegen::{Binding, Element, Kernel, ModuleBuilder};
use super::launch::{Lowered, Lowering, WORKGROUP_SCAN, check_elements, live_function};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{InPlan, Node, Recipe};
use crate::graph::primitive::Mark;
use crate::graph::rank_bitmap::{TILE, TILE_WORDS, tiles};

/// Maximum number of positions.
pub const MAX_CAPACITY: u32 = u32::MAX - (1 << 12);

/// Whether the entry point `small` suffices.
pub const fn is_small(capacity: u32) -> bool {
    capacity < TILE
}

/// The entry point that marks and counts the positions of each tile.
const UPSWEEP: &str = "upsweep";

/// The entry point that scans the counts.
const SPINE: &str = "spine";

const RANK_BITMAP: &str = include_str!("../../../shaders/rank_bitmap.wgsl");

/// The kernel that marks elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct RankBitmapKernel;

impl Kernel for RankBitmapKernel {
    fn name(self) -> &'static str {
        "rank_bitmap"
    }
}

impl GpuPrimitive for Mark<InPlan> {
    /// Sets the bits of the selected positions of each tile and counts them, then scans the counts.
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Self { keep, count } = self;
        let Lowering { first_slot, sizes, modules, .. } = to;
        let n = sizes.capacity(count);
        check_elements(step, n, MAX_CAPACITY, "a compaction")?;
        let g = modules.get(step, RankBitmapKernel, || {
            let mut m = ModuleBuilder::new(step, first_slot).without_row_context();
            live_function(&mut m, "live", count);
            m.value_function("keep", keep);
            m.finish(&[RANK_BITMAP, WORKGROUP_SCAN], "bool", Some(Element::WORD), Vec::new())
        });
        let head = [n, 0, 0, 0, 0, 0, 0, 0];
        let launches = if is_small(n) {
            vec![g.launch(sizes, "small", head, 1, 1)]
        } else {
            vec![g.launch(sizes, UPSWEEP, head, tiles(n), 1), g.launch(sizes, SPINE, head, 1, 1)]
        };
        Ok(Lowered { launches, ..Lowered::default() })
    }
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        Recipe::Mark(Self { keep: to.stored_input(&self.keep, &self.count, 1), count: to.count(&self.count) })
    }
    /// Each tile has one word at the start of the array, and its bits after the words of all tiles.
    fn access_pattern(&self, at: &Bound<'_>) -> Option<AccessPattern> {
        let ranks = 4 * (u64::from(tiles(at.sizes.capacity(&self.count))) + 1);
        Some(match (at.binding, at.launch.entry) {
            (Binding::Read(n), UPSWEEP) => AccessPattern::tiles_of(TILE, n),
            (Binding::Output(_), UPSWEEP) => {
                AccessPattern::TwicePerTile { bytes: 4, then: (ranks, u64::from(TILE_WORDS) * 4) }
            }
            (Binding::Output(_), SPINE) => AccessPattern::Prefix(ranks),
            (Binding::Read(_), _) => AccessPattern::Unused,
            _ => AccessPattern::Whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::rank_bitmap::{WORD, words};

    #[test]
    fn every_position_and_the_end_have_a_word() {
        for capacity in [0, 1, 15, 16, 2047, 2048, 2049, 1 << 20, MAX_CAPACITY] {
            let covered = u64::from(tiles(capacity)) * u64::from(TILE);
            assert!(covered > u64::from(capacity) && covered - u64::from(TILE) <= u64::from(capacity));
            assert_eq!(is_small(capacity), tiles(capacity) == 1);
            assert_eq!(TILE_WORDS * WORD, TILE);
            assert!(tiles(capacity) + 1 + capacity / WORD < words(capacity));
            assert_eq!(words(capacity), 129 * tiles(capacity) + 1);
        }
    }
}
