//! Memory traffic of a step: the bytes that it reads and writes, and the minimum for its results.
//!
//! Sizes are capacities in the run. The loads of a step depend on no size ([`Loads`]). Each distinct load of an expression counts:
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
use super::extent::Extent;
use super::node::{Node, Recipe, RowDomain, Rows};
use super::plan::Step;
use super::rank_bitmap;
use super::row_kernel::in_long_rows;
use super::size::{Size, SizeView};
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

/// A number of positions: a size, times a factor.
type Positions = (Size, u32);

fn positions(sizes: SizeView<'_>, (size, factor): &Positions) -> u64 {
    u64::from(sizes.value(size)) * u64::from(*factor)
}

/// The main expression of the recipe, and the number of positions at which it is evaluated.
fn domain(step: &Step) -> (&Expr, Positions) {
    let all = |x: &Extent| (x.size().clone(), 1);
    match &step.recipe {
        Recipe::Append { parts } => (&parts[0].0, all(&parts[0].1)),
        Recipe::Map { value, .. } => (value, all(step.out.extent())),
        Recipe::Assert { ok, count, .. } => (ok, all(count)),
        Recipe::Reduce { on, value, .. } | Recipe::RowScan { on, value, .. } => {
            (value, (on.nvals.size().clone(), on.inner))
        }
        // Each operand counts once, although several tiles read the same elements.
        Recipe::Product(p) => (&p.operands[0], (p.capacities[0].clone(), 1)),
        Recipe::Scan { value, count } => (value, all(count)),
        Recipe::Sort { key, count, .. } => (key, all(count)),
        Recipe::RowSort { on, key, .. } | Recipe::TopK { on, key, .. } => (key, all(&on.nvals)),
        Recipe::TileFold { value, count, .. } => (value, all(count)),
        Recipe::Hash { on, byte, .. } => (byte, all(&on.nvals)),
        Recipe::RankBitmap { keep: e, count } | Recipe::Histogram { key: e, count } => (e, all(count)),
        Recipe::Compact { value, count, inner, .. } => (value, (count.size().clone(), *inner)),
    }
}

/// Bytes that one load from `node` moves when it is evaluated at `positions` positions.
fn load_bytes(sizes: SizeView<'_>, load: &Expr, node: &Node, positions: u64) -> u64 {
    LoadKind::of(load).bytes(sizes, node, positions)
}

/// What the bytes of a load depend on, besides sizes.
#[derive(Debug, Clone, Copy)]
struct LoadKind {
    has_index: bool,
    /// Whether the elements are gathered.
    is_data: bool,
    /// Number of accesses between which the load chooses.
    choices: u64,
}

impl LoadKind {
    fn of(load: &Expr) -> Self {
        let has_index = load.has_index();
        let choices = load.load_access().filter(|_| has_index).map_or_else(Vec::new, Access::choices);
        let is_data = choices.iter().any(|access| matches!(access, Access::Gathered { .. }));
        Self { has_index, is_data, choices: choices.len() as u64 }
    }

    fn bytes(self, sizes: SizeView<'_>, node: &Node, positions: u64) -> u64 {
        let (size, all) = (node.dtype().size() as u64, sizes.bytes(node));
        match self {
            Self { has_index: false, .. } => size,
            Self { is_data: true, .. } if all > CACHED_TABLE => positions * size,
            Self { choices, .. } => (positions * size).min(all * choices),
        }
    }
}

/// A load of a step.
#[derive(Debug)]
struct Load {
    node: Node,
    /// The index, and what the bytes depend on; `None` for splits, which are read once.
    at: Option<(Expr, LoadKind, Positions)>,
}

impl Load {
    fn bytes(&self, sizes: SizeView<'_>) -> u64 {
        match &self.at {
            None => sizes.bytes(&self.node),
            Some((_, kind, at)) => kind.bytes(sizes, &self.node, positions(sizes, at)),
        }
    }
}

/// The distinct loads of a step, which depend on no size; splits once.
#[derive(Debug, Default)]
pub(crate) struct Loads(Vec<Load>);

