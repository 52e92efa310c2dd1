//! The host side of `shaders/rank_bitmap.wgsl`.

use super::codegen::{Element, ModuleBuilder};
use super::launch::{Lowered, Lowering, WORKGROUP_SCAN, check_elements, live_function};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::plan::Step;
use crate::graph::rank_bitmap::{TILE, tiles};

/// Maximum number of positions.
pub const MAX_CAPACITY: u32 = u32::MAX - (1 << 12);

/// Whether the entry point `small` suffices.
pub const fn is_small(capacity: u32) -> bool {
    capacity < TILE
}

const RANK_BITMAP: &str = include_str!("../../../shaders/rank_bitmap.wgsl");

/// Lowers a rank bitmap: sets the bits of the selected positions of each tile and counts them, then scans the counts.
pub(super) fn lower(step: &Step, keep: &Expr, count: &Extent, to: Lowering<'_>) -> Result<Lowered> {
    let Lowering { first_slot, sizes, modules } = to;
    let n = sizes.capacity(count);
    check_elements(step, n, MAX_CAPACITY, "a compaction")?;
    let g = modules.get(step, ("rank_bitmap", 0), || {
        let mut m = ModuleBuilder::new(step, first_slot).without_row_context();
        live_function(&mut m, "live", count);
        m.value_function("keep", keep);
        m.finish(&[RANK_BITMAP, WORKGROUP_SCAN], "bool", Some(Element::WORD), Vec::new())
    });
    let head = [n, 0, 0, 0, 0, 0, 0, 0];
    let launches = if is_small(n) {
        vec![g.launch(sizes, "small", head, 1, 1)]
    } else {
        vec![g.launch(sizes, "upsweep", head, tiles(n), 1), g.launch(sizes, "spine", head, 1, 1)]
    };
    Ok(Lowered { launches, ..Lowered::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::rank_bitmap::{TILE_WORDS, WORD, words};

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
