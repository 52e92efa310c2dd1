//! One step for one recipe: its expressions with maps substituted, so that they read stored arrays only.

use super::{Planner, Step};
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Product, Recipe, Rows};
use crate::graph::row_pass::{RowPass, RowResult};
use crate::graph::step::Reading;
use crate::graph::unfused::{Kept, Unfused};
use crate::graph::walk::for_each_node;

/// How a template uses the expression it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evaluation {
    /// Once a position, with its row at hand.
    Once,
    /// Once a position, without its row.
    Rowless,
    /// Twice a position, without its row: by both passes of a scan.
    Twice,
    /// Any number of times a position, without its row, and not at all where no result needs it: by a product's tiles.
    Again,
    /// From a hundred places of the text, as a hash reads bytes: what is not a mere load would be compiled as often.
    Everywhere,
}

/// What is gathered while one step's expressions are resolved.
pub(super) struct Growing<'a> {
    /// Maps that must be stored for this step to fit.
    pub(super) stored: &'a DigestSet,
    /// The rows that the step walks, if it does.
    pub(super) rows: Option<(Node, u32)>,
    /// How often the step's template evaluates its expression at one position, or spells it out.
    pub(super) evaluation: Evaluation,
    /// At how many positions the template evaluates the expression at hand, if at all of them: `None` where it may
    /// leave some out.
    pub(super) domain: Option<Extent>,
    /// Of those that are evaluated at every position, and of others.
    memo: [DigestMap<Expr>; 2],
    taken: Vec<Node>,
    after: Vec<Node>,
    kept: Kept,
    pub(super) cost: u32,
}

