//! Expressions compiled to lists of operations, operands first.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

use super::array::Array;
use super::pool::Pool;
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::expr::{Check, Expr, ExprKind};
use crate::graph::function::Function;
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::graph::size::{RunTable, SizeView};
use crate::graph::walk::for_each_expr;
use crate::math::MathFn;

/// Arrays that the expressions of a step read, and slots into which their checks report failures.
#[derive(Clone)]
pub(crate) struct Inputs {
    /// The user's functions that the expressions call, for those of the plan.
    pub(crate) functions: Arc<[Function]>,
    pub(crate) arrays: DigestMap<Arc<Array>>,
    pub(crate) checks: Vec<Arc<Check>>,
    /// The first offending position of each check, or u32::MAX.
    pub(crate) outcomes: Arc<[AtomicU32]>,
    /// The first panic of one of the user's functions.
    pub(crate) panic: Arc<OnceLock<Error>>,
    /// Pool that further arrays are allocated from.
    pub(crate) pool: Arc<Pool>,
    /// The sizes of the run, all of which are exact.
    pub(crate) table: Arc<RunTable>,
}

impl Inputs {
    /// The sizes of the run.
    pub(crate) fn sizes(&self) -> SizeView<'_> {
        SizeView::of(&self.table)
    }

    /// The array of a node that the step reads.
    pub(crate) fn array(&self, node: &Node) -> &Array {
        self.arrays.get(&node.digest()).expect("bug: a step reads an array that was not planned")
    }

    /// The function to call.
    fn function(&self, f: &Function) -> Function {
        f.of_run(&self.functions).clone()
    }

    /// The outcome slot of a check.
    pub(super) fn outcome(&self, check: &Arc<Check>) -> &AtomicU32 {
        let slot = self.checks.iter().position(|c| c == check).expect("bug: an unplanned check");
        &self.outcomes[slot]
    }
}

/// Cost per position of partitioning a block between the branches of a `select`, in units of expression costs. Listing
/// the positions of each branch, gathering their operands and merging the results takes longer than a logarithm in
/// vectors of eight lanes.
pub(super) const PARTITION_COST_PER_POSITION: u32 = 32;

/// Cost per run of the same partitioning, for a run-length encoded condition.
pub(super) const PARTITION_COST_PER_RUN: u32 = 256;

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

/// Index of an operation in a [`CompiledExpr`].
pub(super) type OpId = usize;

