//! Which part of each array the workgroups of a kernel access, as far as the host knows. [`super::parts`] splits
//! launches accordingly.
//!
//! The steps are those to which the planner reduces steps over oversized arrays (`graph/legalize`). Their kernels read
//! inputs at their own positions only, except kernels that do nothing but fetch.

use super::codegen::Binding;
use super::launch::Launch;
use super::map::MAP_TILE;
use super::matmul::TERMS_END;
use super::reach::Fetched;
use super::row_reduce::TILE_COST;
use super::{row_hash, scan, sort};
use crate::graph::canonical_order::{reduction, row_scan};
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::node::{Node, Product, Recipe, RowDomain, Rows};
use crate::graph::plan::Step;
use crate::graph::rank_bitmap;

/// The part of an array that the workgroups of a dispatch access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Need {
    /// The whole array.
    Whole,
    /// The first bytes of the array, this many, in every dispatch.
    Start(u64),
    /// Nothing: the entry point does not access the array.
    Nothing,
    /// `bytes` bytes per tile, and `more` bytes after the last tile.
    Tiles { bytes: u64, more: u64 },
    /// Two ranges per tile: `bytes` bytes per tile from the start, and `then.1` bytes per tile from byte `then.0` on.
    /// Stores only.
    TilesTwice { bytes: u64, then: (u64, u64) },
    /// `bytes` bytes per row, and `more` bytes after the last row.
    Rows { bytes: u64, more: u64 },
    /// Any position. Arrays of the same axis are accessed at the same positions.
    Any {
        axis: usize,
        /// Which loads of the array keep an invocation from storing if they miss.
        fetched: Fetched,
    },
}

/// The need of each array that the launch binds; `elements` are the element sizes. `None` if a need is unknown.
pub(super) fn needs(step: &Step, launch: &Launch, elements: &[u64]) -> Option<Vec<Need>> {
    let of = |(b, &element): (&Binding, &u64)| match &step.recipe {
        Recipe::Map { .. } => fetched(step, b),
        Recipe::Scan { .. } => Some(scanned(launch, b, matches!(b, Binding::Output(_)))),
        Recipe::RankBitmap { count, .. } => Some(marked(launch, b, count.capacity())),
        Recipe::Sort { .. } => Some(sorted(launch, b)),
        Recipe::Reduce { on: RowDomain { rows: Rows::Splits(splits), inner, .. }, value, .. }
            if reads_apart(value, splits) =>
        {
            let results = Need::Rows { bytes: u64::from(*inner) * size(&step.out), more: 0 };
            let block = reduction::block_len(*inner as usize);
            Some(walked(step, launch, (b, element), splits, (*inner, block), |_| results.clone()))
        }
        Recipe::RowScan { on: RowDomain { rows: Rows::Splits(splits), inner, .. }, value, .. }
            if reads_apart(value, splits) =>
        {
            let block = row_scan::block_len(*inner as usize);
            Some(walked(step, launch, (b, element), splits, (*inner, block), |values| values(&step.out)))
        }
        Recipe::Product(p) => multiplied(step, launch, b, p),
        Recipe::Hash { on: RowDomain { rows: Rows::Splits(splits), .. }, byte, .. } if reads_apart(byte, splits) => {
            Some(hashed(step, launch, b, splits))
        }
        _ => None,
    };
    launch.bindings().iter().zip(elements).map(of).collect()
}

/// Bytes per element.
fn size(n: &Node) -> u64 {
    n.dtype().size() as u64
}

fn tiles_of(elements: u32, n: &Node) -> Need {
    Need::Tiles { bytes: u64::from(elements) * size(n), more: 0 }
}

/// Needs of a map that fetches.
fn fetched(step: &Step, b: &Binding) -> Option<Need> {
    let from = step.fetches()?;
    Some(match b {
        Binding::Read(n) if n == from => Need::Any { axis: 0, fetched: Fetched::Latest },
        Binding::Read(n) => tiles_of(MAP_TILE, n),
        Binding::Output(_) => tiles_of(MAP_TILE, &step.out),
        _ => Need::Whole,
    })
}

/// Needs of a scan: its input, its sums, and the sums of its tiles in scratch.
fn scanned(launch: &Launch, b: &Binding, is_out: bool) -> Need {
    match b {
        Binding::Read(n) if launch.entry != "spine" => tiles_of(scan::TILE, n),
        _ if is_out && launch.entry != "spine" => Need::Tiles { bytes: u64::from(scan::TILE) * 4, more: 0 },
        Binding::Scratch(_) if !is_out => Need::Start(u64::MAX),
        _ => Need::Nothing,
    }
}

/// Needs of a rank bitmap. Each tile has one word at the start of the array, and further words after those of all
/// tiles.
fn marked(launch: &Launch, b: &Binding, capacity: u32) -> Need {
    let ranks = 4 * (u64::from(rank_bitmap::tiles(capacity)) + 1);
    match (b, launch.entry) {
        (Binding::Read(n), "upsweep") => tiles_of(rank_bitmap::TILE, n),
        (Binding::Output(_), "upsweep") => {
            Need::TilesTwice { bytes: 4, then: (ranks, u64::from(rank_bitmap::TILE_WORDS) * 4) }
        }
        (Binding::Output(_), "spine") => Need::Start(ranks),
        (Binding::Read(_), _) => Need::Nothing,
        _ => Need::Whole,
    }
}

