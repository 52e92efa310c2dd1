//! From requested nodes to steps: what is computed together, in which order.
//!
//! A plan grows from the requested nodes backwards. A map is taken into the expression of whoever reads it, by
//! substitution, unless storing it is the better bargain; every other recipe is a step of its own. Both backends run
//! the same steps, so a row's bits do not depend on who computes them.

use super::digest::{DigestMap, DigestSet};
use super::expr::{Expr, ExprKind};
use super::extent::Extent;
use super::finish;
use super::fuse_rows;
use super::node::{Node, Product, Recipe, Rows, for_each_node};
use super::opcode::BinaryOp;
use super::plain;
use super::row_pass::{RowPass, RowResult};
pub(crate) use super::step::{Longs, Plan, PlanLimits, Step};
use super::unfused::{Kept, Unfused};
use crate::trace::span;

/// Expressions above this cost are not taken into a second consumer.
pub(super) const CHEAP: u32 = 80;
/// Expressions above this cost are stored rather than evaluated by both passes of a scan. Below a search's cost.
const TWICE: u32 = 20;
/// Results of rows are finished where they are stored, rather than for each element, above this cost.
const PER_ELEMENT: u32 = 8;
/// A step's expression is not grown beyond this cost.
const STEP_COST: u32 = 2_000;

/// Storage buffers that the templates of a recipe bind besides what it reads and the block of conditions: its output and
/// scratch.
fn own_buffers(recipe: &Recipe) -> u32 {
    match recipe {
        Recipe::Map { .. } | Recipe::Assert { .. } => 1,
        Recipe::Hash { .. } => 1,
        Recipe::Scan { .. } | Recipe::RowScan { .. } | Recipe::Reduce { .. } => 2,
        Recipe::Product(_) | Recipe::Marks { .. } | Recipe::Compact { .. } => 1,
        // Digits, keys, and the permutation, which is the output in the last pass.
        Recipe::Sort { .. } => 3,
        // As a sort, and the list of long rows.
        Recipe::RowSort { .. } => 4,
    }
}

/// Whether a kernel of the recipe can bind what it reads besides its outputs, its scratch and the block of conditions.
/// What `once` names takes one binding, however large it is.
pub(super) fn fits<'a>(
    recipe: &Recipe,
    outputs: impl Iterator<Item = &'a Node>,
    reads: impl Iterator<Item = &'a Node>,
    once: &dyn Fn(&Node) -> bool,
    status: u32,
    limits: PlanLimits,
) -> bool {
    let further = |n: &Node| limits.windows(n.bytes()) - 1;
    // One output is among the recipe's own.
    let mut arrays = own_buffers(recipe) + status - 1;
    let mut windows = 0;
    for n in outputs {
        arrays += 1;
        windows += match recipe {
            Recipe::Map { .. } | Recipe::Assert { .. } => 0,
            // Keys and permutation of this pass, and of the one before; digits are an eighth as many.
            Recipe::Sort { .. } | Recipe::RowSort { .. } => {
                4 * further(n) + limits.windows(n.bytes() / 8 + (1 << 10)) - 1
            }
            _ => further(n),
        };
    }
    for n in reads {
        arrays += 1;
        windows += if once(n) { 0 } else { further(n) };
    }
    arrays <= limits.arrays && (arrays + windows <= limits.bindings)
}

/// The partition and inner width for which this is the row of the current element, if it is of that form.
pub(crate) fn as_own_row(e: &Expr) -> Option<(&Node, u32)> {
    let ExprKind::RowOf(splits, at) = e.kind() else { return None };
    match at.kind() {
        ExprKind::Index => Some((splits, 1)),
        ExprKind::Binary(BinaryOp::IndexDiv, i, by) if i.is_index() => by.as_u32().map(|inner| (splits, inner)),
        _ => None,
    }
}