impl Planner {
    /// The step that computes the node, and the maps that went into it: any but those of `stored`.
    pub(super) fn resolve_recipe(&self, node: &Node, recipe: &Recipe, stored: &DigestSet) -> (Step, Vec<Node>) {
        let rows = match recipe {
            Recipe::Reduce { rows: Rows::Splits(s), inner, .. } => Some((s.clone(), *inner)),
            Recipe::RowScan { rows: Rows::Splits(s), inner, .. } => Some((s.clone(), *inner)),
            Recipe::Hash { rows: Rows::Splits(s), .. } => Some((s.clone(), 1)),
            _ => None,
        };
        let mut g = Growing {
            stored,
            rows,
            evaluation: match recipe {
                Recipe::Scan { .. } | Recipe::Sort { .. } | Recipe::RowSort { .. } => Evaluation::Twice,
                Recipe::Product(_) => Evaluation::Again,
                Recipe::Hash { .. } => Evaluation::Everywhere,
                Recipe::Marks { .. } | Recipe::Compact { .. } => Evaluation::Rowless,
                _ => Evaluation::Once,
            },
            domain: None,
            memo: <[DigestMap<Expr>; 2]>::default(),
            taken: Vec::new(),
            after: node.asserts().to_vec(),
            kept: Kept::default(),
            cost: 0,
        };
        recipe.array().into_iter().for_each(|n| g.kept.note(n, Unfused::as_array(n)));
        let mut count = |this: &Self, e: &Extent| match e.live() {
            None => e.clone(),
            Some(live) => Extent::bounded(e.capacity(), this.resolve(live, &mut g, false)),
        };
        // Each position of the domain, or some of them.
        let each = |e: &Expr, domain: Option<Extent>, g: &mut Growing<'_>| {
            let always = domain.is_some();
            g.domain = domain;
            self.resolve(e, g, always)
        };
        let numbers = |nvals: &Extent, inner: u32| nvals.times("a row", u64::from(inner)).ok();
        let resolved = match recipe {
            Recipe::Map { value, whole } => {
                let domain = (!whole).then(|| node.extent().clone());
                Recipe::Map { value: each(value, domain, &mut g), whole: *whole }
            }
            Recipe::Reduce { reducer, rows, nrows, nvals, inner, value } => {
                let domain = numbers(nvals, *inner);
                let (nrows, nvals) = (count(self, nrows), count(self, nvals));
                let value = each(value, domain, &mut g);
                Recipe::Reduce { reducer: *reducer, rows: rows.clone(), nrows, nvals, inner: *inner, value }
            }
            Recipe::Product(p) => {
                let batches = count(self, &p.batches);
                let mut all = |of: &[Expr; 3]| of.each_ref().map(|e| each(e, None, &mut g));
                let (sizes, starts) = (all(&p.sizes), all(&p.starts));
                let operands = p.operands.each_ref().map(|e| each(e, None, &mut g));
                let Product { capacities, transposed, tile_capacity, tile, .. } = **p;
                let tiles = p.tiles.clone();
                Recipe::Product(Box::new(Product {
                    batches,
                    sizes,
                    starts,
                    operands,
                    capacities,
                    transposed,
                    tiles,
                    tile_capacity,
                    tile,
                }))
            }
            Recipe::Scan { value, count: n } => {
                let live = count(self, n);
                Recipe::Scan { value: each(value, Some(n.clone()), &mut g), count: live }
            }
            Recipe::RowScan { op, rows, nrows, nvals, inner, value } => {
                let domain = numbers(nvals, *inner);
                let (nrows, nvals) = (count(self, nrows), count(self, nvals));
                let value = each(value, domain, &mut g);
                Recipe::RowScan { op: *op, rows: rows.clone(), nrows, nvals, inner: *inner, value }
            }
            Recipe::Sort { key, count: n, bits } => {
                let live = count(self, n);
                Recipe::Sort { key: each(key, Some(n.clone()), &mut g), count: live, bits: *bits }
            }
            Recipe::RowSort { rows, nrows, nvals, key, bits, longest } => {
                let domain = Some(nvals.clone());
                let (nrows, nvals) = (count(self, nrows), count(self, nvals));
                let key = each(key, domain, &mut g);
                Recipe::RowSort { rows: rows.clone(), nrows, nvals, key, bits: *bits, longest: *longest }
            }
            Recipe::Hash { op, rows, nrows, byte, nbytes, longest } => {
                let (nrows, byte) = (count(self, nrows), each(byte, None, &mut g));
                Recipe::Hash { op: *op, rows: rows.clone(), nrows, byte, nbytes: *nbytes, longest: *longest }
            }
            Recipe::Marks { keep, count: n } => {
                let live = count(self, n);
                Recipe::Marks { keep: each(keep, Some(n.clone()), &mut g), count: live }
            }
            Recipe::Compact { marks, value, count: n, inner } => {
                let live = count(self, n);
                Recipe::Compact { marks: marks.clone(), value: each(value, None, &mut g), count: live, inner: *inner }
            }
            Recipe::Assert { ok, count: n, check } => {
                let live = count(self, n);
                Recipe::Assert { ok: each(ok, Some(n.clone()), &mut g), count: live, check: check.clone() }
            }
        };
        let live = node.extent().live().map(|e| self.resolve(e, &mut g, false));
        let Reading { reads, checks, own_row } = Reading::of(&resolved, live.as_ref());
        // A map is told the row of each element in any one partition; a reduction only in the one that it walks.
        let row_context = match resolved {
            Recipe::Map { .. } | Recipe::Assert { .. } => own_row,
            _ => g.rows.clone(),
        };
        let mut fused = vec![node.op()];
        fused.extend(g.taken.iter().map(Node::op));
        let taken = g.taken;
        let (out, limits) = (node.clone(), self.limits);
        let pass = match &resolved {
            Recipe::Reduce { reducer, value, .. } => {
                let (out, value, live) = (node.clone(), value.clone(), live.clone());
                let result = RowResult { out, reducer: *reducer, value, finish: None, live, is_stored: true };
                Some(RowPass { results: vec![result], map: None })
            }
            _ => None,
        };
        let (recipe, after, kept) = (resolved, g.after, g.kept);
        let step = Step { out, recipe, pass, live, reads, limits, checks, after, row_context, fused, kept };
        (step, taken)
    }
    /// The expression with maps substituted wherever that is worth it, so that it reads stored arrays only. `always`
    /// says that it is evaluated at every position of the domain.
    fn resolve(&self, e: &Expr, g: &mut Growing<'_>, always: bool) -> Expr {
        if let Some(done) = g.memo[usize::from(always)].get(&e.digest()) {
            return done.clone();
        }
        let is_choice = matches!(e.kind(), ExprKind::Select(..));
        let operands = e.operands().enumerate();
        let ops: Vec<Expr> = operands.map(|(k, o)| self.resolve(o, g, always && (k == 0 || !is_choice))).collect();
        let mut out = e.with_operands(ops.iter().cloned());
        ops.iter().for_each(|o| g.depend_on_dropped(o, &out));
        match out.kind() {
            ExprKind::Load(n, at) => {
                let (n, at) = (n.clone(), at.clone());
                match self.take(&n, &at, g, always) {
                    Ok(body) => {
                        g.taken.push(n.clone());
                        g.depend_on_dropped(&at, &body);
                        for a in n.asserts() {
                            if !g.after.contains(a) {
                                g.after.push(a.clone());
                            }
                        }
                        out = self.resolve(&body, g, always);
                    }
                    Err(why) => g.kept.note(&n, why),
                }
            }
            ExprKind::RowOf(splits, _) | ExprKind::Within(splits, ..) => {
                g.kept.note(splits, Unfused::as_array(splits));
            }
            _ => {}
        }
        g.memo[usize::from(always)].insert(e.digest(), out.clone());
        out
    }
}

impl Growing<'_> {
    /// Where the arrays that `before` reads are not read by what came of it, the step depends on their conditions
    /// still.
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
