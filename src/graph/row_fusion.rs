//! Row fusion: merges row reductions into one pass over their rows, and fuses a map of their results into the pass.
//!
//! The mean, variance and maximum of the same rows read the values once. The workgroup that has just reduced a row also
//! writes its softmax or its standardized values. Fusion changes no bits: each reduction keeps its order, and storing
//! and loading a number preserves it.

use std::collections::HashSet;

use super::bindings::fits;
use super::canonical_order::BLOCK;
use super::cost::contains_search;
use super::digest::{DigestMap, DigestSet};
use super::expr::{Expr, ExprKind};
use super::fusion_barrier::FusionBarrier;
use super::node::{Node, Recipe, RowDomain};
use super::plan::{PlanLimits, Step};
use super::reducer::state_bytes;
use super::row_kernel::{MAX_STATE, RowMap};
use super::step::merge;
use super::walk::for_each_expr;

/// Merges reductions over the same rows into one step, and fuses maps into the reductions that they read.
pub(super) fn fuse_rows(steps: Vec<Step>, roots: &DigestSet, limits: PlanLimits) -> Vec<Step> {
    if !steps.iter().any(|s| s.pass.is_some()) {
        return steps;
    }
    let mut all = Steps { steps: steps.into_iter().map(Some).collect() };
    let mut changed = all.share(limits);
    changed |= all.take_maps(roots, limits);
    if changed { all.in_order() } else { all.steps.into_iter().flatten().collect() }
}

/// Steps by number; `None` for a step that was fused into another.
struct Steps {
    steps: Vec<Option<Step>>,
}

impl Steps {
    /// The number of the step that computes each array.
    fn makers(&self) -> DigestMap<usize> {
        let steps = self.steps.iter().enumerate().filter_map(|(k, s)| Some((k, s.as_ref()?)));
        steps.flat_map(|(k, s)| s.outputs().into_iter().map(move |n| (n.digest(), k))).collect()
    }

    /// The steps on which step `k` depends directly.
    fn needed<'a>(&'a self, makers: &'a DigestMap<usize>, k: usize) -> impl Iterator<Item = usize> + 'a {
        let nodes = self.steps[k].iter().flat_map(|s| s.reads.iter().chain(&s.after));
        nodes.filter_map(|n| makers.get(&n.digest()).copied())
    }

    /// Whether step `k` depends on step `other`, directly or through steps between them.
    fn needs(&self, makers: &DigestMap<usize>, k: usize, other: usize) -> bool {
        self.any_is_or_needs(makers, self.needed(makers, k).collect(), other)
    }

    /// Whether step `k` depends on step `other` through steps between them.
    fn needs_indirectly(&self, makers: &DigestMap<usize>, k: usize, other: usize) -> bool {
        self.any_is_or_needs(makers, self.needed(makers, k).filter(|&k| k != other).collect(), other)
    }

    fn any_is_or_needs(&self, makers: &DigestMap<usize>, mut stack: Vec<usize>, other: usize) -> bool {
        let mut seen = HashSet::new();
        while let Some(k) = stack.pop() {
            if k == other {
                return true;
            }
            if seen.insert(k) {
                stack.extend(self.needed(makers, k));
            }
        }
        false
    }

    /// Merges reductions over the same rows that do not depend on each other.
    fn share(&mut self, limits: PlanLimits) -> bool {
        let mut changed = false;
        for first in 0..self.steps.len() {
            for second in first + 1..self.steps.len() {
                let (Some(a), Some(b)) = (&self.steps[first], &self.steps[second]) else { continue };
                if !can_share(a, b, limits) {
                    continue;
                }
                let makers = self.makers();
                if self.needs(&makers, second, first) || self.needs(&makers, first, second) {
                    continue;
                }
                if let (Some(a), Some(b)) = (self.steps[first].take(), self.steps[second].take()) {
                    self.steps[first] = Some(shared(a, b));
                    changed = true;
                }
            }
        }
        changed
    }

