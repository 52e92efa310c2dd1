//! Inlining of maps: decides whether the reading kernel recomputes a map or loads it from memory.

use super::Planner;
use super::resolve::Resolution;
use crate::graph::conditions::always_checked;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::planned::{Expr, ExprKind, Extent, Node, Recipe};
use crate::graph::primitive::{Evaluation, Map};
use crate::graph::row_fusion::is_epilogue_candidate;
use crate::graph::step::cost::{MAX_REPEATED_COST, contains_search, evaluation_cost};
use crate::graph::step::fusion::Fusion;
use crate::graph::step::fusion_barrier::FusionBarrier;
use crate::graph::step::merge;
use crate::graph::walk::{for_each_expr, for_each_node};

/// Maximum cost of an expression that is evaluated in both passes of a scan. Less than the cost of a search.
const MAX_COST_TWICE: u32 = 20;
/// Maximum cost of an epilogue that is recomputed per element of the row instead of computed once per row.
const MAX_COST_PER_ELEMENT: u32 = 8;
/// Maximum total cost of the expressions that are inlined into a step.
const MAX_INLINED_COST: u32 = 2_000;
/// Maximum number of maps that are inlined into each other. Bounds the time that drivers take to compile a kernel.
const MAX_NESTED: u32 = 64;
/// Maximum height of the expressions that are inlined into each other, in total. Bounds the stack that planning takes.
const MAX_HEIGHT: u32 = 192;
/// Maximum number of maps with several readers among them.
const MAX_SHARED: u32 = 8;

/// What remains to be visited, the next last.
enum Visit {
    /// An array, and then its inputs.
    Inputs(Node),
    /// A map whose inputs are visited, with its expression.
    Map(Node, Expr),
}

