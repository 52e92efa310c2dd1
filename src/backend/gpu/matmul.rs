//! The host side of `shaders/matmul.wgsl`.

use std::ops::Range;

use super::binding_windows::AccessPattern;
use super::codegen::{Binding, Element, Kernel, KernelModule, Misses, ModuleBuilder, StorageArray, value_type};
use super::driver_limits::DriverLimits;
use super::launch::{Lowered, Lowering, partition_functions};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use crate::error::Result;
use crate::graph::canonical_order::product::{BLOCK, GROUP, RUN, SECTION};
use crate::graph::plan::{SizedLimits, Step};
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
        "const RUN: u32 = {RUN}u;\nconst BLOCK: u32 = {BLOCK}u;\nconst SECTION: u32 = {SECTION}u;\n\
         const GROUP: u32 = {GROUP}u;\nconst EDGE_BITS: u32 = {}u;\nconst SLAB_BITS: u32 = {}u;",
        tile.clamp(16, 64).ilog2(),
        (slab as u32).ilog2()
    )
}

/// Sizes of all products of a launch.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub batches: u32,
    /// Upper bounds of the tiles and of the results.
    pub tiles: u32,
    pub results: u32,
    pub transposed: [bool; 2],
}

/// Division of the terms into chunks, each of which has a workgroup per tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunks {
    /// No division.
    None,
    /// That many blocks.
    Blocks(u32),
    /// That many groups.
    Groups(u32),
}

/// Tiles that occupy a device: more are not divided.
const FEW_TILES: u32 = 128;
/// Terms from which few tiles are divided: the additional launches take the time of some blocks.
const MANY_TERMS: u32 = 8 * BLOCK;
/// Maximum bytes of the sums of chunks, and maximum number of workgroups, most of which may have no terms.
const MAX_SUMS: u64 = 64 << 20;
const MAX_WORKGROUPS: u64 = (1 << 16) - 1;

impl Chunks {
    /// The division for sums of at most `terms` terms of `size` bytes, with bindings of that many bytes.
    pub fn new(sizes: &Sizes, terms: u32, size: usize, binding: u64) -> Self {
        if terms <= MANY_TERMS || sizes.tiles >= FEW_TILES {
            return Self::None;
        }
        let (blocks, groups) = (terms.div_ceil(BLOCK), terms.div_ceil(GROUP));
        let workgroups = |chunks: u32| u64::from(sizes.tiles) * u64::from(chunks);
        let fits = |chunks: Self| {
            chunks.sums(sizes) * size as u64 <= binding.min(MAX_SUMS) && workgroups(chunks.count()) <= MAX_WORKGROUPS
        };
        let is_enough = workgroups(groups) >= FEW_TILES.into();
        let by_groups = Some(Self::Groups(groups)).filter(|chunks| groups > 1 && fits(*chunks));
        let by_blocks = Some(Self::Blocks(blocks)).filter(|chunks| fits(*chunks));
        by_groups.filter(|_| is_enough).or(by_blocks).or(by_groups).unwrap_or(Self::None)
    }

    /// Number of chunks.
    pub fn count(self) -> u32 {
        match self {
            Self::None => 1,
            Self::Blocks(n) | Self::Groups(n) => n,
        }
    }

    /// Elements of the scratch buffer `part`, for sums that are divided among dispatches or chunks.
    pub fn sums(self, sizes: &Sizes) -> u64 {
        let each = u64::from(sizes.results);
        match self {
            Self::Blocks(n) if n > GROUP / BLOCK => each * u64::from(n + n.div_ceil(GROUP / BLOCK)),
            Self::Blocks(n) => each * u64::from(n),
            // The incomplete groups, and their incomplete sections.
            Self::None | Self::Groups(_) => 2 * each * u64::from(self.count()),
        }
    }

    /// Terms per chunk.
    fn span(self) -> u32 {
        match self {
            Self::None => u32::MAX,
            Self::Blocks(_) => BLOCK,
            Self::Groups(_) => GROUP,
        }
    }

    /// The template's parameter words for that range of terms of each chunk.
    pub fn head(self, sizes: &Sizes, terms: Range<u32>) -> [u32; 8] {
        let Sizes { batches, tiles, results, transposed: [left, right] } = *sizes;
        let flags = u32::from(left) | u32::from(right) << 1 | u32::from(self != Self::None) << 2 | self.count() << 3;
        [batches, tiles, results, flags, self.span(), terms.start, terms.end, 0]
    }

