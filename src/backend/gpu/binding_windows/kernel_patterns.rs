//! The access pattern of each array of a kernel.
//!
//! Covers the kernels of legalized steps (`graph/legalize`), which read inputs at their own positions only, except
//! fetches.

use super::access_pattern::AccessPattern;
use crate::backend::gpu::codegen::{Binding, Misses, StorageArray};
use crate::backend::gpu::launch::Launch;
use crate::backend::gpu::map::MAP_TILE;
use crate::backend::gpu::matmul::TERMS_END;
use crate::backend::gpu::row_reduce::TILE_COST;
use crate::backend::gpu::{row_hash, scan, sort};
use crate::graph::canonical_order::{reduction, row_scan};
use crate::graph::expr::Expr;
use crate::graph::node::{Node, Product, Recipe, RowDomain, Rows};
use crate::graph::plan::Step;
use crate::graph::rank_bitmap;
use crate::graph::size::SizeView;
use crate::graph::tile_fold::TILE;

/// The access pattern of each array that the launch binds; `None` if a pattern is unknown.
pub(super) fn access_patterns(step: &Step, sizes: SizeView<'_>, launch: &Launch) -> Option<Vec<AccessPattern>> {
    launch.arrays().iter().map(|array| pattern(step, sizes, launch, array)).collect()
}

fn pattern(step: &Step, sizes: SizeView<'_>, launch: &Launch, array: &StorageArray) -> Option<AccessPattern> {
    let (b, element) = (&array.binding, array.element.bytes);
    match &step.recipe {
        Recipe::Map { .. } => of_map(step, b),
        Recipe::Scan { .. } => Some(of_scan(launch, b, matches!(b, Binding::Output(_)))),
        Recipe::RankBitmap { count, .. } => Some(of_rank_bitmap(launch, b, sizes.capacity(count))),
        Recipe::Sort { .. } => Some(of_sort(launch, b)),
        Recipe::Reduce { on: RowDomain { rows: Rows::Splits(splits), inner, .. }, value, .. }
            if reads_own_position(value, splits) =>
        {
            let results = AccessPattern::PerRow { bytes: u64::from(*inner) * size(&step.out), more: 0 };
            let block = reduction::block_len(*inner as usize);
            Some(of_row_kernel((step, sizes), launch, (b, element), splits, (*inner, block), |_| results.clone()))
        }
        Recipe::RowScan { on: RowDomain { rows: Rows::Splits(splits), inner, .. }, value, .. }
            if reads_own_position(value, splits) =>
        {
            let block = row_scan::block_len(*inner as usize);
            Some(of_row_kernel((step, sizes), launch, (b, element), splits, (*inner, block), |values| {
                values(&step.out)
            }))
        }
        Recipe::TileFold { slots, .. } => Some(match b {
            Binding::Read(n) => tiles_of(TILE, n),
            Binding::Output(_) => tiles_of(*slots, &step.out),
            _ => AccessPattern::Whole,
        }),
        Recipe::Product(p) => of_product((step, sizes), launch, b, p),
        Recipe::Hash { on: RowDomain { rows: Rows::Splits(splits), .. }, byte, .. }
            if reads_own_position(byte, splits) =>
        {
            Some(of_hash(step, launch, b, splits))
        }
        _ => None,
    }
}

/// Bytes per element.
fn size(n: &Node) -> u64 {
    n.dtype().size() as u64
}

fn tiles_of(elements: u32, n: &Node) -> AccessPattern {
    AccessPattern::PerTile { bytes: u64::from(elements) * size(n), more: 0 }
}

/// Access patterns of a fetch.
fn of_map(step: &Step, b: &Binding) -> Option<AccessPattern> {
    let from = step.fetches()?;
    Some(match b {
        Binding::Read(n) if n == from => AccessPattern::Random { axis: 0, misses: Misses::Latest },
        Binding::Read(n) => tiles_of(MAP_TILE, n),
        Binding::Output(_) => tiles_of(MAP_TILE, &step.out),
        _ => AccessPattern::Whole,
    })
}

/// Access patterns of a scan: its input, its output, and the sums of its tiles in scratch.
fn of_scan(launch: &Launch, b: &Binding, is_out: bool) -> AccessPattern {
    match b {
        Binding::Read(n) if launch.entry != "spine" => tiles_of(scan::TILE, n),
        _ if is_out && launch.entry != "spine" => AccessPattern::PerTile { bytes: u64::from(scan::TILE) * 4, more: 0 },
        Binding::Scratch(_) if !is_out => AccessPattern::Prefix(u64::MAX),
        _ => AccessPattern::Unused,
    }
}

/// Access patterns of a rank bitmap. Each tile has one word at the start of the array, and its bits after the words of
/// all tiles.
fn of_rank_bitmap(launch: &Launch, b: &Binding, capacity: u32) -> AccessPattern {
    let ranks = 4 * (u64::from(rank_bitmap::tiles(capacity)) + 1);
    match (b, launch.entry) {
        (Binding::Read(n), "upsweep") => tiles_of(rank_bitmap::TILE, n),
        (Binding::Output(_), "upsweep") => {
            AccessPattern::TwicePerTile { bytes: 4, then: (ranks, u64::from(rank_bitmap::TILE_WORDS) * 4) }
        }
        (Binding::Output(_), "spine") => AccessPattern::Prefix(ranks),
        (Binding::Read(_), _) => AccessPattern::Unused,
        _ => AccessPattern::Whole,
    }
}

