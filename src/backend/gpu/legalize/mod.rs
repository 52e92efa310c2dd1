//! Legalization of steps over arrays that exceed the binding limit: rewrites a step into steps whose kernels can bind
//! their arrays.
//!
//! An array larger than one binding is bound as several windows. If the windows of all arrays exceed the bindings of a
//! kernel, each dispatch binds parts of the arrays, and the host must know which parts a dispatch accesses. Such a step
//! is rewritten:
//!
//! - A read of a large array at a computed position becomes a *fetch*: a map whose value is only that load, or that
//!   search in row splits. The map is dispatched once per part of the array, and each dispatch stores the elements
//!   found in its part.
//! - The input of a scan, a sort or a reduction is stored first, so that its kernel reads the input at its own
//!   positions.
//! - A device-known count becomes an array of one element.
//! - A compaction becomes a search in the ranks of its bitmap. A row sort becomes two sorts, by key and then by row.
//!   A selection becomes a row sort. A histogram becomes a sort, and a search for the ends of each key.
//!
//! The resulting steps read large arrays at host-known positions, or one large array at any position. Legalization is
//! the last resort, since values that would stay in registers are stored and loaded. Results keep their bits, since a
//! store and a load preserve a number.

mod fetch;
mod sorts;

use std::collections::HashMap;

use crate::graph::digest::{Digest, DigestSet};
use crate::graph::plan::{PlanLimits, Step};
use crate::graph::planned::{Arena, Expr, Extent, InPlan, Node, Recipe, RowDomain, Rows, SizeView};
use crate::graph::primitive::{Map, Product, Reduce};
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::step::Dependencies;
use crate::graph::step::fusion_barrier::FusionBarrier;
use crate::graph::step::row_kernel::{RowKernel, RowResult};

/// A step that is being legalized.
pub(super) struct Legalizer<'a> {
    /// The node that the legalized step computes.
    pub(super) target: Node,
    pub(super) limits: PlanLimits,
    /// The sizes for which the plan is made.
    pub(super) sizes: SizeView<'a>,
    /// The definitions of the plan.
    pub(super) arena: &'a mut Arena,
    pub(super) done: &'a mut DigestSet,
    pub(super) steps: Vec<Step>,
    /// Legalized expressions, by the original expression and the number of positions.
    pub(super) memo: HashMap<(Digest, u32), Expr>,
}

impl<'a> Legalizer<'a> {
    pub(super) fn new(step: &Step, sizes: SizeView<'a>, arena: &'a mut Arena, done: &'a mut DigestSet) -> Self {
        let (target, limits) = (step.out.clone(), step.limits);
        Self { target, limits, sizes, arena, done, steps: Vec::new(), memo: HashMap::new() }
    }

    /// The step with the legalized recipe, preceded by the steps that store its inputs.
    pub(super) fn finish(mut self, step: Step, recipe: Recipe) -> Vec<Step> {
        let live = step.live.map(|e| self.stored_count(&e));
        let mut out = Step { recipe, live, row_kernel: None, reads: Vec::new(), row_context: None, ..step };
        // Arrays that the step no longer reads may still have conditions.
        out.after.extend(step.reads);
        if let (Some(row_kernel), Recipe::Reduce(Reduce { value, .. })) = (step.row_kernel, &out.recipe) {
            // Kernels that iterate over rows stop at the last split and read no live count.
            let plain = |r| RowResult { value: value.clone(), ..r };
            out.row_kernel =
                Some(RowKernel { results: row_kernel.results.into_iter().map(plain).collect(), map: None });
        }
        if out.recipe.rows().is_some() {
            out.live = None;
        }
        let last = with_dependencies(out, self.sizes);
        self.steps.push(last);
        self.steps
    }

    /// A map of the legalized value over an extent.
    pub(super) fn map_of(&mut self, extent: &Extent, value: &Expr, whole: bool) -> Recipe {
        Recipe::Map(Map { value: self.map_value(value, self.sizes.capacity(extent)), whole })
    }

    /// The stored input of a primitive: `inner` numbers for each of `count` elements.
    pub(super) fn stored_input(&mut self, e: &Expr, count: &Extent, inner: u32) -> Expr {
        let count = self.count(count);
        let numbers = count.times(self.target.op(), u64::from(inner)).unwrap_or(count);
        let value = self.legalized(e, self.sizes.capacity(&numbers));
        if value.own_load().is_some() { value } else { Expr::load(&self.map(numbers, value), Expr::index()) }
    }

