//! Reduction epilogues: maps of the results of a row reduction, fused into the stores of the reduction.
//!
//! Examples: the quotient of a mean, the float of a maximum's key, the square root of a variance. A separate kernel
//! would cost another launch, and a store and a load of every result.

use super::adds_conditions;
use super::steps::Steps;
use crate::graph::digest::DigestSet;
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{Expr, ExprKind, Node, Recipe};
use crate::graph::primitive::Map;
use crate::graph::step::bindings::fits;
use crate::graph::step::cost::{MAX_REPEATED_COST, contains_search, evaluation_cost};
use crate::graph::step::fusion_barrier::FusionBarrier;
use crate::graph::step::row_kernel::Epilogue;
use crate::graph::walk::for_each_expr;

/// The maps that may become epilogues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Candidates {
    /// Maps that read the results of one row kernel. Such an epilogue prevents no merge of reductions.
    OfOneKernel,
    /// All maps.
    All,
}

impl Steps {
    /// Fuses each element-wise map of a reduction's results into the reduction, if the map is their only reader.
    pub(super) fn fuse_epilogues(
        &mut self,
        candidates: Candidates,
        roots: &DigestSet,
        limits: SizedLimits<'_>,
    ) -> bool {
        let mut changed = false;
        for k in 0..self.len() {
            let Some(map) = self.get(k).filter(|s| matches!(s.recipe, Recipe::Map(Map { whole: false, .. }))) else {
                continue;
            };
            let has_row_kernel = |p: &usize| self.get(*p).is_some_and(|s| s.row_kernel.is_some());
            let results = map.reads.iter().filter_map(|n| self.producer(n).filter(has_row_kernel).map(|p| (n, p)));
            let results: Vec<(&Node, usize)> = results.collect();
            let of_one = results.iter().all(|(_, p)| *p == results[0].1);
            if candidates == Candidates::OfOneKernel && !of_one {
                continue;
            }
            // Of several row kernels that can compute the map, the latest does. The results of the others are stored
            // before it.
            let (mut target, mut barriers) = (None, Vec::new());
            for (n, p) in results {
                let Some(reduction) = self.get(p) else { continue };
                match can_fuse_epilogue(reduction, n, map, limits).and_then(|()| self.is_only_reader(k, n, roots)) {
                    Err(why) => barriers.push((n.clone(), why)),
                    Ok(()) if self.depends_indirectly(k, p) => {}
                    Ok(()) if target.as_ref().is_some_and(|(other, _)| *other > p) => {}
                    Ok(()) => target = Some((p, n.clone())),
                }
            }
            if let Some(map) = self.get_mut(k) {
                barriers.iter().for_each(|(n, why)| map.barriers.refine(n, *why));
            }
            let Some((p, from)) = target else { continue };
            // The fused step replaces the map in the order of steps, after the map's other inputs.
            if let (Some(reduction), Some(map)) = (self.take(p), self.take(k)) {
                self.put(k, with_epilogue(reduction, &from, map));
                changed = true;
            }
        }
        changed
    }

    /// Whether step `k` is the only one that reads the array. The error is the fusion barrier.
    fn is_only_reader(&self, k: usize, n: &Node, roots: &DigestSet) -> Result<(), FusionBarrier> {
        if roots.contains(&n.digest()) {
            return Err(FusionBarrier::Requested);
        }
        if self.readers_of(n).any(|other| other != k) { Err(FusionBarrier::SeveralReaders) } else { Ok(()) }
    }
}

