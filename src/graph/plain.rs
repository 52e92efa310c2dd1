//! Steps over arrays so large that no kernel could bind them, as several plain ones.
//!
//! An array larger than a binding takes several: its windows. Where the windows of all arrays together are more than a kernel
//! may bind, each array has to be bound a part at a time, and the host has to know which parts belong together. So what a
//! step does at once is taken apart:
//!
//! - what is read of a large array at a computed position is *fetched* first: by a map whose value is that load, or that
//!   search for a row, and nothing else. It runs once for each part of the array, and stores what the part has;
//! - what a scan, a sort, a reduction is given is stored first, so that its kernel reads it at its own positions;
//! - a count that the device knows becomes an array of one element;
//! - a compaction becomes a search in the ranks of its marks; a sort of rows two sorts, by key and then by row.
//!
//! What remains reads large arrays at positions that the host knows, or one of them at any. This is the way of last resort:
//! it stores and reads what would otherwise stay in registers. A number that was stored and loaded is the number, so that no
//! bit changes. Products and hashes stay as they are: they are refused where they bind too many windows.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::digest::Digest;
use super::expr::{Check, Expr, ExprKind};
use super::extent::Extent;
use super::marks::Marks;
use super::node::{Node, Recipe, Rows, for_each_node};
use super::plan::{PlanLimits, Step, as_own_row, fits, for_each_expr};
use super::row_pass::{RowPass, RowResult};
use super::unfused::{Kept, Unfused};

impl Step {
    /// Whether an array is larger than a binding, and there are too few bindings for the windows of all of them.
    pub(crate) fn is_oversized(&self) -> bool {
        let is_large = |n: &Node| self.limits.windows(n.bytes()) > 1;
        let outputs = self.outputs();
        if !self.reads.iter().chain(outputs.iter().copied()).any(is_large) {
            return false;
        }
        let status = u32::from(!self.checks.is_empty() || matches!(self.recipe, Recipe::Assert { .. }));
        let at_own = self.at_own_position();
        let once = |n: &Node| at_own.contains(&n.digest());
        !fits(&self.recipe, outputs.into_iter(), self.reads.iter(), &once, status, self.limits)
    }

    /// The large array that a map fetches from, a part at a time: all that it does is to read it at a computed position, or
    /// to search it.
    pub(crate) fn fetches(&self) -> Option<&Node> {
        let Recipe::Map { value, .. } = &self.recipe else { return None };
        let (node, at) = match value.kind() {
            ExprKind::Load(n, at) if !at.is_index() => (n, at),
            ExprKind::RowOf(n, at) => (n, at),
            _ => return None,
        };
        let is_read_once = !arrays(at).contains(&node.digest());
        (is_read_once && self.limits.windows(node.bytes()) > 1 && self.is_oversized()).then_some(node)
    }
}

/// The step, after those that store what it reads. `done` are the nodes that steps so far compute.
pub(super) fn steps(step: Step, done: &mut HashSet<Digest>) -> Vec<Step> {
    let mut all = Plain { of: step.out.clone(), limits: step.limits, done, steps: Vec::new(), memo: HashMap::new() };
    let last = all.resolve(step);
    all.steps.push(last);
    all.steps
}

struct Plain<'a> {
    /// What it is all for.
    of: Node,
    limits: PlanLimits,
    done: &'a mut HashSet<Digest>,
    steps: Vec<Step>,
    /// Plain expressions, by those that they come from and the number of positions.
    memo: HashMap<(Digest, u32), Expr>,
}

