//! The host side of the map kernels: `shaders/map.wgsl`; `shaders/vector_map.wgsl`, which computes four elements at
//! once; and `shaders/row_map.wgsl`, which gives each element its row.

use std::sync::Arc;

use super::binding_windows::AccessPattern;
use super::bounds::are_in_bounds;
use super::codegen::{
    Binding, Element, Kernel, KernelModule, Misses, ModuleBuilder, elements_per_word, iterations_of, looped, value_type,
};
use super::driver_limits::DriverLimits;
use super::launch::{Lowered, Lowering, count_function};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{Expr, ExprKind, InPlan, Node, Recipe, Size, SizeView};
use crate::graph::primitive::{Assert, Map};
use crate::graph::step::cost::{MAX_REPEATED_COST, evaluation_cost};
use crate::graph::walk::for_each_expr;

const MAP: &str = include_str!("../../../shaders/map.wgsl");
const VECTOR_MAP: &str = include_str!("../../../shaders/vector_map.wgsl");
const ROW_MAP: &str = include_str!("../../../shaders/row_map.wgsl");

/// Elements per tile if an array takes several bindings, or if a position of a larger tile could exceed 2^32.
pub(super) const MAP_TILE: u32 = 1024;

/// Invocations per workgroup.
const INVOCATIONS: u32 = 256;

/// Whether every array is bound whole, and no position of a larger tile exceeds 2^32.
fn is_plain(step: &Step, sizes: SizeView<'_>, capacity: u32) -> bool {
    let mut arrays = step.reads.iter().chain(step.outputs());
    capacity < 1 << 31 && arrays.all(|n| step.limits.windows(sizes.bytes(n)) == 1)
}

/// Elements per tile of the step's map: the tuned size where possible, else [`MAP_TILE`]. Fewer if the loops of an invocation
/// could exceed the driver's limit, but a word per invocation at least.
fn tile(step: &Step, value: &Expr, (sizes, capacity): (SizeView<'_>, u32), driver: DriverLimits) -> u32 {
    if !is_plain(step, sizes, capacity) {
        return MAP_TILE;
    }
    let own = step.row_context.as_ref().map(|(splits, inner)| (splits, *inner));
    // And a search for the row of an element.
    let each = iterations_of(value, own, step.limits.float64).saturating_add(looped(32, 0));
    let least = INVOCATIONS * elements_per_word(value.dtype());
    let mut tile = step.limits.tuning.map_tile;
    while tile > least && !driver.allows(looped(u64::from(tile / INVOCATIONS), each)) {
        tile /= 2;
    }
    tile
}

/// Whether the map can be vectorized, four elements per vector. The map must load only arrays of at most 32 bits per
/// element, at its own position, and their buffers must be padded to a vector. The last vector extends up to three
/// positions past the end, at which conditions may not hold, so the map must have none.
fn can_vectorize(step: &Step, value: &Expr, live: Option<&Expr>, (sizes, capacity): (SizeView<'_>, u32)) -> bool {
    let is_word = |dtype: DType| dtype.size() <= 4;
    let is_tuned = step.limits.tuning.map_width == 4;
    if !is_tuned || !is_word(value.dtype()) || value.has_conditions() || !is_plain(step, sizes, capacity) {
        return false;
    }
    let (mut flat, mut arrays) = (true, Vec::new());
    for_each_expr(value, &mut |e| match e.kind() {
        ExprKind::Load(n, at) => {
            flat &= at.is_own_position() && is_word(n.dtype()) && n.is_vector_padded();
            arrays.push(n.clone());
        }
        ExprKind::RowOf(..) | ExprKind::Within(..) => flat = false,
        _ => {}
    });
    // The live count reads words, so its arrays cannot be bound as vectors.
    let mut counts = false;
    if let Some(live) = live {
        for_each_expr(live, &mut |e| counts |= e.node().is_some_and(|n| arrays.contains(n)));
    }
    // Vectorization unrolls the map four times, so it is limited to cheap maps.
    flat && !counts && step.fetches().is_none() && evaluation_cost(value, None) <= MAX_REPEATED_COST
}

impl GpuPrimitive for Map<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        // A step over oversized arrays reads its count from an array of one element (`legalize`).
        let extent = step.out.extent();
        let live = if self.whole { None } else { step.live.clone().or_else(|| extent.live()) };
        Ok(lower(step, &self.value, (extent.size(), live), to))
    }
    fn legalized(&self, out: &Node, to: &mut Legalizer<'_>) -> Recipe {
        to.map_of(out.extent(), &self.value, self.whole)
    }
    fn output_windows(&self, _: &Node, _: SizedLimits<'_>) -> u32 {
        0
    }
    /// Of a fetch.
    fn access_pattern(&self, at: &Bound<'_>) -> Option<AccessPattern> {
        let from = at.step.fetches()?;
        Some(match at.binding {
            Binding::Read(n) if n == from => AccessPattern::Random { axis: 0, misses: Misses::Latest },
            Binding::Read(n) => AccessPattern::tiles_of(MAP_TILE, n),
            Binding::Output(_) => AccessPattern::tiles_of(MAP_TILE, &at.step.out),
            _ => AccessPattern::Whole,
        })
    }
}

