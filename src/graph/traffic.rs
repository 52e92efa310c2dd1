//! Memory traffic of a step: the bytes that it reads and writes, and the minimum for its results.
//!
//! Sizes are capacities in the run. Each distinct load of an expression counts:
//!
//! - A load counts one element per access, but at most the whole array, since runs, digits and places in rows read each
//!   element once or repeat nearby ones. The limit applies per branch of a choice between accesses.
//! - A load of gathered elements counts every access, unless the array has at most 4 MiB, which fit the caches.
//! - Row splits count once.

use std::collections::HashSet;

use super::access::Access;
use super::canonical_order::BLOCK;
use super::digest::Digest;
use super::expr::{Expr, ExprKind};
use super::node::{Node, Recipe, RowDomain, Rows};
use super::plan::Step;
use super::rank_bitmap;
use super::row_kernel::in_long_rows;
use super::size::SizeView;
use super::walk::for_each_expr;

/// Size in bytes of the largest array that is assumed to fit the caches.
const CACHED_TABLE: u64 = 4 << 20;

/// Bytes of a length or of a split.
const WORD: u64 = 4;

/// Bytes that one step moves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl Traffic {
    /// Bytes read and written.
    pub(crate) fn total(self) -> u64 {
        self.read + self.written
    }
}

/// The main expression of the recipe, and the number of positions at which it is evaluated.
fn domain<'a>(step: &'a Step, sizes: SizeView<'_>) -> (&'a Expr, u64) {
    match &step.recipe {
        Recipe::Append { parts } => (&parts[0].0, u64::from(sizes.capacity(&parts[0].1))),
        Recipe::Map { value, .. } => (value, u64::from(sizes.capacity(step.out.extent()))),
        Recipe::Assert { ok, count, .. } => (ok, u64::from(sizes.capacity(count))),
        Recipe::Reduce { on, value, .. } | Recipe::RowScan { on, value, .. } => {
            (value, u64::from(sizes.capacity(&on.nvals)) * u64::from(on.inner))
        }
        // Each operand counts once, although several tiles read the same elements.
        Recipe::Product(p) => (&p.operands[0], u64::from(sizes.value(&p.capacities[0]))),
        Recipe::Scan { value, count } => (value, u64::from(sizes.capacity(count))),
        Recipe::Sort { key, count, .. } => (key, u64::from(sizes.capacity(count))),
        Recipe::RowSort { on, key, .. } | Recipe::TopK { on, key, .. } => (key, u64::from(sizes.capacity(&on.nvals))),
        Recipe::TileFold { value, count, .. } => (value, u64::from(sizes.capacity(count))),
        Recipe::Hash { on, byte, .. } => (byte, u64::from(sizes.capacity(&on.nvals))),
        Recipe::RankBitmap { keep: e, count } | Recipe::Histogram { key: e, count } => {
            (e, u64::from(sizes.capacity(count)))
        }
        Recipe::Compact { value, count, inner, .. } => (value, u64::from(sizes.capacity(count)) * u64::from(*inner)),
    }
}

/// Bytes that one load from `node` moves when it is evaluated at `positions` positions.
fn load_bytes(sizes: SizeView<'_>, load: &Expr, node: &Node, positions: u64) -> u64 {
    let size = node.dtype().size() as u64;
    if !load.has_index() {
        return size;
    }
    let choices = load.load_access().map_or_else(Vec::new, Access::choices);
    let is_data = choices.iter().any(|access| matches!(access, Access::Gathered { .. }));
    if is_data && sizes.bytes(node) > CACHED_TABLE {
        positions * size
    } else {
        (positions * size).min(sizes.bytes(node) * choices.len() as u64)
    }
}

