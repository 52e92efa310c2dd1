//! Expressions made plain: what they read of large arrays at computed positions is fetched by maps of its own.

use super::conditions::{conditions, unconditional};
use super::expr::{Expr, ExprKind};
use super::extent::Extent;
use super::node::{Node, Recipe};
use super::plain::{Plain, finished};
use super::plan::Step;
use super::unfused::Kept;
use super::walk::arrays;

impl Step {
    /// Whether an array is larger than a binding, and there are too few bindings for the windows of all of them.
    pub(crate) fn is_oversized(&self) -> bool {
        let is_large = |n: &Node| self.limits.windows(n.bytes()) > 1;
        self.reads.iter().chain(self.outputs()).any(is_large) && !self.fits()
    }

    /// The large array that a map fetches from, a part at a time: all that it does is to read it at a computed
    /// position, or to search it.
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

impl Plain<'_> {
    /// A step of its own, and what it computes.
    pub(super) fn step(&mut self, out: Node, recipe: Recipe) -> Node {
        if out.stored().is_some() || (!self.done.insert(out.digest()) && out != self.of) {
            return out;
        }
        let live = out.extent().live();
        let (limits, fused) = (self.limits, vec![self.of.op()]);
        let (reads, checks, after, kept) = (Vec::new(), Vec::new(), Vec::new(), Kept::default());
        let (pass, row_context) = (None, None);
        let step =
            Step { out: out.clone(), recipe, pass, live, reads, limits, checks, after, row_context, fused, kept };
        self.steps.push(finished(step));
        out
    }

    /// The map of that extent.
    pub(super) fn map(&mut self, extent: Extent, value: Expr) -> Node {
        let out = Node::map(self.of.backend(), self.of.op(), extent, value.clone(), &[]);
        self.step(out, Recipe::Map { value, whole: false })
    }

    /// The expression of what is stored of it at each of so many positions. The conditions in it stay where it stands,
    /// since they may hold in one branch of a choice only.
    pub(super) fn stored(&mut self, e: &Expr, positions: u32) -> Expr {
        let node = self.map(Extent::known(positions), unconditional(e));
        let value = Expr::load(&node, Expr::index());
        conditions(e).into_iter().rev().fold(value, |v, (check, ok)| v.checked(check, ok))
    }

    /// The same of an array that is not `node`, though it may hold the same numbers: it is longer.
    pub(super) fn copied(&mut self, e: &Expr, node: &Node, positions: u32) -> Expr {
        self.stored(e, positions.max(node.extent().capacity()) + 1)
    }

    /// An expression of the same value at each of so many positions, plain.
    pub(super) fn plain(&mut self, e: &Expr, positions: u32) -> Expr {
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
    pub(super) fn whole(&mut self, e: &Expr, positions: u32) -> Expr {
        let value = self.plain(e, positions);
        if is_own(&value)
            && let Some(n) = value.node()
            && let Some(last) = self.steps.pop_if(|s| s.out == *n && s.fetches().is_some())
            && let Recipe::Map { value, .. } = last.recipe
        {
            // No step computes what was to be fetched under another name.
            if last.out != self.of {
                self.done.remove(&last.out.digest());
            }
            self.memo.clear();
            return value;
        }
        value
    }

    pub(super) fn is_large(&self, n: &Node) -> bool {
        self.limits.windows(n.bytes()) > 1
    }

    /// What is read of a large array, or found in it, as fetched.
    pub(super) fn fetched(&mut self, e: &Expr, positions: u32) -> Expr {
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
    pub(super) fn narrowed(&mut self, mut e: Expr, positions: u32) -> Expr {
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
}

/// Whether all that it does is to read an array at its own position.
pub(super) fn is_own(e: &Expr) -> bool {
    matches!(e.kind(), ExprKind::Load(_, at) if at.is_index())
}
