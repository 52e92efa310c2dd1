//! Expressions compiled to lists of operations, operands first.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

use super::array::Array;
use super::pool::Pool;
pub(super) use super::template::OpId;
use super::template::{Prepared, Template, TemplateOp};
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::function::Function;
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::graph::size::{RunTable, SizeView};

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

    /// Number of elements of an extent, which is exact here.
    pub(super) fn count(&self, extent: &Extent) -> usize {
        self.sizes().capacity(extent) as usize
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

/// An operation of a compiled expression.
pub(super) enum Op<'a> {
    Scalar(Scalar),
    Index,
    /// Values that the caller sets for each block: see [`Template::new`].
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

/// The operation of a template in a run.
fn bound<'a>(op: &TemplateOp, inputs: &'a Inputs) -> Op<'a> {
    match op {
        TemplateOp::Scalar(s) => Op::Scalar(*s),
        TemplateOp::Param(p) => Op::Scalar(inputs.sizes().scalar(p)),
        TemplateOp::Size(size) => Op::Scalar(Scalar::U32(inputs.sizes().value(size))),
        TemplateOp::Index => Op::Index,
        TemplateOp::Given => Op::Given,
        TemplateOp::Load(array, dtype, at) => Op::Load(&inputs.arrays[*array], *dtype, *at),
        TemplateOp::RowOf(splits, at) => Op::RowOf(inputs.arrays[*splits].slice(), *at),
        TemplateOp::Unary(op, dtype, a) => Op::Unary(*op, *dtype, *a),
        TemplateOp::Binary(op, a, b) => Op::Binary(*op, *a, *b),
        TemplateOp::Cast(dtype, a) => Op::Cast(*dtype, *a),
        TemplateOp::Bitcast(dtype, a) => Op::Bitcast(*dtype, *a),
        TemplateOp::Select(all, costs) => Op::Select(*all, *costs),
        TemplateOp::Call(f, arguments) => Op::Call(inputs.function(f), arguments.clone(), &inputs.panic),
        TemplateOp::Checked(check, ok, v) => Op::Checked(&inputs.outcomes[*check], *ok, *v),
    }
}

/// Expressions compiled for evaluation at many blocks.
pub(crate) struct CompiledExpr<'a> {
    ops: Vec<Op<'a>>,
    template: Arc<Template>,
}

impl<'a> CompiledExpr<'a> {
    pub(crate) fn new(inputs: &'a Inputs, e: &Expr) -> Self {
        Self::of_template(inputs, inputs.step.template(e))
    }

    /// The expressions of a template in a run.
    pub(super) fn of_template(inputs: &'a Inputs, template: Arc<Template>) -> Self {
        Self { ops: template.ops.iter().map(|op| bound(op, inputs)).collect(), template }
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
