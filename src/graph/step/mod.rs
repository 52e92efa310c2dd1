//! Steps of a plan, and the device limits that they observe.

pub(super) mod bindings;
pub(crate) mod cost;
pub(crate) mod doubles;
pub(crate) mod fusion;
pub(crate) mod fusion_barrier;
pub(crate) mod many_dispatches;
pub(crate) mod recomputed;
pub(crate) mod row_kernel;
pub(crate) mod traffic;

pub(crate) use self::doubles::Float64Repr;
use self::fusion::{Fusion, LeastSizes};
use self::fusion_barrier::Barriers;
use self::recomputed::RecomputedProduct;
use self::row_kernel::RowKernel;
use super::digest::DigestSet;
use super::planned::{Arena, Expr, ExprKind, Node, Recipe, Rows, Size, SizeView};
use super::program::CheckId;
use super::walk::{arrays, for_each_expr, for_each_node};
use crate::tuning::Tuning;

/// What the planner asks a backend about its kernels.
pub(crate) trait Kernels: std::fmt::Debug + Sync {
    /// Storage buffers that the kernels of a recipe bind for one output and scratch. Excludes the arrays that they read
    /// and the status block.
    fn buffers(&self, _recipe: &Recipe, _limits: SizedLimits<'_>) -> u32 {
        1
    }

    /// Bindings beyond one that the windows of an output take.
    fn output_windows(&self, _recipe: &Recipe, out: &Node, limits: SizedLimits<'_>) -> u32 {
        limits.extra_windows(out)
    }

    /// The steps that take the place of a step that exceeds the bindings. `done` holds the nodes that the plan computes
    /// so far.
    fn legalize(&self, step: Step, _sizes: SizeView<'_>, _arena: &mut Arena, _done: &mut DigestSet) -> Vec<Step> {
        vec![step]
    }
}

/// Limits of a backend's kernels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanLimits {
    /// Maximum number of arrays that a kernel reads and writes, output included.
    pub(crate) arrays: u32,
    /// Maximum number of storage buffers that a kernel binds: at least `arrays`. The surplus serves windows of large
    /// arrays.
    pub(crate) bindings: u32,
    /// Whether a kernel can read more arrays than `arrays`, which is then the number up to which fusion pays.
    pub(crate) reads_any_number: bool,
    /// Bytes per binding; a larger array takes several bindings.
    pub(crate) max_binding: u64,
    /// How much is fused.
    pub(crate) fusion: Fusion,
    /// Numbers of a product from which on storing it costs more than computing them several times.
    pub(crate) large_product: u64,
    /// Representation of 64-bit integers in kernels.
    pub(crate) int64: Int64Repr,
    /// How kernels add the products of f32.
    pub(crate) products: ProductRepr,
    /// Representation of 64-bit floats in kernels.
    pub(crate) float64: Float64Repr,
    /// The kernels.
    pub(crate) kernels: &'static dyn Kernels,
    /// Maximum bytes of accumulators per row in a row kernel.
    pub(crate) row_state: usize,
    /// Tuning of the kernels.
    pub(crate) tuning: Tuning,
}

impl PlanLimits {
    /// The least sizes of products that are not stored; `None` if all are stored.
    pub(crate) fn least_products(&self) -> Option<LeastSizes> {
        self.fusion.least_products(self.large_product)
    }

    /// Number of bindings for an array of `bytes` bytes.
    pub(crate) fn windows(&self, bytes: u64) -> u32 {
        if bytes <= self.max_binding { 1 } else { bytes.div_ceil(self.window_bytes()).try_into().unwrap_or(u32::MAX) }
    }

    /// Bytes per window of an array that takes several bindings: a power of two.
    pub(crate) fn window_bytes(&self) -> u64 {
        1 << self.max_binding.max(1).ilog2()
    }
}

/// Limits of a backend's kernels, with the sizes of the run for which a plan is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizedLimits<'a> {
    pub(crate) limits: PlanLimits,
    pub(crate) sizes: SizeView<'a>,
}

impl SizedLimits<'_> {
    /// Bindings beyond one that the windows of an array take.
    pub(crate) fn extra_windows(&self, n: &Node) -> u32 {
        self.limits.windows(self.sizes.bytes(n)) - 1
    }
}

/// Representation of 64-bit integers in a device's kernels. Storage is 8 bytes, little endian, in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Int64Repr {
    /// Native 64-bit integers.
    Native,
    /// Pairs of 32-bit words, the low one first.
    Pairs,
}