/// Whether the row kernel can store the map's values instead of its result `from`. The error is the fusion barrier,
/// [`FusionBarrier::EndsKernel`] for a map of anything but that result.
fn can_fuse_epilogue(step: &Step, from: &Node, map: &Step, limits: SizedLimits<'_>) -> Result<(), FusionBarrier> {
    let ended = Err(FusionBarrier::EndsKernel(step.family()));
    let (Some(kernel), Recipe::Map(Map { value, whole: false })) = (&step.row_kernel, &map.recipe) else {
        return ended;
    };
    let to = &map.out;
    let is_reduced = kernel.results.iter().any(|r| r.out == *from && r.epilogue.is_none());
    let reads_others = kernel.results.iter().any(|r| r.out != *from && map.reads.contains(&r.out));
    if !is_reduced || reads_others || kernel.map.is_some() || from.extent() != to.extent() {
        return ended;
    }
    // A condition of the map must not apply to the other results.
    if kernel.results.len() > 1 && adds_conditions(step, map) {
        return Err(FusionBarrier::Condition);
    }
    // The kernel also stores results beyond the live ones, for which the condition may not hold.
    if value.has_conditions() && to.extent().size().contains_count() {
        return Err(FusionBarrier::Condition);
    }
    // The kernel has many stores. Each contains a copy of the epilogue, and knows only the reduced row.
    if evaluation_cost(value, None) > MAX_REPEATED_COST {
        return Err(FusionBarrier::KernelSize);
    }
    if contains_search(value) {
        return Err(FusionBarrier::Search);
    }
    let mut in_place = true;
    for_each_expr(value, &mut |e| {
        if let ExprKind::Load(n, at) = e.kind() {
            in_place &= n != from || at.is_own_position();
        }
    });
    let elsewhere = |e: &Expr| {
        let mut reads = false;
        for_each_expr(e, &mut |e| reads |= e.node() == Some(from));
        reads
    };
    if !in_place || map.live.as_ref().is_some_and(elsewhere) {
        return Err(FusionBarrier::OtherRows);
    }
    let read = map.value_reads();
    let more = read.iter().filter(|n| *n != from && !step.reads.contains(n));
    let status = u32::from(!step.checks.is_empty() || !map.checks.is_empty());
    let reads = step.reads.iter().chain(more);
    let outputs = kernel.results.iter().map(|r| if r.out == *from { to } else { &r.out });
    if fits(&step.recipe, outputs, reads, &|_| false, status, limits) {
        Ok(())
    } else {
        Err(FusionBarrier::StorageBuffers)
    }
}

/// Whether the map will be an epilogue of a row reduction, as far as known before the steps exist: the map reads
/// results of the reduction in place, and `has_one_reader` holds for them.
pub(in crate::graph) fn is_epilogue_candidate(
    map: &Node,
    value: &Expr,
    has_one_reader: impl Fn(&Node) -> bool,
) -> bool {
    let mut found = false;
    for_each_expr(value, &mut |e| {
        if let ExprKind::Load(n, at) = e.kind() {
            let is_reduction = matches!(n.recipe().as_deref(), Some(Recipe::Reduce(_)));
            found |= at.is_own_position() && is_reduction && has_one_reader(n) && n.extent() == map.extent();
        }
    });
    found
}

/// The step with the map as the epilogue of its result `from`.
fn with_epilogue(mut step: Step, from: &Node, map: Step) -> Step {
    let (Some(mut kernel), Recipe::Map(Map { value, .. })) = (step.row_kernel.take(), &map.recipe) else {
        unreachable!("bug: no map of a row kernel")
    };
    for r in kernel.results.iter_mut().filter(|r| r.out == *from) {
        r.out = map.out.clone();
        r.epilogue = Some(Epilogue { reduced: Expr::load(from, Expr::index()), value: value.clone() });
    }
    let first = kernel.results[0].out.clone();
    let fused = step.with_map(map, std::slice::from_ref(from), kernel);
    Step { out: first, ..fused }
}

#[cfg(test)]
mod tests {
    use crate::Device;
    use crate::dtype::DType;
    use crate::graph::backend::BackendRef;
    use crate::graph::expr::Check;
    use crate::graph::node::{Recipe, RowDomain, Rows};
    use crate::graph::opcode::ReduceOp;
    use crate::graph::plan::PlanOf;
    use crate::graph::primitive::Reduce;
    use crate::graph::recorder::Recorder;
    use crate::graph::{Expr, Extent, Node};

    const ROWS: u32 = 4;

    fn source(backend: &BackendRef, words: &[u32]) -> Node {
        let data = backend.upload(DType::U32, bytemuck::cast_slice(words)).expect("uploaded");
        Node::source(backend, DType::U32, words.len() as u32, data)
    }

    /// The sums of four rows. With `counted` the number of rows is device-known.
    fn sums(backend: &BackendRef, counted: bool) -> Node {
        let splits = source(backend, &[0, 2, 2, 5, 6]);
        let values = source(backend, &[1, 2, 3, 4, 5, 6]);
        let nrows = match counted {
            false => Extent::known(ROWS),
            true => Extent::bounded(ROWS, Expr::load(&source(backend, &[ROWS]), Expr::u32(0))),
        };
        let value = Expr::load(&values, Expr::index());
        let rows = (Rows::Splits(splits), nrows);
        Recorder::new(backend, "sums")
            .reduce(ReduceOp::Sum, RowDomain::of(rows, Extent::known(6), 1), value)
            .expect("small")
    }

