//! The host side of `shaders/compact.wgsl`.

use std::sync::Arc;

use super::codegen::{Module, elements_per_word, storage_type, value_type};
use super::launch::{Lowered, live, within};
use crate::error::Result;
use crate::graph::marks::tiles;
use crate::graph::node::Recipe;
use crate::graph::plan::Step;

/// The largest capacity.
const MAX_CAPACITY: u32 = u32::MAX - (1 << 12);

/// Numbers that a workgroup moves.
const TILE: u32 = 1024;

/// How many workgroups move up to that many numbers.
pub const fn groups(numbers: u32) -> u32 {
    numbers.div_ceil(TILE)
}

const COMPACT: &str = include_str!("../../../shaders/compact.wgsl");

/// Lowers a step of [`Recipe::Compact`].
pub(super) fn lower(step: &Step, first_slot: u32, label: &Arc<str>) -> Result<Lowered> {
    let Recipe::Compact { marks, value, count, inner } = &step.recipe else { unreachable!("bug: another recipe") };
    let numbers = step.out.extent().capacity();
    within(step, numbers, MAX_CAPACITY, "a compaction")?;
    if numbers == 0 {
        return Ok(Lowered::default());
    }
    let mut m = Module::new(step, first_slot).without_row_context();
    live(&mut m, "live", count);
    m.array_function("mark", marks);
    m.value_function("value", value);
    m.compact_output(value.dtype());
    let is_packed = elements_per_word(value.dtype()) > 1;
    let out = if is_packed { "atomic<u32>" } else { storage_type(value.dtype()) };
    let g = m.finish(&[COMPACT], value_type(value.dtype()), Some(out), &[]);
    let head = [count.capacity(), *inner, tiles(count.capacity()), 0, 0, 0, 0, 0];
    let launches = vec![g.launch(label, "main", head, groups(numbers), 1)];
    Ok(Lowered { launches, cleared_outputs: if is_packed { vec![0] } else { Vec::new() }, ..Lowered::default() })
}
