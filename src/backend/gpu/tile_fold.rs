//! The host side of `shaders/tile_fold.wgsl`.

use super::binding_windows::AccessPattern;
use super::codegen::{Binding, Element, Kernel, ModuleBuilder, value_type};
use super::launch::{Lowered, Lowering, check_elements, live_function};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{InPlan, Node, Recipe};
use crate::graph::primitive::TileFold;
use crate::graph::tile_fold::TILE;

/// The largest capacity.
const MAX_CAPACITY: u32 = u32::MAX - (1 << 14);

const TILE_FOLD: &str = include_str!("../../../shaders/tile_fold.wgsl");

/// The kernel that folds tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct TileFoldKernel;

impl Kernel for TileFoldKernel {
    fn name(self) -> &'static str {
        "tile_fold"
    }
}

impl GpuPrimitive for TileFold<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Lowering { first_slot, sizes, modules, .. } = to;
        let Self { op, key, value, count, slots } = self;
        let n = sizes.capacity(count);
        check_elements(step, n, MAX_CAPACITY, "folds of tiles")?;
        if n == 0 || *slots == 0 {
            return Ok(Lowered::default());
        }
        let dtype = value.dtype();
        let g = modules.get(step, TileFoldKernel, || {
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
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let (key, value) = (to.stored_input(&self.key, &self.count, 1), to.stored_input(&self.value, &self.count, 1));
        Recipe::TileFold(Self { key, value, count: to.count(&self.count), ..*self })
    }
    fn access_pattern(&self, at: &Bound<'_>) -> Option<AccessPattern> {
        Some(match at.binding {
            Binding::Read(n) => AccessPattern::tiles_of(TILE, n),
            Binding::Output(_) => AccessPattern::tiles_of(self.slots, &at.step.out),
            _ => AccessPattern::Whole,
        })
    }
}