    fn steps(roots: &[Node]) -> usize {
        PlanOf::new(roots, roots[0].backend().plan_limits()).steps.len()
    }

    fn map(of: &Node, value: Expr) -> Node {
        Node::map(of.backend(), "finish", of.extent().clone(), value, &[])
    }

    #[test]
    fn a_map_of_the_results_becomes_an_epilogue() {
        let device = Device::cpu();
        for counted in [false, true] {
            let sums = sums(device.backend(), counted);
            let by = source(device.backend(), &[10, 20, 30, 40]);
            let own = Expr::load(&sums, Expr::index());
            let out = map(&sums, own.clone().mul(own).add(Expr::load(&by, Expr::index())));
            assert_eq!(steps(std::slice::from_ref(&out)), 1);
            let read = device.backend().read(&[out]).expect("read");
            assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&read[0]), [19, 20, 174, 76]);
            assert!(sums.stored().is_none(), "the reduced values are not stored");
        }
    }

    #[test]
    fn a_map_that_cannot_be_an_epilogue_stays_separate() {
        let device = Device::cpu();
        let sums = sums(device.backend(), false);
        let own = || Expr::load(&sums, Expr::index());
        let twice = map(&sums, own().add(own()));
        assert_eq!(steps(std::slice::from_ref(&twice)), 1);
        assert_eq!(steps(&[sums.clone(), twice]), 2, "the sums are requested");
        assert_eq!(
            steps(&[map(&sums, own().add(Expr::u32(3))), map(&sums, own().add(Expr::u32(4)))]),
            3,
            "two readers"
        );
        let last = Expr::load(&sums, Expr::u32(3).sub(Expr::index()));
        assert_eq!(steps(&[map(&sums, last.clone())]), 2, "another row's result");
        assert_eq!(steps(&[map(&sums, own().add(last))]), 2, "also another row's result");
        assert_eq!(steps(&[map(&sums, own().cast(DType::U8))]), 1, "results that share a word");
        let found = Expr::row_of(&source(device.backend(), &[0, 1, 7, 9]), own());
        assert_eq!(steps(&[map(&sums, found)]), 2, "a search");
        let few = Node::map(device.backend(), "finish", Extent::known(ROWS - 1), own().add(Expr::u32(1)), &[]);
        assert_eq!(steps(&[few]), 2, "fewer results");
    }

    #[test]
    fn conditions_are_checked_for_live_results_only() {
        let device = Device::cpu();
        for (counted, kernels) in [(false, 1), (true, 2)] {
            let sums = sums(device.backend(), counted);
            let own = Expr::load(&sums, Expr::index());
            let small = own.clone().lt(Expr::u32(12));
            let out = map(&sums, own.checked(Check::new("finish", "sums are small"), small));
            assert_eq!(steps(std::slice::from_ref(&out)), kernels);
            assert!(device.backend().read(&[out]).is_err(), "the third sum is 12");
        }
    }

    #[test]
    fn an_epilogue_of_two_reductions_keeps_them_in_one_kernel() {
        let device = Device::cpu();
        let sums = sums(device.backend(), false);
        let Some(Recipe::Reduce(Reduce { on, value, .. })) = sums.recipe().as_deref().cloned() else {
            panic!("no reduction")
        };
        let rows = || (on.rows.clone(), on.nrows.clone());
        let greatest = Recorder::new(device.backend(), "max").reduce(
            ReduceOp::Max,
            RowDomain::of(rows(), Extent::known(6), 1),
            value,
        );
        let greatest = greatest.expect("small");
        let own = |n: &Node| Expr::load(n, Expr::index());
        assert_eq!(steps(&[map(&sums, own(&sums).add(own(&greatest)))]), 2, "the row kernel, and the map");
        // Other rows, so that no row kernel computes both.
        let others = self::sums(device.backend(), false);
        let out = map(&sums, own(&sums).mul(own(&others)));
        assert_eq!(steps(&[out.clone(), greatest.clone()]), 2, "an epilogue in the merged kernel");
        let read = device.backend().read(&[out, greatest]).expect("read");
        let words = |k: usize| bytemuck::pod_collect_to_vec::<u8, u32>(&read[k]);
        assert_eq!((words(0), words(1)), (vec![9, 0, 144, 36], vec![2, 0, 5, 6]));
    }
}