/// Needs of a radix sort. Each pass reads its tile and the offsets of the tile's digits, and stores at any position.
fn sorted(launch: &Launch, b: &Binding) -> Need {
    let is_scatter = launch.entry == "scatter";
    match b {
        // Prefix sum of the digit counts, in place.
        b if !matches!(launch.entry, "count" | "scatter") => {
            scanned(launch, b, matches!(b, Binding::Scratch(sort::DIGITS)))
        }
        Binding::Read(n) => tiles_of(sort::TILE, n),
        Binding::ScratchRead(_) => Need::Tiles { bytes: u64::from(sort::TILE) * 4, more: 0 },
        Binding::Scratch(sort::DIGITS) => {
            Need::Any { axis: 0, fetched: if is_scatter { Fetched::Latest } else { Fetched::Never } }
        }
        Binding::Scratch(_) | Binding::Output(_) if is_scatter => Need::Any { axis: 1, fetched: Fetched::Never },
        Binding::Scratch(_) | Binding::Output(_) => Need::Nothing,
        Binding::Status => Need::Whole,
    }
}

/// Needs of a row reduction or row scan, with `inner` numbers per value and `block` values per block. The last block of
/// a tile may extend beyond the tile.
fn walked(
    step: &Step,
    launch: &Launch,
    (b, element): (&Binding, u64),
    splits: &Node,
    (inner, block): (u32, usize),
    out: impl Fn(&dyn Fn(&Node) -> Need) -> Need,
) -> Need {
    let values = |n: &Node| {
        let (value, tile) = (u64::from(inner) * size(n), u64::from(launch.params[TILE_COST]));
        match launch.entry {
            "level2" => Need::Nothing,
            _ => Need::Tiles { bytes: tile * value, more: block as u64 * value },
        }
    };
    match b {
        Binding::Read(n) if n == splits => Need::Rows { bytes: 4, more: 4 },
        Binding::Read(n) => values(n),
        Binding::Output(_) => out(&values),
        // Two partials per block, in block order. A workgroup of the second level reads the partials of rows that start
        // in 256 blocks, one block per invocation.
        Binding::Scratch(_) => {
            let (inner, block) = (u64::from(inner), block as u64);
            let partials = |blocks: u64| 2 * blocks * inner * element;
            let tile = u64::from(launch.params[TILE_COST]);
            let longest = step.recipe.rows().map_or(u32::MAX, Rows::longest);
            let (bytes, more) = match launch.entry {
                "level2" => (partials(256), partials(u64::from(longest) / block + 2)),
                _ => (partials(tile / block), 0),
            };
            let is_known = tile.is_multiple_of(block) && element.is_power_of_two();
            if is_known && bytes + more + 256 <= step.limits.max_binding {
                Need::Tiles { bytes, more }
            } else {
                Need::Start(u64::MAX)
            }
        }
        _ => Need::Whole,
    }
}

/// Needs of a matrix product. A first launch sets every sum to the identity; the others add products, in the order of
/// both operands. Arrays that describe the batches are bound whole where that leaves enough bindings for the matrices.
fn multiplied(step: &Step, launch: &Launch, b: &Binding, p: &Product) -> Option<Need> {
    let operand = |k: usize| match p.operands[k].kind() {
        ExprKind::Load(n, at) if at.is_index() => Some(n),
        _ => None,
    };
    let (left, right) = operand(0).zip(operand(1)).filter(|(l, r)| l != r)?;
    let is_told = |n: &Node| n != left && n != right;
    let windows = |b: &Binding| match b {
        Binding::Read(n) if is_told(n) => n.bytes().div_ceil(step.limits.window_bytes()),
        _ => 1,
    };
    let is_told_at_once = launch.bindings().iter().map(windows).sum::<u64>() <= step.limits.bindings.into();
    Some(match b {
        Binding::Read(n) if is_told(n) && is_told_at_once => Need::Start(u64::MAX),
        Binding::Read(n) if is_told(n) => match &p.tiles {
            Rows::Splits(tiles) if n == tiles => Need::Rows { bytes: 4, more: 4 },
            Rows::Splits(_) => Need::Rows { bytes: n.bytes() / u64::from(p.batches.capacity().max(1)), more: 0 },
            // The planner leaves no such step.
            Rows::Uniform(_) => return None,
        },
        Binding::Read(_) if launch.params[TERMS_END] == 0 => Need::Nothing,
        Binding::Read(n) => Need::Any { axis: if n == right { 1 } else { 2 }, fetched: Fetched::Latest },
        Binding::Output(_) => Need::Any { axis: 0, fetched: Fetched::Never },
        _ => Need::Whole,
    })
}

/// Needs of a hash. `main` reads the splits of its rows and their bytes, at any position. The entry points for long
/// strings access all hash states in scratch, `leg` also the bytes, `finish` also the results. The bytes of a string
/// are contiguous.
fn hashed(step: &Step, launch: &Launch, b: &Binding, splits: &Node) -> Need {
    match (b, launch.entry) {
        (Binding::Read(n), "main") if n == splits => Need::Tiles { bytes: u64::from(row_hash::ROWS) * 4, more: 4 },
        (Binding::Read(n), "main" | "leg") if n != splits => Need::Any { axis: 0, fetched: Fetched::All },
        (Binding::Read(_), _) => Need::Nothing,
        (Binding::Output(_), "main") => tiles_of(row_hash::ROWS, &step.out),
        (Binding::Output(_), "finish") => Need::Any { axis: 0, fetched: Fetched::Never },
        (Binding::Output(_), _) => Need::Nothing,
        (Binding::Scratch(_), _) => Need::Start(u64::MAX),
        _ => Need::Whole,
    }
}

/// Whether the values are a stored array other than the splits, read at their own positions.
fn reads_apart(value: &Expr, splits: &Node) -> bool {
    matches!(value.kind(), ExprKind::Load(n, at) if at.is_index() && n != splits)
}
