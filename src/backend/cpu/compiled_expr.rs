//! Expressions compiled to lists of operations, operands first.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

use super::array::Array;
use super::pool::Pool;
use super::product_numbers::ProductNumbers;
pub(super) use super::template::{Op, OpId};
use super::template::{Prepared, Template};
use crate::error::Error;
use crate::graph::function::Function as UserFunction;
use crate::graph::planned::{Expr, Extent, Function, Node, SizeView};
use crate::graph::program::CheckId;
use crate::graph::scalar::Scalar;
use crate::graph::size::RunTable;

/// Arrays that the expressions of a step read, and slots into which their checks report failures.
#[derive(Clone)]
pub(crate) struct Inputs {
    /// The user's functions that the expressions call, for those of the plan.
    pub(crate) functions: Arc<[UserFunction]>,
    /// The arrays, by their numbers in `step`.
    pub(crate) arrays: Vec<Arc<Array>>,
    /// The products that the expressions load although no step stores them, by their numbers in `step`.
    pub(crate) products: Vec<Arc<dyn ProductNumbers>>,
    pub(crate) step: Arc<Prepared>,
    /// The first offending position of each check, or u32::MAX.
    pub(crate) outcomes: Arc<[AtomicU32]>,
    /// The first panic of one of the user's functions.
    pub(crate) panic: Arc<OnceLock<Error>>,
    /// In debug builds, an index that a unique scatter writes twice; u32::MAX for none. A bug, unless a condition on which
    /// the step depends has failed.
    pub(crate) written_twice: Arc<AtomicU32>,
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
    pub(super) fn function(&self, f: &Function) -> &UserFunction {
        f.of_run(&self.functions)
    }

    /// The outcome slot of a check.
    pub(super) fn outcome(&self, check: &CheckId) -> &AtomicU32 {
        &self.outcomes[self.step.check(check)]
    }
}

/// Cost per position of partitioning a block between the branches of a `select`, in units of expression costs. Listing
/// the positions of each branch, gathering their operands and merging the results takes longer than a logarithm in
/// vectors of eight lanes.
pub(super) const PARTITION_COST_PER_POSITION: u32 = 32;

/// Cost per run of the same partitioning, for a run-length encoded condition.
pub(super) const PARTITION_COST_PER_RUN: u32 = 256;

/// Expressions compiled for evaluation at many blocks.
pub(crate) struct CompiledExpr<'a> {
    inputs: &'a Inputs,
    template: Arc<Template>,
}

impl<'a> CompiledExpr<'a> {
    pub(crate) fn new(inputs: &'a Inputs, e: &Expr) -> Self {
        Self::of_template(inputs, inputs.step.template(e))
    }

    /// The expressions of a template in a run.
    pub(super) fn of_template(inputs: &'a Inputs, template: Arc<Template>) -> Self {
        Self { inputs, template }
    }

    pub(super) fn inputs(&self) -> &'a Inputs {
        self.inputs
    }

    /// The value of an operation that is a constant of the run.
    pub(super) fn constant(&self, id: OpId) -> Option<Scalar> {
        match &self.template.ops[id] {
            Op::Scalar(s) => Some(*s),
            Op::Param(p) => Some(self.inputs.sizes().scalar(p)),
            Op::Size(size) => Some(Scalar::U32(self.inputs.sizes().value(size))),
            _ => None,
        }
    }

    /// The operation of the whole expression.
    pub(super) fn root(&self) -> OpId {
        self.template.ids.last().copied().unwrap_or(0)
    }

    /// Whether there is no arithmetic, so that the values of a block are at most copies of array elements.
    pub(super) fn only_loads(&self) -> bool {
        let is_load = |op: &Op| matches!(op, Op::Scalar(_) | Op::Param(_) | Op::Size(_) | Op::Index | Op::Load(..));
        self.template.ops.iter().all(is_load)
    }

    /// Whether values are numbers of a product that is not stored, which are computed for each block.
    pub(super) fn recomputes(&self) -> bool {
        self.template.ops.iter().any(|op| matches!(op, Op::Product(..)))
    }

    /// The operations, operands first.
    pub(super) fn ops(&self) -> &[Op] {
        &self.template.ops
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
