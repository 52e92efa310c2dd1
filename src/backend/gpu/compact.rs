//! The host side of `shaders/compact.wgsl`.

use super::codegen::{Element, Kernel, ModuleBuilder, elements_per_word, value_type};
use super::launch::{Lowered, Lowering, check_elements, live_function};
use super::legalize::Legalizer;
use super::primitive::GpuPrimitive;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{InPlan, Node, Recipe};
use crate::graph::primitive::Compact;
use crate::graph::rank_bitmap::tiles_in;

/// Maximum number of positions, and of numbers.
const MAX_CAPACITY: u32 = u32::MAX - (1 << 12);

/// Numbers moved per workgroup.
const TILE: u32 = 1024;

/// Number of workgroups that move up to that many numbers.
pub const fn groups(numbers: u32) -> u32 {
    numbers.div_ceil(TILE)
}

const COMPACT: &str = include_str!("../../../shaders/compact.wgsl");

/// The kernel that moves marked elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct CompactKernel;

impl Kernel for CompactKernel {
    fn name(self) -> &'static str {
        "compact"
    }
}

impl GpuPrimitive for Compact<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Lowering { first_slot, sizes, modules, .. } = to;
        let Self { bitmap, value, count, inner } = self;
        let numbers = sizes.capacity(step.out.extent());
        check_elements(step, numbers, MAX_CAPACITY, "a compaction")?;
        if numbers == 0 {
            return Ok(Lowered::default());
        }
        let is_packed = elements_per_word(value.dtype()) > 1;
        let g = modules.get(step, CompactKernel, || {
            let mut m = ModuleBuilder::new(step, first_slot).without_row_context();
            live_function(&mut m, "live", count);
            m.array_function("bitmap", bitmap);
            m.value_function("value", value);
            m.compact_output(value.dtype());
            let out = Element::of_shared_words(value.dtype());
            m.finish(&[COMPACT], value_type(value.dtype()), Some(out), Vec::new())
        });
        // The rank bitmap may have been built for a larger capacity than is known now.
        let head = [sizes.capacity(count), *inner, tiles_in(sizes.capacity(bitmap.extent())), numbers, 0, 0, 0, 0];
        let moved = u64::from(sizes.capacity(count)) * u64::from(*inner);
        let moved = u32::try_from(moved).unwrap_or(u32::MAX);
        check_elements(step, moved, MAX_CAPACITY, "a compaction")?;
        let launches = vec![g.launch(sizes, "main", head, groups(moved), 1)];
        Ok(Lowered { launches, cleared_outputs: if is_packed { vec![0] } else { Vec::new() }, ..Lowered::default() })
    }
    /// A search in the ranks of the bitmap.
    fn legalized(&self, out: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let position = to.position_of_kept(self.bitmap.clone(), self.count.clone(), self.inner);
        to.map_of(out.extent(), &self.value.at(&position), false)
    }
}
