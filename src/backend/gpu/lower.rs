//! Lowers a step to launches: template, bindings and grid.

use super::driver_limits::DriverLimits;
use super::launch::{Lowered, Lowering, check_elements};
use super::{
    compact, histogram, map, matmul, rank_bitmap, row_hash, row_reduce, row_scan, row_sort, scan, sort, tile_fold,
    top_k,
};
use crate::error::Result;
use crate::graph::node::Recipe;
use crate::graph::plan::Step;

/// Lowers the step for a run. `driver` limits the serial work per dispatch.
///
/// # Errors
/// The step is too large for 32-bit indices.
pub(crate) fn lower(step: &Step, driver: DriverLimits, to: Lowering<'_>) -> Result<Lowered> {
    match &step.recipe {
        Recipe::Map { value, whole } => {
            // A step over oversized arrays reads its count from an array of one element (`graph/legalize`).
            let extent = step.out.extent();
            let live = if *whole { None } else { step.live.clone().or_else(|| extent.live()) };
            Ok(map::lower(step, value, (extent.size(), live), to))
        }
        Recipe::Append { .. } => unreachable!("bug: parts that no map selects from"),
        Recipe::Assert { ok, count, .. } => Ok(map::lower(step, ok, (count.size(), count.live()), to)),
        Recipe::Reduce { .. } => row_reduce::lower(step, to),
        Recipe::Product(p) => Ok(matmul::lower(step, driver, p, to)),
        Recipe::Scan { value, count } => scan::lower(step, value, count, to),
        Recipe::RowScan { .. } => row_scan::lower(step, to),
        Recipe::Sort { key, count, bits } => sort::lower(step, key, count, *bits, to),
        Recipe::RowSort { on, .. } => {
            check_elements(step, to.sizes.capacity(&on.nvals), sort::MAX_CAPACITY, "a sort")?;
            Ok(row_sort::lower(step, to))
        }
        Recipe::TopK { .. } => top_k::lower(step, to),
        Recipe::TileFold { .. } => tile_fold::lower(step, to),
        Recipe::Hash { .. } => Ok(row_hash::lower(step, driver, to)),
        Recipe::RankBitmap { keep, count } => rank_bitmap::lower(step, keep, count, to),
        Recipe::Histogram { key, count } => histogram::lower(step, key, count, to),
        Recipe::Compact { .. } => compact::lower(step, to),
    }
}