/// Calls `f` for each distinct load of the step, with the array, the index and the bytes. Splits are reported once,
/// without an index.
fn loads(step: &Step, sizes: SizeView<'_>, f: &mut impl FnMut(&Node, Option<&Expr>, u64)) {
    let (value, positions) = domain(step, sizes);
    let mut splits = HashSet::new();
    let mut searched = |n: &Node, f: &mut dyn FnMut(&Node, Option<&Expr>, u64)| {
        if splits.insert(n.digest()) {
            f(n, None, sizes.bytes(n));
        }
    };
    if let Some(n) = step.recipe.array() {
        searched(n, f);
    }
    let mut values = match &step.row_kernel {
        None => vec![(value, positions)],
        Some(kernel) => kernel.results.iter().map(|r| (&r.value, positions)).collect(),
    };
    if let Recipe::Product(p) = &step.recipe {
        values.push((&p.operands[1], u64::from(sizes.value(&p.capacities[1]))));
    }
    if let Recipe::TileFold { key, .. } = &step.recipe {
        values.push((key, positions));
    }
    if let Recipe::Append { parts } = &step.recipe {
        values.extend(parts[1..].iter().map(|(value, count)| (value, u64::from(sizes.capacity(count)))));
    }
    // Epilogues and the map read reduced values from registers.
    let mut in_registers: Vec<&Node> = Vec::new();
    if let Some(kernel) = &step.row_kernel {
        for r in &kernel.results {
            in_registers.push(&r.out);
            if let Some(epilogue) = &r.epilogue {
                in_registers.extend(epilogue.reduced.node());
                values.push((&epilogue.value, u64::from(sizes.capacity(r.out.extent()))));
            }
        }
        values.extend(kernel.map.as_ref().map(|m| (&m.value, positions)));
    }
    for (value, _) in &values {
        for_each_expr(value, &mut |e| match e.kind() {
            ExprKind::RowOf(n, _) | ExprKind::Within(n, _, _) => searched(n, f),
            _ => {}
        });
    }
    // The expressions of a row kernel share equal loads.
    let mut seen = HashSet::new();
    for (value, positions) in values {
        for_each_expr(value, &mut |e| {
            if let ExprKind::Load(n, at) = e.kind() {
                let is_new = step.row_kernel.is_none() || seen.insert((e.digest(), positions));
                // Loads of splits were counted above.
                if is_new && !in_registers.contains(&n) && !splits.contains(&n.digest()) {
                    f(n, Some(at), load_bytes(sizes, e, n, positions));
                }
            }
        });
    }
}

/// Bytes that a row kernel reads again for the map of rows of several blocks: the loads that the map shares with the
/// reductions, and the splits.
fn reread_bytes(step: &Step, sizes: SizeView<'_>) -> u64 {
    let (Some(kernel), Recipe::Reduce { on: RowDomain { rows, nvals, .. }, .. }) = (&step.row_kernel, &step.recipe)
    else {
        return 0;
    };
    // A map exists only for inner width 1, for which rows longer than `BLOCK` have several blocks.
    let (Some(map), true) = (&kernel.map, sizes.longest(rows) > BLOCK) else { return 0 };
    let elements = u64::from(sizes.capacity(nvals));
    let mut reduced = HashSet::new();
    for r in &kernel.results {
        for_each_expr(&r.value, &mut |e| {
            reduced.insert(e.digest());
        });
    }
    let mut bytes = 0;
    for_each_expr(&map.value, &mut |e| {
        if let ExprKind::Load(n, _) = e.kind()
            && reduced.contains(&e.digest())
        {
            bytes += load_bytes(sizes, e, n, elements);
        }
    });
    let splits = if let Rows::Splits(n) = rows { sizes.bytes(n) } else { 0 };
    bytes * u64::from(in_long_rows(sizes, rows, sizes.capacity(nvals))) / elements.max(1) + splits
}

/// Minimum traffic of any kernel with the step's inputs and outputs: each distinct load once, and the outputs.
pub(crate) fn min_step_bytes(step: &Step, sizes: SizeView<'_>) -> u64 {
    let mut bytes = step.outputs().iter().map(|n| sizes.bytes(n)).sum();
    loads(step, sizes, &mut |_, _, b| bytes += b);
    bytes
}

/// Whether a scan stores its elements in its output between its two passes, because re-evaluating an element would read
/// more bytes than a store and a load. Depends on types and not on sizes, so that all batches run the same kernel. A
/// scan over binding windows reads stored elements only, and keeps none.
pub(crate) fn keeps_elements(step: &Step, sizes: SizeView<'_>) -> bool {
    if !matches!(step.recipe, Recipe::Scan { .. }) || step.is_oversized() {
        return false;
    }
    let mut read = 0;
    loads(step, sizes, &mut |n, at, _| {
        if at.is_none_or(Expr::has_index) {
            read += n.dtype().size() as u64;
        }
    });
    read > 2 * WORD
}

