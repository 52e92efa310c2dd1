//! Reduction epilogues: maps of the results of a row reduction, fused into the reduction's stores.
//!
//! Examples are the quotient of a mean, the float of a maximum's key, and the square root of a deviation. A separate
//! kernel would cost another launch, and would write and read every result once more. Fusion changes no bits, since
//! storing and loading a number preserves it.

use super::bindings::fits;
use super::cost::{CHEAP, contains_search, work};
use super::digest::{DigestMap, DigestSet};
use super::expr::{Expr, ExprKind};
use super::fusion_barrier::FusionBarrier;
use super::node::{Node, Recipe};
use super::plan::{PlanLimits, Step};
use super::row_fusion::can_share;
use super::row_kernel::{Epilogue, RowKernel, RowResult};
use super::walk::for_each_expr;

/// Fuses each element-wise map of a row reduction's results into the reduction, if the map is the only reader.
pub(super) fn fuse_epilogues(steps: Vec<Step>, roots: &DigestSet, limits: PlanLimits) -> Vec<Step> {
    let mut readers: DigestMap<u32> = DigestMap::default();
    for n in steps.iter().flat_map(|s| s.reads.iter().chain(&s.after)) {
        *readers.entry(n.digest()).or_default() += 1;
    }
    let mut reductions: DigestMap<usize> = DigestMap::default();
    let mut out: Vec<Option<Step>> = Vec::with_capacity(steps.len());
    for mut step in steps {
        let is_alone = |n: &Node| match readers.get(&n.digest()) {
            _ if roots.contains(&n.digest()) => Err(FusionBarrier::Requested),
            Some(1) => Ok(()),
            _ => Err(FusionBarrier::SeveralReaders),
        };
        // A map of two reductions that can share a pass is left until row fusion has merged them.
        let splits_a_pass = |r: &Step| {
            let others = out.iter().flatten().filter(|s| s.out != r.out && step.reads.contains(&s.out));
            others
                .into_iter()
                .any(|s| !r.reads.contains(&s.out) && !s.reads.contains(&r.out) && can_share(s, r, limits))
        };
        // Of several reductions that can take the map, the latest one does. The others are stored before it.
        let mut taker = None;
        let mut kept = step.kept.clone();
        for n in &step.reads {
            let Some(&k) = reductions.get(&n.digest()) else { continue };
            let Some(reduction) = &out[k] else { continue };
            match can_fuse(reduction, &step, limits).and_then(|()| is_alone(n)) {
                Ok(()) if splits_a_pass(reduction) => {}
                Ok(()) => taker = taker.max(Some(k)),
                Err(why) => kept.refine(n, why),
            }
        }
        step.kept = kept;
        match taker.and_then(|k| out[k].take()) {
            // The fused step takes the map's place, where the map's other inputs are computed already.
            Some(reduction) => out.push(Some(joined(reduction, step))),
            None => {
                if matches!(step.recipe, Recipe::Reduce { .. }) {
                    reductions.insert(step.out.digest(), out.len());
                }
                out.push(Some(step));
            }
        }
    }
    out.into_iter().flatten().collect()
}

