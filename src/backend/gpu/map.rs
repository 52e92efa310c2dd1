//! The host side of `shaders/map.wgsl`; of `shaders/vector_map.wgsl`, where four elements can be taken at once; and of
//! `shaders/row_map.wgsl`, where the row of an element counts.

use std::sync::Arc;

use super::bounds::are_proven;
use super::codegen::{Generated, Module, Modules, storage_type, value_type, vector_type};
use super::launch::{Lowered, live};
use super::runtime::Checks;
use crate::dtype::DType;
use crate::graph::cost::{CHEAP, work};
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::Recipe;
use crate::graph::plan::Step;
use crate::graph::walk::for_each_expr;

const MAP: &str = include_str!("../../../shaders/map.wgsl");
const VECTOR_MAP: &str = include_str!("../../../shaders/vector_map.wgsl");
const ROW_MAP: &str = include_str!("../../../shaders/row_map.wgsl");

/// Elements of a tile where an array takes several bindings, or a position of a larger tile might pass 2^32.
pub(super) const MAP_TILE: u32 = 1024;

/// Whether every array is bound whole, and no position of a larger tile passes 2^32.
fn is_plain(step: &Step, capacity: u32) -> bool {
    let mut arrays = step.reads.iter().chain(step.outputs());
    capacity < 1 << 31 && arrays.all(|n| step.limits.windows(n.bytes()) == 1)
}

/// Elements that a workgroup of the step's map computes: as the device is tuned, or the least.
fn tile(step: &Step, capacity: u32) -> u32 {
    if is_plain(step, capacity) { step.limits.tuning.map_tile } else { MAP_TILE }
}

/// Whether four elements of the map are computed at once: all that it reads are arrays of at most 32 bits an element at
/// the position of what is computed, and they end with a vector. It is computed at up to three positions behind the
/// last one, where no condition need hold.
fn takes_vectors(step: &Step, value: &Expr, live: Option<&Expr>, capacity: u32) -> bool {
    let is_word = |dtype: DType| dtype.size() <= 4;
    let is_tuned = step.limits.tuning.map_width == 4;
    if !is_tuned || !is_word(value.dtype()) || value.has_conditions() || !is_plain(step, capacity) {
        return false;
    }
    let (mut flat, mut arrays) = (true, Vec::new());
    for_each_expr(value, &mut |e| match e.kind() {
        ExprKind::Load(n, at) => {
            flat &= at.is_index() && is_word(n.dtype()) && n.ends_with_a_vector();
            arrays.push(n.clone());
        }
        ExprKind::RowOf(..) | ExprKind::Within(..) => flat = false,
        _ => {}
    });
    // What counts the elements reads words.
    let mut counts = false;
    if let Some(live) = live {
        for_each_expr(live, &mut |e| counts |= e.node().is_some_and(|n| arrays.contains(n)));
    }
    // Drivers make four of each operation, where a loop has one.
    flat && !counts && step.fetches().is_none() && work(value, None) <= CHEAP
}

/// A map into its output, or a condition.
pub(super) fn lower(step: &Step, first_slot: u32, value: &Expr, extent: &Extent, modules: &mut Modules) -> Lowered {
    let capacity = extent.capacity();
    if let Recipe::Map { .. } = step.recipe
        && takes_vectors(step, value, extent.live().as_ref(), capacity)
    {
        let g = modules.get(step, ("vector_map", 0), || {
            let mut m = Module::new(step, first_slot);
            live(&mut m, "live", extent);
            m.vector_function("values", value);
            let (tile, ty) = (tile(step, capacity), value_type(value.dtype()));
            m.push(&format!("const MAP_TILE = {tile}u;"));
            Generated { tile, ..m.finish(&[VECTOR_MAP], ty, Some(vector_type(value.dtype())), &[]) }
        });
        return launched(&g, [capacity, 0, 0, 0, 0, 0, 0, 0], value, extent);
    }
    let stem = if step.row_context.is_some() { "row_map" } else { "map" };
    let g = modules.get(step, (stem, 0), || {
        let mut m = Module::new(step, first_slot);
        let out = if let Recipe::Assert { .. } = step.recipe {
            m.assert_output(first_slot + step.checks.len() as u32);
            None
        } else {
            m.map_output(value.dtype());
            Some(storage_type(value.dtype()))
        };
        live(&mut m, "live", extent);
        m.value_function("value", value);
        let (tile, ty) = (tile(step, capacity), value_type(value.dtype()));
        m.push(&format!("const MAP_TILE = {tile}u;"));
        let template = match m.row_context().cloned() {
            Some((splits, _)) => {
                m.splits_function(&splits);
                ROW_MAP
            }
            None => MAP,
        };
        Generated { tile, ..m.finish(&[template], ty, out, &[]) }
    });
    let head = match &step.row_context {
        Some((splits, inner)) => [capacity, splits.extent().capacity().saturating_sub(1), *inner, 0, 0, 0, 0, 0],
        None => [capacity, 0, 0, 0, 0, 0, 0, 0],
    };
    launched(&g, head, value, extent)
}

/// The one launch of a map, a workgroup a tile.
fn launched(g: &Arc<Generated>, head: [u32; 8], value: &Expr, extent: &Extent) -> Lowered {
    let capacity = extent.capacity();
    let mut launch = g.launch("main", head, capacity.div_ceil(g.tile), 1);
    launch.checks = checks(value, extent.live().as_ref(), capacity);
    Lowered { launches: vec![launch], ..Lowered::default() }
}

/// The checks that the kernel of a map takes, by what it computes and how it counts.
fn checks(value: &Expr, count: Option<&Expr>, capacity: u32) -> Checks {
    // SAFETY: the loops of the templates go MAP_TILE / 256 rounds, or a quarter of them. Those of the functions that
    // expressions call end: a search halves what is left to look through, and a remainder or a power has fewer bits to
    // go in each round.
    let checks = unsafe { Checks::ALL.without_loops() };
    // The count is worked out as if at position 0.
    if !are_proven(value, capacity) || count.is_some_and(|e| !are_proven(e, 1)) {
        return checks;
    }
    // SAFETY: the indices in the expressions are proven for all positions below the capacity, to which the templates
    // clamp the count. The row that `row_map` gives an element is one of the splits' rows, whatever the splits hold, as
    // that of a search is. The output has an element for each position below the capacity; where a condition is the
    // output, a slot of the status block, whose numbers are parameters, as all others of that block are. `tile_rows` is
    // indexed by what is below 2. `vector_map` stores and loads vectors that begin below the capacity: where an index
    // that is the position is proven, the array is no shorter, and its storage goes on to 16 bytes, since the pool's
    // buffers do and other arrays are asked (`ends_with_a_vector`); no vector is larger.
    unsafe { checks.without_bounds() }
}