/// How a device's kernels add a product of two f32 to a sum in matrix products. All but the last give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProductRepr {
    /// By the device's fused multiply-add.
    Native,
    /// By 64-bit floats.
    Doubles,
    /// By integers.
    Words,
    /// By a product and a sum, each rounded: other bits.
    Split,
}

/// A step of a plan: a recipe after fusion, whose expressions read stored arrays only.
#[derive(Debug)]
pub(crate) struct Step {
    /// The node that the step computes.
    pub(crate) out: Node,
    /// The recipe, with maps inlined.
    pub(crate) recipe: Recipe,
    /// For a row reduction: its row kernel. `out` is the node of the map if there is one, else of the first result.
    pub(crate) row_kernel: Option<RowKernel>,
    /// The products that the expressions load although no step stores them.
    pub(crate) recomputed: Vec<RecomputedProduct>,
    /// The live count of the output, over stored arrays only.
    pub(crate) live: Option<Expr>,
    /// Arrays that the step reads, in order of first use: inputs, and outputs of earlier steps.
    pub(crate) reads: Vec<Node>,
    /// Limits of the kernels.
    pub(crate) limits: PlanLimits,
    /// Conditions that the step evaluates.
    pub(crate) checks: Vec<CheckId>,
    /// Further nodes that must be computed before the step, since the output depends on their conditions or counts.
    pub(crate) after: Vec<Node>,
    /// The partition in which the kernel knows the row of each element, by one search per tile: splits and inner width.
    pub(crate) row_context: Option<(Node, u32)>,
    /// The fused operations, innermost last.
    pub(crate) fused: Vec<&'static str>,
    /// Fusion barriers: why the step reads arrays that other steps store.
    pub(crate) barriers: Barriers,
    /// How the arrays of the step fit the bindings of a kernel, once the plan is complete.
    pub(crate) windows: StepWindows,
}

/// How the arrays of a step fit the bindings of a kernel. Equal in all runs of a plan: see
/// [`LinkedPlan`](super::plan::LinkedPlan).
#[derive(Debug, Default)]
pub(crate) struct StepWindows {
    is_oversized: bool,
    fetched: Option<Node>,
}

impl Step {
    /// Sets [`Step::windows`] in the complete plan.
    pub(super) fn settle_windows(&mut self, sizes: SizeView<'_>) {
        let is_oversized = self.exceeds_bindings(sizes);
        self.windows = StepWindows { is_oversized, fetched: self.fetches_in(sizes).cloned() };
    }

    /// Whether an array exceeds one binding and the windows of all arrays exceed the bindings of a kernel.
    pub(crate) fn is_oversized(&self) -> bool {
        self.windows.is_oversized
    }

    /// The large array of a fetch: a map whose value is a load from that array at a computed position, or a search in
    /// it. Each dispatch of a fetch binds one part of the array.
    pub(crate) fn fetches(&self) -> Option<&Node> {
        self.windows.fetched.as_ref()
    }

    /// Name of the kernel template: the recipe's, or `row_map` for a map with a row context.
    pub(crate) fn family(&self) -> &'static str {
        match &self.recipe {
            Recipe::Map(_) if self.row_context.is_some() => "row_map",
            recipe => recipe.family(),
        }
    }

    /// The arrays that a map reads at its own position only. Such an array may be shorter than the map; elements beyond
    /// its end select another value.
    pub(crate) fn at_own_position(&self) -> DigestSet {
        let Some(value) = self.recipe.mapped() else { return DigestSet::default() };
        let mut elsewhere: DigestSet = self.row_context.iter().map(|(splits, _)| splits.digest()).collect();
        let mut at_own = DigestSet::default();
        let count = self.recipe.live_counts();
        for_each_expr(value, &mut |e| match e.kind() {
            ExprKind::Load(n, at) if at.is_own_position() => {
                at_own.insert(n.digest());
            }
            _ => elsewhere.extend(e.node().map(Node::digest)),
        });
        for e in self.live.clone().into_iter().chain(count) {
            elsewhere.extend(arrays(&e));
        }
        at_own.difference(&elsewhere).copied().collect()
    }
}

impl Step {
    /// The checks that the step evaluates; that of an assertion is the last.
    pub(crate) fn all_checks(&self) -> impl Iterator<Item = &CheckId> {
        self.checks.iter().chain(self.recipe.check())
    }

