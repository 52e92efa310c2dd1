//! What the GPU backend prepares for the runs of a plan: modules and kernels.
//!
//! The steps of a plan and the modules of its kernels depend on the program only, and all threads share them. Grids and
//! buffer sizes are computed from the sizes of a run ([`SizedPlan`]), without generating or compiling modules. A run with
//! the sizes of an earlier one reuses these too ([`RunHint`]).

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::codegen::StepModules;
use super::runtime::Pipeline;
use crate::graph::plan::LinkedPlan;
use crate::graph::program::CheckId;

/// The modules of a plan, and the hints of its last runs.
#[derive(Debug)]
pub(super) struct Compiled {
    /// One per step.
    pub(super) modules: Vec<StepModules>,
    /// Hints of the last runs. A run takes one and puts it back, so that there are as many as runs at once.
    hints: Mutex<Vec<RunHint>>,
}

/// Maximum number of hints of a plan.
const MAX_HINTS: usize = 16;

/// What a run may reuse of an earlier one.
#[derive(Debug, Default)]
pub(super) struct RunHint {
    /// The sizes and scalars of the run, and the arrays that were kept after it.
    pub(super) signature: Vec<u32>,
    /// The kernels of runs with that signature.
    pub(super) sized: Option<Arc<SizedPlan>>,
    /// Ids of the buffers. Reusing them hits the bind group cache.
    pub(super) buffers: Vec<u64>,
}

impl Compiled {
    pub(super) fn of(plan: &LinkedPlan) -> Self {
        Self { modules: plan.steps.iter().map(|_| StepModules::default()).collect(), hints: Mutex::default() }
    }

    fn hints(&self) -> MutexGuard<'_, Vec<RunHint>> {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the hint of a run with that signature, or of the last run.
    pub(super) fn take_hint(&self, signature: &[u32]) -> RunHint {
        let mut hints = self.hints();
        match hints.iter().rposition(|hint| hint.signature == signature) {
            Some(at) => hints.remove(at),
            None => hints.pop().unwrap_or_default(),
        }
    }

    /// Puts a hint back.
    pub(super) fn put_hint(&self, hint: RunHint) {
        let mut hints = self.hints();
        if hints.len() < MAX_HINTS {
            hints.push(hint);
        }
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
    /// An array that the step reads, by index.
    Read(usize),
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

/// The base of a scatter.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base {
    /// The array that the step reads at that index is copied to the output before.
    Copied(usize),
    /// The output has the buffer of the base.
    Overwritten,
}

/// A step: the arrays that it computes, and its kernels.
#[derive(Debug)]
pub(super) struct SizedStep {
    /// The buffer and the number of elements of each output.
    pub(super) outputs: Vec<(usize, u32)>,
    /// The base of a scatter, and what becomes of it.
    pub(super) base: Option<Base>,
    pub(super) op: &'static str,
    /// The buffer of each scratch array.
    pub(super) scratch: Vec<usize>,
    pub(super) kernels: Vec<Kernel>,
    /// Outputs to clear before the kernels run.
    pub(super) cleared_outputs: Vec<usize>,
    /// Checks that the step evaluates, in successive slots.
    pub(super) checks: Vec<CheckId>,
    /// Overflow flag of a scan: the scratch buffer, and the index of the word that is nonzero if the total overflowed.
    pub(super) overflow: Option<(usize, u32)>,
}
