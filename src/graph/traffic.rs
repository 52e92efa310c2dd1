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
use super::digest::Digest;
use super::expr::{Expr, ExprKind};
use super::node::Node;
use super::plan::Step;
use super::size::SizeView;
use super::walk::for_each_expr;

/// Size in bytes of the largest array that is assumed to fit the caches.
const CACHED_TABLE: u64 = 4 << 20;

/// Bytes of a length or of a split.
pub(super) const WORD: u64 = 4;

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
    pub(super) fn plus(self, read: u64, written: u64) -> Self {
        Self { read: self.read + read, written: self.written + written }
    }

    /// With scratch buffers, written and read once.
    pub(super) fn with_scratch(self, at: &StepRun<'_>) -> Self {
        self.plus(at.scratch_bytes, at.scratch_bytes)
    }
}

/// A step in a run.
#[derive(Debug)]
pub(crate) struct StepRun<'a> {
    pub(crate) step: &'a Step,
    pub(crate) sizes: SizeView<'a>,
    /// Bytes of intermediate results between the step's kernels.
    pub(crate) scratch_bytes: u64,
}

/// Bytes that one load from `node` moves when it is evaluated at `positions` positions.
pub(super) fn load_bytes(sizes: SizeView<'_>, load: &Expr, node: &Node, positions: u64) -> u64 {
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
    let facts = step.recipe.facts();
    let positions = facts.positions(step.out.extent());
    let positions = positions.iter().map(|at| at.number(sizes));
    let mut splits = HashSet::new();
    let mut searched = |n: &Node, f: &mut dyn FnMut(&Node, Option<&Expr>, u64)| {
        if splits.insert(n.digest()) {
            f(n, None, sizes.bytes(n));
        }
    };
    if let Some(n) = step.recipe.array() {
        searched(n, f);
    }
    let exprs = step.recipe.exprs().into_iter().take(facts.counted_exprs());
    let mut values: Vec<(&Expr, u64)> = exprs.zip(positions).collect();
    // Epilogues and the map read reduced values from registers.
    let mut in_registers: Vec<&Node> = Vec::new();
    if let Some(kernel) = &step.row_kernel {
        let positions = values[0].1;
        values = kernel.results.iter().map(|r| (&r.value, positions)).collect();
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
    if step.is_oversized() {
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

/// Bytes that the step moves.
pub(crate) fn traffic(step: &Step, sizes: SizeView<'_>, scratch_bytes: u64) -> Traffic {
    let mut read = 0;
    loads(step, sizes, &mut |_, _, bytes| read += bytes);
    let written = step.outputs().iter().map(|n| sizes.bytes(n)).sum::<u64>();
    step.recipe.facts().traffic(Traffic { read, written }, &StepRun { step, sizes, scratch_bytes })
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