    /// The arrays that the step stores.
    pub(crate) fn outputs(&self) -> Vec<&Node> {
        match &self.row_kernel {
            Some(row_kernel) => row_kernel.outputs().collect(),
            None => vec![&self.out],
        }
    }

    /// The arrays that the step's expressions read. Excludes arrays that are read for counts only.
    pub(super) fn value_reads(&self) -> Vec<Node> {
        let mut read = DigestSet::default();
        self.recipe.exprs().into_iter().for_each(|e| read.extend(arrays(e)));
        self.reads.iter().filter(|n| read.contains(&n.digest())).cloned().collect()
    }

    /// Fuses a map of the step's results `fused_results` into the step. `row_kernel` computes the map's node. The fused
    /// step has the dependencies of both steps.
    pub(super) fn with_map(self, map: Self, fused_results: &[Node], row_kernel: RowKernel) -> Self {
        let (mut reads, mut checks, mut after) = (self.reads, self.checks, self.after);
        let is_other = |n: &Node| !fused_results.contains(n);
        let read = map.value_reads();
        merge(&mut reads, read.iter().filter(|n| is_other(n)).cloned());
        merge(&mut after, map.reads.into_iter().filter(|n| is_other(n) && !read.contains(n)));
        merge(&mut checks, map.checks);
        merge(&mut after, map.after.into_iter().filter(is_other));
        let (mut fused, mut barriers) = (map.fused, map.barriers);
        fused.extend(self.fused);
        barriers.extend(self.barriers);
        Self {
            out: map.out,
            row_kernel: Some(row_kernel),
            live: map.live,
            reads,
            checks,
            after,
            fused,
            barriers,
            ..self
        }
    }
}

/// Appends the elements that the list lacks.
pub(crate) fn merge<T: PartialEq>(into: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for x in more {
        if !into.contains(&x) {
            into.push(x);
        }
    }
}

/// The arrays and conditions of a recipe whose expressions are resolved.
pub(crate) struct Dependencies {
    /// The arrays, in order of first use.
    pub(crate) reads: Vec<Node>,
    /// The conditions.
    pub(crate) checks: Vec<CheckId>,
    /// The first partition in which an expression needs the row of the current element: splits and inner width.
    pub(crate) own_row: Option<(Node, u32)>,
    /// Further arrays that hold counts of the recipe's sizes, to be computed before the step.
    pub(crate) sized: Vec<Node>,
}

impl Dependencies {
    /// The dependencies of the recipe and of the live count of its result.
    pub(crate) fn of(recipe: &Recipe, live: Option<&Expr>) -> Self {
        let reads = recipe.array().cloned().into_iter().collect();
        let mut out = Self { reads, checks: Vec::new(), own_row: None, sized: Vec::new() };
        let live_counts: Vec<Expr> = recipe.live_counts().chain(live.cloned()).collect();
        // Kernels that iterate over splits stop at the last split and read no live count.
        let stops_at_splits = recipe.domain().is_some_and(|on| matches!(on.rows, Rows::Splits(_)));
        let read = if stops_at_splits { &[] } else { &live_counts[..] };
        let mut seen: DigestSet = out.reads.iter().map(Node::digest).collect();
        for e in recipe.exprs().into_iter().chain(read) {
            for_each_expr(e, &mut |e| {
                if let ExprKind::Checked(check, ..) = e.kind()
                    && !out.checks.contains(check)
                {
                    out.checks.push(*check);
                }
                if let Some(n) = e.node()
                    && seen.insert(n.digest())
                {
                    out.reads.push(n.clone());
                }
                if let ExprKind::Size(size) = e.kind() {
                    merge(
                        &mut out.sized,
                        size.counts().into_iter().filter_map(Size::device_count).map(|c| c.node.clone()),
                    );
                }
                if out.own_row.is_none() {
                    out.own_row = e.own_row().map(|(splits, inner)| (splits.clone(), inner));
                }
            });
        }
        for e in &live_counts {
            for_each_node(e, &mut |n| merge(&mut out.sized, [n.clone()]));
        }
        out.sized.retain(|n| !out.reads.contains(n));
        out
    }
}

/// Steps in execution order.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// The products that need not be stored, and whether they exceed their operands in the runs of the plan: see
    /// [`recomputed::exceeds_operands`].
    pub(crate) products: Vec<(Node, bool)>,
}
