//! Which part of each array the workgroups of a kernel need, as far as the host knows: what [`super::parts`] goes by.
//!
//! The steps are those that the planner leaves of steps over arrays that are too large (`graph/plain.rs`): what a
//! kernel is given it reads at its own positions, unless it does nothing but fetch.

use super::codegen::Binding;
use super::launch::Launch;
use super::map::MAP_TILE;
use super::matmul::TERMS_END;
use super::reach::Fetched;
use super::row_reduce::TILE_COST;
use super::{row_hash, scan, sort};
use crate::backend::cpu::{row_reduce, row_scan};
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::marks;
use crate::graph::node::{Node, Product, Recipe, RowDomain, Rows};
use crate::graph::plan::Step;

/// What of an array the workgroups of a dispatch need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Need {
    /// All of it.
    Whole,
    /// So many bytes from its start on, all of them.
    Start(u64),
    /// Nothing: the entry point does not touch it.
    Nothing,
    /// So many bytes a tile, and some more behind the last one.
    Tiles { bytes: u64, more: u64 },
    /// The same twice: from the start on, and, with so many bytes a tile, from an offset on. Stores only.
    TilesTwice { bytes: u64, then: (u64, u64) },
    /// So many bytes a row, and some more behind the last one.
    Rows { bytes: u64, more: u64 },
    /// Anything. Arrays of one axis are reached at the same positions.
    Any {
        axis: usize,
        /// Whether what is stored is made of it.
        fetched: Fetched,
    },
}

/// What the launch needs of each array that it binds, of elements of these sizes. `None` if that is not known.
pub(super) fn needs(step: &Step, launch: &Launch, elements: &[u64]) -> Option<Vec<Need>> {
    let of = |(b, &element): (&Binding, &u64)| match &step.recipe {
        Recipe::Map { .. } => fetched(step, b),
        Recipe::Scan { .. } => Some(scanned(launch, b, matches!(b, Binding::Output(_)))),
        Recipe::Marks { count, .. } => Some(marked(launch, b, count.capacity())),
        Recipe::Sort { .. } => Some(sorted(launch, b)),
        Recipe::Reduce { on: RowDomain { rows: Rows::Splits(splits), inner, .. }, value, .. }
            if reads_apart(value, splits) =>
        {
            let results = Need::Rows { bytes: u64::from(*inner) * size(&step.out), more: 0 };
            let block = row_reduce::block_len(*inner as usize);
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

/// Bytes of an element.
fn size(n: &Node) -> u64 {
    n.dtype().size() as u64
}

fn tiles_of(elements: u32, n: &Node) -> Need {
    Need::Tiles { bytes: u64::from(elements) * size(n), more: 0 }
}

/// Of a map that fetches.
fn fetched(step: &Step, b: &Binding) -> Option<Need> {
    let from = step.fetches()?;
    Some(match b {
        Binding::Read(n) if n == from => Need::Any { axis: 0, fetched: Fetched::Latest },
        Binding::Read(n) => tiles_of(MAP_TILE, n),
        Binding::Output(_) => tiles_of(MAP_TILE, &step.out),
        _ => Need::Whole,
    })
}

/// Of a scan: what is scanned, the sums, and the sums of tiles.
fn scanned(launch: &Launch, b: &Binding, is_out: bool) -> Need {
    match b {
        Binding::Read(n) if launch.entry != "spine" => tiles_of(scan::TILE, n),
        _ if is_out && launch.entry != "spine" => Need::Tiles { bytes: u64::from(scan::TILE) * 4, more: 0 },
        Binding::Scratch(_) if !is_out => Need::Start(u64::MAX),
        _ => Need::Nothing,
    }
}

/// Of marks: a tile has a word at the start of the array, and others behind these.
fn marked(launch: &Launch, b: &Binding, capacity: u32) -> Need {
    let ranks = 4 * (u64::from(marks::tiles(capacity)) + 1);
    match (b, launch.entry) {
        (Binding::Read(n), "upsweep") => tiles_of(marks::TILE, n),
        (Binding::Output(_), "upsweep") => {
            Need::TilesTwice { bytes: 4, then: (ranks, u64::from(marks::TILE_WORDS) * 4) }
        }
        (Binding::Output(_), "spine") => Need::Start(ranks),
        (Binding::Read(_), _) => Need::Nothing,
        _ => Need::Whole,
    }
}

/// Of a sort: a pass reads its tile and the places of the tile's digits, and stores anywhere.
fn sorted(launch: &Launch, b: &Binding) -> Need {
    let is_scatter = launch.entry == "scatter";
    match b {
        // The sums of the digits' counts, in place.
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

/// Of a walk over rows, `inner` numbers a value, in blocks of so many values: the last block of a tile may reach beyond
/// it.
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
        // Two partials a block, one behind the other as the blocks are. The second level goes through those of rows
        // that start in as many blocks as a workgroup has invocations.
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

/// Of a product: first every sum is set to nothing, then products are added in the order of both operands. What it is
/// told of its batches is bound whole where that leaves room for the matrices.
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
            // Not what the planner leaves.
            Rows::Uniform(_) => return None,
        },
        Binding::Read(_) if launch.params[TERMS_END] == 0 => Need::Nothing,
        Binding::Read(n) => Need::Any { axis: if n == right { 1 } else { 2 }, fetched: Fetched::Latest },
        Binding::Output(_) => Need::Any { axis: 0, fetched: Fetched::Never },
        _ => Need::Whole,
    })
}

/// Of a hash: a workgroup's rows, and their bytes, which lie anywhere; or the seats of long strings, and one of the two
/// other. A string's bytes follow each other.
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

/// Whether the values are an array of their own, read at their own positions.
fn reads_apart(value: &Expr, splits: &Node) -> bool {
    matches!(value.kind(), ExprKind::Load(n, at) if at.is_index() && n != splits)
}