impl Loads {
    pub(crate) fn of(step: &Step) -> Self {
        let mut out = Vec::new();
        let (value, all) = domain(step);
        let mut splits = HashSet::new();
        let mut searched = |n: &Node, out: &mut Vec<Load>| {
            if splits.insert(n.digest()) {
                out.push(Load { node: n.clone(), at: None });
            }
        };
        if let Some(n) = step.recipe.array() {
            searched(n, &mut out);
        }
        let mut values = match &step.row_kernel {
            None => vec![(value, all.clone())],
            Some(kernel) => kernel.results.iter().map(|r| (&r.value, all.clone())).collect(),
        };
        if let Recipe::Product(p) = &step.recipe {
            values.push((&p.operands[1], (p.capacities[1].clone(), 1)));
        }
        if let Recipe::TileFold { key, .. } = &step.recipe {
            values.push((key, all.clone()));
        }
        if let Recipe::Append { parts } = &step.recipe {
            values.extend(parts[1..].iter().map(|(value, count)| (value, (count.size().clone(), 1))));
        }
        // Epilogues and the map read reduced values from registers.
        let mut in_registers: Vec<&Node> = Vec::new();
        if let Some(kernel) = &step.row_kernel {
            for r in &kernel.results {
                in_registers.push(&r.out);
                if let Some(epilogue) = &r.epilogue {
                    in_registers.extend(epilogue.reduced.node());
                    values.push((&epilogue.value, (r.out.extent().size().clone(), 1)));
                }
            }
            values.extend(kernel.map.as_ref().map(|m| (&m.value, all)));
        }
        for (value, _) in &values {
            for_each_expr(value, &mut |e| match e.kind() {
                ExprKind::RowOf(n, _) | ExprKind::Within(n, _, _) => searched(n, &mut out),
                _ => {}
            });
        }
        // The expressions of a row kernel share equal loads.
        let mut seen = HashSet::new();
        for (value, positions) in values {
            for_each_expr(value, &mut |e| {
                if let ExprKind::Load(n, at) = e.kind() {
                    let is_new =
                        step.row_kernel.is_none() || seen.insert((e.digest(), positions.0.digest(), positions.1));
                    // Loads of splits were counted above.
                    if is_new && !in_registers.contains(&n) && !splits.contains(&n.digest()) {
                        let at = Some((at.clone(), LoadKind::of(e), positions.clone()));
                        out.push(Load { node: n.clone(), at });
                    }
                }
            });
        }
        Self(out)
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
    let outputs: u64 = step.outputs().iter().map(|n| sizes.bytes(n)).sum();
    outputs + Loads::of(step).0.iter().map(|load| load.bytes(sizes)).sum::<u64>()
}

/// Whether a scan stores its elements in its output between its two passes, because re-evaluating an element would read
/// more bytes than a store and a load. Depends on types and not on sizes, so that all batches run the same kernel. A
/// scan over binding windows reads stored elements only, and keeps none.
pub(crate) fn keeps_elements(step: &Step) -> bool {
    matches!(step.recipe, Recipe::Scan { .. }) && !step.is_oversized() && Loads::of(step).exceed_an_element()
}

impl Loads {
    /// Whether an element takes more bytes to evaluate than a store and a load.
    fn exceed_an_element(&self) -> bool {
        let of_each = self.0.iter().filter(|load| load.at.as_ref().is_none_or(|(at, ..)| at.has_index()));
        of_each.map(|load| load.node.dtype().size() as u64).sum::<u64>() > 2 * WORD
    }
}

/// Bytes that the step moves. A sort evaluates its expression twice. A scan evaluates it twice unless it keeps its
/// elements; a sort of short rows evaluates it once.
pub(crate) fn traffic(step: &Step, loads: &Loads, sizes: SizeView<'_>, scratch_bytes: u64) -> Traffic {
    let read = loads.0.iter().map(|load| load.bytes(sizes)).sum::<u64>();
    let written = step.outputs().iter().map(|n| sizes.bytes(n)).sum::<u64>();
    match &step.recipe {
        Recipe::Scan { count, .. } if !step.is_oversized() && loads.exceed_an_element() => {
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
    let loads: Vec<Load> = steps.iter().flat_map(|step| Loads::of(step).0).collect();
    let splits: HashSet<Digest> =
        loads.iter().filter(|load| load.at.is_none()).map(|load| load.node.digest()).collect();
    let mut seen = HashSet::new();
    let mut bytes = 0;
    for load in &loads {
        // Row splits count once, even if another step loads them as values.
        let n = load.node.digest();
        let is_splits = splits.contains(&n);
        let at = load.at.as_ref().filter(|_| !is_splits).map(|(at, ..)| at.digest());
        if !made.contains(&n) && seen.insert((n, at)) {
            bytes += if is_splits { sizes.bytes(&load.node) } else { load.bytes(sizes) };
        }
    }
    let mut counted = HashSet::new();
    bytes
        + roots
            .iter()
            .filter(|n| counted.insert(n.digest()) && made.contains(&n.digest()))
            .map(|n| sizes.bytes(n))
            .sum::<u64>()
}
