//! Expressions compiled to lists of operations, operands first.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

use super::array::Array;
use super::pool::Pool;
use super::prepared::Prepared;
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::digest::{Digest, DigestMap, DigestSet};
use crate::graph::expr::{Check, Expr, ExprKind};
use crate::graph::function::Function;
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::graph::scalar_param::ScalarParam;
use crate::graph::size::{RunTable, Size, SizeView};
use crate::graph::walk::for_each_expr;
use crate::math::MathFn;

/// Arrays that the expressions of a step read, and slots into which their checks report failures.
#[derive(Clone)]
pub(crate) struct Inputs {
    /// The user's functions that the expressions call, for those of the plan.
    pub(crate) functions: Arc<[Function]>,
    /// The arrays, by their numbers in `step`.
    pub(crate) arrays: Vec<Arc<Array>>,
    pub(crate) step: Arc<Prepared>,
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
        &self.arrays[self.step.array(node)]
    }

    /// The function to call.
    fn function(&self, f: &Function) -> Function {
        f.of_run(&self.functions).clone()
    }

    /// The outcome slot of a check.
    pub(super) fn outcome(&self, check: &Arc<Check>) -> &AtomicU32 {
        &self.outcomes[self.step.check(check)]
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

/// An operation of a template: references are numbers, and what differs from run to run is symbolic.
#[derive(Debug)]
enum TemplateOp {
    Scalar(Scalar),
    Param(ScalarParam),
    Size(Size),
    Index,
    Given,
    Load(usize, DType, OpId),
    RowOf(usize, OpId),
    Unary(UnaryOp, DType, OpId),
    Binary(BinaryOp, OpId, OpId),
    Cast(DType, OpId),
    Bitcast(DType, OpId),
    Select([OpId; 3], Option<[u32; 2]>),
    Call(Function, Vec<OpId>),
    Checked(usize, OpId, OpId),
}

impl TemplateOp {
    /// The operations whose values this one reads.
    fn operands(&self) -> Vec<OpId> {
        match self {
            Self::Scalar(_) | Self::Param(_) | Self::Size(_) | Self::Index | Self::Given => Vec::new(),
            Self::Load(_, _, a) | Self::RowOf(_, a) => vec![*a],
            Self::Unary(_, _, a) | Self::Cast(_, a) | Self::Bitcast(_, a) => vec![*a],
            Self::Binary(_, a, b) | Self::Checked(_, a, b) => vec![*a, *b],
            Self::Select(all, _) => all.to_vec(),
            Self::Call(_, arguments) => arguments.clone(),
        }
    }

    /// The operation in a run.
    fn bound<'a>(&self, inputs: &'a Inputs) -> Op<'a> {
        match self {
            Self::Scalar(s) => Op::Scalar(*s),
            Self::Param(p) => Op::Scalar(inputs.sizes().scalar(p)),
            Self::Size(size) => Op::Scalar(Scalar::U32(inputs.sizes().value(size))),
            Self::Index => Op::Index,
            Self::Given => Op::Given,
            Self::Load(array, dtype, at) => Op::Load(&inputs.arrays[*array], *dtype, *at),
            Self::RowOf(splits, at) => Op::RowOf(inputs.arrays[*splits].slice(), *at),
            Self::Unary(op, dtype, a) => Op::Unary(*op, *dtype, *a),
            Self::Binary(op, a, b) => Op::Binary(*op, *a, *b),
            Self::Cast(dtype, a) => Op::Cast(*dtype, *a),
            Self::Bitcast(dtype, a) => Op::Bitcast(*dtype, *a),
            Self::Select(all, costs) => Op::Select(*all, *costs),
            Self::Call(f, arguments) => Op::Call(inputs.function(f), arguments.clone(), &inputs.panic),
            Self::Checked(check, ok, v) => Op::Checked(&inputs.outcomes[*check], *ok, *v),
        }
    }
}

/// Compiled expressions without the arrays and numbers of a run. Each distinct subexpression is one operation.
#[derive(Debug, Default)]
pub(crate) struct Template {
    ops: Vec<TemplateOp>,
    /// The operation of each expression; the last one is that of the whole expression.
    ids: Vec<OpId>,
    /// For each operation, whether its expression contains checks or calls of functions.
    conditions: Vec<bool>,
    /// For each operation, the number of operations that read its values, and one more if the caller sets or reads them.
    readers: Vec<u32>,
}

