//! Memory traffic of a step: the bytes that it reads and writes, and the minimum for its results.
//!
//! Sizes are capacities in the run. The loads of a step depend on no size ([`Loads`]). Each distinct load of an
//! expression counts:
//!
//! - A load counts one element per access, but at most the whole array, since runs, digits and places in rows read each
//!   element once or repeat nearby ones. The limit applies per branch of a choice between accesses.
//! - A load of gathered elements counts every access, unless the array has at most 4 MiB, which fit the caches.
//! - Row splits count once.

use std::collections::HashSet;

use crate::graph::access::Access;
use crate::graph::digest::Digest;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, ExprKind, Node, SizeView};
use crate::graph::primitive::positions::Positions;
use crate::graph::walk::for_each_expr;

/// Size in bytes of the largest array that is assumed to fit the caches.
const CACHED_TABLE: u64 = 4 << 20;

/// Bytes of a length or of a split.
pub(in crate::graph) const WORD: u64 = 4;

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

    /// With more bytes.
    pub(in crate::graph) fn plus(self, read: u64, written: u64) -> Self {
        Self { read: self.read + read, written: self.written + written }
    }

    /// With scratch buffers, written and read once.
    pub(in crate::graph) fn with_scratch(self, at: &StepRun<'_>) -> Self {
        self.plus(at.scratch_bytes, at.scratch_bytes)
    }
}

/// A step in a run.
#[derive(Debug)]
pub(crate) struct StepRun<'a> {
    pub(crate) step: &'a Step,
    pub(crate) loads: &'a Loads,
    pub(crate) sizes: SizeView<'a>,
    /// Bytes of intermediate results between the step's kernels.
    pub(crate) scratch_bytes: u64,
}

/// Bytes that one load from `node` moves when it is evaluated at `positions` positions.
pub(in crate::graph) fn load_bytes(sizes: SizeView<'_>, load: &Expr, node: &Node, positions: u64) -> u64 {
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
    /// The index, what the bytes depend on, and the positions; `None` for splits, which are read once.
    at: Option<(Expr, LoadKind, Positions)>,
}

impl Load {
    fn bytes(&self, sizes: SizeView<'_>) -> u64 {
        match &self.at {
            None => sizes.bytes(&self.node),
            Some((_, kind, at)) => kind.bytes(sizes, &self.node, at.number(sizes)),
        }
    }
}

/// The distinct loads of a step, which depend on no size; splits once.
#[derive(Debug, Default)]
pub(crate) struct Loads(Vec<Load>);

impl Loads {
    pub(crate) fn of(step: &Step) -> Self {
        let facts = step.recipe.facts();
        let mut out = Vec::new();
        let mut splits = HashSet::new();
        let mut searched = |n: &Node, out: &mut Vec<Load>| {
            if splits.insert(n.digest()) {
                out.push(Load { node: n.clone(), at: None });
            }
        };
        if let Some(n) = step.recipe.array().filter(|_| step.recipe.base().is_none()) {
            searched(n, &mut out);
        }
        let exprs = step.recipe.exprs().into_iter().take(facts.counted_exprs());
        let mut values: Vec<(&Expr, Positions)> = exprs.zip(facts.positions(step.out.extent())).collect();
        // Epilogues and the map read reduced values from registers.
        let mut in_registers: Vec<&Node> = Vec::new();
        if let Some(kernel) = &step.row_kernel {
            let all = values[0].1.clone();
            values = kernel.results.iter().map(|r| (&r.value, all.clone())).collect();
            for r in &kernel.results {
                in_registers.push(&r.out);
                if let Some(epilogue) = &r.epilogue {
                    in_registers.extend(epilogue.reduced.node());
                    values.push((&epilogue.value, Positions::of(r.out.extent())));
                }
            }
            values.extend(kernel.map.as_ref().map(|m| (&m.value, all)));
        }
        for of in &step.recomputed {
            in_registers.push(&of.node);
            values.extend(of.operands());
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
                    let place = (e.digest(), positions.count.size().digest(), positions.inner);
                    let is_new = step.row_kernel.is_none() || seen.insert(place);
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

    fn bytes(&self, sizes: SizeView<'_>) -> u64 {
        self.0.iter().map(|load| load.bytes(sizes)).sum()
    }

    /// Whether an element takes more bytes to evaluate than a store and a load.
    fn exceed_an_element(&self) -> bool {
        let of_each = self.0.iter().filter(|load| load.at.as_ref().is_none_or(|(at, ..)| at.has_index()));
        of_each.map(|load| load.node.dtype().size() as u64).sum::<u64>() > 2 * WORD
    }
}

/// Minimum traffic of any kernel with the step's inputs and outputs: each distinct load once, and the outputs.
pub(crate) fn min_step_bytes(step: &Step, sizes: SizeView<'_>) -> u64 {
    step.outputs().iter().map(|n| sizes.bytes(n)).sum::<u64>() + Loads::of(step).bytes(sizes)
}

/// Whether a scan stores its elements in its output between its two passes, because re-evaluating an element would read
/// more bytes than a store and a load. Depends on types and not on sizes, so that all batches run the same kernel. A
/// scan over binding windows reads stored elements only, and keeps none.
pub(crate) fn keeps_elements(step: &Step, loads: &Loads) -> bool {
    !step.is_oversized() && loads.exceed_an_element()
}

/// Bytes that the step, with these loads, moves.
pub(crate) fn traffic(step: &Step, loads: &Loads, sizes: SizeView<'_>, scratch_bytes: u64) -> Traffic {
    let (read, written) = (loads.bytes(sizes), step.outputs().iter().map(|n| sizes.bytes(n)).sum::<u64>());
    step.recipe.facts().traffic(Traffic { read, written }, &StepRun { step, loads, sizes, scratch_bytes })
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