/// Bytes that the step moves. A sort evaluates its expression twice. A scan evaluates it twice unless it keeps its
/// elements; a sort of short rows evaluates it once.
pub(crate) fn traffic(step: &Step, sizes: SizeView<'_>, scratch_bytes: u64) -> Traffic {
    let mut read = 0;
    loads(step, sizes, &mut |_, _, bytes| read += bytes);
    let written = step.outputs().iter().map(|n| sizes.bytes(n)).sum::<u64>();
    match &step.recipe {
        Recipe::Scan { count, .. } if keeps_elements(step, sizes) => {
            let kept = WORD * u64::from(sizes.capacity(count));
            Traffic { read: read + kept + scratch_bytes, written: written + kept + scratch_bytes }
        }
        Recipe::Scan { .. } => Traffic { read: 2 * read + scratch_bytes, written: written + scratch_bytes },
        Recipe::RowScan { .. } => {
            // If rows may have several blocks, the scratch buffer has more than one element: results are written twice,
            // and the partials of the blocks are scanned in between.
            let again = if scratch_bytes > step.out.dtype().size() as u64 { written } else { 0 };
            Traffic { read: read + again + 2 * scratch_bytes, written: written + again + 2 * scratch_bytes }
        }
        // The tile counts are replaced by their exclusive prefix sum.
        Recipe::RankBitmap { count, .. } => {
            let tiles = u64::from(rank_bitmap::tiles(sizes.capacity(count))) * 4;
            Traffic { read: read + tiles, written: written + tiles }
        }
        Recipe::Reduce { .. } => {
            // Words that several narrow results share are cleared, then set by atomic `or`.
            let packed: u64 = step.outputs().iter().filter(|n| n.dtype().size() < 4).map(|n| sizes.bytes(n)).sum();
            let (read, written) = (read + reread_bytes(step, sizes) + packed, written + packed);
            Traffic { read: read + scratch_bytes, written: written + scratch_bytes }
        }
        Recipe::Compact { .. } if step.out.dtype().size() < 4 => Traffic { read: read + written, written: 2 * written },
        Recipe::Sort { count, bits, .. } => {
            let (n, passes) = (u64::from(sizes.capacity(count)), u64::from(bits.div_ceil(8).max(1)));
            // Each pass reads a key twice and an index once, and writes both.
            Traffic { read: 2 * read + n * 12 * passes, written: n * 8 * passes }
        }
        Recipe::RowSort { on: RowDomain { nvals, .. }, bits, .. } if scratch_bytes > 0 => {
            // Assumes that all rows are long. Long rows take radix passes over the bits of the key and of the row
            // number.
            let n = u64::from(sizes.capacity(nvals));
            let passes =
                u64::from(bits.div_ceil(8).max(1) + (u32::BITS - sizes.capacity(nvals).leading_zeros()).div_ceil(8));
            Traffic { read: 3 * read + n * 12 * passes, written: written + n * 8 * passes }
        }
        // The candidates of long rows.
        Recipe::TopK { .. } => Traffic { read: read + scratch_bytes, written: written + scratch_bytes },
        _ => Traffic { read, written },
    }
}

/// Minimum traffic of any plan for the roots: the inputs of the steps, once per distinct load (row splits once), and
/// the roots.
pub(crate) fn min_bytes(steps: &[Step], sizes: SizeView<'_>, roots: &[Node]) -> u64 {
    let made: HashSet<Digest> = steps.iter().flat_map(Step::outputs).map(Node::digest).collect();
    let mut splits = HashSet::new();
    for step in steps {
        loads(step, sizes, &mut |n, at, _| {
            if at.is_none() {
                splits.insert(n.digest());
            }
        });
    }
    let mut seen = HashSet::new();
    let mut bytes = 0;
    for step in steps {
        loads(step, sizes, &mut |n, at, b| {
            // Row splits count once, even if another step loads them as values.
            let is_splits = splits.contains(&n.digest());
            let at = at.filter(|_| !is_splits).map(Expr::digest);
            if !made.contains(&n.digest()) && seen.insert((n.digest(), at)) {
                bytes += if is_splits { sizes.bytes(n) } else { b };
            }
        });
    }
    let mut counted = HashSet::new();
    bytes
        + roots
            .iter()
            .filter(|n| counted.insert(n.digest()) && made.contains(&n.digest()))
            .map(|n| sizes.bytes(n))
            .sum::<u64>()
}
