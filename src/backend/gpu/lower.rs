//! Lowers a step to launches: template, bindings and grid.

use super::codegen::StepModules;
use super::driver_limits::DriverLimits;
use super::launch::{Lowered, check_elements};
use super::{
    compact, histogram, map, matmul, rank_bitmap, row_hash, row_reduce, row_scan, row_sort, scan, sort, tile_fold,
    top_k,
};
use crate::error::Result;
use crate::graph::extent::Extent;
use crate::graph::node::Recipe;
use crate::graph::plan::Step;

/// Lowers the step for the sizes of this run. Its checks report to the status block from slot `first_slot` on. `driver`
/// limits the serial work per dispatch. `modules` caches the modules, which are the same in every run.
///
/// # Errors
/// The step is too large for 32-bit indices.
pub(crate) fn lower(step: &Step, first_slot: u32, driver: DriverLimits, modules: &mut StepModules) -> Result<Lowered> {
    match &step.recipe {
        Recipe::Map { value, whole } => {
            let extent = step.out.extent();
            // A step over oversized arrays reads its count from an array of one element (`graph/legalize`).
            let extent = match &step.live {
                _ if *whole => extent.whole(),
                Some(live) if extent.live().as_ref() != Some(live) => Extent::bounded(extent.size(), live.clone()),
                _ => extent.clone(),
            };
            Ok(map::lower(step, first_slot, value, &extent, modules))
        }
        Recipe::Append { .. } => unreachable!("bug: parts that no map selects from"),
        Recipe::Assert { ok, count, .. } => Ok(map::lower(step, first_slot, ok, count, modules)),
        Recipe::Reduce { .. } => row_reduce::lower(step, first_slot, modules),
        Recipe::Product(p) => Ok(matmul::lower(step, (first_slot, driver), p, modules)),
        Recipe::Scan { value, count } => scan::lower(step, first_slot, value, count, modules),
        Recipe::RowScan { .. } => row_scan::lower(step, first_slot, modules),
        Recipe::Sort { key, count, bits } => sort::lower(step, first_slot, key, count, *bits, modules),
        Recipe::RowSort { on, .. } => {
            check_elements(step, on.nvals.capacity(), sort::MAX_CAPACITY, "a sort")?;
            Ok(row_sort::lower(step, first_slot, modules))
        }
        Recipe::TopK { .. } => top_k::lower(step, first_slot, modules),
        Recipe::TileFold { .. } => tile_fold::lower(step, first_slot, modules),
        Recipe::Hash { .. } => Ok(row_hash::lower(step, first_slot, driver, modules)),
        Recipe::RankBitmap { keep, count } => rank_bitmap::lower(step, first_slot, keep, count, modules),
        Recipe::Histogram { key, count } => histogram::lower(step, first_slot, key, count, modules),
        Recipe::Compact { .. } => compact::lower(step, first_slot, modules),
    }
}