    /// The parameter words of each launch of `combine`, and the number of groups.
    pub fn combines(self, sizes: &Sizes) -> Vec<([u32; 8], u32)> {
        let head = |span: u32, from: u32, to: u32| {
            let mut head = self.head(sizes, from..to);
            head[4] = span;
            head
        };
        match self {
            Self::None => Vec::new(),
            Self::Blocks(n) if n > GROUP / BLOCK => {
                let (groups, end) = (n.div_ceil(GROUP / BLOCK), n * sizes.results);
                vec![(head(BLOCK, 0, end), groups), (head(GROUP, end, 0), 1)]
            }
            Self::Blocks(_) | Self::Groups(_) => vec![(head(self.span(), 0, 0), 1)],
        }
    }
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

/// Functions for a scratch buffer of the sums of chunks.
pub const CHUNK_SUMS: &str = "fn chunk_sum(i: u32) -> Elem {
    return load_part(i);
}
fn store_chunk_sum(i: u32, v: Elem) {
    store_part(i, v);
}
fn kept_sums(i: u32) -> array<Elem, 4> {
    return array<Elem, 4>();
}
fn keep_sums(i: u32, v: array<Elem, 4>) {
}";

/// As [`CHUNK_SUMS`], for a scratch buffer of the incomplete sums of each result.
const KEPT_SUMS: &str = "fn chunk_sum(i: u32) -> Elem {
    return identity();
}
fn store_chunk_sum(i: u32, v: Elem) {
}
fn kept_sums(i: u32) -> array<Elem, 4> {
    return load_part(i);
}
fn keep_sums(i: u32, v: array<Elem, 4>) {
    store_part(i, v);
}";

/// As [`KEPT_SUMS`], for at most one block of terms: the only incomplete sum of a result is in the output.
const ONE_KEPT_SUM: &str = "fn chunk_sum(i: u32) -> Elem {
    return identity();
}
fn store_chunk_sum(i: u32, v: Elem) {
}
fn kept_sums(i: u32) -> array<Elem, 4> {
    return array<Elem, 4>(partial(i), identity(), identity(), identity());
}
fn keep_sums(i: u32, v: array<Elem, 4>) {
    store(i, v[0]);
}";

/// Incomplete sums per result of a product whose arrays are bound in part.
const KEPT: usize = 4;

const MATMUL: &str = include_str!("../../../shaders/matmul.wgsl");

/// The kernels of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ProductKernel {
    /// Adds terms.
    Sum,
    /// Adds the terms that are bound.
    PartialSum,
    /// Sets the sums to their identity.
    Identity,
    /// As [`Self::PartialSum`], for at most one block of terms.
    PartialRun,
    /// As [`Self::Identity`], for at most one block of terms.
    RunIdentity,
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
        let products = Sizes { batches, tiles, results: capacity, transposed: p.transposed };
        let size = p.operands[0].dtype().size();
        let mut launches = Vec::new();
        let (kernel, chunks, scratch) = if step.is_oversized() {
            // A first launch sets every sum to the identity.
            let (clear, add, kept) = match most {
                ..=BLOCK => (ProductKernel::RunIdentity, ProductKernel::PartialRun, 0),
                _ => (ProductKernel::Identity, ProductKernel::PartialSum, KEPT as u64),
            };
            let none = modules.get(step, clear, || module(step, first_slot, p, clear));
            launches.push(none.launch(sizes, "clear", Chunks::None.head(&products, 0..0), tiles, 1));
            (add, Chunks::None, vec![kept * u64::from(capacity); usize::from(kept > 0)])
        } else {
            let chunks = Chunks::new(&products, most, size, step.limits.window_bytes());
            let sums = match chunks {
                Chunks::None if most <= at_once => 1,
                _ => chunks.sums(&products),
            };
            (ProductKernel::Sum, chunks, vec![sums])
        };
        let g = modules.get(step, kernel, || module(step, first_slot, p, kernel));
        let terms = most.min(chunks.span()).max(1);
        launches.extend((0..terms).step_by(at_once as usize).map(|first| {
            let head = chunks.head(&products, first..first.saturating_add(at_once));
            g.launch(sizes, "main", head, tiles, chunks.count())
        }));
        let combines = chunks.combines(&products).into_iter();
        launches.extend(combines.map(|(head, groups)| g.launch(sizes, "combine", head, tiles, groups)));
        let limit = (terms > at_once).then(|| driver.reason());
        let scratch = scratch.into_iter().map(|elements| elements * size as u64).collect();
        Ok(Lowered { launches, scratch, limit, cleared_outputs, ..Lowered::default() })
    }
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        Recipe::Product(to.product(self.clone()))
    }
    /// The output, and incomplete sums.
    fn buffers(&self, _: DriverLimits, _: SizedLimits<'_>) -> u32 {
        2
    }
    /// Two incomplete sums may be kept per result, if its terms are many.
    fn output_windows(&self, out: &Node, limits: SizedLimits<'_>) -> u32 {
        if self.sizes[1].as_size().map_or(limits.sizes.value(&self.terms), |k| limits.sizes.value(&k)) <= BLOCK {
            return limits.extra_windows(out);
        }
        limits.extra_windows(out) + limits.limits.windows(2 * limits.sizes.bytes(out)) - 1
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
            Binding::Output(_) | Binding::Scratch(_) => AccessPattern::Random { axis: 0, misses: Misses::Never },
            _ => AccessPattern::Whole,
        })
    }
}

