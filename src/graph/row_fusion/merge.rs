//! Merges reductions over the same rows into one row kernel.

use super::steps::Steps;
use crate::graph::canonical_order::reduction::block_len;
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{Node, Recipe, Rows};
use crate::graph::primitive::Reduce;
use crate::graph::reducer::state_bytes;
use crate::graph::step::bindings::fits;
use crate::graph::step::{merge, recomputed};

/// Maximum number of reductions with which the merge of one reduction fails. Bounds the time for many reductions of
/// one array, of which a kernel computes few.
const MAX_FAILURES: u32 = 64;

impl Steps {
    /// Merges reductions over the same rows that do not depend on each other.
    pub(super) fn merge_reductions(&mut self, limits: SizedLimits<'_>) -> bool {
        let mut changed = false;
        for first in 0..self.len() {
            let (mut next, mut failures) = (first + 1, 0);
            while failures < MAX_FAILURES
                && let Some(second) = self.next_sharing(first, next)
            {
                next = second + 1;
                let (Some(a), Some(b)) = (self.get(first), self.get(second)) else { continue };
                if !can_merge(a, b, limits) || self.depends(second, first) || self.depends(first, second) {
                    failures += 1;
                    continue;
                }
                if let (Some(a), Some(b)) = (self.take(first), self.take(second)) {
                    self.put(first, merged(a, b));
                    changed = true;
                }
            }
        }
        changed
    }

    /// The first step from number `from` on that reads an array which reduction `k` reads, besides its splits.
    fn next_sharing(&self, k: usize, from: usize) -> Option<usize> {
        let step = self.get(k).filter(|step| step.row_kernel.is_some())?;
        let values = step.reads.iter().filter(|n| Some(*n) != splits(step));
        values.filter_map(|n| self.next_reader(n, from)).min()
    }
}

/// The splits of the rows over which the step iterates.
fn splits(step: &Step) -> Option<&Node> {
    step.recipe.rows().and_then(|rows| if let Rows::Splits(n) = rows { Some(n) } else { None })
}

fn same<'a, T: PartialEq + 'a>(a: impl Iterator<Item = &'a T> + Clone, b: impl Iterator<Item = &'a T> + Clone) -> bool {
    a.clone().all(|x| b.clone().any(|y| x == y)) && b.clone().all(|y| a.clone().any(|x| x == y))
}

/// Whether both steps depend on the same device-side conditions. Otherwise a read of one result would fail on a
/// condition of the other.
fn same_conditions(a: &Step, b: &Step) -> bool {
    let fallible = |nodes: &[Node]| nodes.iter().filter(|n| n.is_fallible()).cloned().collect::<Vec<Node>>();
    same(a.checks.iter(), b.checks.iter())
        && same(fallible(&a.after).iter(), fallible(&b.after).iter())
        && same(fallible(&a.reads).iter(), fallible(&b.reads).iter())
}

/// Whether one row kernel can compute both steps, if neither depends on the other.
fn can_merge(a: &Step, b: &Step, limits: SizedLimits<'_>) -> bool {
    let (Some(p), Some(q)) = (&a.row_kernel, &b.row_kernel) else { return false };
    let (Recipe::Reduce(Reduce { on, .. }), Recipe::Reduce(Reduce { on: on_b, .. })) = (&a.recipe, &b.recipe) else {
        return false;
    };
    if on != on_b || !same_conditions(a, b) {
        return false;
    }
    // Merging gains nothing if the steps share only their splits.
    let splits = splits(a);
    if !a.reads.iter().any(|n| Some(n) != splits && b.reads.contains(n)) {
        return false;
    }
    let status = u32::from(!a.checks.is_empty());
    let outputs = p.results.iter().chain(&q.results).map(|r| &r.out);
    let reads = a.reads.iter().chain(b.reads.iter().filter(|n| !a.reads.contains(n)));
    let mut columns = p.columns();
    q.columns().into_iter().for_each(|c| {
        if !columns.contains(&c) {
            columns.push(c);
        }
    });
    let bytes = state_bytes(columns.iter().map(|(accumulator, value)| (*accumulator, value.dtype())));
    // The partials of long rows, two per block.
    let (nvals, inner) = (&on.nvals, on.inner);
    let blocks = 2 * (u64::from(limits.sizes.capacity(nvals)) / block_len(inner as usize) as u64 + 1);
    let is_small =
        bytes <= limits.limits.row_state && limits.limits.windows(blocks * u64::from(inner) * bytes as u64) == 1;
    is_small && fits(&a.recipe, outputs, reads, &|_| false, status, limits)
}

fn merged(mut a: Step, b: Step) -> Step {
    merge(&mut a.reads, b.reads);
    merge(&mut a.after, b.after);
    recomputed::merge(&mut a.recomputed, b.recomputed);
    a.fused.extend(b.fused);
    a.barriers.extend(b.barriers);
    if let (Some(p), Some(q)) = (&mut a.row_kernel, b.row_kernel) {
        p.results.extend(q.results);
    }
    a
}