impl Plain<'_> {
    fn resolve(&mut self, step: Step) -> Step {
        let recipe = match step.recipe {
            // Their kernels bind all windows, or none.
            Recipe::Product(_) | Recipe::Hash { .. } => return step,
            Recipe::Map { value, whole } => {
                Recipe::Map { value: self.whole(&value, step.out.extent().capacity()), whole }
            }
            Recipe::Assert { ok, count, check } => {
                let (ok, count) = (self.plain(&ok, count.capacity()), self.count(&count));
                Recipe::Assert { ok, count, check }
            }
            Recipe::Reduce { reducer, rows, nrows, nvals, inner, value } => {
                let (rows, nrows) = self.walked(&rows, &nrows);
                let (value, nvals) = self.in_rows(&value, &rows, &nvals, inner);
                Recipe::Reduce { reducer, rows, nrows, nvals, inner, value }
            }
            Recipe::RowScan { op, rows, nrows, nvals, inner, value } => {
                let (rows, nrows) = self.walked(&rows, &nrows);
                let (value, nvals) = self.in_rows(&value, &rows, &nvals, inner);
                Recipe::RowScan { op, rows, nrows, nvals, inner, value }
            }
            Recipe::Scan { value, count } => {
                Recipe::Scan { value: self.numbers(&value, &count, 1), count: self.count(&count) }
            }
            Recipe::Marks { keep, count } => {
                Recipe::Marks { keep: self.numbers(&keep, &count, 1), count: self.count(&count) }
            }
            Recipe::Sort { key, count, bits } => {
                Recipe::Sort { key: self.numbers(&key, &count, 1), count: self.count(&count), bits }
            }
            Recipe::Compact { marks, value, count, inner } => {
                let value = value.at(&self.position_of_kept(marks, count, inner));
                Recipe::Map { value: self.whole(&value, step.out.extent().capacity()), whole: false }
            }
            Recipe::RowSort { rows, nrows, nvals, key, bits, .. } => {
                let value = self.sorted(&rows, &nrows, &nvals, &key, bits);
                Recipe::Map { value: self.whole(&value, nvals.capacity()), whole: false }
            }
        };
        let live = step.live.map(|e| self.count_of(&e));
        let mut out = Step { recipe, live, pass: None, reads: Vec::new(), row_context: None, ..step };
        // What it no longer reads may have conditions still.
        out.after.extend(step.reads);
        if let (Some(pass), Recipe::Reduce { value, .. }) = (step.pass, &out.recipe) {
            // Kernels that walk rows stop where the splits do.
            let plain = |r| RowResult { value: value.clone(), live: None, ..r };
            out.pass = Some(RowPass { results: pass.results.into_iter().map(plain).collect(), map: None });
        }
        if out.recipe.rows().is_some() {
            out.live = None;
        }
        finished(out)
    }

    /// A step of its own, and what it computes.
    fn step(&mut self, out: Node, recipe: Recipe) -> Node {
        if out.stored().is_some() || (!self.done.insert(out.digest()) && out != self.of) {
            return out;
        }
        let live = out.extent().live().cloned();
        let (limits, fused) = (self.limits, vec![self.of.op()]);
        let (reads, checks, after, kept) = (Vec::new(), Vec::new(), Vec::new(), Kept::default());
        let (pass, row_context) = (None, None);
        let step =
            Step { out: out.clone(), recipe, pass, live, reads, limits, checks, after, row_context, fused, kept };
        self.steps.push(finished(step));
        out
    }

    /// The map of that extent.
    fn map(&mut self, extent: Extent, value: Expr) -> Node {
        let out = Node::map(self.of.backend(), self.of.op(), extent, value.clone(), &[]);
        self.step(out, Recipe::Map { value, whole: false })
    }

    /// The expression of what is stored of it at each of so many positions. The conditions in it stay where it stands, since
    /// they may hold in one branch of a choice only.
    fn stored(&mut self, e: &Expr, positions: u32) -> Expr {
        let node = self.map(Extent::known(positions), unconditional(e));
        let value = Expr::load(&node, Expr::index());
        conditions(e).into_iter().rev().fold(value, |v, (check, ok)| v.checked(check, ok))
    }

    /// The same of an array that is not `node`, though it may hold the same numbers: it is longer.
    fn copied(&mut self, e: &Expr, node: &Node, positions: u32) -> Expr {
        self.stored(e, positions.max(node.extent().capacity()) + 1)
    }

    /// An expression of the same value at each of so many positions, plain.
    fn plain(&mut self, e: &Expr, positions: u32) -> Expr {
        let key = (e.digest(), positions);
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let operands: Vec<Expr> = e.operands().map(|o| self.plain(o, positions)).collect();
        let mut out = e.with_operands(operands.into_iter());
        if let ExprKind::Within(splits, row, offset) = out.kind()
            && self.is_large(splits)
        {
            let start = self.fetched(&Expr::load(splits, row.clone()), positions);
            out = start.add(offset.clone());
        }
        out = self.fetched(&out, positions);
        out = self.narrowed(out, positions);
        self.memo.insert(key, out.clone());
        out
    }

    /// The same for a map of its own: if it only loads what was fetched last, it fetches that itself.
    fn whole(&mut self, e: &Expr, positions: u32) -> Expr {
        let value = self.plain(e, positions);
        if let ExprKind::Load(n, at) = value.kind()
            && at.is_index()
            && let Some(last) = self.steps.pop_if(|s| s.out == *n && s.fetches().is_some())
            && let Recipe::Map { value, .. } = last.recipe
        {
            if last.out != self.of {
                self.done.remove(&last.out.digest());
            }
            return value;
        }
        value
    }

    fn is_large(&self, n: &Node) -> bool {
        self.limits.windows(n.bytes()) > 1
    }

    /// What is read of a large array, or found in it, as fetched.
    fn fetched(&mut self, e: &Expr, positions: u32) -> Expr {
        let (node, at) = match e.kind() {
            ExprKind::Load(n, at) if !at.is_index() => (n, at),
            ExprKind::RowOf(n, at) => (n, at),
            _ => return e.clone(),
        };
        if !self.is_large(node) {
            return e.clone();
        }
        let read = arrays(at);
        let at = if read.contains(&node.digest()) {
            self.copied(at, node, positions)
        } else if read.len() > 1 {
            self.stored(at, positions)
        } else {
            at.clone()
        };
        self.stored(&e.with_operands(std::iter::once(at)), positions)
    }

    /// The expression with parts of it stored, until a map can bind the arrays that it reads.
    fn narrowed(&mut self, mut e: Expr, positions: u32) -> Expr {
        // Beside its output and the block of conditions.
        let most = self.limits.arrays.saturating_sub(2).max(3) as usize;
        while arrays(&e).len() > most {
            let mut operands: Vec<Expr> = e.operands().cloned().collect();
            let Some(widest) = operands.iter_mut().max_by_key(|o| arrays(o).len()) else { break };
            let narrow = self.stored(widest, positions);
            if arrays(&narrow).len() >= arrays(widest).len() {
                break;
            }
            *widest = narrow;
            e = e.with_operands(operands.into_iter());
        }
        e
    }

    /// What a primitive is given, `inner` numbers for each of so many elements: stored.
    fn numbers(&mut self, e: &Expr, count: &Extent, inner: u32) -> Expr {
        let count = self.count(count);
        let numbers = count.times(self.of.op(), u64::from(inner)).unwrap_or(count);
        let value = self.plain(e, numbers.capacity());
        if matches!(value.kind(), ExprKind::Load(_, at) if at.is_index()) {
            return value;
        }
        Expr::load(&self.map(numbers, value), Expr::index())
    }

    /// A count that reads one element at most.
    fn count_of(&mut self, live: &Expr) -> Expr {
        if !live.reads() {
            return live.clone();
        }
        let value = self.plain(live, 1);
        Expr::load(&self.map(Extent::known(1), value), Expr::u32(0))
    }

    fn count(&mut self, extent: &Extent) -> Extent {
        match extent.live() {
            None => extent.clone(),
            Some(live) => Extent::bounded(extent.capacity(), self.count_of(live)),
        }
    }

    /// The splits of the rows.
    fn splits(&mut self, rows: &Rows, nrows: &Extent) -> Node {
        match rows {
            Rows::Splits(node) => node.clone(),
            Rows::Uniform(len) => {
                let nrows = self.count(nrows);
                let start = Expr::index().min(nrows.expr()).mul(Expr::u32(*len));
                self.map(Extent::known(nrows.capacity() + 1), start)
            }
        }
    }

    /// Rows to walk, and how many there may be: the splits say how many are live.
    fn walked(&mut self, rows: &Rows, nrows: &Extent) -> (Rows, Extent) {
        (Rows::Splits(self.splits(rows, nrows)), Extent::known(nrows.capacity()))
    }

    /// The values of rows, in another array than the splits, and how many elements there may be.
    fn in_rows(&mut self, value: &Expr, rows: &Rows, nvals: &Extent, inner: u32) -> (Expr, Extent) {
        let mut value = self.numbers(value, nvals, inner);
        if let Rows::Splits(splits) = rows
            && value.node() == Some(splits)
        {
            value = self.copied(&value, splits, nvals.capacity());
        }
        (value, Extent::known(nvals.capacity()))
    }

    /// Where the numbers come from that a compaction keeps: the last position of each rank.
    fn position_of_kept(&mut self, marks: Node, count: Extent, inner: u32) -> Expr {
        let positions = count.capacity();
        let rank = self.plain(&Marks::of(marks, count).rank(&Expr::index()), positions + 1);
        let ranks = self.map(Extent::known(positions + 1), rank);
        let each = Expr::u32(inner.max(1));
        let position = Expr::row_of(&ranks, Expr::index().div(each.clone()));
        position.mul(each.clone()).add(Expr::index().rem(each))
    }

    /// Where the elements of rows come from, sorted by key and then, stably, by row.
    fn sorted(&mut self, rows: &Rows, nrows: &Extent, nvals: &Extent, key: &Expr, bits: u32) -> Expr {
        let (backend, op) = (self.of.backend().clone(), self.of.op());
        let sort = |this: &mut Self, key: Expr, count: Extent, bits| {
            let out = Node::sort(&backend, op, count.clone(), key.clone(), bits);
            this.step(out, Recipe::Sort { key, count, bits })
        };
        let all = Extent::known(nvals.capacity());
        let (key, count) = (self.numbers(key, nvals, 1), self.count(nvals));
        let by_key = sort(self, key, count, bits);
        let splits = self.splits(rows, nrows);
        let row = self.numbers(&Expr::row_of(&splits, Expr::load(&by_key, Expr::index())), &all, 1);
        let by_row = sort(self, row, all, u32::BITS - nrows.capacity().leading_zeros());
        Expr::load(&by_key, Expr::load(&by_row, Expr::index()))
    }
}

