//! The host side of `shaders/matmul.wgsl`.

use std::ops::Range;
use std::sync::Arc;

use super::codegen::{Module, value_type};
use super::launch::{Lowered, partition};
use crate::graph::node::Product;
use crate::graph::plan::Step;

/// Bytes of a matrix that a tile keeps in workgroup memory, at the most.
const STAGE: usize = 4096;

/// The template's constants for tiles of that many rows and columns (16, 32 or 64), of elements of that size.
pub fn constants(tile: u32, size: usize) -> String {
    let slab = STAGE / 64 / size;
    format!(
        "const EDGE_BITS: u32 = {}u;\nconst SLAB_BITS: u32 = {}u;",
        tile.clamp(16, 64).ilog2(),
        (slab as u32).ilog2()
    )
}

/// Terms that a dispatch adds to a sum where the driver ends loops early: in all of its loops an invocation then takes at
/// most 25 turns a term.
pub const TERMS: u32 = 2048;

/// The template's parameter words, for those terms of the sums.
pub fn head(batches: u32, tiles: u32, capacity: u32, transposed: [bool; 2], terms: Range<u32>) -> [u32; 8] {
    let [left, right] = transposed.map(u32::from);
    [batches, tiles, capacity, left, right, terms.start, terms.end, 0]
}

const MATMUL: &str = include_str!("../../../shaders/matmul.wgsl");

/// Lowers [`Recipe::Product`](crate::graph::node::Recipe::Product).
pub(super) fn lower(step: &Step, first_slot: u32, p: &Product, label: &Arc<str>) -> Lowered {
    let (batches, capacity) = (p.batches.capacity(), step.out.extent().capacity());
    if batches == 0 || p.tile_capacity == 0 || capacity == 0 {
        return Lowered::default();
    }
    let dtype = p.operands[0].dtype();
    let mut m = Module::new(step, first_slot).without_row_context();
    partition(&mut m, &p.tiles, &p.batches);
    for (name, e) in ["rows_of", "terms_of", "columns_of"].into_iter().zip(&p.sizes) {
        m.value_function(name, e);
    }
    for (name, e) in ["left_start", "right_start", "out_start"].into_iter().zip(&p.starts) {
        m.value_function(name, e);
    }
    for (name, e) in ["load_left", "load_right"].into_iter().zip(&p.operands) {
        m.value_function(name, e);
    }
    m.sum_of_products(dtype);
    m.push(&constants(p.tile, dtype.size()));
    m.push("fn store(i: u32, v: Elem) {\n    out[i] = v;\n}\nfn partial(i: u32) -> Elem {\n    return out[i];\n}");
    let ty = value_type(dtype);
    let g = m.finish(&[MATMUL], ty, Some(ty), &[]);
    let most = p.sizes[1].as_u32().unwrap_or(p.capacities[0].min(p.capacities[1]));
    let at_once = if step.limits.ends_loops { TERMS } else { most.max(1) };
    let launches = (0..most.max(1)).step_by(at_once as usize).map(|first| {
        let head = head(batches, p.tile_capacity, capacity, p.transposed, first..first.saturating_add(at_once));
        g.launch(label, "main", head, p.tile_capacity, 1)
    });
    Lowered { launches: launches.collect(), ..Lowered::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_halve_as_elements_grow() {
        assert!(constants(64, 4).contains("EDGE_BITS: u32 = 6u") && constants(64, 4).contains("SLAB_BITS: u32 = 4u"));
        assert!(constants(16, 8).contains("EDGE_BITS: u32 = 4u") && constants(16, 8).contains("SLAB_BITS: u32 = 3u"));
    }
}
