//! Expressions compiled into lists of operations.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use super::array::Array;
use super::order_key;
use super::pool::Pool;
use crate::dtype::DType;
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Check, Expr, ExprKind};
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
    /// Pool that further arrays are allocated from.
    pub(crate) pool: Arc<Pool>,
}

impl Inputs {
    /// Adds the array of a node that no step stored.
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

/// Cost per position of partitioning a block between two branches, in units of expression costs. Listing the positions
/// of each branch, picking their operands and merging the results takes longer than a logarithm computed eight lanes at
/// a time.
pub(super) const PARTITION_COST_PER_POSITION: u32 = 32;

/// The same cost per run, for a condition that is known by runs.
pub(super) const PARTITION_COST_PER_RUN: u32 = 256;

/// Cost of an expression per position of a block. The rows of ordered positions are found in one walk; those of other
/// positions are found by searches that wait for memory at each step. Exponentials, logarithms, roots and quotients of
/// floats are computed several at a time, other functions and quotients one by one.
fn block_cost(e: &Expr) -> u32 {
    let mut cost = 0u32;
    for_each_expr(e, &mut |e| {
        let is_float = e.dtype().is_float();
        let own = match e.kind() {
            ExprKind::RowOf(..) if e.as_own_row().is_some() => 1,
            ExprKind::RowOf(..) => 4 * e.own_cost(),
            ExprKind::Unary(UnaryOp::Math(MathFn::Exp | MathFn::Log | MathFn::Sqrt), _) => e.own_cost(),
            ExprKind::Binary(BinaryOp::Div, ..) if is_float => e.own_cost(),
            ExprKind::Unary(UnaryOp::Math(_), _) => 8 * e.own_cost(),
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2, ..) => 8 * e.own_cost(),
            _ => e.own_cost(),
        };
        cost = cost.saturating_add(own);
    });
    cost
}

/// An operation of a program. Operands are given by their places in the list of operations.
pub(super) enum Op<'a> {
    Scalar(Scalar),
    Index,
    Load(&'a Array, DType, usize),
    RowOf(&'a [u32], usize),
    Unary(UnaryOp, usize),
    Binary(BinaryOp, usize, usize),
    Cast(DType, usize),
    Bitcast(DType, usize),
    /// Order keys of floats (see `order_key`): the key of NaN, and the floats.
    ToKey(Scalar, usize),
    /// Floats of order keys: the key of no float with its replacement value, and the keys.
    FromKey([Scalar; 2], usize),
    /// The condition and the branches; the costs of the branches, if both may be evaluated at all positions.
    Select([usize; 3], Option<[u32; 2]>),
    /// The slot for failures, the condition, the value.
    Checked(&'a AtomicU32, usize, usize),
}

/// An expression, compiled for many blocks. Each distinct subexpression occurs once, operands first.
pub(crate) struct CompiledExpr<'a> {
    ops: Vec<Op<'a>>,
    /// For each operation, whether it or its operands contain checks.
    conditions: Vec<bool>,
}

impl<'a> CompiledExpr<'a> {
    pub(crate) fn new(inputs: &'a Inputs, e: &Expr) -> Self {
        let mut program = Self { ops: Vec::new(), conditions: Vec::new() };
        program.place(inputs, e, &mut DigestMap::default());
        program
    }

    /// Compiles the expression and returns the place of its result.
    fn place(&mut self, inputs: &'a Inputs, e: &Expr, known: &mut DigestMap<usize>) -> usize {
        if let Some(&place) = known.get(&e.digest()) {
            return place;
        }
        let mut at = |e: &Expr| self.place(inputs, e, known);
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
            ExprKind::Bitcast(a) => Op::Bitcast(e.dtype(), at(a)),
            ExprKind::Select(c, a, b) => {
                if let Some((x, nan)) = order_key::keyed(e) {
                    let x = at(x);
                    return self.push(e, Op::ToKey(nan, x), known);
                }
                if let Some((key, none_and_empty)) = order_key::unkeyed(e) {
                    let key = at(key);
                    return self.push(e, Op::FromKey(none_and_empty, key), known);
                }
                let everywhere = !a.has_conditions() && !b.has_conditions();
                Op::Select([at(c), at(a), at(b)], everywhere.then(|| [a, b].map(block_cost)))
            }
            ExprKind::Checked(check, ok, v) => Op::Checked(inputs.outcome(check), at(ok), at(v)),
        };
        self.push(e, op, known)
    }

    /// The operations, operands first; the last one is the whole expression.
    pub(super) fn ops(&self) -> &[Op<'a>] {
        &self.ops
    }

    /// Whether the operation at `place` or its operands contain checks. Such an operation must not be evaluated at
    /// positions that do not use its result.
    pub(super) fn has_conditions(&self, place: usize) -> bool {
        self.conditions[place]
    }

    fn push(&mut self, e: &Expr, op: Op<'a>, known: &mut DigestMap<usize>) -> usize {
        self.ops.push(op);
        self.conditions.push(e.has_conditions());
        known.insert(e.digest(), self.ops.len() - 1);
        self.ops.len() - 1
    }
}
