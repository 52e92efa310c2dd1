//! What the runs of a step share: the numbers of its arrays, and templates of its compiled expressions.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::dtype::DType;
use crate::graph::digest::{Digest, DigestMap, DigestSet};
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, ExprKind, Function, Node, Param, Size};
use crate::graph::program::CheckId;
use crate::graph::scalar::Scalar;
use crate::graph::step::traffic::Loads;
use crate::graph::walk::for_each_expr;
use crate::math::MathFn;

/// Index of an operation in a compiled expression.
pub(super) type OpId = usize;

/// The shared part of the runs of one step.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// The number of each array that the step reads.
    arrays: DigestMap<usize>,
    /// The number of each product that it loads although no step stores it.
    products: DigestMap<usize>,
    pub(super) checks: Vec<CheckId>,
    pub(super) loads: Loads,
    /// The expressions that the step's loops compile, by their digests.
    templates: Mutex<DigestMap<Arc<Template>>>,
    of_primitive: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Prepared {
    pub(super) fn of(step: &Step) -> Self {
        let checks = step.all_checks().copied().collect();
        let products = step.recomputed.iter().map(|of| of.node.digest()).zip(0..).collect();
        Self { loads: Loads::of(step), products, ..Self::new(step.reads.iter().map(Node::digest), checks) }
    }

    /// Of a step that reads these arrays, in this order.
    pub(super) fn new(arrays: impl Iterator<Item = Digest>, checks: Vec<CheckId>) -> Self {
        Self { arrays: arrays.zip(0..).collect(), checks, ..Self::default() }
    }

    /// The number of an array that the step reads.
    pub(super) fn array(&self, node: &Node) -> usize {
        *self.arrays.get(&node.digest()).expect("bug: a step reads an array that was not planned")
    }

    /// The number of a check.
    pub(super) fn check(&self, check: &CheckId) -> usize {
        self.checks.iter().position(|c| c == check).expect("bug: an unplanned check")
    }

    /// The template of an expression, compiled at the first call.
    pub(super) fn template(&self, e: &Expr) -> Arc<Template> {
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        templates.entry(e.digest()).or_insert_with(|| Arc::new(Template::new(self, &[], &[e]))).clone()
    }

    /// What the primitive of the step prepares for all runs, made at the first call.
    pub(super) fn of_primitive<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> &T {
        let prepared = self.of_primitive.get_or_init(|| Box::new(make()));
        prepared.downcast_ref().expect("bug: a step of another primitive")
    }
}

/// Cost of an operation per position of a block. A merge with the splits finds the rows of ascending positions; other
/// positions need a search each. Exponentials, logarithms, roots and float quotients are vectorized; other functions
/// and quotients are scalar.
fn block_cost(e: &Expr) -> u32 {
    let is_float = e.dtype().is_float();
    match e.kind() {
        ExprKind::RowOf(..) if e.own_row().is_some() => 1,
        ExprKind::RowOf(..) => 4 * e.own_cost(),
        ExprKind::Unary(UnaryOp::Math(MathFn::Exp | MathFn::Log | MathFn::Sqrt), _) => e.own_cost(),
        ExprKind::Binary(BinaryOp::Div, ..) if is_float => e.own_cost(),
        ExprKind::Unary(UnaryOp::Math(_), _) | ExprKind::Call(..) => e.own_cost().saturating_mul(8),
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2, ..) => 8 * e.own_cost(),
        _ => e.own_cost(),
    }
}

/// Cost per position of a branch, without the operations that the condition contains, which are evaluated at all
/// positions anyway. `None` if one of the other operations checks a condition or calls a function of the user.
fn branch_cost(branch: &Expr, of_condition: &DigestSet) -> Option<u32> {
    let (mut cost, mut seen, mut stack) = (0u32, DigestSet::default(), vec![branch]);
    while let Some(e) = stack.pop() {
        if of_condition.contains(&e.digest()) || !seen.insert(e.digest()) {
            continue;
        }
        if matches!(e.kind(), ExprKind::Checked(..) | ExprKind::Call(..)) {
            return None;
        }
        cost = cost.saturating_add(block_cost(e));
        stack.extend(e.operands());
    }
    Some(cost)
}

/// An operation of a template: arrays and checks are numbers, and what differs from run to run is symbolic.
#[derive(Debug)]
pub(super) enum Op {
    Scalar(Scalar),
    Param(Param),
    Size(Size),
    Index,
    /// Values that the caller sets for each block: see [`Template::new`].
    Given,
    /// The array, the dtype of its elements, the index.
    Load(usize, DType, OpId),
    /// The product that is not stored, the dtype of its numbers, the index.
    Product(usize, DType, OpId),
    /// The splits, the position.
    RowOf(usize, OpId),
    /// The operation, the dtype of its results, its operand.
    Unary(UnaryOp, DType, OpId),
    Binary(BinaryOp, OpId, OpId),
    Cast(DType, OpId),
    Bitcast(DType, OpId),
    /// The condition and the branches, and the costs of the branches if both may be evaluated at all positions.
    Select([OpId; 3], Option<[u32; 2]>),
    /// The user's function and its arguments.
    Call(Function, Vec<OpId>),
    /// The check, the condition, the value.
    Checked(usize, OpId, OpId),
}