/// The step with what it reads and looks at, as its expressions say.
fn finished(mut step: Step) -> Step {
    let mut own_row = None;
    step.checks.clear();
    step.reads.extend(step.recipe.array().cloned());
    for e in step.recipe.exprs().into_iter().chain(&step.live) {
        for_each_expr(e, &mut |e| {
            if let Some(n) = e.node()
                && !step.reads.contains(n)
            {
                step.reads.push(n.clone());
            }
            if let ExprKind::Checked(check, ..) = e.kind()
                && !step.checks.contains(check)
            {
                step.checks.push(check.clone());
            }
            if own_row.is_none() {
                own_row = as_own_row(e).map(|(splits, inner)| (splits.clone(), inner));
            }
        });
    }
    // Arrays that exist need no reason, others mostly have theirs.
    for n in step.reads.iter().filter(|n| n.stored().is_none()) {
        step.kept.note(n, Some(Unfused::StorageBuffers));
    }
    step.after.retain(|n| n.is_fallible() && !step.reads.contains(n));
    if matches!(step.recipe, Recipe::Map { .. } | Recipe::Assert { .. }) && !step.is_oversized() {
        step.row_context = own_row;
    }
    step
}

/// The arrays that an expression reads.
fn arrays(e: &Expr) -> HashSet<Digest> {
    let mut out = HashSet::new();
    for_each_node(e, &mut |n| {
        out.insert(n.digest());
    });
    out
}