/// Access patterns of a radix sort. In each pass a workgroup reads its tile and the offsets of the tile's digits, and
/// stores at any position.
fn of_sort(launch: &Launch, b: &Binding) -> AccessPattern {
    let is_scatter = launch.entry == "scatter";
    match b {
        // Prefix sum of the digit counts, in place.
        b if !matches!(launch.entry, "count" | "scatter") => {
            of_scan(launch, b, matches!(b, Binding::Scratch(sort::DIGITS)))
        }
        Binding::Read(n) => tiles_of(sort::TILE, n),
        Binding::ScratchRead(_) => AccessPattern::PerTile { bytes: u64::from(sort::TILE) * 4, more: 0 },
        Binding::Scratch(sort::DIGITS) => {
            AccessPattern::Random { axis: 0, misses: if is_scatter { Misses::Latest } else { Misses::Never } }
        }
        Binding::Scratch(_) | Binding::Output(_) if is_scatter => {
            AccessPattern::Random { axis: 1, misses: Misses::Never }
        }
        Binding::Scratch(_) | Binding::Output(_) => AccessPattern::Unused,
        Binding::Status => AccessPattern::Whole,
    }
}

/// Access patterns of a row reduction or row scan, with `inner` numbers per value and `block` values per block. The
/// last block of a tile may extend beyond the tile.
fn of_row_kernel(
    (step, sizes): (&Step, SizeView<'_>),
    launch: &Launch,
    (b, element): (&Binding, u64),
    splits: &Node,
    (inner, block): (u32, usize),
    out: impl Fn(&dyn Fn(&Node) -> AccessPattern) -> AccessPattern,
) -> AccessPattern {
    let values = |n: &Node| {
        let (value, tile) = (u64::from(inner) * size(n), u64::from(launch.params[TILE_COST]));
        match launch.entry {
            "level2" => AccessPattern::Unused,
            _ => AccessPattern::PerTile { bytes: tile * value, more: block as u64 * value },
        }
    };
    match b {
        Binding::Read(n) if n == splits => AccessPattern::PerRow { bytes: 4, more: 4 },
        Binding::Read(n) => values(n),
        Binding::Output(_) => out(&values),
        // Two partials per block, in block order. A workgroup of `level2` reads the partials of the rows that start in
        // 256 blocks.
        Binding::Scratch(_) => {
            let (inner, block) = (u64::from(inner), block as u64);
            let partials = |blocks: u64| 2 * blocks * inner * element;
            let tile = u64::from(launch.params[TILE_COST]);
            let longest = step.recipe.rows().map_or(u32::MAX, |rows| sizes.longest(rows));
            let (bytes, more) = match launch.entry {
                "level2" => (partials(256), partials(u64::from(longest) / block + 2)),
                _ => (partials(tile / block), 0),
            };
            let is_known = tile.is_multiple_of(block) && element.is_power_of_two();
            if is_known && bytes + more + 256 <= step.limits.max_binding {
                AccessPattern::PerTile { bytes, more }
            } else {
                AccessPattern::Prefix(u64::MAX)
            }
        }
        _ => AccessPattern::Whole,
    }
}

/// Access patterns of a matrix product. The first launch sets every sum to the identity; the others add products, in
/// the order of the terms. Arrays of batch parameters are bound with all their windows if enough bindings remain for
/// the matrices.
fn of_product(
    (step, sizes): (&Step, SizeView<'_>),
    launch: &Launch,
    b: &Binding,
    p: &Product,
) -> Option<AccessPattern> {
    let (left, right) = p.operands[0].own_load().zip(p.operands[1].own_load()).filter(|(l, r)| l != r)?;
    let describes_batches = |n: &Node| n != left && n != right;
    let windows = |b: &Binding| match b {
        Binding::Read(n) if describes_batches(n) => sizes.bytes(n).div_ceil(step.limits.window_bytes()),
        _ => 1,
    };
    let describes_fit = launch.arrays().iter().map(|a| windows(&a.binding)).sum::<u64>() <= step.limits.bindings.into();
    Some(match b {
        Binding::Read(n) if describes_batches(n) && describes_fit => AccessPattern::Prefix(u64::MAX),
        Binding::Read(n) if describes_batches(n) => match &p.tiles {
            Rows::Splits(tiles) if n == tiles => AccessPattern::PerRow { bytes: 4, more: 4 },
            Rows::Splits(_) => {
                AccessPattern::PerRow { bytes: sizes.bytes(n) / u64::from(sizes.capacity(&p.batches).max(1)), more: 0 }
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

/// Access patterns of a hash. `main` reads the splits of its tile, and bytes at any position. The entry points for long
/// strings access all hash states in scratch; `advance` also reads bytes, and `finish` stores results. The bytes of a
/// string are contiguous.
fn of_hash(step: &Step, launch: &Launch, b: &Binding, splits: &Node) -> AccessPattern {
    match (b, launch.entry) {
        (Binding::Read(n), "main") if n == splits => {
            AccessPattern::PerTile { bytes: u64::from(row_hash::ROWS) * 4, more: 4 }
        }
        (Binding::Read(n), "main" | "advance") if n != splits => AccessPattern::Random { axis: 0, misses: Misses::All },
        (Binding::Read(_), _) => AccessPattern::Unused,
        (Binding::Output(_), "main") => tiles_of(row_hash::ROWS, &step.out),
        (Binding::Output(_), "finish") => AccessPattern::Random { axis: 0, misses: Misses::Never },
        (Binding::Output(_), _) => AccessPattern::Unused,
        (Binding::Scratch(_), _) => AccessPattern::Prefix(u64::MAX),
        _ => AccessPattern::Whole,
    }
}

/// Whether the values are a stored array other than the splits, read at their own positions.
fn reads_own_position(value: &Expr, splits: &Node) -> bool {
    value.own_load().is_some_and(|n| n != splits)
}
