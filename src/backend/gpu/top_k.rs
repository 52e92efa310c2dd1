//! The host side of `shaders/top_k.wgsl`. One kernel selects from short rows and from the parts of long rows; if long
//! rows are possible, a second one merges the selections from their parts.

use super::codegen::{Binding, Element, Kernel, ModuleBuilder, StorageArray, value_type};
use super::driver_limits::DriverLimits;
use super::launch::{Lowered, Lowering, TILE_SORT, check_elements, partition_functions};
use super::legalize::Legalizer;
use super::primitive::GpuPrimitive;
use super::sort;
use crate::error::Result;
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{InPlan, Node, Recipe, RowDomain};
use crate::graph::primitive::TopK;

const TOP_K: &str = include_str!("../../../shaders/top_k.wgsl");

/// Positions per workgroup; also the longest row that a workgroup selects from.
pub const STRETCH: u32 = 512;

/// The kernel that selects keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct TopKKernel {
    /// Whether rows may be longer than a stretch.
    has_long: bool,
}

impl Kernel for TopKKernel {
    fn name(self) -> &'static str {
        "top_k"
    }
}

impl GpuPrimitive for TopK<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Lowering { first_slot, sizes, modules, .. } = to;
        let Self { on, key, k, longest } = self;
        let RowDomain { rows, nrows, nvals, .. } = on;
        let n = sizes.capacity(nvals);
        check_elements(step, n, sort::MAX_CAPACITY, "a selection")?;
        if sizes.capacity(nrows) == 0 {
            return Ok(Lowered::default());
        }
        // Entries of absent elements are 0.
        let cleared = Lowered { cleared_outputs: vec![0], ..Lowered::default() };
        if n == 0 {
            return Ok(cleared);
        }
        let has_long = n.min(sizes.value(longest)) > STRETCH;
        let g = modules.get(step, TopKKernel { has_long }, || {
            let mut m = ModuleBuilder::empty(step, first_slot);
            partition_functions(&mut m, rows, nrows);
            m.value_function("value", key);
            let elem = value_type(key.dtype());
            let less = if elem == "u32" { "a < b" } else { "less_u64(a, b)" };
            m.push("fn load(i: u32) -> Elem {\n    return value(i, 0u);\n}");
            m.push(&format!("fn is_less(a: Elem, b: Elem) -> bool {{\n    return {less};\n}}"));
            m.push("fn store(i: u32, at: u32) {\n    store_out(i, at);\n}");
            let (stored, loaded) =
                if has_long { ("\n    store_candidates(i, at);\n", "load_candidates(i)") } else { ("", "0u") };
            m.push(&format!("fn store_candidate(i: u32, at: u32) {{{stored}}}"));
            m.push(&format!("fn candidate(i: u32) -> u32 {{\n    return {loaded};\n}}"));
            let candidates = has_long.then(|| StorageArray::new("candidates", Element::WORD, Binding::Scratch(0)));
            m.finish(&[TOP_K, TILE_SORT], elem, Some(Element::WORD), candidates.into_iter().collect())
        });
        let stretches = n.div_ceil(STRETCH);
        let head = [sizes.capacity(nrows), n, stretches, *k, 0, 0, 0, 0];
        let mut lowered = Lowered { launches: vec![g.launch(sizes, "main", head, stretches, 1)], ..cleared };
        if has_long {
            lowered.launches.push(g.launch(sizes, "merge", head, stretches, 1));
            lowered.scratch = vec![u64::from(stretches) * u64::from(2 * k * u32::BITS / 8)];
        }
        Ok(lowered)
    }
    fn legalized(&self, out: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let RowDomain { rows, nrows, nvals, .. } = &self.on;
        let value = to.top_k_by_sorts(rows, nrows, nvals, &self.key, self.k);
        to.map_of(out.extent(), &value, false)
    }
    /// Selections from long rows keep candidates per tile.
    fn buffers(&self, _: DriverLimits, _: SizedLimits<'_>) -> u32 {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::row_lengths::class;

    #[test]
    fn the_longest_row_of_a_workgroup_is_a_length_class() {
        assert_eq!(class(STRETCH), STRETCH, "a plan for longer rows would be reused for these");
    }
}
