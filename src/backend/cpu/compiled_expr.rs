//! Expressions compiled to lists of operations, operands first.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

use super::array::Array;
use super::order_key;
use super::pool::Pool;
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::expr::{Check, Expr, ExprKind};
use crate::graph::function::Function;
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::graph::walk::for_each_expr;
use crate::math::MathFn;

/// Arrays that the expressions of a step read, and slots into which their checks report failures.
#[derive(Clone)]
pub(crate) struct Inputs {
    pub(crate) arrays: DigestMap<Arc<Array>>,
    pub(crate) checks: Vec<Arc<Check>>,
    /// The first offending position of each check, or u32::MAX.
    pub(crate) outcomes: Arc<[AtomicU32]>,
    /// The first panic of one of the user's functions.
    pub(crate) panic: Arc<OnceLock<Error>>,
    /// Pool that further arrays are allocated from.
    pub(crate) pool: Arc<Pool>,
}

impl Inputs {
    /// Adds the array of a node whose result is not stored.
    pub(crate) fn add(&mut self, node: &Node, array: Array) -> Arc<Array> {
        let array = Arc::new(array);
        self.arrays.insert(node.digest(), array.clone());
        array
    }

    /// The array of a node that the step reads.
    pub(crate) fn array(&self, node: &Node) -> &Array {
        self.arrays.get(&node.digest()).expect("bug: a step reads an array that was not planned")
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
        ExprKind::RowOf(..) if e.as_own_row().is_some() => 1,
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
    Load(&'a Array, DType, OpId),
    RowOf(&'a [u32], OpId),
    Unary(UnaryOp, OpId),
    Binary(BinaryOp, OpId, OpId),
    Cast(DType, OpId),
    Bitcast(DType, OpId),
    /// Order keys of floats (see `order_key`): the key of NaN, and the floats.
    ToKey(Scalar, OpId),
    /// Unsigned sort keys of floats: the key of NaN and the inverted bits, and the floats.
    ToSortKey([Scalar; 2], OpId),
    /// Floats of order keys: the key that stands for no float with its replacement value, and the keys.
    FromKey([Scalar; 2], OpId),
    /// The condition and the branches, and the costs of the branches if both may be evaluated at all positions.
    Select([OpId; 3], Option<[u32; 2]>),
    /// The user's function, its arguments, and the slot that records its first panic.
    Call(Function, Vec<OpId>, &'a OnceLock<Error>),
    /// The slot that records the first failing position, the condition, the value.
    Checked(&'a AtomicU32, OpId, OpId),
}

/// An expression compiled for evaluation at many blocks. Each distinct subexpression is one operation.
pub(crate) struct CompiledExpr<'a> {
    ops: Vec<Op<'a>>,
    /// For each operation, whether its expression contains checks.
    conditions: Vec<bool>,
}

impl<'a> CompiledExpr<'a> {
    pub(crate) fn new(inputs: &'a Inputs, e: &Expr) -> Self {
        let mut expr = Self { ops: Vec::new(), conditions: Vec::new() };
        expr.compile(inputs, e, &mut DigestMap::default());
        expr
    }

    /// Appends the operations of an expression; returns the last one.
    fn compile(&mut self, inputs: &'a Inputs, e: &Expr, compiled: &mut DigestMap<OpId>) -> OpId {
        if let Some(&id) = compiled.get(&e.digest()) {
            return id;
        }
        let mut at = |e: &Expr| self.compile(inputs, e, compiled);
        let op = match e.kind() {
            ExprKind::Scalar(s) => Op::Scalar(*s),
            ExprKind::Size(size) => Op::Scalar(Scalar::U32(size.value())),
            ExprKind::Index => Op::Index,
            ExprKind::Load(node, i) => Op::Load(inputs.array(node), node.dtype(), at(i)),
            ExprKind::RowOf(splits, i) => Op::RowOf(inputs.array(splits).slice(), at(i)),
            ExprKind::Within(splits, row, offset) => {
                let start = at(&Expr::load(splits, row.clone()));
                Op::Binary(BinaryOp::Add, start, at(offset))
            }
            ExprKind::Unary(op, a) => Op::Unary(*op, at(a)),
            ExprKind::Binary(op, a, b) => Op::Binary(*op, at(a), at(b)),
            ExprKind::Cast(a) => Op::Cast(e.dtype(), at(a)),
            ExprKind::Bitcast(a) => {
                if let Some((x, nan_and_inverted)) = order_key::sort_keyed(e) {
                    let x = at(x);
                    return self.push(e, Op::ToSortKey(nan_and_inverted, x), compiled);
                }
                Op::Bitcast(e.dtype(), at(a))
            }
            ExprKind::Select(c, a, b) => {
                if let Some((x, nan)) = order_key::keyed(e) {
                    let x = at(x);
                    return self.push(e, Op::ToKey(nan, x), compiled);
                }
                if let Some((key, none_and_empty)) = order_key::unkeyed(e) {
                    let key = at(key);
                    return self.push(e, Op::FromKey(none_and_empty, key), compiled);
                }
                let mut of_condition = DigestSet::default();
                for_each_expr(c, &mut |e| {
                    of_condition.insert(e.digest());
                });
                let costs = [a, b].map(|branch| branch_cost(branch, &of_condition));
                let costs = if let [Some(a), Some(b)] = costs { Some([a, b]) } else { None };
                Op::Select([at(c), at(a), at(b)], costs)
            }
            ExprKind::Call(f, arguments) => Op::Call(f.clone(), arguments.iter().map(at).collect(), &inputs.panic),
            ExprKind::Checked(check, ok, v) => Op::Checked(inputs.outcome(check), at(ok), at(v)),
        };
        self.push(e, op, compiled)
    }

    /// The operations, operands first; the last one is the whole expression.
    pub(super) fn ops(&self) -> &[Op<'a>] {
        &self.ops
    }

    /// Whether the operation's expression contains checks. If so, it must not be evaluated at positions that do not use
    /// its result.
    pub(super) fn has_conditions(&self, id: OpId) -> bool {
        self.conditions[id]
    }

    fn push(&mut self, e: &Expr, op: Op<'a>, compiled: &mut DigestMap<OpId>) -> OpId {
        self.ops.push(op);
        self.conditions.push(e.has_conditions());
        compiled.insert(e.digest(), self.ops.len() - 1);
        self.ops.len() - 1
    }
}