impl Op {
    /// The operations whose values this one reads.
    fn operands(&self) -> Vec<OpId> {
        match self {
            Self::Scalar(_) | Self::Param(_) | Self::Size(_) | Self::Index | Self::Given => Vec::new(),
            Self::Load(_, _, a) | Self::Product(_, _, a) | Self::RowOf(_, a) => vec![*a],
            Self::Unary(_, _, a) | Self::Cast(_, a) | Self::Bitcast(_, a) => vec![*a],
            Self::Binary(_, a, b) | Self::Checked(_, a, b) => vec![*a, *b],
            Self::Select(all, _) => all.to_vec(),
            Self::Call(_, arguments) => arguments.clone(),
        }
    }
}

/// Compiled expressions without the arrays and numbers of a run. Each distinct subexpression is one operation.
#[derive(Debug, Default)]
pub(crate) struct Template {
    pub(super) ops: Vec<Op>,
    /// The operation of each expression; the last one is that of the whole expression.
    pub(super) ids: Vec<OpId>,
    /// For each operation, whether its expression contains checks or calls of functions.
    pub(super) conditions: Vec<bool>,
    /// For each operation, the number of operations that read its values, and one more if the caller sets or reads them.
    pub(super) readers: Vec<u32>,
}

impl Template {
    /// Compiles several expressions that share their common subexpressions; the last one is the whole expression. The
    /// values of the expressions `given` are set for each block, as those of operations `0..given.len()`.
    pub(super) fn new(step: &Prepared, given: &[Expr], all: &[&Expr]) -> Self {
        let mut template = Self::default();
        let mut compiled = DigestMap::default();
        for e in given {
            template.push(e, Op::Given, &mut compiled);
        }
        template.ids = all.iter().map(|e| template.compile(step, e, &mut compiled)).collect();
        template.readers = vec![0; template.ops.len()];
        let operands = template.ops.iter().flat_map(Op::operands);
        for id in operands.chain(template.ids.iter().copied()).chain(0..given.len()) {
            template.readers[id] += 1;
        }
        template
    }

    /// Appends the operations of an expression; returns the last one.
    fn compile(&mut self, step: &Prepared, e: &Expr, compiled: &mut DigestMap<OpId>) -> OpId {
        if let Some(&id) = compiled.get(&e.digest()) {
            return id;
        }
        let mut at = |e: &Expr| self.compile(step, e, compiled);
        let op = match e.kind() {
            ExprKind::Scalar(s) => Op::Scalar(*s),
            ExprKind::Param(p) => Op::Param(*p),
            ExprKind::Size(size) => Op::Size(size.clone()),
            ExprKind::Index => Op::Index,
            ExprKind::Load(node, i) => match step.products.get(&node.digest()) {
                Some(&product) => Op::Product(product, node.dtype(), at(i)),
                None => Op::Load(step.array(node), node.dtype(), at(i)),
            },
            ExprKind::Register(..) => Op::Given,
            ExprKind::RowOf(splits, i) => Op::RowOf(step.array(splits), at(i)),
            ExprKind::Within(splits, row, offset) => {
                let start = at(&Expr::load(splits, row.clone()));
                Op::Binary(BinaryOp::Add, start, at(offset))
            }
            ExprKind::Unary(op, a) => Op::Unary(*op, e.dtype(), at(a)),
            ExprKind::Binary(op, a, b) => Op::Binary(*op, at(a), at(b)),
            ExprKind::Cast(a) => Op::Cast(e.dtype(), at(a)),
            ExprKind::Bitcast(a) => Op::Bitcast(e.dtype(), at(a)),
            ExprKind::Select(c, a, b) => {
                let mut of_condition = DigestSet::default();
                for_each_expr(c, &mut |e| {
                    of_condition.insert(e.digest());
                });
                let costs = [a, b].map(|branch| branch_cost(branch, &of_condition));
                let costs = if let [Some(a), Some(b)] = costs { Some([a, b]) } else { None };
                Op::Select([at(c), at(a), at(b)], costs)
            }
            ExprKind::Call(f, arguments) => Op::Call(f.clone(), arguments.iter().map(at).collect()),
            ExprKind::Checked(check, ok, v) => Op::Checked(step.check(check), at(ok), at(v)),
        };
        self.push(e, op, compiled)
    }

    fn push(&mut self, e: &Expr, op: Op, compiled: &mut DigestMap<OpId>) -> OpId {
        let has_conditions = e.has_conditions() || matches!(op, Op::Call(..));
        let inherits = op.operands().iter().any(|&id| self.conditions[id]);
        self.ops.push(op);
        self.conditions.push(has_conditions || inherits);
        compiled.insert(e.digest(), self.ops.len() - 1);
        self.ops.len() - 1
    }
}