/// Plans the evaluation of `roots`, none of whose results exist yet or are asked for again.
pub(crate) fn plan(roots: &[Node], limits: PlanLimits) -> Plan {
    let _span = span!("plan", arrays = roots.len());
    let mut planner = Planner {
        limits,
        uses: DigestMap::default(),
        roots: roots.iter().map(Node::digest).collect(),
        done: DigestSet::default(),
        steps: Vec::new(),
    };
    planner.count_uses(roots);
    for root in roots {
        planner.require(root);
    }
    if !limits.fuse {
        return Plan { steps: planner.steps };
    }
    let steps = finish::into_stores(planner.steps, &planner.roots, limits);
    Plan { steps: fuse_rows::into_passes(steps, &planner.roots, limits) }
}

struct Planner {
    limits: PlanLimits,
    /// How often each unevaluated node is read, by distinct index expressions over all recipes.
    uses: DigestMap<u32>,
    roots: DigestSet,
    done: DigestSet,
    steps: Vec<Step>,
}

/// How a template uses the expression it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evaluation {
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
struct Growing<'a> {
    /// Maps that must be stored for this step to fit.
    stored: &'a DigestSet,
    /// The rows that the step walks, if it does.
    rows: Option<(Node, u32)>,
    /// How often the step's template evaluates its expression at one position, or spells it out.
    evaluation: Evaluation,
    /// At how many positions the template evaluates the expression at hand, if at all of them: `None` where it may leave
    /// some out.
    domain: Option<Extent>,
    /// Of those that are evaluated at every position, and of others.
    memo: [DigestMap<Expr>; 2],
    taken: Vec<Node>,
    after: Vec<Node>,
    kept: Kept,
    cost: u32,
}

impl Planner {
    fn count_uses(&mut self, roots: &[Node]) {
        let mut visited = DigestSet::default();
        let mut stack: Vec<Node> = roots.to_vec();
        while let Some(node) = stack.pop() {
            if !visited.insert(node.digest()) {
                continue;
            }
            let Some(recipe) = node.recipe() else { continue };
            let mut loads = DigestSet::default();
            for e in recipe.exprs().into_iter().chain(node.extent().live()) {
                let mut exprs = vec![e];
                while let Some(e) = exprs.pop() {
                    if !loads.insert(e.digest()) {
                        continue;
                    }
                    if let Some(n) = e.node() {
                        *self.uses.entry(n.digest()).or_default() += 1;
                        stack.push(n.clone());
                    }
                    exprs.extend(e.operands());
                }
            }
            stack.extend(recipe.array().cloned());
            stack.extend(node.asserts().iter().cloned());
        }
    }

    /// Makes sure that `node` is stored when the plan so far has run.
    fn require(&mut self, node: &Node) {
        if node.stored().is_some() || !self.done.insert(node.digest()) {
            return;
        }
        // Another thread may evaluate it meanwhile; then there is nothing left to plan.
        let Some(recipe) = node.recipe() else { return };
        let step = self.grow(node, &recipe);
        for n in step.reads.iter().chain(&step.after) {
            self.require(n);
        }
        if step.is_oversized() {
            self.steps.extend(plain::steps(step, &mut self.done));
        } else {
            self.steps.push(step);
        }
    }

    /// Resolves the recipe's expressions, storing more and more of the maps in it until it fits the limits.
    fn grow(&self, node: &Node, recipe: &Recipe) -> Step {
        let mut stored = DigestSet::default();
        loop {
            let step = self.resolve_recipe(node, recipe, &stored);
            let status = u32::from(!step.0.checks.is_empty() || matches!(recipe, Recipe::Assert { .. }));
            let at_own = step.0.at_own_position();
            let once = |n: &Node| at_own.contains(&n.digest());
            if fits(recipe, std::iter::once(node), step.0.reads.iter(), &once, status, self.limits) {
                return step.0;
            }
            // Store the map that brings in the most arrays: its own become one.
            let widest = step.1.iter().filter(|n| !stored.contains(&n.digest())).max_by_key(|n| width(n)).cloned();
            match widest {
                Some(n) => stored.insert(n.digest()),
                None => return step.0,
            };
        }
    }

