//! Narrowing: splits the expressions of a recipe that read more arrays than a kernel can bind.
//!
//! Subexpressions become maps of their own, over the positions at which the recipe's kernel evaluates the expression,
//! and the recipe loads their results. The order of evaluation stays, so that results keep their bits. An expression
//! over `n` arrays becomes about `n / 5` kernels on the smallest device.

use crate::graph::conditions::{conditions, unconditional};
use crate::graph::digest::{Digest, DigestSet};
use crate::graph::planned::{Arena, Expr, ExprKind, Extent, Node, Recipe};
use crate::graph::primitive::{Map, Positions};
use crate::graph::scalar::Scalar;
use crate::graph::step::PlanLimits;
use crate::graph::walk::arrays;
use std::collections::HashMap;
use std::rc::Rc;

/// The recipe of `out` with narrowed expressions. `free` is the number of arrays that its kernel can bind for the
/// expressions. The maps that it reads in addition are inserted into `added`.
pub(super) fn narrowed(
    out: &Node,
    recipe: &Recipe,
    free: u32,
    limits: PlanLimits,
    (arena, added): (&mut Arena, &mut DigestSet),
) -> Recipe {
    let domain = |at: &Positions| at.extent().unwrap_or_else(|_| at.count.clone());
    let mut all = Narrowing {
        target: out,
        limits,
        free: free.max(1) as usize,
        domains: recipe.facts().positions(out.extent()).iter().map(domain).collect(),
        next: 0,
        is_whole: matches!(recipe, Recipe::Map(Map { whole: true, .. })),
        is_map: recipe.mapped().is_some(),
        always: recipe.evaluated_at(out.extent()).is_some(),
        arena,
        added,
    };
    let mut recipe = recipe.with_exprs(|e| all.narrow(e));
    if !all.is_map {
        // Several expressions share the bindings of one kernel: the widest are stored as a whole.
        loop {
            let mut read = DigestSet::default();
            recipe.exprs().into_iter().for_each(|e| read.extend(arrays(e)));
            let mut storable = Vec::new();
            recipe.exprs().into_iter().for_each(|e| add_storable(e, &mut storable, &mut DigestSet::default()));
            let widest = storable.into_iter().map(|e| (arrays(e).len(), e.digest())).max_by_key(|(n, _)| *n);
            match widest {
                Some((n, widest)) if n > 1 && read.len() > all.free => {
                    all.next = 0;
                    recipe = recipe.with_exprs(|e| all.whole(e, widest));
                }
                _ => break,
            }
        }
    }
    recipe
}

struct Narrowing<'a> {
    target: &'a Node,
    limits: PlanLimits,
    /// Number of arrays that the recipe's kernel can bind for its expressions.
    free: usize,
    /// The domain of each expression, in order.
    domains: Vec<Extent>,
    /// Index of the next expression.
    next: usize,
    /// Whether elements beyond the live ones are computed too.
    is_whole: bool,
    /// Whether the recipe's kernel is a map.
    is_map: bool,
    /// Whether the kernel evaluates its expressions at every position.
    always: bool,
    /// The definitions of the plan.
    arena: &'a mut Arena,
    /// The maps that were added.
    added: &'a mut DigestSet,
}

impl Narrowing<'_> {
    fn next_domain(&mut self) -> Extent {
        let domain = self.domains[self.next.min(self.domains.len() - 1)].clone();
        self.next += 1;
        domain
    }

    /// The expression, which is the next; what is `widest` of it is stored.
    fn whole(&mut self, e: &Expr, widest: Digest) -> Expr {
        let domain = self.next_domain();
        Within { all: self, domain, most: 0, memo: HashMap::new() }.whole(e, widest)
    }

    fn narrow(&mut self, e: &Expr) -> Expr {
        let domain = self.next_domain();
        // Excludes the output and the live count; for checks, the status block and the condition of a branch.
        let own = 1 + u32::from(domain.live().is_some()) + 2 * u32::from(e.has_conditions());
        let most = self.limits.arrays.min(self.limits.bindings).saturating_sub(own) as usize;
        let most = if self.is_map { most.min(self.free) } else { most }.max(3);
        let mut within = Within { all: self, domain, most, memo: HashMap::new() };
        within.narrowed(e, &Path::Always).0
    }
}

/// The branches of selects that lead to a subexpression.
#[derive(Clone)]
enum Path {
    /// None: evaluated wherever the expression is.
    Always,
    /// Evaluated where the condition holds.
    Where(Expr),
}

impl Path {
    fn and(&self, condition: Expr) -> Self {
        Self::Where(match self {
            Self::Always => condition,
            Self::Where(outer) => outer.clone().and(condition),
        })
    }

    fn digest(&self) -> Option<Digest> {
        match self {
            Self::Always => None,
            Self::Where(condition) => Some(condition.digest()),
        }
    }
}

/// The narrowed expression, with the arrays that it reads.
type Narrowed = (Expr, Rc<DigestSet>);

