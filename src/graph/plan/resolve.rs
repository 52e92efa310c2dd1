//! Builds the step of a recipe: inlines maps into the expressions of the recipe until these read stored arrays only.

use super::{Planner, Step};
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::planned::{Expr, ExprKind, Extent, Node, Recipe, Rows, Size};
use crate::graph::primitive::{Evaluation, Reduce};
use crate::graph::step::fusion_barrier::{Barriers, FusionBarrier};
use crate::graph::step::row_kernel::{RowKernel, RowResult};
use crate::graph::step::{Dependencies, StepWindows, merge};
use crate::graph::walk::for_each_node;

/// State of the resolution of one step's expressions.
pub(super) struct Resolution<'a> {
    /// Maps that are not inlined, so that the step fits the limits.
    pub(super) stored: &'a DigestSet,
    /// The splits and the inner width of the rows that the step iterates over, if any.
    pub(super) rows: Option<(Node, u32)>,
    /// How the kernel evaluates the step's expressions.
    pub(super) evaluation: Evaluation,
    /// Extent of the positions at which the kernel evaluates the expressions; `None` if it may skip some of them.
    pub(super) domain: Option<Extent>,
    /// Whether the kernel computes numbers of products where the expression loads them at its own position.
    pub(super) recomputes: bool,
    /// The products that it computes so.
    pub(super) recomputed: Vec<Node>,
    /// Resolved expressions, by whether they are evaluated at every position, and twice whether products are recomputed.
    memo: [DigestMap<Expr>; 4],
    inlined: Vec<Node>,
    /// Maps that are loaded at some place because only some of their conditions would be checked there.
    barred: DigestSet,
    after: Vec<Node>,
    barriers: Barriers,
    pub(super) cost: u32,
    /// Number of maps that are inlined into each other at this place.
    pub(super) nested: u32,
    /// Number of operations above this place, in the expressions of the recipe and of these maps.
    pub(super) height: u32,
}

