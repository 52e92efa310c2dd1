//! The host side of `shaders/matmul.wgsl`.

use std::ops::Range;

use super::binding_windows::AccessPattern;
use super::codegen::{Binding, Element, Kernel, KernelModule, Misses, ModuleBuilder, value_type};
use super::launch::{Lowered, Lowering, partition_functions};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{InPlan, Node, Recipe, Rows};
use crate::graph::primitive::Product;

/// Maximum bytes per matrix of a slab in workgroup memory.
const STAGE: usize = 4096;

/// The template's constants for tiles of that many rows and columns (16, 32 or 64) and elements of that many bytes.
pub fn constants(tile: u32, size: usize) -> String {
    edges(tile, STAGE / 64 / size)
}

fn edges(tile: u32, slab: usize) -> String {
    format!(
        "const EDGE_BITS: u32 = {}u;\nconst SLAB_BITS: u32 = {}u;",
        tile.clamp(16, 64).ilog2(),
        (slab as u32).ilog2()
    )
}

/// The template's parameter words for that range of terms.
pub fn head(batches: u32, tiles: u32, capacity: u32, transposed: [bool; 2], terms: Range<u32>) -> [u32; 8] {
    let [left, right] = transposed.map(u32::from);
    [batches, tiles, capacity, left, right, terms.start, terms.end, 0]
}

/// Index of the parameter word that holds the end of a dispatch's terms.
const TERMS_END: usize = 6;

/// Functions that track which slab elements are bound, for arrays that are bound whole.
const ALL_BOUND: &str = "const PARTS = false;
fn note_left(at: u32, is_used: bool) {
}
fn note_right(at: u32, is_used: bool) {
}
fn are_bound(l: u32, r: u32) -> bool {
    return true;
}";

/// As [`ALL_BOUND`], for arrays that are bound in part: one flag per slab element.
const SOME_BOUND: &str = "const PARTS = true;
var<workgroup> left_bound: array<u32, SLAB * PITCH>;
var<workgroup> right_bound: array<u32, SLAB * PITCH>;
fn note_left(at: u32, is_used: bool) {
    left_bound[at] = u32(is_used && !rg_missed());
}
fn note_right(at: u32, is_used: bool) {
    right_bound[at] = u32(is_used && !rg_missed());
}
fn are_bound(l: u32, r: u32) -> bool {
    return (left_bound[l] & right_bound[r]) != 0u;
}";

const MATMUL: &str = include_str!("../../../shaders/matmul.wgsl");

/// The kernels of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ProductKernel {
    /// Adds terms.
    Sum,
    /// Sets the sums to their identity.
    Identity,
}

impl Kernel for ProductKernel {
    fn name(self) -> &'static str {
        "matmul"
    }
}

impl GpuPrimitive for Product<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let p = self;
        let Lowering { first_slot, sizes, modules, driver } = to;
        let (batches, capacity, tiles) =
            (sizes.capacity(&p.batches), sizes.capacity(step.out.extent()), sizes.value(&p.tile_capacity));
        let cleared_outputs = if p.has_gaps { vec![0] } else { Vec::new() };
        if batches == 0 || tiles == 0 || capacity == 0 {
            return Ok(Lowered { cleared_outputs, ..Lowered::default() });
        }
        let most = p.sizes[1].as_size().map_or(sizes.value(&p.terms), |k| sizes.value(&k));
        let at_once = driver.product_terms().unwrap_or(most.max(1));
        let head = |terms| head(batches, tiles, capacity, p.transposed, terms);
        let is_partial = step.is_oversized();
        let g = modules.get(step, ProductKernel::Sum, || module(step, first_slot, p, is_partial));
        let mut launches = Vec::new();
        if is_partial {
            // A first launch sets every sum to the identity.
            let none = modules.get(step, ProductKernel::Identity, || module(step, first_slot, p, false));
            launches.push(none.launch(sizes, "main", head(0..0), tiles, 1));
        }
        launches.extend(
            (0..most.max(1))
                .step_by(at_once as usize)
                .map(|first| g.launch(sizes, "main", head(first..first.saturating_add(at_once)), tiles, 1)),
        );
        let limit = (most > at_once).then(|| driver.reason());
        Ok(Lowered { launches, limit, cleared_outputs, ..Lowered::default() })
    }
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        Recipe::Product(to.product(self.clone()))
    }
    /// The first launch sets every sum to the identity; the others add products, in the order of the terms. Arrays of
    /// batch parameters are bound with all their windows if enough bindings remain for the matrices.
    fn access_pattern(&self, at: &Bound<'_>) -> Option<AccessPattern> {
        let (step, sizes, launch) = (at.step, at.sizes, at.launch);
        let (left, right) = self.operands[0].own_load().zip(self.operands[1].own_load()).filter(|(l, r)| l != r)?;
        let describes_batches = |n: &Node| n != left && n != right;
        let windows = |b: &Binding| match b {
            Binding::Read(n) if describes_batches(n) => sizes.bytes(n).div_ceil(step.limits.window_bytes()),
            _ => 1,
        };
        let all = launch.arrays().iter().map(|a| windows(&a.binding)).sum::<u64>();
        let describes_fit = all <= step.limits.bindings.into();
        Some(match at.binding {
            Binding::Read(n) if describes_batches(n) && describes_fit => AccessPattern::Prefix(u64::MAX),
            Binding::Read(n) if describes_batches(n) => match &self.tiles {
                Rows::Splits(tiles) if n == tiles => AccessPattern::PerRow { bytes: 4, more: 4 },
                Rows::Splits(_) => {
                    let batches = u64::from(sizes.capacity(&self.batches).max(1));
                    AccessPattern::PerRow { bytes: sizes.bytes(n) / batches, more: 0 }
                }
                // Legalization stores the tile partition as splits.
                Rows::Uniform(_) => return None,
            },
            Binding::Read(_) if launch.params[TERMS_END] == 0 => AccessPattern::Unused,
            Binding::Read(n) => AccessPattern::Random { axis: if n == right { 1 } else { 2 }, misses: Misses::Latest },
            Binding::Output(_) => AccessPattern::Random { axis: 0, misses: Misses::Never },
            _ => AccessPattern::Whole,
        })
    }
}

fn module(step: &Step, first_slot: u32, p: &Product<InPlan>, is_partial: bool) -> KernelModule {
    let dtype = p.operands[0].dtype();
    let mut m = ModuleBuilder::new(step, first_slot).without_row_context();
    partition_functions(&mut m, &p.tiles, &p.batches);
    for (name, e) in ["rows_of", "terms_of", "columns_of"].into_iter().zip(&p.sizes) {
        m.value_function(name, e);
    }
    for (name, e) in ["left_start", "right_start", "out_start"].into_iter().zip(&p.starts) {
        m.value_function(name, e);
    }
    for (name, e) in ["load_left", "load_right"].into_iter().zip(&p.operands) {
        m.factor_function(name, e);
    }
    m.sum_of_products(dtype);
    if is_partial {
        // Slabs of half the depth, since the flags also take workgroup memory.
        m.push(&edges(p.tile, STAGE / 128 / dtype.size()));
        m.push(SOME_BOUND);
    } else {
        m.push(&constants(p.tile, dtype.size()));
        m.push(ALL_BOUND);
    }
    m.push("fn store(i: u32, v: Elem) {\n    store_out(i, v);\n}\nfn partial(i: u32) -> Elem {\n    return load_out(i);\n}");
    let ty = value_type(dtype);
    m.finish(&[MATMUL], ty, Some(Element::of(dtype)), Vec::new())
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