    /// Fuses maps into the reductions over the same elements whose results they read.
    fn take_maps(&mut self, roots: &DigestSet, limits: PlanLimits) -> bool {
        let mut changed = false;
        for k in 0..self.steps.len() {
            let Some(map) = self.steps[k].as_ref().filter(|s| matches!(s.recipe, Recipe::Map { whole: false, .. }))
            else {
                continue;
            };
            let makers = self.makers();
            let read: HashSet<usize> = map.reads.iter().filter_map(|n| makers.get(&n.digest()).copied()).collect();
            let passes: Vec<usize> = read
                .into_iter()
                .filter(|&p| self.steps[p].as_ref().is_some_and(|s| s.pass.is_some()))
                .filter(|&p| !self.needs_indirectly(&makers, k, p))
                .collect();
            // Only one of several passes can take the map. The results of the others are read as arrays.
            let Some(p) = passes.into_iter().max() else { continue };
            let Some(pass) = &self.steps[p] else { continue };
            let stored = self.read_elsewhere(pass, k, roots);
            if let Err(why) = can_take(pass, map, &stored, limits) {
                let results: Vec<Node> = pass.outputs().into_iter().cloned().collect();
                if let Some(map) = &mut self.steps[k] {
                    results.iter().for_each(|n| map.kept.refine(n, why));
                }
                continue;
            }
            if let (Some(pass), Some(map)) = (self.steps[p].take(), self.steps[k].take()) {
                self.steps[k] = Some(mapped(pass, map, &stored));
                changed = true;
            }
        }
        changed
    }

    /// The results of the pass that are requested, or read by steps other than `reader`.
    fn read_elsewhere(&self, pass: &Step, reader: usize, roots: &DigestSet) -> DigestSet {
        let others = self.steps.iter().enumerate().filter(|(k, _)| *k != reader).filter_map(|(_, s)| s.as_ref());
        let read: DigestSet = others.flat_map(|s| s.reads.iter().chain(&s.after)).map(Node::digest).collect();
        let outputs = pass.outputs().into_iter().map(Node::digest);
        outputs.filter(|d| roots.contains(d) || read.contains(d)).collect()
    }

    /// The steps in topological order, otherwise in their present order.
    fn in_order(mut self) -> Vec<Step> {
        let makers = self.makers();
        let mut order = Vec::with_capacity(self.steps.len());
        let mut seen = HashSet::new();
        for k in 0..self.steps.len() {
            // An entry with `true` has its dependencies above it on the stack.
            let mut stack = vec![(k, false)];
            while let Some((k, is_ready)) = stack.pop() {
                if is_ready {
                    order.push(k);
                } else if seen.insert(k) {
                    stack.push((k, true));
                    stack.extend(self.needed(&makers, k).map(|k| (k, false)));
                }
            }
        }
        order.into_iter().filter_map(|k| self.steps[k].take()).collect()
    }
}

fn same<'a, T: PartialEq + 'a>(a: impl Iterator<Item = &'a T> + Clone, b: impl Iterator<Item = &'a T> + Clone) -> bool {
    a.clone().all(|x| b.clone().any(|y| x == y)) && b.clone().all(|y| a.clone().any(|x| x == y))
}

/// Whether both steps depend on the same device-side conditions. A read checks the conditions that it depends on, and
/// no others.
fn same_conditions(a: &Step, b: &Step) -> bool {
    let fallible = |nodes: &[Node]| nodes.iter().filter(|n| n.is_fallible()).cloned().collect::<Vec<Node>>();
    same(a.checks.iter(), b.checks.iter())
        && same(fallible(&a.after).iter(), fallible(&b.after).iter())
        && same(fallible(&a.reads).iter(), fallible(&b.reads).iter())
}

/// Whether one pass can compute both steps, if neither depends on the other.
pub(super) fn can_share(a: &Step, b: &Step, limits: PlanLimits) -> bool {
    let (Some(p), Some(q)) = (&a.pass, &b.pass) else { return false };
    let (Recipe::Reduce { on, .. }, Recipe::Reduce { on: on_b, .. }) = (&a.recipe, &b.recipe) else {
        return false;
    };
    if on != on_b || !same_conditions(a, b) {
        return false;
    }
    // Merging gains nothing if the passes have only their splits in common.
    let splits = a.recipe.rows().and_then(|r| if let super::node::Rows::Splits(n) = r { Some(n) } else { None });
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
    let block = if inner == 1 { BLOCK } else { BLOCK / 4 };
    let blocks = 2 * (u64::from(nvals.capacity() / block) + 1);
    let is_small = bytes <= MAX_STATE && limits.windows(blocks * u64::from(inner) * bytes as u64) == 1;
    is_small && fits(&a.recipe, outputs, reads, &|_| false, status, limits)
}