/// Narrows the subexpressions over one domain.
struct Within<'a, 'n> {
    all: &'a mut Narrowing<'n>,
    domain: Extent,
    /// Maximum number of arrays that an expression may read.
    most: usize,
    /// Narrowed expressions, by the original expression and, for one with conditions, its path.
    memo: HashMap<(Digest, Option<Digest>), Narrowed>,
}

impl Within<'_, '_> {
    /// The expression with subexpressions stored until it reads at most [`Self::most`] arrays.
    fn narrowed(&mut self, e: &Expr, path: &Path) -> Narrowed {
        let key = (e.digest(), if e.has_conditions() { path.digest() } else { None });
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let mut operands: Vec<Narrowed> = Vec::new();
        for (k, operand) in e.operands().enumerate() {
            let narrowed = match (e.kind(), k) {
                (ExprKind::Select(..), 1 | 2) if operand.has_conditions() => {
                    let taken = unconditional(&operands[0].0);
                    let path = path.and(if k == 1 { taken } else { taken.not() });
                    self.narrowed(operand, &path)
                }
                _ => self.narrowed(operand, path),
            };
            operands.push(narrowed);
        }
        let mut read = union(e, &operands);
        while read.len() > self.most {
            let storable = (0..operands.len()).filter(|&k| !operands[k].0.has_registers());
            let Some(widest) = storable.max_by_key(|&k| operands[k].1.len()) else { break };
            let wide = operands[widest].1.len();
            // The path of the operand, not of the whole.
            let path = match (e.kind(), widest) {
                (ExprKind::Select(..), 1) => path.and(unconditional(&operands[0].0)),
                (ExprKind::Select(..), 2) => path.and(unconditional(&operands[0].0).not()),
                _ => path.clone(),
            };
            let stored = self.stored(&operands[widest].0.clone(), &path);
            let arrays = arrays(&stored);
            if arrays.len() >= wide {
                break;
            }
            operands[widest] = (stored, Rc::new(arrays));
            read = union(e, &operands);
        }
        let out = (e.with_operands(operands.into_iter().map(|(e, _)| e)), Rc::new(read));
        self.memo.insert(key, out.clone());
        out
    }

    /// The expression; what is `widest` of it is stored.
    fn whole(&mut self, e: &Expr, widest: Digest) -> Expr {
        if e.digest() == widest {
            return self.stored(e, &Path::Always);
        }
        if !e.has_registers() {
            return e.clone();
        }
        let key = (e.digest(), None);
        if let Some((known, _)) = self.memo.get(&key) {
            return known.clone();
        }
        let operands: Vec<Expr> = e.operands().map(|operand| self.whole(operand, widest)).collect();
        let out = e.with_operands(operands.into_iter());
        self.memo.insert(key, (out.clone(), Rc::default()));
        out
    }

    /// Stores the values of `e`, and returns an expression that loads them. The conditions are checked by the stored
    /// map at the positions of the path, or by the reader if the kernel may skip positions.
    fn stored(&mut self, e: &Expr, path: &Path) -> Expr {
        if !e.has_conditions() {
            return self.map(e);
        }
        if !self.all.always {
            let value = self.map(&unconditional(e));
            let conditions: Vec<_> = conditions(e).into_iter().rev().collect();
            return conditions.into_iter().fold(value, |value, (check, ok)| {
                let ok = if arrays(&ok).len() > 1 { self.map(&ok) } else { ok };
                value.checked(check, ok)
            });
        }
        match path {
            Path::Always => self.map(e),
            Path::Where(condition) => {
                let condition = if condition.reads() { self.map(condition) } else { condition.clone() };
                let unused = Expr::scalar(Scalar::lowest(e.dtype()));
                self.map(&condition.select(e.clone(), unused))
            }
        }
    }

    /// A load from a map of `e`.
    fn map(&mut self, e: &Expr) -> Expr {
        // One element, if all are equal. Conditions report positions of the domain.
        let is_constant = !e.has_index() && !e.has_conditions();
        let extent = if is_constant { Extent::known(1) } else { self.domain.clone() };
        let recipe = Recipe::Map(Map { value: e.clone(), whole: self.all.is_whole && !is_constant });
        let node = self.all.arena.computed(self.all.target.op(), e.dtype(), extent, recipe);
        self.all.added.insert(node.digest());
        Expr::load(&node, if is_constant { Expr::u32(0) } else { Expr::index() })
    }
}

/// Adds the expressions that can be stored as a whole: those without registers, and those within the others that also have
/// no conditions, which may apply in a branch only.
fn add_storable<'e>(e: &'e Expr, out: &mut Vec<&'e Expr>, seen: &mut DigestSet) {
    if !e.has_registers() {
        return out.push(e);
    }
    if seen.insert(e.digest()) {
        let is_plain = |e: &&Expr| e.has_registers() || !e.has_conditions();
        e.operands().filter(is_plain).for_each(|e| add_storable(e, out, seen));
    }
}