fn module(step: &Step, first_slot: u32, p: &Product<InPlan>, kernel: ProductKernel) -> KernelModule {
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
    let is_one_run = matches!(kernel, ProductKernel::PartialRun | ProductKernel::RunIdentity);
    m.push(if is_one_run { "const ONE_RUN = true;" } else { "const ONE_RUN = false;" });
    if matches!(kernel, ProductKernel::PartialSum | ProductKernel::PartialRun) {
        // Slabs of half the depth, since the flags also take workgroup memory.
        m.push(&edges(p.tile, STAGE / 128 / dtype.size()));
        m.push(SOME_BOUND);
    } else {
        m.push(&constants(p.tile, dtype.size()));
        m.push(ALL_BOUND);
    }
    m.push("fn store(i: u32, v: Elem) {\n    store_out(i, v);\n}\nfn partial(i: u32) -> Elem {\n    return load_out(i);\n}");
    let element = Element::of(dtype);
    let part = |element: Element| vec![StorageArray::new("part", element, Binding::Scratch(0))];
    let (functions, scratch) = match kernel {
        ProductKernel::Sum => (CHUNK_SUMS, part(element.clone())),
        _ if is_one_run => (ONE_KEPT_SUM, Vec::new()),
        _ => (KEPT_SUMS, part(Element::new("array<Elem, 4>", KEPT * dtype.size()))),
    };
    m.push(functions);
    m.finish(&[MATMUL], value_type(dtype), Some(element), scratch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_halve_as_elements_grow() {
        assert!(constants(64, 4).contains("EDGE_BITS: u32 = 6u") && constants(64, 4).contains("SLAB_BITS: u32 = 4u"));
        assert!(constants(16, 8).contains("EDGE_BITS: u32 = 4u") && constants(16, 8).contains("SLAB_BITS: u32 = 3u"));
    }
    #[test]
    fn few_tiles_of_many_terms_are_divided() {
        let chunks = |tiles: u32, results: u32, terms: u32| {
            let sizes = Sizes { batches: 1, tiles, results, transposed: [false; 2] };
            Chunks::new(&sizes, terms, 4, 128 << 20)
        };
        assert_eq!(chunks(1, 256, MANY_TERMS), Chunks::None);
        assert_eq!(chunks(1, 256, MANY_TERMS + 1), Chunks::Blocks(9));
        assert_eq!(chunks(16, 4096, 100_000), Chunks::Blocks(391));
        assert_eq!(chunks(16, 4096, 1_000_000), Chunks::Groups(16));
        assert_eq!(chunks(FEW_TILES, 1 << 15, 1_000_000), Chunks::None);
        // The sums of blocks would not fit.
        assert_eq!(chunks(100, 25_600, 200_000), Chunks::Groups(4));
        assert_eq!(chunks(1, 1, 1 << 31), Chunks::Groups(1 << 15));
        // The third dimension of a grid is limited.
        assert_eq!(chunks(1, 1, u32::MAX), Chunks::None);
    }
}
