//! Caches plans with their kernels for the next run of the same program.
//!
//! The steps of a plan and the shader text of its kernels depend on the program only. The sizes of grids and buffers
//! are computed from the sizes of a run ([`Ready`]), without generating or compiling anything. A run with the same
//! sizes as the previous one only takes buffers from the pool.

use std::ops::Range;
use std::sync::Arc;

use super::codegen::Modules;
use super::runtime::Pipeline;
use crate::graph::expr::Check;
use crate::graph::plan::{ArraySource, LinkedPlan};

/// A plan with the modules of its steps.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) plan: LinkedPlan,
    /// One per step.
    pub(super) modules: Vec<Modules>,
    /// The kernels of the last run, with the signature that they depend on: its sizes and its kept arrays.
    pub(super) ready: Option<(Vec<u32>, Arc<Ready>)>,
    /// Ids of the buffers of the last run. If they are free, reusing them needs no new bind groups.
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
    /// Number of checks that report to the status block.
    pub(super) slots: u32,
    /// Bytes of each buffer. Arrays whose lifetimes do not overlap share one.
    pub(super) buffers: Vec<u64>,
    /// The buffer of the status block.
    pub(super) status: Option<usize>,
    /// Bytes that the kernels read plus write, at capacities.
    pub(super) moves: u64,
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
pub(super) struct ReadyStep {
    /// The buffer and the number of elements of each output.
    pub(super) outputs: Vec<(usize, u32)>,
    pub(super) op: &'static str,
    /// The buffer of each scratch array.
    pub(super) scratch: Vec<usize>,
    pub(super) kernels: Vec<Kernel>,
    /// Outputs to clear beforehand.
    pub(super) cleared_outputs: Vec<usize>,
    /// Checks that the step evaluates, in successive slots.
    pub(super) checks: Vec<Arc<Check>>,
    /// Overflow flag of a scan: the scratch buffer, and the word in it that is not 0 if the total did not fit.
    pub(super) overflow: Option<(usize, u32)>,
}

/// Liveness of the arrays of a run, by step. Buffers are assigned once all arrays are known.
#[derive(Debug, Default)]
pub(super) struct Lifetimes(Vec<Lifetime>);

/// Live range of an array: from the step that computes it to the last step that reads it.
#[derive(Debug, Clone, Copy)]
struct Lifetime {
    bytes: u64,
    from: usize,
    /// `None` for an array that outlives the run.
    last: Option<usize>,
}

impl Lifetime {
    fn overlaps(&self, other: &Self) -> bool {
        let is_before = |a: &Self, b: &Self| a.last.is_some_and(|last| last < b.from);
        !is_before(self, other) && !is_before(other, self)
    }
}

/// The buffer of each array, and the bytes of each buffer.
pub(super) struct Shared {
    pub(super) buffer_of: Vec<usize>,
    pub(super) bytes: Vec<u64>,
}

impl Lifetimes {
    /// Adds an array of that many bytes, live from step `from` to step `last`, or beyond the run if `last` is `None`.
    /// Returns its index.
    pub(super) fn add(&mut self, bytes: u64, from: usize, last: Option<usize>) -> usize {
        self.0.push(Lifetime { bytes, from, last });
        self.0.len() - 1
    }

    /// Assigns buffers to the arrays, largest first. Each array takes the smallest buffer whose other arrays are not
    /// live at the same time, or a new one. An array that outlives the run shares only with arrays of about its size.
    /// `most` gives the largest buffer for an array of that many bytes: an array that fits one binding is bound with
    /// its whole buffer.
    pub(super) fn share(&self, most: impl Fn(u64) -> u64) -> Shared {
        let mut by_size: Vec<usize> = (0..self.0.len()).collect();
        by_size.sort_by_key(|&k| (std::cmp::Reverse(self.0[k].bytes), k));
        let mut users: Vec<Vec<usize>> = Vec::new();
        let mut out = Shared { buffer_of: vec![0; self.0.len()], bytes: Vec::new() };
        for k in by_size {
            let array = &self.0[k];
            let most = if array.last.is_some() {
                most(array.bytes)
            } else {
                most(array.bytes).min((2 * array.bytes).saturating_add(1))
            };
            let fits = |at: &usize| out.bytes[*at] <= most;
            let is_free = |at: &usize| users[*at].iter().all(|&other| !array.overlaps(&self.0[other]));
            // Buffers are in descending order of size: take the smallest that fits.
            let at = (0..out.bytes.len()).rev().find(|at| fits(at) && is_free(at)).unwrap_or_else(|| {
                out.bytes.push(array.bytes);
                users.push(Vec::new());
                out.bytes.len() - 1
            });
            users[at].push(k);
            out.buffer_of[k] = at;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_shared_by_arrays_that_are_never_alive_together() {
        let mut all = Lifetimes::default();
        let first = all.add(1000, 0, Some(1));
        let second = all.add(1000, 1, Some(2));
        let third = all.add(900, 2, None);
        let fourth = all.add(600, 3, Some(4));
        let fifth = all.add(1000, 5, Some(5));
        let small = all.add(100, 6, Some(6));
        let small_and_kept = all.add(100, 7, None);
        let Shared { buffer_of, bytes } = all.share(|_| u64::MAX);
        assert_ne!(buffer_of[first], buffer_of[second], "the second is made while the first is read");
        assert_eq!(buffer_of[third], buffer_of[first], "about the size");
        assert_eq!(buffer_of[fourth], buffer_of[second]);
        assert_eq!(buffer_of[fifth], buffer_of[second], "the first is kept");
        assert_eq!(buffer_of[small], buffer_of[second], "far smaller");
        assert_ne!(buffer_of[small_and_kept], buffer_of[second], "far smaller, and kept");
        assert_eq!(bytes, [1000, 1000, 100]);
    }

    #[test]
    fn a_large_array_takes_the_place_of_a_small_one() {
        let mut all = Lifetimes::default();
        let [small, large, last] =
            [(10, 0, Some(0)), (1000, 1, Some(1)), (500, 2, None)].map(|(b, f, l)| all.add(b, f, l));
        let Shared { buffer_of, bytes } = all.share(|_| u64::MAX);
        assert_eq!((buffer_of[small], buffer_of[large], buffer_of[last]), (0, 0, 0));
        assert_eq!(bytes, [1000]);
    }

    /// The buffer of the larger array cannot be bound whole.
    #[test]
    fn an_array_of_a_binding_shares_with_none_that_exceeds_a_binding() {
        let mut all = Lifetimes::default();
        let [fits, exceeds] = [(100, 0, Some(0)), (101, 1, Some(1))].map(|(b, f, l)| all.add(b, f, l));
        let Shared { buffer_of, .. } = all.share(|bytes| if bytes <= 100 { 100 } else { 1000 });
        assert_ne!(buffer_of[fits], buffer_of[exceeds]);
    }
}