/// The expression without the conditions in it.
fn unconditional(e: &Expr) -> Expr {
    fn go(e: &Expr, memo: &mut HashMap<Digest, Expr>) -> Expr {
        if !e.has_conditions() {
            return e.clone();
        }
        if let Some(known) = memo.get(&e.digest()) {
            return known.clone();
        }
        let out = match e.kind() {
            ExprKind::Checked(_, _, value) => go(value, memo),
            _ => e.with_operands(e.operands().map(|o| go(o, memo)).collect::<Vec<_>>().into_iter()),
        };
        memo.insert(e.digest(), out.clone());
        out
    }
    go(e, &mut HashMap::new())
}

/// A condition, and what must hold.
type Condition = (Arc<Check>, Expr);

/// The conditions in an expression, themselves without any. What stands in one branch of a choice holds where the other one
/// is taken.
fn conditions(e: &Expr) -> Vec<Condition> {
    fn go(e: &Expr, memo: &mut HashMap<Digest, Vec<Condition>>) -> Vec<Condition> {
        if !e.has_conditions() {
            return Vec::new();
        }
        if let Some(known) = memo.get(&e.digest()) {
            return known.clone();
        }
        let mut out: Vec<Condition> = Vec::new();
        for (k, operand) in e.operands().enumerate() {
            let excused = |ok: Expr| match (e.kind(), k) {
                (ExprKind::Select(taken, ..), 1) => ok.or(unconditional(taken).not()),
                (ExprKind::Select(taken, ..), 2) => ok.or(unconditional(taken)),
                _ => ok,
            };
            out.extend(go(operand, memo).into_iter().map(|(check, ok)| (check, excused(ok))));
        }
        if let ExprKind::Checked(check, ok, _) = e.kind() {
            out.push((check.clone(), unconditional(ok)));
        }
        let mut seen = HashSet::new();
        out.retain(|(check, ok)| seen.insert((check.clone(), ok.digest())));
        memo.insert(e.digest(), out.clone());
        out
    }
    go(e, &mut HashMap::new())
}