impl Planner<'_> {
    /// The map's expression at position `at`, if recomputing it costs less than storing the map. The error is the fusion
    /// barrier; `None` if the array is stored already.
    pub(super) fn inline(
        &self,
        n: &Node,
        at: &Expr,
        g: &mut Resolution<'_>,
        always: bool,
    ) -> Result<Expr, Option<FusionBarrier>> {
        let recipe = n.recipe().ok_or(None)?;
        if g.recomputes && at.is_index() && self.products.contains(&n.digest()) {
            merge(&mut g.recomputed, [n.clone()]);
            return Err(None);
        }
        let Recipe::Map(Map { value, .. }) = &*recipe else {
            return Err(Some(FusionBarrier::EndsKernel(recipe.family())));
        };
        self.body(n, value, at, g, always).map_err(Some)
    }

    /// As [`Self::inline`], for a map of expression `value`.
    fn body(
        &self,
        n: &Node,
        value: &Expr,
        at: &Expr,
        g: &mut Resolution<'_>,
        always: bool,
    ) -> Result<Expr, FusionBarrier> {
        if self.limits.fusion == Fusion::Nothing {
            return Err(FusionBarrier::Disabled);
        }
        if self.roots.contains(&n.digest()) {
            return Err(FusionBarrier::Requested);
        }
        if g.evaluation == Evaluation::Stored {
            return Err(FusionBarrier::Overwrites);
        }
        if g.stored.contains(&n.digest()) || self.added.contains(&n.digest()) {
            return Err(FusionBarrier::StorageBuffers);
        }
        // A condition of an array must hold for all elements: a read of any element fails otherwise. Fusion must not
        // skip the check of an element.
        if value.has_conditions() && !(always && covers(at, n.extent(), g.domain.as_ref())) {
            return Err(FusionBarrier::Condition);
        }
        let uses = self.uses.get(&n.digest()).copied().unwrap_or(1);
        let mut body = value.at(at);
        // At a computed position, a search would run once per load.
        let mut is_search = !at.is_index() && searches(&body, g);
        // The rows take less memory than the map, and one more load of each element.
        if is_search
            && uses == 1
            && matches!(g.evaluation, Evaluation::Once | Evaluation::Rowless)
            && let Some(loaded) = self.with_row_numbers(n, value)
        {
            (body, is_search) = (loaded.at(at), false);
        }
        // A map that does not use its position, such as a constant, would drop the conditions of the position.
        if at.has_conditions() && !always_checked(at).is_subset(&always_checked(&body)) {
            return Err(FusionBarrier::Condition);
        }
        let cost = evaluation_cost(&body, g.rows.as_ref());
        let is_small =
            g.cost + cost <= MAX_INLINED_COST && g.nested < MAX_NESTED && g.height + body.height() <= MAX_HEIGHT;
        // A map over the results of a product that is not stored would take as much memory.
        if g.recomputes && at.is_index() && self.extents.contains(&n.extent().size().digest()) && is_small {
            g.cost += cost;
            return Ok(body);
        }
        match g.evaluation {
            Evaluation::ManySites if cost > 2 => return Err(FusionBarrier::EvaluatedOften),
            Evaluation::Twice | Evaluation::Repeatedly if cost > MAX_COST_TWICE => {
                return Err(FusionBarrier::EvaluatedOften);
            }
            // A map kernel finds the rows of a tile with two searches, so storing the map is cheaper than one search
            // per element.
            Evaluation::Rowless if contains_search(&body) => return Err(FusionBarrier::Search),
            _ => {}
        }
        if is_search {
            return Err(FusionBarrier::Search);
        }
        // A map that is read several times, or at computed positions, is inlined only if recomputing it is cheap.
        let repeated = uses > 1 || !at.is_index();
        // A load of the stored map computes the position too.
        let more = cost.saturating_sub(evaluation_cost(at, g.rows.as_ref()));
        if repeated && (cost > MAX_REPEATED_COST || (uses > 8 && more > 8)) {
            return Err(if uses > 1 { FusionBarrier::SeveralReaders } else { FusionBarrier::ComputedPositions });
        }
        if self.chain_ends.contains(&n.digest()) {
            return Err(FusionBarrier::SeveralReaders);
        }
        if self.barred.contains(&n.digest()) {
            return Err(FusionBarrier::Condition);
        }
        // An epilogue that is read once per element of the row, such as the quotient of a mean, is computed once per
        // row.
        if !at.is_index() && cost > MAX_COST_PER_ELEMENT && is_epilogue_candidate(n, value, |n| self.has_one_reader(n))
        {
            return Err(FusionBarrier::OncePerRow);
        }
        if !is_small {
            return Err(FusionBarrier::KernelSize);
        }
        g.cost += cost;
        Ok(body)
    }

    /// Finds the maps that are stored so that at most [`MAX_SHARED`] maps with several readers are inlined into each
    /// other. What is inlined into such a map has several readers too: each step of a loop would compute all steps
    /// before it again. The maps are the same for all readers. Otherwise each reader of a loop's step would require
    /// another one of the earlier steps, and every step would be stored and recomputed.
    pub(super) fn find_chain_ends(&mut self, roots: &[Node]) {
        // The length of the longest chain that ends with each map, as far as it is inlined into readers.
        let mut lengths: DigestMap<u32> = DigestMap::default();
        let mut visited = DigestSet::default();
        let mut stack: Vec<Visit> = roots.iter().cloned().map(Visit::Inputs).collect();
        while let Some(next) = stack.pop() {
            match next {
                Visit::Inputs(node) => {
                    let Some(recipe) = node.recipe().filter(|_| visited.insert(node.digest())) else { continue };
                    if let Recipe::Map(Map { value, .. }) = &*recipe {
                        stack.push(Visit::Map(node.clone(), value.clone()));
                    }
                    stack.extend(recipe.array().into_iter().chain(node.asserts()).cloned().map(Visit::Inputs));
                    let live_counts: Vec<Expr> = recipe.live_counts().chain(node.extent().live()).collect();
                    for e in recipe.exprs().into_iter().chain(&live_counts) {
                        for_each_node(e, &mut |n| stack.push(Visit::Inputs(n.clone())));
                    }
                }
                Visit::Map(node, value) => {
                    let mut length = 0;
                    for_each_node(&value, &mut |n| length = length.max(lengths.get(&n.digest()).copied().unwrap_or(0)));
                    let is_shared = self.uses.get(&node.digest()).is_some_and(|uses| *uses > 1);
                    if is_shared && length == MAX_SHARED {
                        self.chain_ends.insert(node.digest());
                    } else if !self.roots.contains(&node.digest()) {
                        lengths.insert(node.digest(), length + u32::from(is_shared));
                    }
                }
            }
        }
    }

    /// Whether exactly one expression reads the array, which is not requested.
    fn has_one_reader(&self, n: &Node) -> bool {
        self.uses.get(&n.digest()) == Some(&1) && !self.roots.contains(&n.digest())
    }
}

/// Whether the expression searches for rows other than that of the kernel.
fn searches(e: &Expr, g: &Resolution<'_>) -> bool {
    let mut found = false;
    for_each_expr(e, &mut |e| {
        let is_other =
            || e.own_row().is_none_or(|(s, inner)| g.rows.as_ref().is_some_and(|r| (&r.0, r.1) != (s, inner)));
        found |= matches!(e.kind(), ExprKind::RowOf(..)) && is_other();
    });
    found
}

/// Whether `at`, evaluated at every position of the domain, covers all of an array of that extent.
fn covers(at: &Expr, extent: &Extent, domain: Option<&Extent>) -> bool {
    let all = at.position_divisor().and_then(|k| extent.times("a map", u64::from(k)).ok());
    all.is_some() && all.as_ref() == domain
}
