//! The host side of `shaders/compact.wgsl`.

use std::sync::Arc;

use super::codegen::{Binding, Module, elements_per_word, storage_type, value_type};
use super::launch::{Lowered, WORKGROUP_SCAN, live, within};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::plan::Step;

/// Positions a workgroup looks at.
pub const TILE: u32 = 2048;

/// Words of a tile in which a bit says of each position whether it stays.
const FLAG_WORDS: u32 = TILE / 32;

/// The largest capacity.
pub const MAX_CAPACITY: u32 = u32::MAX - (1 << 12);

/// The number of tiles: workgroups of `upsweep` and `downsweep`.
pub const fn tiles(capacity: u32) -> u32 {
    capacity.div_ceil(TILE)
}

/// Words in the scratch buffer `tiles`: a count and the flags of each.
pub const fn scratch_len(capacity: u32) -> u32 {
    tiles(capacity) * (1 + FLAG_WORDS)
}

/// Whether the entry point `small` will do.
pub const fn is_small(capacity: u32) -> bool {
    capacity <= TILE
}

const COMPACT: &str = include_str!("../../../shaders/compact.wgsl");

/// The positions that stay are counted a tile at a time, the counts are scanned, and each tile stores its values.
pub(super) fn lower(
    step: &Step,
    first_slot: u32,
    keep: &Expr,
    value: &Expr,
    count: &Extent,
    label: &Arc<str>,
) -> Result<Lowered> {
    within(step, count.capacity(), MAX_CAPACITY, "a compaction")?;
    let n = count.capacity();
    if n == 0 {
        return Ok(Lowered::default());
    }
    let mut m = Module::new(step, first_slot).without_row_context();
    live(&mut m, "live", count);
    m.value_function("keep", keep);
    m.value_function("value", value);
    m.compact_output(value.dtype());
    let out = match elements_per_word(value.dtype()) {
        1 => storage_type(value.dtype()),
        _ => "atomic<u32>",
    };
    let counts = ("tiles", "array<u32>", Binding::Scratch(0));
    let g = m.finish(&[COMPACT, WORKGROUP_SCAN], value_type(value.dtype()), Some(out), &[counts]);
    let head = [n, 0, 0, 0, 0, 0, 0, 0];
    let launches = if is_small(n) {
        vec![g.launch(label, "small", head, 1, 1)]
    } else {
        vec![
            g.launch(label, "upsweep", head, tiles(n), 1),
            g.launch(label, "spine", head, 1, 1),
            g.launch(label, "downsweep", head, tiles(n), 1),
        ]
    };
    Ok(Lowered { launches, scratch: vec![u64::from(scratch_len(n)) * 4], ..Lowered::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_a_tile_and_the_scratch_its_words() {
        for capacity in [1, 2047, 2048, 2049, 1 << 20, MAX_CAPACITY] {
            let covered = u64::from(tiles(capacity)) * u64::from(TILE);
            assert!(covered >= u64::from(capacity) && covered - u64::from(TILE) < u64::from(capacity));
            assert_eq!(is_small(capacity), tiles(capacity) == 1);
            assert_eq!(u64::from(scratch_len(capacity)), u64::from(tiles(capacity)) * 65);
        }
    }
}