/// The arrays that the operation reads with these operands.
fn union(e: &Expr, operands: &[Narrowed]) -> DigestSet {
    let mut out: DigestSet = e.node().map(Node::digest).into_iter().collect();
    operands.iter().for_each(|(_, read)| out.extend(read.iter().copied()));
    out
}

#[cfg(feature = "gpu")]
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Map, PlanLimits, Recipe};
    use crate::backend::cpu::CpuBackend;
    use crate::dtype::DType;
    use crate::graph::backend::BackendRef;
    use crate::graph::expr::Check;
    use crate::graph::node::{RowDomain, Rows};
    use crate::graph::opcode::ReduceOp;
    use crate::graph::plan::{Int64Repr, PlanOf};
    use crate::graph::primitive::Mark;
    use crate::graph::recorder::Recorder;
    use crate::graph::{Expr, Extent, Node};

    const N: u32 = 1000;

    fn source(backend: &BackendRef, len: u32) -> Node {
        Node::source(backend, DType::U32, len, Arc::new(()))
    }

    /// The steps that compute the node on the smallest device, all of which fit.
    fn planned(node: &Node) -> PlanOf {
        let plan = PlanOf::new(std::slice::from_ref(node), PlanLimits::of_core_webgpu(Int64Repr::Native));
        assert!(plan.steps.iter().all(|step| step.fits(plan.sizes())), "{:?}", plan.steps);
        plan
    }

    #[test]
    fn a_sum_of_many_arrays_is_a_chain_of_kernels() {
        let backend: BackendRef = Arc::new(CpuBackend::new(u64::MAX, true));
        let load = |_| Expr::load(&source(&backend, N), Expr::index());
        for (n, want) in [(6, 1), (7, 1), (8, 2), (12, 2), (13, 2), (14, 3), (100, 17)] {
            let sum = (0..n).map(load).reduce(Expr::add).expect("one or more");
            let node = Node::map(&backend, "test", Extent::known(N), sum, &[]);
            assert_eq!(planned(&node).steps.len(), want, "{n} arrays");
        }
    }

    #[test]
    fn every_primitive_takes_any_number_of_arrays() {
        let backend: BackendRef = Arc::new(CpuBackend::new(u64::MAX, true));
        let sum = || (0..20).map(|_| Expr::load(&source(&backend, N), Expr::index())).reduce(Expr::add).expect("some");
        let rows = || (Rows::Splits(source(&backend, 11)), Extent::known(10));
        let all = Extent::known(N);
        let small = "small";
        let bitmap = |keep: Expr| {
            let recipe = crate::graph::node::Recipe::Mark(Mark { keep, count: all.clone() });
            Node::recorded(&backend, small, DType::U32, all.clone(), &[], recipe)
        };
        let nodes = [
            Recorder::new(&backend, small)
                .reduce(ReduceOp::Sum, RowDomain::of(rows(), all.clone(), 1), sum())
                .expect(small),
            Recorder::new(&backend, small)
                .row_scan(ReduceOp::Sum, RowDomain::of(rows(), all.clone(), 1), sum())
                .expect(small),
            Recorder::new(&backend, small).scan(all.clone(), sum()).expect(small),
            Recorder::new(&backend, small).sort(all.clone(), sum(), 32),
            Recorder::new(&backend, small).row_sort(RowDomain::of(rows(), all.clone(), 1), (sum(), 32), 100),
            Recorder::new(&backend, small).top_k(RowDomain::of(rows(), all.clone(), 1), (sum(), 3), 100).expect(small),
            Recorder::new(&backend, small).histogram(all.clone(), sum(), Extent::known(9)),
            Recorder::new(&backend, small).tile_fold(ReduceOp::Sum, all.clone(), (sum(), 9), sum()).expect(small),
            bitmap(sum().eq(Expr::u32(1))),
            Node::assert(&backend, all.clone(), sum().eq(Expr::u32(1)), Check::new("test", "1")),
            Node::splits(&backend, small, &Extent::known(10), &sum(), &[]).expect(small),
        ];
        for node in nodes {
            assert!(planned(&node).steps.len() > 3, "{node:?}");
        }
    }

    #[test]
    fn conditions_of_a_branch_stay_conditional() {
        let backend: BackendRef = Arc::new(CpuBackend::new(u64::MAX, true));
        let load = || Expr::load(&source(&backend, N), Expr::index());
        let check = Check::new("test", "it is even");
        let even = |x: Expr| x.clone().checked(check.clone(), x.rem(Expr::u32(2)).eq(Expr::u32(0)));
        let choose = |rest: Expr, _| load().lt(load()).select(even(load()), rest);
        let value = (0..8).fold(Expr::u32(0), choose);
        let plan = planned(&Node::map(&backend, "test", Extent::known(N), value, &[]));
        for step in &plan.steps {
            let Recipe::Map(Map { value, .. }) = &step.recipe else { panic!("{step:?}") };
            assert!(crate::graph::conditions::always_checked(value).is_empty(), "{value:?}");
        }
        assert!(plan.steps.iter().any(|step| !step.checks.is_empty()));
    }
}