    /// The count as a size, or as an expression that reads one element.
    fn stored_count(&mut self, live: &Expr) -> Expr {
        if live.as_size().is_some() {
            return live.clone();
        }
        let value = self.legalized(live, 1);
        Expr::load(&self.map(Extent::known(1), value), Expr::u32(0))
    }

    pub(super) fn count(&mut self, extent: &Extent) -> Extent {
        match extent.live() {
            None => extent.clone(),
            Some(live) => Extent::counted(extent.size(), &self.stored_count(&live)),
        }
    }

    /// The row splits; computed for uniform rows.
    fn splits(&mut self, rows: &Rows, nrows: &Extent) -> Node {
        match rows {
            Rows::Splits(node) => node.clone(),
            Rows::Uniform(len) => {
                let nrows = self.count(nrows);
                let start = Expr::index().min(nrows.expr()).mul(Expr::size(len));
                self.map(Extent::known(self.sizes.capacity(&nrows) + 1), start)
            }
        }
    }

    /// The rows as splits, and their capacity. The splits determine which rows are live.
    pub(super) fn iterated_rows(&mut self, rows: &Rows, nrows: &Extent) -> (Rows, Extent) {
        (Rows::Splits(self.splits(rows, nrows)), Extent::known(self.sizes.capacity(nrows)))
    }

    /// The rows as splits, and the stored values, in an array other than the splits.
    pub(super) fn row_input(&mut self, value: &Expr, on: &RowDomain) -> (RowDomain, Expr) {
        let RowDomain { rows, nrows, nvals, inner } = on;
        let (rows, nrows) = self.iterated_rows(rows, nrows);
        let mut value = self.stored_input(value, nvals, *inner);
        if let Rows::Splits(splits) = &rows
            && value.node() == Some(splits)
        {
            value = self.stored_copy(&value, splits, self.sizes.capacity(nvals));
        }
        (RowDomain { rows, nrows, nvals: self.count(nvals), inner: *inner }, value)
    }

    /// Source positions of the numbers that a compaction keeps: the last position of each rank.
    pub(super) fn position_of_kept(&mut self, bitmap: Node, count: Extent, inner: u32) -> Expr {
        let positions = self.sizes.capacity(&count);
        let rank = self.legalized(&RankBitmap::of(bitmap, count).rank(&Expr::index()), positions + 1);
        let ranks = self.map(Extent::known(positions + 1), rank);
        let each = Expr::u32(inner.max(1));
        let position = Expr::row_of(&ranks, Expr::index().div(each.clone()));
        position.mul(each.clone()).add(Expr::index().rem(each))
    }

    /// The product of two stored operands. The tile partition and the parameters of all batches are stored too, so that
    /// a dispatch can compute a range of the batches.
    pub(super) fn product(&mut self, p: Product<InPlan>) -> Product<InPlan> {
        let all: Vec<Expr> = p.sizes.iter().chain(&p.starts).cloned().collect();
        let parameters = self.interleaved(&all, self.sizes.capacity(&p.batches));
        let (tiles, batches) = match all.iter().any(Expr::has_index) {
            true => self.iterated_rows(&p.tiles, &p.batches),
            false => (p.tiles.clone(), self.count(&p.batches)),
        };
        let numbers = |k: usize| parameters[k].clone();
        let (sizes, starts) = ([0, 1, 2].map(numbers), [3, 4, 5].map(numbers));
        let mut operand = |k: usize| {
            let capacity = self.sizes.value(&p.capacities[k]);
            let value = self.legalized(&p.operands[k], capacity);
            if value.own_load().is_some() { value } else { self.stored(&value, capacity) }
        };
        let mut operands = [operand(0), operand(1)];
        if let [Some(left), Some(right)] = operands.each_ref().map(Expr::node)
            && left == right
        {
            let left = left.clone();
            operands[1] = self.stored_copy(&operands[1], &left, self.sizes.value(&p.capacities[1]));
        }
        Product { batches, sizes, starts, operands, tiles, ..p }
    }

    /// The same u32 expressions. Those that vary by position are stored in one array, interleaved, for `positions`
    /// positions.
    fn interleaved(&mut self, all: &[Expr], positions: u32) -> Vec<Expr> {
        let differs = |e: &Expr| e.reads() || e.has_index();
        let differing: Vec<&Expr> = all.iter().filter(|e| differs(e)).collect();
        let width = differing.len() as u32;
        let Some(numbers) = positions.checked_mul(width).filter(|&n| n > 0) else { return all.to_vec() };
        let (at, which) = (Expr::index().div(Expr::u32(width)), Expr::index().rem(Expr::u32(width)));
        let one_of = |rest: Expr, (k, e): (u32, &&Expr)| which.clone().eq(Expr::u32(k)).select(e.at(&at), rest);
        let value = (0..).zip(&differing).fold(Expr::u32(0), one_of);
        let value = self.legalized(&value, numbers);
        let array = self.stored(&value, numbers);
        let mut next = 0..;
        let placed = |e: &Expr| match differs(e) {
            false => e.clone(),
            true => array.at(&Expr::index().mul(Expr::u32(width)).add(Expr::u32(next.next().unwrap_or(0)))),
        };
        all.iter().map(placed).collect()
    }