    fn resolve_recipe(&self, node: &Node, recipe: &Recipe, stored: &DigestSet) -> (Step, Vec<Node>) {
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
            Recipe::Hash { op, rows, nrows, byte } => {
                let nrows = count(self, nrows);
                Recipe::Hash { op: *op, rows: rows.clone(), nrows, byte: each(byte, None, &mut g) }
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
        let mut checks = Vec::new();
        let mut own_rows: Vec<(Node, u32)> = Vec::new();
        let mut reads: Vec<Node> = Vec::new();
        reads.extend(resolved.array().cloned());
        for e in resolved.exprs().into_iter().chain(&live) {
            for_each_expr(e, &mut |e| {
                if let ExprKind::Checked(check, _, _) = e.kind()
                    && !checks.contains(check)
                {
                    checks.push(check.clone());
                }
                if let Some(n) = e.node()
                    && !reads.contains(n)
                {
                    reads.push(n.clone());
                }
                own_rows.extend(as_own_row(e).map(|(s, inner)| (s.clone(), inner)));
            });
        }
        // A map is told the row of each element in any one partition; a reduction only in the one that it walks.
        let row_context = match resolved {
            Recipe::Map { .. } | Recipe::Assert { .. } => own_rows.into_iter().next(),
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

    /// The expression with maps substituted wherever that is worth it, so that it reads stored arrays only. `always` says
    /// that it is evaluated at every position of the domain.
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

    /// The map's expression at `at`, if reading the map there is better computed than stored; else why it is not, unless it
    /// exists already.
    fn take(
        &self,
        n: &Node,
        at: &Expr,
        g: &mut Growing<'_>,
        always: bool,
    ) -> std::result::Result<Expr, Option<Unfused>> {
        let recipe = n.recipe().ok_or(None)?;
        let Recipe::Map { value, .. } = &*recipe else { return Err(Some(Unfused::EndsKernel(recipe.family()))) };
        self.body(n, value, at, g, always).map_err(Some)
    }

    /// As [`Self::take`], of a map.
    fn body(
        &self,
        n: &Node,
        value: &Expr,
        at: &Expr,
        g: &mut Growing<'_>,
        always: bool,
    ) -> std::result::Result<Expr, Unfused> {
        if !self.limits.fuse {
            return Err(Unfused::Disabled);
        }
        if self.roots.contains(&n.digest()) {
            return Err(Unfused::Requested);
        }
        if g.stored.contains(&n.digest()) {
            return Err(Unfused::StorageBuffers);
        }
        // The conditions of an array hold for all of it, or reading any of it is an error: whether they are looked at must
        // not depend on what is fused.
        if value.has_conditions() && !(always && covers(at, n.extent(), g.domain.as_ref())) {
            return Err(Unfused::Condition);
        }
        let uses = self.uses.get(&n.digest()).copied().unwrap_or(1);
        let body = value.at(at);
        // The map may leave its position out, as a constant does: then the position's conditions would not be looked at.
        if at.has_conditions() && !always_looked_at(at).is_subset(&always_looked_at(&body)) {
            return Err(Unfused::Condition);
        }
        let cost = work(&body, g.rows.as_ref());
        match g.evaluation {
            Evaluation::Everywhere if cost > 2 => return Err(Unfused::EvaluatedOften),
            Evaluation::Twice | Evaluation::Again if cost > TWICE => return Err(Unfused::EvaluatedOften),
            // A map finds the rows of a whole tile with two searches: better stored than searched for one by one.
            Evaluation::Rowless if contains_search(&body) => return Err(Unfused::Search),
            _ => {}
        }
        if !at.is_index() {
            // Away from its own position, a search that stays one would be made for every element read.
            let mut searches = false;
            for_each_expr(&body, &mut |e| {
                searches |= matches!(e.kind(), ExprKind::RowOf(s, _) if
                    as_own_row(e).is_none_or(|(_, inner)| g.rows.as_ref().is_some_and(|r| (&r.0, r.1) != (s, inner))));
            });
            if searches {
                return Err(Unfused::Search);
            }
        }
        // Twice read, or read again and again through a computed index: only if storing it costs more.
        let repeated = uses > 1 || !at.is_index();
        if repeated && (cost > CHEAP || (uses > 8 && cost > 8)) {
            return Err(if uses > 1 { Unfused::SeveralReaders } else { Unfused::ComputedPositions });
        }
        // The quotient of a mean, say, read for every element of the row: better made once a row, as it is stored.
        if !at.is_index() && cost > PER_ELEMENT && self.is_finish(n, value) {
            return Err(Unfused::OncePerRow);
        }
        if g.cost + cost > STEP_COST {
            return Err(Unfused::KernelSize);
        }
        g.cost += cost;
        Ok(body)
    }
}

impl Planner {
    /// Whether the map only finishes the results of a row reduction, which it alone reads.
    fn is_finish(&self, map: &Node, value: &Expr) -> bool {
        let mut found = false;
        for_each_expr(value, &mut |e| {
            if let ExprKind::Load(n, at) = e.kind() {
                let reduces = matches!(n.recipe().as_deref(), Some(Recipe::Reduce { .. }));
                let alone = self.uses.get(&n.digest()) == Some(&1) && !self.roots.contains(&n.digest());
                found |= at.is_index() && reduces && alone && n.extent() == map.extent();
            }
        });
        found
    }
}

impl Growing<'_> {
    /// Where the arrays that `before` reads are not read by what came of it, the step depends on their conditions still.
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

/// The conditions in the expression that no choice leaves out.
fn always_looked_at(e: &Expr) -> DigestSet {
    let (mut seen, mut out) = (DigestSet::default(), DigestSet::default());
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        if !seen.insert(e.digest()) || !e.has_conditions() {
            continue;
        }
        if matches!(e.kind(), ExprKind::Checked(..)) {
            out.insert(e.digest());
        }
        let of_all = if matches!(e.kind(), ExprKind::Select(..)) { 1 } else { usize::MAX };
        stack.extend(e.operands().take(of_all));
    }
    out
}

/// Whether `at`, evaluated at every position of the domain, goes through all of an array of that extent.
fn covers(at: &Expr, extent: &Extent, domain: Option<&Extent>) -> bool {
    let times = match at.kind() {
        ExprKind::Index => Some(1),
        ExprKind::Binary(BinaryOp::IndexDiv, i, by) if i.is_index() => by.as_u32(),
        _ => None,
    };
    let all = times.and_then(|k| extent.times("a map", u64::from(k)).ok());
    all.is_some() && all.as_ref() == domain
}

/// What evaluating the expression once costs, in operations: each distinct subexpression once, and nothing for the row
/// of the element where the step has it at hand.
pub(super) fn work(e: &Expr, rows: Option<&(Node, u32)>) -> u32 {
    let mut sum = 0u32;
    for_each_expr(e, &mut |e| {
        let at_hand = as_own_row(e).is_some_and(|(s, inner)| rows.is_some_and(|r| (&r.0, r.1) == (s, inner)));
        sum = sum.saturating_add(if at_hand { 0 } else { e.own_cost() });
    });
    sum
}

/// Whether the row of some position is searched for.
pub(super) fn contains_search(e: &Expr) -> bool {
    let mut found = false;
    for_each_expr(e, &mut |e| found |= matches!(e.kind(), ExprKind::RowOf(..)));
    found
}

/// How many arrays a map reads itself.
fn width(n: &Node) -> usize {
    let mut nodes = DigestSet::default();
    if let Some(Recipe::Map { value, .. }) = n.recipe().as_deref() {
        for_each_node(value, &mut |n| {
            nodes.insert(n.digest());
        });
    }
    nodes.len()
}

/// Calls `f` for each distinct subexpression.
pub(crate) fn for_each_expr(e: &Expr, f: &mut impl FnMut(&Expr)) {
    let mut seen = DigestSet::default();
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        if seen.insert(e.digest()) {
            f(e);
            stack.extend(e.operands());
        }
    }
}