impl Planner<'_> {
    /// The step that computes the node, the maps that were inlined into it, and the maps that conditions bar from that at
    /// some place. Maps in `stored` are not inlined.
    pub(super) fn resolve_recipe(
        &self,
        node: &Node,
        recipe: &Recipe,
        stored: &DigestSet,
    ) -> (Step, Vec<Node>, DigestSet) {
        let (mut step, products, inlined, barred) = self.resolve_with(node, recipe, stored, true);
        for node in products {
            let Some(recipe) = node.recipe() else { continue };
            let (of, ..) = self.resolve_with(&node, &recipe, stored, false);
            step.recompute(of);
        }
        (step, inlined, barred)
    }

    /// As [`Self::resolve_recipe`], with the products that the step reads and no step stores, if `with_products`.
    fn resolve_with(
        &self,
        node: &Node,
        recipe: &Recipe,
        stored: &DigestSet,
        with_products: bool,
    ) -> (Step, Vec<Node>, Vec<Node>, DigestSet) {
        let evaluation = recipe.facts().evaluation();
        let knows_row = matches!(evaluation, Evaluation::Once | Evaluation::ManySites);
        let rows = recipe.domain().filter(|_| knows_row).and_then(|on| match &on.rows {
            Rows::Splits(splits) => Some((splits.clone(), on.inner)),
            Rows::Uniform(_) => None,
        });
        let mut g = Resolution {
            stored,
            rows,
            evaluation,
            domain: recipe.evaluated_at(node.extent()),
            recomputes: false,
            recomputed: Vec::new(),
            memo: <[DigestMap<Expr>; 4]>::default(),
            inlined: Vec::new(),
            barred: DigestSet::default(),
            after: node.asserts().to_vec(),
            barriers: Barriers::default(),
            cost: 0,
            nested: 0,
            height: 0,
        };
        let of_array = |n: &Node| match recipe.base() {
            Some(_) => n.recipe().map(|_| FusionBarrier::Overwrites),
            None => FusionBarrier::as_array(n),
        };
        recipe.array().into_iter().for_each(|n| g.barriers.note(n, of_array(n)));
        let always = g.domain.is_some();
        let (facts, mut k) = (recipe.facts(), 0);
        let resolved = recipe.with_exprs(|e| {
            g.recomputes = with_products && !self.products.is_empty() && facts.recomputes(k);
            k += 1;
            self.resolve(e, &mut g, always)
        });
        let live = node.extent().live();
        for e in resolved.live_counts().chain(live.clone()) {
            for_each_node(&e, &mut |n| {
                let is_requested = self.roots.contains(&n.digest());
                g.barriers.note(n, Some(if is_requested { FusionBarrier::Requested } else { FusionBarrier::Count }));
            });
        }
        let Dependencies { reads, checks, own_row, sized } = Dependencies::of(&resolved, live.as_ref());
        merge(&mut g.after, sized);
        if live.is_none() {
            // No kernel reads these counts, but a backend that allocates exactly needs them before the step.
            let counts = node.extent().size().counts().into_iter().filter_map(Size::device_count);
            let unread = counts.map(|c| c.node.clone()).filter(|n| !reads.contains(n)).collect::<Vec<_>>();
            merge(&mut g.after, unread);
        }
        // The row context of a map may be any partition; that of a row primitive is the partition that it iterates
        // over.
        let row_context = if resolved.mapped().is_some() { own_row } else { g.rows.clone() };
        let mut fused = vec![node.op()];
        fused.extend(g.inlined.iter().map(Node::op));
        let (inlined, barred) = (g.inlined, g.barred);
        let (out, limits) = (node.clone(), self.limits);
        let row_kernel = match &resolved {
            Recipe::Reduce(Reduce { reducer, value, .. }) => {
                let (out, value) = (node.clone(), value.clone());
                let result = RowResult { out, reducer: *reducer, value, epilogue: None, is_stored: true };
                Some(RowKernel { results: vec![result], map: None })
            }
            _ => None,
        };
        let (recipe, after, barriers) = (resolved, g.after, g.barriers);
        let step = Step {
            out,
            recipe,
            row_kernel,
            recomputed: Vec::new(),
            live,
            reads,
            limits,
            checks,
            after,
            row_context,
            fused,
            barriers,
            windows: StepWindows::default(),
        };
        (step, g.recomputed, inlined, barred)
    }

    /// Inlines maps into the expression where that is cheaper than storing them. `always`: the expression is evaluated
    /// at every position of the domain.
    fn resolve(&self, e: &Expr, g: &mut Resolution<'_>, always: bool) -> Expr {
        let memo = usize::from(always) + 2 * usize::from(g.recomputes);
        if let Some(done) = g.memo[memo].get(&e.digest()) {
            return done.clone();
        }
        let is_choice = matches!(e.kind(), ExprKind::Select(..));
        g.height += 1;
        let mut ops: Vec<Expr> = Vec::new();
        // A loop takes less stack than a collected iterator.
        for (k, o) in e.operands().enumerate() {
            ops.push(self.resolve(o, g, always && (k == 0 || !is_choice)));
        }
        let mut out = e.with_operands(ops.iter().cloned());
        for o in ops.iter().filter(|o| o.is_fallible()) {
            // Only a folded operation drops an operand.
            if !out.operands().any(|kept| kept == o) {
                g.depend_on_dropped(o, &out);
            }
        }
        match out.kind() {
            ExprKind::Load(n, at) => {
                let (n, mut at) = (n.clone(), at.clone());
                if !at.is_index() && at.is_own_position() && !at.has_conditions() {
                    // Kernels name the own position and the own row by one expression.
                    g.depend_on_dropped(&at, &Expr::index());
                    at = Expr::index();
                    out = Expr::load(&n, at.clone());
                }
                match self.inline(&n, &at, g, always) {
                    Ok(body) => {
                        g.inlined.push(n.clone());
                        g.depend_on_dropped(&at, &body);
                        for a in n.asserts() {
                            if !g.after.contains(a) {
                                g.after.push(a.clone());
                            }
                        }
                        g.nested += 1;
                        out = self.resolve(&body, g, always);
                        g.nested -= 1;
                    }
                    Err(why) => {
                        if why == Some(FusionBarrier::Condition) {
                            g.barred.insert(n.digest());
                        }
                        g.barriers.note(&n, why);
                    }
                }
            }
            ExprKind::RowOf(splits, at) => {
                g.barriers.note(splits, FusionBarrier::as_array(splits));
                let own = out.own_row().map(|(_, width)| Expr::index().div(Expr::u32(width)));
                if let Some(own) = own.filter(|own| own != at && !at.has_conditions()) {
                    g.depend_on_dropped(at, &own);
                    out = Expr::row_of(splits, own);
                }
            }
            ExprKind::Within(splits, ..) => g.barriers.note(splits, FusionBarrier::as_array(splits)),
            _ => {}
        }
        g.height -= 1;
        g.memo[memo].insert(e.digest(), out.clone());
        out
    }
}

impl Resolution<'_> {
    /// Adds dependencies on fallible arrays that `before` reads and `now` does not, so that the step keeps their
    /// conditions.
    fn depend_on_dropped(&mut self, before: &Expr, now: &Expr) {
        if !before.is_fallible() {
            return;
        }
        let arrays = |e: &Expr| {
            let mut out: Vec<Node> = Vec::new();
            for_each_node(e, &mut |n| {
                if n.is_fallible() && !out.contains(n) {
                    out.push(n.clone());
                }
            });
            out
        };
        let now = arrays(now);
        for n in arrays(before) {
            if !now.contains(&n) && !self.after.contains(&n) {
                self.after.push(n);
            }
        }
    }
}