    /// Number of positions with each of `bins` keys: the distance between the ends of adjacent keys in sorted order.
    pub(super) fn counted(&mut self, key: &Expr, count: &Extent, bins: u32) -> Expr {
        // Other keys sort to the end.
        let key = self.stored_input(&key.clone().min(Expr::u32(bins)), count, 1);
        let count = self.count(count);
        let bits = u32::BITS - bins.leading_zeros();
        let order = self.sort(key.clone(), count.clone(), bits);
        // A search returns the last entry that does not exceed a key. Over 0 followed by the sorted keys plus 1, the
        // index of that entry is the number of keys below.
        let (at, one) = (Expr::index(), Expr::u32(1));
        let sorted = key.at(&Expr::load(&order, at.clone().sub(one.clone())));
        let bound = at.clone().le(count.expr()).select(sorted.add(one.clone()), Expr::u32(u32::MAX));
        let bound = at.clone().eq(Expr::u32(0)).select(Expr::u32(0), bound);
        let entries = Extent::known(self.sizes.capacity(&count) + 2);
        let bound = self.legalized(&bound, self.sizes.capacity(&entries));
        let bounds = self.map(entries, bound);
        Expr::row_of(&bounds, at.clone().add(one)).sub(Expr::row_of(&bounds, at))
    }
}

