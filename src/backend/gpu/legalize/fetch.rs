//! Legalization of expressions: reads of large arrays at computed positions move to maps of their own, called fetches.

use super::{Legalizer, with_dependencies};
use crate::dtype::DType;
use crate::graph::conditions::{conditions, unconditional};
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, ExprKind, Extent, Node, Recipe};
use crate::graph::primitive::{Map, Sort};
use crate::graph::step::StepWindows;
use crate::graph::step::fusion_barrier::Barriers;
use crate::graph::walk::arrays;

impl Legalizer<'_> {
    /// Adds a step for `out`, unless the node is an input or planned already. Returns the node.
    pub(super) fn step(&mut self, out: Node, recipe: Recipe) -> Node {
        if out.is_input() || (!self.done.insert(out.digest()) && out != self.target) {
            return out;
        }
        let live = out.extent().live();
        let (limits, fused) = (self.limits, vec![self.target.op()]);
        let (reads, checks, after, barriers) = (Vec::new(), Vec::new(), Vec::new(), Barriers::default());
        let (row_kernel, row_context) = (None, None);
        let step = Step {
            recomputed: Vec::new(),
            out: out.clone(),
            recipe,
            row_kernel,
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
        self.steps.push(with_dependencies(step, self.sizes));
        out
    }

    /// Adds a step for the map of `value` over the extent.
    pub(super) fn map(&mut self, extent: Extent, value: Expr) -> Node {
        let out = self.arena.map(self.target.op(), extent, value.clone());
        self.step(out, Recipe::Map(Map { value, whole: false }))
    }

    /// Adds a step for the sort of `count` keys of `bits` bits.
    pub(super) fn sort(&mut self, key: Expr, count: Extent, bits: u32) -> Node {
        let recipe = Recipe::Sort(Sort { key, count: count.clone(), bits });
        let out = self.arena.computed(self.target.op(), DType::U32, count, recipe.clone());
        self.step(out, recipe)
    }

    /// Stores the values of `e` at `positions` positions, and returns an expression that loads them under the
    /// conditions of `e`. The conditions are not checked by the stored map, since they may apply in one branch of a
    /// `select` only.
    pub(super) fn stored(&mut self, e: &Expr, positions: u32) -> Expr {
        let node = self.map(Extent::known(positions), unconditional(e));
        let value = Expr::load(&node, Expr::index());
        conditions(e).into_iter().rev().fold(value, |v, (check, ok)| v.checked(check, ok))
    }

    /// As [`Self::stored`], in a node other than `node` even if both hold the same values. The copy is longer, so that
    /// hash-consing does not unify the two.
    pub(super) fn stored_copy(&mut self, e: &Expr, node: &Node, positions: u32) -> Expr {
        self.stored(e, positions.max(self.sizes.capacity(node.extent())) + 1)
    }

    /// The legalized expression, which has the same value at each of `positions` positions.
    pub(in crate::backend::gpu) fn legalized(&mut self, e: &Expr, positions: u32) -> Expr {
        let key = (e.digest(), positions);
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let operands: Vec<Expr> = e.operands().map(|o| self.legalized(o, positions)).collect();
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

    /// The legalized expression as the value of a map. If the expression only loads the result of the last fetch, the
    /// map becomes that fetch.
    pub(super) fn map_value(&mut self, e: &Expr, positions: u32) -> Expr {
        let value = self.legalized(e, positions);
        if let Some(n) = value.own_load()
            && let Some(last) = self.steps.pop_if(|s| s.out == *n && s.fetches_in(self.sizes).is_some())
            && let Recipe::Map(Map { value, .. }) = last.recipe
        {
            // No step computes the removed step's node any more.
            if last.out != self.target {
                self.done.remove(&last.out.digest());
            }
            self.memo.clear();
            return value;
        }
        value
    }

    pub(super) fn is_large(&self, n: &Node) -> bool {
        self.limits.windows(self.sizes.bytes(n)) > 1
    }

    /// Replaces a load from a large array, or a search in it, by a fetch.
    pub(super) fn fetched(&mut self, e: &Expr, positions: u32) -> Expr {
        let (node, at) = match e.kind() {
            ExprKind::Load(n, at) if !at.is_own_position() => (n, at),
            ExprKind::RowOf(n, at) => (n, at),
            _ => return e.clone(),
        };
        if !self.is_large(node) {
            return e.clone();
        }
        let read = arrays(at);
        let at = if read.contains(&node.digest()) {
            self.stored_copy(at, node, positions)
        } else if read.len() > 1 {
            self.stored(at, positions)
        } else {
            at.clone()
        };
        self.stored(&e.with_operands(std::iter::once(at)), positions)
    }

    /// Stores subexpressions until a map can bind all arrays that the expression reads.
    pub(super) fn narrowed(&mut self, mut e: Expr, positions: u32) -> Expr {
        // Excludes the output and the status block.
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