fn shared(mut a: Step, b: Step) -> Step {
    merge(&mut a.reads, b.reads);
    merge(&mut a.after, b.after);
    a.fused.extend(b.fused);
    a.kept.extend(b.kept);
    if let (Some(p), Some(q)) = (&mut a.pass, b.pass) {
        p.results.extend(q.results);
    }
    a
}

/// Whether the pass can compute the map: a map of the pass's elements that uses the results of each element's own row.
/// `stored` are the results that other steps need. The error is the fusion barrier: [`FusionBarrier::EndsKernel`] for a map
/// of anything but the elements.
fn can_take(step: &Step, map: &Step, stored: &DigestSet, limits: PlanLimits) -> Result<(), FusionBarrier> {
    let ended = Err(FusionBarrier::EndsKernel(step.family()));
    let (Recipe::Reduce { on: RowDomain { rows, nvals, inner: 1, .. }, .. }, Some(pass), Recipe::Map { value, .. }) =
        (&step.recipe, &step.pass, &map.recipe)
    else {
        return ended;
    };
    if pass.map.is_some() || map.out.extent() != nvals {
        return ended;
    }
    if map.row_context.is_some() && map.row_context != step.row_context {
        return ended;
    }
    // A condition of the map must not apply to results that other steps read.
    let is_known = |n: &Node| !n.is_fallible() || step.after.contains(n) || step.reads.contains(n);
    let adds_none = map.checks.is_empty() && map.after.iter().all(is_known) && same_conditions_of_map(step, map);
    if !adds_none && !stored.is_empty() {
        return Err(FusionBarrier::Condition);
    }
    let own = rows.row_of(Expr::index());
    let is_result = |n: &Node| pass.results.iter().any(|r| &r.out == n);
    let (mut in_place, mut reads_result) = (true, false);
    for_each_expr(value, &mut |e| match e.kind() {
        ExprKind::Load(n, at) if is_result(n) => {
            reads_result = true;
            in_place &= *at == own;
        }
        // Any other row would require a search per element.
        ExprKind::RowOf(..) => in_place &= *e == own,
        ExprKind::Within(n, ..) => in_place &= !is_result(n),
        _ => {}
    });
    let elsewhere = map.live.iter().any(|live| {
        let mut reads = contains_search(live);
        for_each_expr(live, &mut |e| reads |= e.node().is_some_and(is_result));
        reads
    });
    if !reads_result {
        return ended;
    }
    if !in_place || elsewhere {
        return Err(FusionBarrier::OtherRows);
    }
    let read = map.value_reads();
    let reads = step.reads.iter().chain(read.iter().filter(|n| !is_result(n) && !step.reads.contains(n)));
    let status = u32::from(!step.checks.is_empty() || !map.checks.is_empty());
    let results = pass.results.iter().map(|r| &r.out).filter(|n| stored.contains(&n.digest()));
    if fits(&step.recipe, results.chain([&map.out]), reads, &|_| false, status, limits) {
        Ok(())
    } else {
        Err(FusionBarrier::StorageBuffers)
    }
}

/// Whether the pass reads or computes every array with conditions that the map reads.
fn same_conditions_of_map(step: &Step, map: &Step) -> bool {
    map.reads.iter().all(|n| !n.is_fallible() || step.reads.contains(n) || step.outputs().contains(&n))
}

fn mapped(mut step: Step, map: Step, stored: &DigestSet) -> Step {
    let (Some(mut pass), Recipe::Map { value, .. }) = (step.pass.take(), &map.recipe) else {
        unreachable!("bug: no map of a pass")
    };
    for r in &mut pass.results {
        r.is_stored = stored.contains(&r.out.digest());
    }
    pass.map = Some(RowMap { out: map.out.clone(), value: value.clone() });
    let results: Vec<Node> = pass.results.iter().map(|r| r.out.clone()).collect();
    step.with_map(map, &results, pass)
}