impl Template {
    fn new(step: &Prepared, given: &[Expr], all: &[&Expr]) -> Self {
        let mut template = Self::default();
        let mut compiled = DigestMap::default();
        for e in given {
            template.push(e, TemplateOp::Given, &mut compiled);
        }
        template.ids = all.iter().map(|e| template.compile(step, e, &mut compiled)).collect();
        template.readers = vec![0; template.ops.len()];
        let operands = template.ops.iter().flat_map(TemplateOp::operands);
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
            ExprKind::Scalar(s) => TemplateOp::Scalar(*s),
            ExprKind::Param(p) => TemplateOp::Param(p.clone()),
            ExprKind::Size(size) => TemplateOp::Size(size.clone()),
            ExprKind::Index => TemplateOp::Index,
            ExprKind::Load(node, i) => TemplateOp::Load(step.array(node), node.dtype(), at(i)),
            ExprKind::RowOf(splits, i) => TemplateOp::RowOf(step.array(splits), at(i)),
            ExprKind::Within(splits, row, offset) => {
                let start = at(&Expr::load(splits, row.clone()));
                TemplateOp::Binary(BinaryOp::Add, start, at(offset))
            }
            ExprKind::Unary(op, a) => TemplateOp::Unary(*op, e.dtype(), at(a)),
            ExprKind::Binary(op, a, b) => TemplateOp::Binary(*op, at(a), at(b)),
            ExprKind::Cast(a) => TemplateOp::Cast(e.dtype(), at(a)),
            ExprKind::Bitcast(a) => TemplateOp::Bitcast(e.dtype(), at(a)),
            ExprKind::Select(c, a, b) => {
                let mut of_condition = DigestSet::default();
                for_each_expr(c, &mut |e| {
                    of_condition.insert(e.digest());
                });
                let costs = [a, b].map(|branch| branch_cost(branch, &of_condition));
                let costs = if let [Some(a), Some(b)] = costs { Some([a, b]) } else { None };
                TemplateOp::Select([at(c), at(a), at(b)], costs)
            }
            ExprKind::Call(f, arguments) => TemplateOp::Call(f.clone(), arguments.iter().map(at).collect()),
            ExprKind::Checked(check, ok, v) => TemplateOp::Checked(step.check(check), at(ok), at(v)),
        };
        self.push(e, op, compiled)
    }

    fn push(&mut self, e: &Expr, op: TemplateOp, compiled: &mut DigestMap<OpId>) -> OpId {
        let has_conditions = e.has_conditions() || matches!(op, TemplateOp::Call(..));
        let inherits = op.operands().iter().any(|&id| self.conditions[id]);
        self.ops.push(op);
        self.conditions.push(has_conditions || inherits);
        compiled.insert(e.digest(), self.ops.len() - 1);
        self.ops.len() - 1
    }
}

/// Expressions compiled for evaluation at many blocks.
pub(crate) struct CompiledExpr<'a> {
    ops: Vec<Op<'a>>,
    template: Arc<Template>,
}

impl<'a> CompiledExpr<'a> {
    pub(crate) fn new(inputs: &'a Inputs, e: &Expr) -> Self {
        Self::with_given(inputs, &[], &[e]).0
    }

    /// Compiles several expressions that share their common subexpressions; the last one is the whole expression. The
    /// values of the expressions `given` are set for each block, as those of operations `0..given.len()`. Returns the
    /// operation of each expression, too.
    pub(super) fn with_given(inputs: &'a Inputs, given: &[Expr], all: &[&Expr]) -> (Self, Vec<OpId>) {
        let digest = match (given, all) {
            ([], [e]) => e.digest(),
            _ => {
                let [given, all]: [Vec<Digest>; 2] =
                    [given.iter().map(Expr::digest).collect(), all.iter().map(|e| e.digest()).collect()];
                Digest::of("compiled expressions", (given, all))
            }
        };
        let template = inputs.step.template(digest, || Template::new(&inputs.step, given, all));
        let ops = template.ops.iter().map(|op| op.bound(inputs)).collect();
        let ids = template.ids.clone();
        (Self { ops, template }, ids)
    }

    /// The operation of the whole expression.
    pub(super) fn root(&self) -> OpId {
        self.template.ids.last().copied().unwrap_or(0)
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
        &self.template.readers
    }

    /// Whether the operation's expression contains checks or calls of functions. If so, it must not be evaluated at
    /// positions that do not use its result.
    pub(super) fn has_conditions(&self, id: OpId) -> bool {
        self.template.conditions[id]
    }
}
