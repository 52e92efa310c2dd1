//! The host side of `shaders/tile_fold.wgsl`.

use super::codegen::{Element, ModuleBuilder, value_type};
use super::launch::{Lowered, Lowering, check_elements, live_function};
use crate::error::Result;
use crate::graph::node::Recipe;
use crate::graph::plan::Step;
use crate::graph::tile_fold::TILE;

/// The largest capacity.
const MAX_CAPACITY: u32 = u32::MAX - (1 << 14);

const TILE_FOLD: &str = include_str!("../../../shaders/tile_fold.wgsl");

/// Lowers [`Recipe::TileFold`].
///
/// # Panics
/// If the step has another recipe.
pub(super) fn lower(step: &Step, to: Lowering<'_>) -> Result<Lowered> {
    let Lowering { first_slot, sizes, modules } = to;
    let Recipe::TileFold { op, key, value, count, slots } = &step.recipe else { unreachable!("bug: another recipe") };
    let n = sizes.capacity(count);
    check_elements(step, n, MAX_CAPACITY, "folds of tiles")?;
    if n == 0 || *slots == 0 {
        return Ok(Lowered::default());
    }
    let dtype = value.dtype();
    let g = modules.get(step, ("tile_fold", 0), || {
        let mut m = ModuleBuilder::new(step, first_slot).without_row_context();
        live_function(&mut m, "live", count);
        m.value_function("key", key);
        m.value_function("value", value);
        m.monoid(*op, dtype, op.identity(dtype));
        m.finish(&[TILE_FOLD], value_type(dtype), Some(Element::of(dtype)), Vec::new())
    });
    let launches = vec![g.launch(sizes, "main", [n, *slots, 0, 0, 0, 0, 0, 0], n.div_ceil(TILE), 1)];
    Ok(Lowered { launches, ..Lowered::default() })
}
