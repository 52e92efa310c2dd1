//! The host side of `shaders/histogram.wgsl`.

use super::codegen::{Element, Kernel, ModuleBuilder};
use super::launch::{Lowered, Lowering, check_elements, live_function};
use super::legalize::Legalizer;
use super::primitive::GpuPrimitive;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{InPlan, Node, Recipe};
use crate::graph::primitive::Histogram;

/// Positions counted per workgroup.
const TILE: u32 = 8192;

/// The largest capacity.
const MAX_CAPACITY: u32 = u32::MAX - (1 << 14);

/// Largest number of bins that a workgroup counts in its own memory.
const FEW: u32 = 2048;

const HISTOGRAM: &str = include_str!("../../../shaders/histogram.wgsl");

/// The kernel that counts keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct HistogramKernel;

impl Kernel for HistogramKernel {
    fn name(self) -> &'static str {
        "histogram"
    }
}

impl GpuPrimitive for Histogram<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Self { key, count } = self;
        let Lowering { first_slot, sizes, modules, .. } = to;
        let (n, bins) = (sizes.capacity(count), sizes.capacity(step.out.extent()));
        check_elements(step, n, MAX_CAPACITY, "a histogram")?;
        if bins == 0 {
            return Ok(Lowered::default());
        }
        let g = modules.get(step, HistogramKernel, || {
            let mut m = ModuleBuilder::new(step, first_slot).without_row_context();
            live_function(&mut m, "live", count);
            m.value_function("key", key);
            m.finish(&[HISTOGRAM], "u32", Some(Element::ATOMIC), Vec::new())
        });
        let entry = if bins <= FEW { "few" } else { "many" };
        let launches = vec![g.launch(sizes, entry, [n, bins, 0, 0, 0, 0, 0, 0], n.div_ceil(TILE), 1)];
        Ok(Lowered { launches, cleared_outputs: vec![0], ..Lowered::default() })
    }
    /// A sort, and a search for the ends of each key.
    fn legalized(&self, out: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let value = to.counted(&self.key, &self.count, to.sizes.capacity(out.extent()));
        to.map_of(out.extent(), &value, false)
    }
}
