//! Plans with their kernels, kept for the next run of the same program.
//!
//! What a plan comes to depends on the program alone, up to how large its grids and buffers are: those follow from the
//! sizes of a run ([`Ready`]), without generating or compiling anything. A run with the sizes of the one before takes
//! buffers from the pool, and nothing else.

use std::ops::Range;
use std::sync::Arc;

use super::codegen::Modules;
use super::runtime::Pipeline;
use crate::graph::expr::Check;
use crate::graph::plan::{LinkedPlan, Source};

/// A plan with the modules of its steps.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) plan: LinkedPlan,
    /// Of each step.
    pub(super) modules: Vec<Modules>,
    /// What the last run came to, with what of the run it depends on.
    pub(super) ready: Option<(Vec<u32>, Arc<Ready>)>,
    /// The ids of the buffers that the last run took. Taken again where they lie unused, they need no new bind groups.
    pub(super) last: Vec<u64>,
}

impl Prepared {
    pub(super) fn new(plan: LinkedPlan) -> Self {
        let modules = plan.steps.iter().map(|_| Modules::default()).collect();
        Self { plan, modules, ready: None, last: Vec::new() }
    }
}

/// The kernels of a plan for the sizes of one run.
#[derive(Debug, Default)]
pub(super) struct Ready {
    pub(super) steps: Vec<ReadyStep>,
    /// How many conditions report to the block of conditions.
    pub(super) slots: u32,
    /// Bytes of the buffers that it takes. Arrays that are never alive together share one.
    pub(super) buffers: Vec<u64>,
    /// The buffer of the block of conditions.
    pub(super) status: Option<usize>,
    /// Bytes that its kernels read plus write, at capacities.
    pub(super) moves: u64,
}

/// What a kernel binds as one storage buffer.
#[derive(Debug, Clone)]
pub(super) struct BufferBinding {
    pub(super) what: Bound,
    /// These bytes alone, of an array larger than a binding.
    pub(super) window: Option<Range<u64>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    Array(Source),
    /// An output of the step, by number.
    Output(usize),
    /// A scratch buffer of the step, by number.
    Scratch(usize),
    /// The block of conditions.
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

/// A step: arrays to make, and how.
#[derive(Debug)]
pub(super) struct ReadyStep {
    /// The buffer and the number of elements of each output.
    pub(super) outputs: Vec<(usize, u32)>,
    pub(super) op: &'static str,
    /// The buffer of each scratch array.
    pub(super) scratch: Vec<usize>,
    pub(super) kernels: Vec<Kernel>,
    /// The outputs that must be 0 beforehand.
    pub(super) cleared_outputs: Vec<usize>,
    /// Conditions evaluated on the way: of successive slots.
    pub(super) checks: Vec<Arc<Check>>,
    /// The scratch buffer and word that is not 0 when a scan's total did not fit.
    pub(super) overflow: Option<(usize, u32)>,
}

/// Buffers of a run by the steps in which they are in use.
#[derive(Debug, Default)]
pub(super) struct Lifetimes {
    bytes: Vec<u64>,
    /// The last step that uses each; none for those that outlive the run.
    last: Vec<Option<usize>>,
}

impl Lifetimes {
    /// A buffer of so many bytes, in use from step `from` to step `last` (to the end of the run and beyond if none): the
    /// smallest that is free by then and large enough, of about the size if it outlives the run; else a new one.
    pub(super) fn take(&mut self, bytes: u64, from: usize, last: Option<usize>) -> usize {
        let is_free = |k: &usize| self.last[*k].is_some_and(|last| last < from);
        let fits = |k: &usize| self.bytes[*k] >= bytes && (last.is_some() || self.bytes[*k] / 2 <= bytes);
        let best = (0..self.bytes.len()).filter(|k| is_free(k) && fits(k)).min_by_key(|&k| self.bytes[k]);
        let at = best.unwrap_or_else(|| {
            self.bytes.push(bytes);
            self.last.push(None);
            self.bytes.len() - 1
        });
        self.last[at] = last;
        at
    }

    pub(super) fn into_bytes(self) -> Vec<u64> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_shared_by_arrays_that_are_never_alive_together() {
        let mut all = Lifetimes::default();
        let first = all.take(1000, 0, Some(1));
        let second = all.take(1000, 1, Some(2));
        assert_ne!(first, second, "the second is made while the first is read");
        assert_eq!(all.take(900, 2, None), first);
        assert_eq!(all.take(600, 3, Some(4)), second, "of about the size");
        assert_eq!(all.take(1000, 5, Some(5)), second, "the first is kept");
        assert_eq!(all.take(100, 6, Some(6)), second, "far smaller");
        assert_ne!(all.take(100, 7, None), second, "far smaller, and kept");
        assert_eq!(all.into_bytes(), [1000, 1000, 100]);
    }
}