/// Whether the reduction can store the map's values. The error is the fusion barrier: [`FusionBarrier::EndsKernel`] for a map
/// of anything but the results.
fn can_fuse(reduction: &Step, map: &Step, limits: PlanLimits) -> Result<(), FusionBarrier> {
    let ended = Err(FusionBarrier::EndsKernel(reduction.family()));
    let (Some(pass), Recipe::Map { value, whole: false }) = (&reduction.pass, &map.recipe) else { return ended };
    if pass.results.iter().any(|r| r.epilogue.is_some()) {
        return ended;
    }
    let (from, to) = (&reduction.out, &map.out);
    if from.extent() != to.extent() || !map.reads.contains(from) {
        return ended;
    }
    // The reduction also stores results beyond the live ones, for which no condition need hold.
    if value.has_conditions() && to.extent().as_known().is_none() {
        return Err(FusionBarrier::Condition);
    }
    // The kernel has many stores, each of which would repeat the epilogue and knows only the row that was reduced.
    if work(value, None) > CHEAP {
        return Err(FusionBarrier::KernelSize);
    }
    if contains_search(value) {
        return Err(FusionBarrier::Search);
    }
    let mut in_place = true;
    for_each_expr(value, &mut |e| {
        if let ExprKind::Load(n, at) = e.kind() {
            in_place &= n != from || at.is_index();
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
    let more = read.iter().filter(|n| *n != from && !reduction.reads.contains(n));
    let status = u32::from(!reduction.checks.is_empty() || !map.checks.is_empty());
    let reads = reduction.reads.iter().chain(more);
    if fits(&reduction.recipe, std::iter::once(to), reads, &|_| false, status, limits) {
        Ok(())
    } else {
        Err(FusionBarrier::StorageBuffers)
    }
}

fn joined(reduction: Step, map: Step) -> Step {
    let (Recipe::Map { value, .. }, Recipe::Reduce { reducer, value: reduced, .. }) = (&map.recipe, &reduction.recipe)
    else {
        unreachable!("bug: no map of a reduction")
    };
    let from = reduction.out.clone();
    let epilogue = Epilogue { reduced: Expr::load(&from, Expr::index()), value: value.clone() };
    let result = RowResult {
        out: map.out.clone(),
        reducer: *reducer,
        value: reduced.clone(),
        epilogue: Some(epilogue),
        is_stored: true,
    };
    reduction.with_map(map, &[from], RowKernel { results: vec![result], map: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::dtype::DType;
    use crate::graph::backend::BackendRef;
    use crate::graph::expr::Check;
    use crate::graph::extent::Extent;
    use crate::graph::node::Rows;
    use crate::graph::opcode::ReduceOp;
    use crate::graph::plan::plan;

    const ROWS: u32 = 4;

    fn source(backend: &BackendRef, words: &[u32]) -> Node {
        let data = backend.upload(DType::U32, bytemuck::cast_slice(words)).expect("uploaded");
        Node::source(backend, DType::U32, words.len() as u32, data)
    }

    /// The sums of four rows. With `counted` only the device knows the number of rows.
    fn sums(backend: &BackendRef, counted: bool) -> Node {
        let splits = source(backend, &[0, 2, 2, 5, 6]);
        let values = source(backend, &[1, 2, 3, 4, 5, 6]);
        let nrows = match counted {
            false => Extent::known(ROWS),
            true => Extent::bounded(ROWS, Expr::load(&source(backend, &[ROWS]), Expr::u32(0))),
        };
        let value = Expr::load(&values, Expr::index());
        let rows = (Rows::Splits(splits), nrows);
        Node::reduce(backend, "sums", ReduceOp::Sum, rows, Extent::known(6), 1, value).expect("small")
    }

    fn steps(roots: &[Node]) -> usize {
        plan(roots, roots[0].backend().plan_limits()).steps.len()
    }

    fn map(of: &Node, value: Expr) -> Node {
        Node::map(of.backend(), "finish", of.extent().clone(), value, &[])
    }

    #[test]
    fn a_map_of_the_results_goes_into_the_stores() {
        let device = Device::cpu();
        for counted in [false, true] {
            let sums = sums(device.backend(), counted);
            let by = source(device.backend(), &[10, 20, 30, 40]);
            let own = Expr::load(&sums, Expr::index());
            let out = map(&sums, own.clone().mul(own).add(Expr::load(&by, Expr::index())));
            assert_eq!(steps(std::slice::from_ref(&out)), 1);
            let read = device.backend().read(&[out]).expect("read");
            assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&read[0]), [19, 20, 174, 76]);
            assert!(sums.stored().is_none(), "what was reduced is stored nowhere");
        }
    }

    #[test]
    fn a_map_stays_one_where_the_reduction_cannot_store_it() {
        let device = Device::cpu();
        let sums = sums(device.backend(), false);
        let own = || Expr::load(&sums, Expr::index());
        let twice = map(&sums, own().add(own()));
        assert_eq!(steps(std::slice::from_ref(&twice)), 1);
        assert_eq!(steps(&[sums.clone(), twice]), 2, "the sums are asked for");
        assert_eq!(
            steps(&[map(&sums, own().add(Expr::u32(3))), map(&sums, own().add(Expr::u32(4)))]),
            3,
            "two readers"
        );
        let last = Expr::load(&sums, Expr::u32(3).sub(Expr::index()));
        assert_eq!(steps(&[map(&sums, last.clone())]), 2, "another row's result");
        assert_eq!(steps(&[map(&sums, own().add(last))]), 2, "another row's result, too");
        assert_eq!(steps(&[map(&sums, own().cast(DType::U8))]), 1, "results that share a word");
        let found = Expr::row_of(&source(device.backend(), &[0, 1, 7, 9]), own());
        assert_eq!(steps(&[map(&sums, found)]), 2, "a search");
        let few = Node::map(device.backend(), "finish", Extent::known(ROWS - 1), own().add(Expr::u32(1)), &[]);
        assert_eq!(steps(&[few]), 2, "fewer results");
    }

    #[test]
    fn conditions_are_looked_at_for_live_results_only() {
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
}