/// An operation of a compiled expression.
pub(super) enum Op<'a> {
    Scalar(Scalar),
    Index,
    /// Values that the caller sets for each block: see [`CompiledExpr::with_given`].
    Given,
    Load(&'a Array, DType, OpId),
    RowOf(&'a [u32], OpId),
    /// The operation, the dtype of its results, its operand.
    Unary(UnaryOp, DType, OpId),
    Binary(BinaryOp, OpId, OpId),
    Cast(DType, OpId),
    Bitcast(DType, OpId),
    /// The condition and the branches, and the costs of the branches if both may be evaluated at all positions.
    Select([OpId; 3], Option<[u32; 2]>),
    /// The user's function, its arguments, and the slot that records its first panic.
    Call(Function, Vec<OpId>, &'a OnceLock<Error>),
    /// The slot that records the first failing position, the condition, the value.
    Checked(&'a AtomicU32, OpId, OpId),
}

impl Op<'_> {
    /// The operations whose values this one reads.
    fn operands(&self) -> Vec<OpId> {
        match self {
            Op::Scalar(_) | Op::Index | Op::Given => Vec::new(),
            Op::Load(_, _, a) | Op::RowOf(_, a) | Op::Unary(_, _, a) | Op::Cast(_, a) | Op::Bitcast(_, a) => vec![*a],
            Op::Binary(_, a, b) | Op::Checked(_, a, b) => vec![*a, *b],
            Op::Select(all, _) => all.to_vec(),
            Op::Call(_, arguments, _) => arguments.clone(),
        }
    }
}

/// Expressions compiled for evaluation at many blocks. Each distinct subexpression is one operation.
pub(crate) struct CompiledExpr<'a> {
    ops: Vec<Op<'a>>,
    /// The operation of the whole expression.
    root: OpId,
    /// For each operation, whether its expression contains checks or calls of functions.
    conditions: Vec<bool>,
    /// For each operation, the number of operations that read its values, and one more if the caller sets or reads them.
    readers: Vec<u32>,
}

impl<'a> CompiledExpr<'a> {
    pub(crate) fn new(inputs: &'a Inputs, e: &Expr) -> Self {
        Self::with_given(inputs, &[], &[e]).0
    }

    /// Compiles several expressions that share their common subexpressions; the last one is the whole expression. The
    /// values of the expressions `given` are set for each block, as those of operations `0..given.len()`. Returns the
    /// operation of each expression, too.
    pub(super) fn with_given(inputs: &'a Inputs, given: &[Expr], all: &[&Expr]) -> (Self, Vec<OpId>) {
        let mut expr = Self { ops: Vec::new(), root: 0, conditions: Vec::new(), readers: Vec::new() };
        let mut compiled = DigestMap::default();
        for e in given {
            expr.push(e, Op::Given, &mut compiled);
        }
        let ids: Vec<OpId> = all.iter().map(|e| expr.compile(inputs, e, &mut compiled)).collect();
        expr.root = ids.last().copied().unwrap_or(0);
        expr.readers = vec![0; expr.ops.len()];
        let read = expr.ops.iter().flat_map(Op::operands).chain(ids.iter().copied()).chain(0..given.len());
        for id in read {
            expr.readers[id] += 1;
        }
        (expr, ids)
    }

    /// Appends the operations of an expression; returns the last one.
    fn compile(&mut self, inputs: &'a Inputs, e: &Expr, compiled: &mut DigestMap<OpId>) -> OpId {
        if let Some(&id) = compiled.get(&e.digest()) {
            return id;
        }
        let mut at = |e: &Expr| self.compile(inputs, e, compiled);
        let op = match e.kind() {
            ExprKind::Scalar(s) => Op::Scalar(*s),
            ExprKind::Param(p) => Op::Scalar(inputs.sizes().scalar(p)),
            ExprKind::Size(size) => Op::Scalar(Scalar::U32(inputs.sizes().value(size))),
            ExprKind::Index => Op::Index,
            ExprKind::Load(node, i) => Op::Load(inputs.array(node), node.dtype(), at(i)),
            ExprKind::RowOf(splits, i) => Op::RowOf(inputs.array(splits).slice(), at(i)),
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
            ExprKind::Call(f, arguments) => {
                Op::Call(inputs.function(f), arguments.iter().map(at).collect(), &inputs.panic)
            }
            ExprKind::Checked(check, ok, v) => Op::Checked(inputs.outcome(check), at(ok), at(v)),
        };
        self.push(e, op, compiled)
    }

    /// The operation of the whole expression.
    pub(super) fn root(&self) -> OpId {
        self.root
    }

    /// Whether there is no arithmetic, so that the values of a block are at most copies of array elements.
    pub(super) fn only_loads(&self) -> bool {
        self.ops.iter().all(|op| matches!(op, Op::Scalar(_) | Op::Index | Op::Load(..)))
    }

    /// The operations, operands first.
    pub(super) fn ops(&self) -> &[Op<'a>] {
        &self.ops
    }

    /// For each operation, the number of operations that read its values, and one more if the caller sets or reads them.
    pub(super) fn readers(&self) -> &[u32] {
        &self.readers
    }

    /// Whether the operation's expression contains checks or calls of functions. If so, it must not be evaluated at
    /// positions that do not use its result.
    pub(super) fn has_conditions(&self, id: OpId) -> bool {
        self.conditions[id]
    }

    fn push(&mut self, e: &Expr, op: Op<'a>, compiled: &mut DigestMap<OpId>) -> OpId {
        let has_conditions = e.has_conditions() || matches!(op, Op::Call(..));
        let inherits = op.operands().iter().any(|&id| self.conditions[id]);
        self.ops.push(op);
        self.conditions.push(has_conditions || inherits);
        compiled.insert(e.digest(), self.ops.len() - 1);
        self.ops.len() - 1
    }
}
