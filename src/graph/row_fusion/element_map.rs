//! Element maps: maps of the elements that use the results of their rows, fused into the row kernel.

use std::collections::HashSet;

use super::adds_conditions;
use super::steps::Steps;
use crate::graph::digest::DigestSet;
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{Expr, ExprKind, Node, Recipe, RowDomain};
use crate::graph::primitive::{Map, Reduce};
use crate::graph::step::bindings::fits;
use crate::graph::step::cost::contains_search;
use crate::graph::step::fusion_barrier::FusionBarrier;
use crate::graph::step::row_kernel::RowMap;
use crate::graph::walk::for_each_expr;

impl Steps {
    /// Fuses maps into the reductions over the same elements whose results they read.
    pub(super) fn fuse_element_maps(&mut self, roots: &DigestSet, limits: SizedLimits<'_>) -> bool {
        let mut changed = false;
        for k in 0..self.len() {
            let Some(map) = self.get(k).filter(|s| matches!(s.recipe, Recipe::Map(Map { whole: false, .. }))) else {
                continue;
            };
            let read: HashSet<usize> = map.reads.iter().filter_map(|n| self.producer(n)).collect();
            let kernels: Vec<usize> = read
                .into_iter()
                .filter(|&p| self.get(p).is_some_and(|s| s.row_kernel.is_some()))
                .filter(|&p| !self.depends_indirectly(k, p))
                .collect();
            // Of several row kernels, the latest computes the map. The results of the others are read as arrays.
            let Some(p) = kernels.into_iter().max() else { continue };
            let Some(reduction) = self.get(p) else { continue };
            let stored = self.read_elsewhere(reduction, k, roots);
            if let Err(why) = can_fuse_map(reduction, map, &stored, limits) {
                let results: Vec<Node> = reduction.outputs().into_iter().cloned().collect();
                if let Some(map) = self.get_mut(k) {
                    results.iter().for_each(|n| map.barriers.refine(n, why));
                }
                continue;
            }
            if let (Some(reduction), Some(map)) = (self.take(p), self.take(k)) {
                self.put(k, with_element_map(reduction, map, &stored));
                changed = true;
            }
        }
        changed
    }
}

/// Whether the row kernel can compute the map: a map of the kernel's elements that uses the results of each element's
/// own row. `stored` are the results that other steps need. The error is the fusion barrier,
/// [`FusionBarrier::EndsKernel`] for a map of anything but the elements.
fn can_fuse_map(step: &Step, map: &Step, stored: &DigestSet, limits: SizedLimits<'_>) -> Result<(), FusionBarrier> {
    let ended = Err(FusionBarrier::EndsKernel(step.family()));
    let (
        Recipe::Reduce(Reduce { on: RowDomain { rows, nvals, inner: 1, .. }, .. }),
        Some(kernel),
        Recipe::Map(Map { value, .. }),
    ) = (&step.recipe, &step.row_kernel, &map.recipe)
    else {
        return ended;
    };
    if kernel.map.is_some() || map.out.extent() != nvals {
        return ended;
    }
    if map.row_context.is_some() && map.row_context != step.row_context {
        return ended;
    }
    if !stored.is_empty() && adds_conditions(step, map) {
        return Err(FusionBarrier::Condition);
    }
    let own = rows.row_of(Expr::index());
    let is_result = |n: &Node| kernel.results.iter().any(|r| &r.out == n);
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
    let results = kernel.results.iter().map(|r| &r.out).filter(|n| stored.contains(&n.digest()));
    if fits(&step.recipe, results.chain([&map.out]), reads, &|_| false, status, limits) {
        Ok(())
    } else {
        Err(FusionBarrier::StorageBuffers)
    }
}

fn with_element_map(mut step: Step, map: Step, stored: &DigestSet) -> Step {
    let (Some(mut kernel), Recipe::Map(Map { value, .. })) = (step.row_kernel.take(), &map.recipe) else {
        unreachable!("bug: no map of a row kernel")
    };
    for r in &mut kernel.results {
        r.is_stored = stored.contains(&r.out.digest());
    }
    kernel.map = Some(RowMap { out: map.out.clone(), value: value.clone() });
    let results: Vec<Node> = kernel.results.iter().map(|r| r.out.clone()).collect();
    step.with_map(map, &results, kernel)
}