impl GpuPrimitive for Assert<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        Ok(lower(step, &self.ok, (self.count.size(), self.count.live()), to))
    }
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let (ok, count) = (to.legalized(&self.ok, to.sizes.capacity(&self.count)), to.count(&self.count));
        Recipe::Assert(Self { ok, count, check: self.check })
    }
    fn output_windows(&self, _: &Node, _: SizedLimits<'_>) -> u32 {
        0
    }
}

/// The kernels of maps and assertions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum MapKernel {
    /// Computes one element at a time.
    Elements,
    /// Computes one element at a time, with its row.
    Rows,
    /// Computes whole vectors.
    Vectors,
}

impl Kernel for MapKernel {
    fn name(self) -> &'static str {
        match self {
            Self::Elements => "map",
            Self::Rows => "row_map",
            Self::Vectors => "vector_map",
        }
    }
}

/// Lowers a map or an assertion of `live` elements, at most `most`; of all up to `most` if `live` is `None`.
fn lower(step: &Step, value: &Expr, (most, live): (&Size, Option<Expr>), to: Lowering<'_>) -> Lowered {
    let Lowering { first_slot, sizes, modules, driver } = to;
    let capacity = sizes.value(most);
    if let Recipe::Map(_) = step.recipe
        && can_vectorize(step, value, live.as_ref(), (sizes, capacity))
    {
        let g = modules.get(step, MapKernel::Vectors, || {
            let mut m = ModuleBuilder::new(step, first_slot);
            count_function(&mut m, "live", most, live.clone());
            m.vector_function("values", value);
            let (tile, ty) = (tile(step, value, (sizes, capacity), driver), value_type(value.dtype()));
            m.push(&format!("const MAP_TILE = {tile}u;"));
            let out = Element::vector(value.dtype());
            m.finish(&[VECTOR_MAP], ty, Some(out), Vec::new()).with_tile(tile)
        });
        return single_launch(&g, [capacity, 0, 0, 0, 0, 0, 0, 0], (value, live.as_ref()), sizes);
    }
    let kernel = if step.row_context.is_some() { MapKernel::Rows } else { MapKernel::Elements };
    let g = modules.get(step, kernel, || {
        let mut m = ModuleBuilder::new(step, first_slot);
        let out = if let Recipe::Assert(_) = step.recipe {
            m.assert_output(first_slot + step.checks.len() as u32);
            None
        } else {
            m.map_output(value.dtype());
            Some(Element::of(value.dtype()))
        };
        count_function(&mut m, "live", most, live.clone());
        m.value_function("value", value);
        let (tile, ty) = (tile(step, value, (sizes, capacity), driver), value_type(value.dtype()));
        m.push(&format!("const MAP_TILE = {tile}u;"));
        let template = match m.row_context().cloned() {
            Some((splits, inner)) => {
                m.splits_function(&splits);
                m.push(&format!("const ONE_COLUMN = {};", inner == 1));
                ROW_MAP
            }
            None => MAP,
        };
        m.finish(&[template], ty, out, Vec::new()).with_tile(tile)
    });
    let head = match &step.row_context {
        Some((splits, inner)) => [capacity, sizes.capacity(splits.extent()).saturating_sub(1), *inner, 0, 0, 0, 0, 0],
        None => [capacity, 0, 0, 0, 0, 0, 0, 0],
    };
    single_launch(&g, head, (value, live.as_ref()), sizes)
}

/// The single launch of a map, with one workgroup per tile.
fn single_launch(
    g: &Arc<KernelModule>,
    head: [u32; 8],
    (value, live): (&Expr, Option<&Expr>),
    sizes: SizeView<'_>,
) -> Lowered {
    let capacity = head[0];
    let mut launch = g.launch(sizes, "main", head, capacity.div_ceil(g.tile), 1);
    // The count is evaluated at position 0.
    if are_in_bounds(sizes, value, capacity) && live.is_none_or(|count| are_in_bounds(sizes, count, 1)) {
        // SAFETY: the indices in the expressions are proven for all positions below the capacity, to which the templates
        // clamp the count. The row that `row_map` gives an element is one of the splits' rows, for any splits; so is the
        // result of a search. The output has an element for each position below the capacity. The output of a check is a
        // slot of the status block instead: its slot numbers are parameters, as are all others of that block. `tile_rows`
        // is indexed by values below 2. `vector_map` loads and stores vectors that begin below the capacity. Where an
        // index equal to the position is proven, the array is no shorter than the capacity, and its storage extends to a
        // multiple of 16 bytes: buffers of the pool always do, other arrays are tested (`is_vector_padded`). No vector is
        // larger.
        launch.checks = unsafe { g.checks_without_bounds() };
    }
    Lowered { launches: vec![launch], ..Lowered::default() }
}