/// The step, with its reads, conditions and row context derived from its expressions.
pub(super) fn with_dependencies(mut step: Step, sizes: SizeView<'_>) -> Step {
    let Dependencies { reads, checks, own_row, .. } = Dependencies::of(&step.recipe, step.live.as_ref());
    (step.reads, step.checks) = (reads, checks);
    // Computed arrays without a recorded reason are separate because of their bindings.
    for n in step.reads.iter().filter(|n| !n.is_input()) {
        step.barriers.note(n, Some(FusionBarrier::StorageBuffers));
    }
    step.after.retain(|n| n.is_fallible() && !step.reads.contains(n));
    if step.recipe.mapped().is_some() && !step.exceeds_bindings(sizes) {
        step.row_context = own_row;
    }
    step
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{PlanLimits, Recipe, Step};
    use crate::backend::cpu::CpuBackend;
    use crate::dtype::DType;
    use crate::graph::backend::BackendRef;
    use crate::graph::expr::Check;
    use crate::graph::node::{RowDomain, Rows};
    use crate::graph::opcode::ReduceOp;
    use crate::graph::plan::{Int64Repr, PlanOf};
    use crate::graph::recorder::Recorder;
    use crate::graph::{Expr, Extent, Node};

    const N: u32 = 100_000;

    fn source(backend: &BackendRef, dtype: DType, len: u32) -> Node {
        Node::source(backend, dtype, len, Arc::new(()))
    }

    /// The steps that compute the node with bindings of 8 KiB.
    fn windowed_steps(node: &Node) -> PlanOf {
        let limits = PlanLimits { max_binding: 8 << 10, ..PlanLimits::of_core_webgpu(Int64Repr::Native) };
        PlanOf::new(std::slice::from_ref(node), limits)
    }

    /// The kinds of these steps.
    fn kinds(node: &Node) -> Vec<&'static str> {
        let plan = windowed_steps(node);
        let (steps, sizes) = (&plan.steps, plan.sizes());
        let is_large = |s: &Step| s.limits.windows(sizes.bytes(&s.out)) > 1;
        assert!(steps.iter().all(|s| is_large(s) || sizes.capacity(s.out.extent()) <= 1));
        let kind = |s: &Step| match (&s.recipe, s.fetches()) {
            (Recipe::Map(_), Some(_)) => "fetch",
            (Recipe::Map(_), None) if s.is_oversized() => "too large",
            (recipe, _) => recipe.family(),
        };
        steps.iter().map(kind).collect()
    }

    #[test]
    fn computed_positions_are_fetched() {
        let backend: BackendRef = Arc::new(CpuBackend::new(u64::MAX, true));
        let (x, at) = (source(&backend, DType::F32, N), source(&backend, DType::U32, N));
        let place = Expr::load(&at, Expr::index());
        let map = |value: Expr| Node::map(&backend, "test", Extent::known(N), value, &[]);
        let taken = Expr::load(&x, place.clone());
        assert_eq!(kinds(&map(taken.clone())), ["fetch"]);
        let next = Expr::load(&x, place.clone().add(Expr::u32(1)));
        assert_eq!(kinds(&map(taken.clone().add(next))), ["fetch", "fetch", "map"]);
        // An array that is indexed by its own elements is copied first.
        assert_eq!(kinds(&map(Expr::load(&at, place.clone()))), ["map", "fetch"]);
        // The reader checks the condition.
        let checked = place.clone().checked(Check::new("test", "it is even"), place.rem(Expr::u32(2)).eq(Expr::u32(0)));
        assert_eq!(kinds(&map(Expr::load(&x, checked))), ["fetch", "map"]);
    }

    #[test]
    fn conditions_are_checked_after_a_fetch() {
        let backend: BackendRef = Arc::new(CpuBackend::new(u64::MAX, true));
        let (x, at) = (source(&backend, DType::F32, N), source(&backend, DType::U32, N));
        let place = Expr::load(&at, Expr::index());
        let (even, within) = (Check::new("test", "it is even"), Check::new("test", "it is within"));
        let is_even = place.clone().rem(Expr::u32(2)).eq(Expr::u32(0));
        let is_within = place.clone().lt(Expr::u32(N)).checked(even.clone(), is_even);
        let value = Expr::load(&x, place.checked(within.clone(), is_within));
        let plan = windowed_steps(&Node::map(&backend, "test", Extent::known(N), value, &[]));
        let [fetch, reader] = plan.steps.as_slice() else { panic!("{:?}", plan.steps) };
        assert!(fetch.fetches() == plan.array(&x) && fetch.checks.is_empty(), "{fetch:?}");
        let checks: Vec<Arc<Check>> = reader.checks.iter().map(|check| plan.check(*check)).collect();
        assert_eq!(checks, [even, within], "the nested condition first");
    }

    #[test]
    fn inputs_of_kernels_are_stored_first() {
        let backend: BackendRef = Arc::new(CpuBackend::new(u64::MAX, true));
        let (x, at) = (source(&backend, DType::U32, N), source(&backend, DType::U32, N));
        let count = Expr::load(&at, Expr::u32(N - 1));
        let keys = Expr::load(&x, Expr::index()).add(Expr::load(&at, Expr::index()));
        let sort = |count| Recorder::new(&backend, "test").sort(count, keys.clone(), 32);
        assert_eq!(kinds(&sort(Extent::known(N))), ["map", "sort"]);
        assert_eq!(kinds(&sort(Extent::bounded(N, count))), ["fetch", "map", "sort"]);
        let splits = source(&backend, DType::U32, N);
        let rows = || (Rows::Splits(splits.clone()), Extent::known(N - 1));
        let sorted = Recorder::new(&backend, "test").row_sort(
            RowDomain::of(rows(), Extent::known(N), 1),
            (keys.clone(), 32),
            u32::MAX,
        );
        assert_eq!(kinds(&sorted), ["map", "sort", "fetch", "sort", "fetch"]);
        let first = |key| {
            Recorder::new(&backend, "test")
                .top_k(RowDomain::of(rows(), Extent::known(N), 1), (key, 9), u32::MAX)
                .expect("small")
        };
        assert_eq!(kinds(&first(keys.clone()))[..5], ["map", "sort", "fetch", "sort", "fetch"]);
        let wide = first(keys.clone().cast(DType::U64));
        assert_eq!(kinds(&wide).iter().filter(|kind| **kind == "sort").count(), 3);
        let folds = Recorder::new(&backend, "test").tile_fold(
            ReduceOp::Sum,
            Extent::known(N),
            (keys.clone(), 300),
            keys.clone(),
        );
        assert_eq!(kinds(&folds.expect("small")), ["map", "tile_fold"]);
        let sums = Recorder::new(&backend, "test")
            .reduce(ReduceOp::Sum, RowDomain::of(rows(), Extent::known(N), 1), keys)
            .expect("small");
        assert_eq!(kinds(&sums), ["map", "row_reduce"]);
        // Rows whose values are their own starts.
        let own = Expr::load(&splits, Expr::index());
        let sums = Recorder::new(&backend, "test")
            .reduce(ReduceOp::Sum, RowDomain::of(rows(), Extent::known(N), 1), own)
            .expect("small");
        assert_eq!(kinds(&sums), ["map", "row_reduce"]);
    }
}
