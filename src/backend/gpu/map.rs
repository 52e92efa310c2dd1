//! The host side of `shaders/map.wgsl` and, where the row of an element counts, of `shaders/row_map.wgsl`.

use std::sync::Arc;

use super::bounds::are_proven;
use super::codegen::{Module, storage_type, value_type};
use super::launch::{Lowered, live};
use super::runtime::Checks;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Recipe;
use crate::graph::plan::Step;

const MAP: &str = include_str!("../../../shaders/map.wgsl");
const ROW_MAP: &str = include_str!("../../../shaders/row_map.wgsl");

/// Elements of a tile where an array takes several bindings, or a position of a larger tile might pass 2^32.
pub(super) const MAP_TILE: u32 = 1024;

/// Elements that a workgroup of the step's map computes: as the device is tuned, or the least.
fn tile(step: &Step, capacity: u32) -> u32 {
    let mut arrays = step.reads.iter().chain(step.outputs());
    let is_plain = capacity < 1 << 31 && arrays.all(|n| step.limits.windows(n.bytes()) == 1);
    if is_plain { step.limits.tuning.map_tile } else { MAP_TILE }
}

/// A map into `out`, or a condition, whose output functions the module has already.
pub(super) fn lower(
    mut m: Module<'_>,
    step: &Step,
    value: &Expr,
    count: Option<&Expr>,
    capacity: u32,
    label: &dyn Fn(&str) -> Arc<str>,
) -> Lowered {
    let is_assert = matches!(step.recipe, Recipe::Assert { .. });
    let extent = count.map_or_else(|| Extent::known(capacity), |e| Extent::bounded(capacity, e.clone()));
    live(&mut m, "live", &extent);
    m.value_function("value", value);
    let out = (!is_assert).then(|| storage_type(value.dtype()));
    let ty = value_type(value.dtype());
    let tile = tile(step, capacity);
    m.push(&format!("const MAP_TILE = {tile}u;"));
    let (g, head, stem) = match m.row_context().cloned() {
        Some((splits, inner)) => {
            m.splits_function(&splits);
            let rows = splits.extent().capacity().saturating_sub(1);
            (m.finish(&[ROW_MAP], ty, out, &[]), [capacity, rows, inner, 0, 0, 0, 0, 0], "row_map")
        }
        None => (m.finish(&[MAP], ty, out, &[]), [capacity, 0, 0, 0, 0, 0, 0, 0], "map"),
    };
    let mut launch = g.launch(&label(stem), "main", head, capacity.div_ceil(tile), 1);
    launch.checks = checks(value, extent.live(), capacity);
    Lowered { launches: vec![launch], ..Lowered::default() }
}

/// The checks that the kernel of a map takes, by what it computes and how it counts.
fn checks(value: &Expr, count: Option<&Expr>, capacity: u32) -> Checks {
    // SAFETY: the loops of the templates go MAP_TILE / 256 rounds. Those of the functions that expressions call end: a
    // search halves what is left to look through, and a remainder or a power has fewer bits to go in each round.
    let checks = unsafe { Checks::ALL.without_loops() };
    // The count is worked out as if at position 0.
    if !are_proven(value, capacity) || count.is_some_and(|e| !are_proven(e, 1)) {
        return checks;
    }
    // SAFETY: the indices in the expressions are proven for all positions below the capacity, to which the templates
    // clamp the count. The row that `row_map` gives an element is one of the splits' rows, whatever the splits hold, as
    // that of a search is. The output has an element for each position below the capacity; where a condition is the
    // output, a slot of the status block, whose numbers are parameters, as all others of that block are. `tile_rows` is
    // indexed by what is below 2.
    unsafe { checks.without_bounds() }
}
