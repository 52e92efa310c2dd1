//! From a step to launches: which template, what it binds, how large its grid is.

use std::sync::Arc;

use super::codegen::Module;
use super::launch::{Lowered, within};
use super::{compact, map, marks, matmul, row_hash, row_reduce, row_scan, row_sort, scan, sort};
use crate::error::Result;
use crate::graph::node::Recipe;
use crate::graph::plan::Step;

/// Lowers the step; its conditions report from slot `first_slot` on.
///
/// # Errors
/// The step is too large for 32-bit indices.
pub(crate) fn lower(step: &Step, first_slot: u32) -> Result<Lowered> {
    let capacity = step.out.extent().capacity();
    let label = |stem: &str| -> Arc<str> { format!("{stem}({})", step.fused.join(" ")).into() };
    match &step.recipe {
        Recipe::Map { value, whole } => {
            let mut m = Module::new(step, first_slot);
            let live = step.live.as_ref().filter(|_| !whole);
            if map::takes_vectors(step, value, live, capacity) {
                return Ok(map::lower_vectors(m, step, value, live, capacity, &label("vector_map")));
            }
            m.map_output(value.dtype());
            Ok(map::lower(m, step, value, live, capacity, &label))
        }
        Recipe::Assert { ok, count, .. } => {
            let mut m = Module::new(step, first_slot);
            m.assert_output(first_slot + step.checks.len() as u32);
            Ok(map::lower(m, step, ok, count.live(), count.capacity(), &label))
        }
        Recipe::Reduce { .. } => row_reduce::lower(step, first_slot, &label("row_reduce")),
        Recipe::Product(p) => Ok(matmul::lower(step, first_slot, p, &label("matmul"))),
        Recipe::Scan { value, count } => scan::lower(step, first_slot, value, count, &label("scan")),
        Recipe::RowScan { .. } => row_scan::lower(step, first_slot, &label("row_scan")),
        Recipe::Sort { key, count, bits } => sort::lower(step, first_slot, key, count, *bits, &label("sort")),
        Recipe::RowSort { nvals, .. } => {
            within(step, nvals.capacity(), sort::MAX_CAPACITY, "a sort")?;
            Ok(row_sort::lower(step, first_slot, &label("row_sort")))
        }
        Recipe::Hash { .. } => Ok(row_hash::lower(step, first_slot, &label("row_hash"))),
        Recipe::Marks { keep, count } => marks::lower(step, first_slot, keep, count, &label("marks")),
        Recipe::Compact { .. } => compact::lower(step, first_slot, &label("compact")),
    }
}
