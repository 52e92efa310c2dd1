//! The host side of `shaders/scan.wgsl`.

use std::sync::Arc;

use super::binding_windows::AccessPattern;
use super::codegen::{Binding, Element, Kernel, KernelModule, ModuleBuilder, StorageArray};
use super::driver_limits::DriverLimits;
use super::launch::{Launch, Lowered, Lowering, WORKGROUP_SCAN, check_elements, live_function};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use crate::error::Result;
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{InPlan, Node, Recipe, SizeView};
use crate::graph::primitive::Scan;
use crate::graph::step::traffic::{Loads, keeps_elements};

/// Elements scanned per workgroup.
pub const TILE: u32 = 2048;

/// Maximum number of elements.
pub const MAX_CAPACITY: u32 = u32::MAX - (1 << 12);

/// Number of tiles, and of workgroups of `upsweep` and `downsweep`.
pub const fn tiles(capacity: u32) -> u32 {
    capacity / TILE + 1
}

/// Words in the scratch buffer `tiles`. The last word is the overflow flag of the total.
pub const fn scratch_len(capacity: u32) -> u32 {
    2 * tiles(capacity) + 1
}

/// Whether the entry point `small` suffices.
pub const fn is_small(capacity: u32) -> bool {
    capacity < TILE
}

/// The entry point that scans the sums of the tiles.
const SPINE: &str = "spine";

/// `upsweep` stores the elements in the output for `downsweep`.
const KEEPS: &str = "const KEEPS = true;";
/// `upsweep` and `downsweep` both evaluate the elements.
pub(super) const LOADS_TWICE: &str = "const KEEPS = false;";

pub(super) const SCAN: &str = include_str!("../../../shaders/scan.wgsl");

/// The kernel of a prefix sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ScanKernel;

impl Kernel for ScanKernel {
    fn name(self) -> &'static str {
        "scan"
    }
}

impl GpuPrimitive for Scan<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Self { value, count } = self;
        let Lowering { first_slot, sizes, modules, .. } = to;
        check_elements(step, sizes.capacity(count), MAX_CAPACITY, "a scan")?;
        let g = modules.get(step, ScanKernel, || {
            let mut m = ModuleBuilder::new(step, first_slot).without_row_context();
            live_function(&mut m, "live", count);
            m.value_function("value", value);
            m.push("fn load(i: u32) -> u32 {\n    return value(i, 0u);\n}");
            m.push(if keeps_elements(step, &Loads::of(step)) { KEEPS } else { LOADS_TWICE });
            let tiles = StorageArray::new("tiles", Element::WORD, Binding::Scratch(0));
            m.finish(&[SCAN, WORKGROUP_SCAN], "u32", Some(Element::WORD), vec![tiles])
        });
        let launches = launches(sizes, &g, sizes.capacity(count));
        let words = scratch_len(sizes.capacity(count));
        Ok(Lowered {
            launches,
            scratch: vec![u64::from(words) * 4],
            overflow: Some((0, words - 1)),
            ..Lowered::default()
        })
    }
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        Recipe::Scan(Self { value: to.stored_input(&self.value, &self.count, 1), count: to.count(&self.count) })
    }
    /// The output, and the sums of tiles.
    fn buffers(&self, _: DriverLimits, _: SizedLimits<'_>) -> u32 {
        2
    }
    fn access_pattern(&self, at: &Bound<'_>) -> Option<AccessPattern> {
        Some(access_pattern(at, matches!(at.binding, Binding::Output(_))))
    }
}

/// Access patterns of a scan: its input, its output, and the sums of its tiles in scratch.
pub(super) fn access_pattern(at: &Bound<'_>, is_out: bool) -> AccessPattern {
    let is_spine = at.launch.entry == SPINE;
    match at.binding {
        Binding::Read(n) if !is_spine => AccessPattern::tiles_of(TILE, n),
        _ if is_out && !is_spine => AccessPattern::PerTile { bytes: u64::from(TILE) * 4, more: 0 },
        Binding::Scratch(_) if !is_out => AccessPattern::Prefix(u64::MAX),
        _ => AccessPattern::Unused,
    }
}

/// The launches of a scan of up to `capacity` elements.
pub(super) fn launches(sizes: SizeView<'_>, g: &Arc<KernelModule>, capacity: u32) -> Vec<Launch> {
    let tiles = tiles(capacity);
    let head = [capacity, 0, 0, 0, 0, 0, 0, 0];
    if is_small(capacity) {
        vec![g.launch(sizes, "small", head, 1, 1)]
    } else {
        vec![
            g.launch(sizes, "upsweep", head, tiles, 1),
            g.launch(sizes, SPINE, head, 1, 1),
            g.launch(sizes, "downsweep", head, tiles, 1),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_tile() {
        for capacity in [0, 1, 2047, 2048, 2049, 1 << 20, MAX_CAPACITY] {
            let covered = u64::from(tiles(capacity)) * u64::from(TILE);
            assert!(covered > u64::from(capacity) && covered - u64::from(TILE) <= u64::from(capacity));
            assert_eq!(is_small(capacity), tiles(capacity) == 1);
        }
    }
}
