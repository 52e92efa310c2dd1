//! Compiled plans: plans with their modules and kernels, cached for further runs of the same program.
//!
//! The steps of a plan and the modules of its kernels depend on the program only. Grids and buffer sizes are computed
//! from the sizes of a run ([`SizedPlan`]), without generating or compiling modules. A run with the sizes of the
//! previous one reuses these too.

use std::ops::Range;
use std::sync::Arc;

use super::codegen::StepModules;
use super::runtime::Pipeline;
use crate::graph::expr::Check;
use crate::graph::plan::{ArraySource, LinkedPlan};

/// A plan with the modules of its steps.
#[derive(Debug)]
pub(super) struct CompiledPlan {
    pub(super) plan: LinkedPlan,
    /// One per step.
    pub(super) modules: Vec<StepModules>,
    /// The kernels of the last run, with their signature: the sizes, the scalars and the kept arrays.
    pub(super) sized: Option<(Vec<u32>, Arc<SizedPlan>)>,
    /// Ids of the buffers of the last run. Reusing them hits the bind group cache.
    pub(super) last: Vec<u64>,
}

impl CompiledPlan {
    pub(super) fn new(plan: LinkedPlan) -> Self {
        let modules = plan.steps.iter().map(|_| StepModules::default()).collect();
        Self { plan, modules, sized: None, last: Vec::new() }
    }
}

/// The kernels of a plan for the sizes of one run.
#[derive(Debug, Default)]
pub(super) struct SizedPlan {
    pub(super) steps: Vec<SizedStep>,
    /// Number of checks that report to the status block.
    pub(super) slots: u32,
    /// Bytes of each buffer. Arrays whose lifetimes do not overlap share one.
    pub(super) buffers: Vec<u64>,
    /// The buffer of the status block.
    pub(super) status: Option<usize>,
    /// Bytes that the kernels read plus write, at capacities.
    pub(super) bytes_moved: u64,
}

/// One storage buffer of a kernel.
#[derive(Debug, Clone)]
pub(super) struct BufferBinding {
    pub(super) resource: Resource,
    /// The bytes to bind, for an array larger than one binding.
    pub(super) window: Option<Range<u64>>,
}

/// An array or buffer that a kernel binds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Resource {
    /// An array of the plan.
    Array(ArraySource),
    /// An output of the step, by index.
    Output(usize),
    /// A scratch buffer of the step, by index.
    Scratch(usize),
    /// The status block.
    Status,
}

/// One kernel with its grid.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) pipeline: Pipeline,
    pub(super) bindings: Vec<BufferBinding>,
    pub(super) params: Arc<[u32]>,
    pub(super) workgroups: u32,
    pub(super) depth: u32,
    pub(super) label: Arc<str>,
}

/// A step: the arrays that it computes, and its kernels.
#[derive(Debug)]
pub(super) struct SizedStep {
    /// The buffer and the number of elements of each output.
    pub(super) outputs: Vec<(usize, u32)>,
    pub(super) op: &'static str,
    /// The buffer of each scratch array.
    pub(super) scratch: Vec<usize>,
    pub(super) kernels: Vec<Kernel>,
    /// Outputs to clear before the kernels run.
    pub(super) cleared_outputs: Vec<usize>,
    /// Checks that the step evaluates, in successive slots.
    pub(super) checks: Vec<Arc<Check>>,
    /// Overflow flag of a scan: the scratch buffer, and the index of the word that is nonzero if the total overflowed.
    pub(super) overflow: Option<(usize, u32)>,
}
