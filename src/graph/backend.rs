//! Interface of backends to the graph: store arrays, evaluate them, and read them back.

use std::any::Any;
use std::fmt::Debug;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::expr::Check;
use super::many_dispatches::ManyDispatches;
use super::node::{Node, Stored};
use super::plan::{LastCounts, PlanLimits, Step};
use super::size::Size;
use crate::dtype::DType;
use crate::error::Result;
use crate::numerics::Numerics;
use crate::stats::Stats;

/// A backend, shared by its nodes.
pub(crate) type BackendRef = Arc<dyn Backend>;

/// One device-side condition of an evaluated node, with the location of its outcome.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    /// Block of outcomes, of a type of the backend's own.
    pub(crate) block: Arc<dyn Any + Send + Sync>,
    /// Index of the outcome in the block. An outcome is the first offending position, or u32::MAX.
    pub(crate) slot: u32,
    /// The condition.
    pub(crate) check: Arc<Check>,
    /// Whether a read has found the condition to hold. Nodes made from this one then need not check it again.
    passed: Arc<AtomicBool>,
}

impl Status {
    /// An outcome that has not been read yet.
    pub(crate) fn new(block: Arc<dyn Any + Send + Sync>, slot: u32, check: Arc<Check>) -> Self {
        Self { block, slot, check, passed: Arc::default() }
    }

    /// Adds the conditions of `from` that are not in the list and are not known to hold.
    pub(crate) fn inherit(list: &mut Vec<Self>, from: &[Self]) {
        for s in from {
            if !s.passed.load(Ordering::Relaxed) && !list.contains(s) {
                list.push(s.clone());
            }
        }
    }

    /// Fails if `first` is a position; otherwise marks the condition as holding from now on.
    pub(crate) fn settle(&self, first: u32) -> Result<()> {
        self.check.outcome(first)?;
        self.passed.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl PartialEq for Status {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.block, &other.block) && self.slot == other.slot
    }
}

/// Cost of a step on a backend.
#[derive(Debug, Clone)]
pub(crate) struct StepCost {
    /// Number of dispatches.
    pub(crate) dispatches: u64,
    /// Limits that cause further dispatches.
    pub(crate) limits: Vec<ManyDispatches>,
    /// Bytes of intermediate results between the step's kernels.
    pub(crate) scratch_bytes: u64,
}

/// Part of a node to read.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// The array.
    pub(crate) node: Node,
    /// The elements to read.
    pub(crate) elements: Elements,
}

/// Elements of an array.
#[derive(Debug, Clone)]
pub(crate) enum Elements {
    /// All live elements.
    All,
    /// A range that the caller knows to exist.
    Range(Range<u32>),
    /// One element. Its index may depend on counts, and is evaluated once the array is computed.
    At(Size),
}

impl Part {
    /// All live elements.
    pub(crate) fn whole(node: Node) -> Self {
        Self { node, elements: Elements::All }
    }

    /// A range of elements.
    pub(crate) fn of(node: Node, elements: Range<u32>) -> Self {
        Self { node, elements: Elements::Range(elements) }
    }

    /// The element at index `at`.
    pub(crate) fn at(node: Node, at: Size) -> Self {
        Self { node, elements: Elements::At(at) }
    }
}

/// How a read waits for the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The calling thread is blocked; the future is ready at its first poll.
    Blocking,
    /// The future is pending until the device has finished, and is woken then.
    Polled,
}

/// A read in progress; resolves to the bytes of each part.
pub(crate) type Reading<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vec<u8>>>> + Send + 'a>>;

/// An executor of graphs.
pub(crate) trait Backend: Debug + Send + Sync {
    /// Distinguishes devices within the process.
    fn id(&self) -> u64;
    /// The name shown to users, by which the device can also be selected.
    fn name(&self) -> &str;
    /// Whether this crate's own loops compute on the host's processor.
    fn is_cpu(&self) -> bool;
    /// Whether the host's processor does the work, by this crate's loops or by a software driver.
    fn is_software(&self) -> bool;
    /// Whether arrays of this dtype can be stored and computed with; otherwise the hint for the error.
    fn supports(&self, dtype: DType) -> std::result::Result<(), String>;
    /// Maximum bytes per array.
    fn max_bytes(&self) -> u64;
    /// Limits of the backend's kernels.
    fn plan_limits(&self) -> PlanLimits;
    /// Copies `bytes` (whole elements of `dtype`, little endian) into storage.
    fn upload(&self, dtype: DType, bytes: &[u8]) -> Result<Arc<dyn Any + Send + Sync>>;
    /// Element `at` of a stored array of u32, if it is available without waiting and the array's conditions hold.
    fn word(&self, _stored: &Stored, _at: u32) -> Option<u32> {
        None
    }
    /// Placeholder backend of planned nodes: computes nothing, and keeps no other backend alive.
    fn stand_in(&self) -> BackendRef;
    /// Cost of the step.
    fn cost(&self, step: &Step) -> Result<StepCost>;
    /// Computes and stores the nodes, without reading the outcomes of their conditions. Waits only for counts whose
    /// upper bounds would make arrays too large.
    fn evaluate(&self, nodes: &[Node]) -> Result<()>;
    /// As [`Backend::evaluate`], then waits. Returns the time on the device in milliseconds, if the device can measure
    /// it.
    fn evaluate_timed(&self, nodes: &[Node]) -> Result<Option<f64>>;
    /// Waits until all evaluations are complete.
    fn wait(&self) -> Result<()>;
    /// Evaluates the nodes of the parts, reads the parts, and fails with the first condition that does not hold. Does
    /// nothing before the first poll.
    fn read_parts(&self, parts: Vec<Part>, wait: Wait) -> Reading<'_>;
    /// As [`Backend::read_parts`] of whole nodes, blocking.
    #[cfg(test)]
    fn read(&self, nodes: &[Node]) -> Result<Vec<Vec<u8>>> {
        pollster::block_on(self.read_parts(nodes.iter().cloned().map(Part::whole).collect(), Wait::Blocking))
    }
    /// The counts of the last run of each program.
    fn last_counts(&self) -> &LastCounts;
    /// Number of waits for the device in a [`Backend::read_parts`] of the nodes that first waits `stages` times for
    /// counts.
    fn waits(&self, nodes: &[Node], stages: u64) -> u64;
    /// Statistics of the work so far.
    fn stats(&self) -> Stats;
    /// Properties of the backend's float arithmetic, determined once.
    fn numerics(&self) -> Result<Numerics>;
    /// For fault tests: makes the next `count` allocations on the device fail.
    fn fail_allocations(&self, _count: u32) {}
    /// For fault tests: loses the device.
    fn lose(&self) {}
    /// The backend itself, for the layers that know its type.
    fn as_any(&self) -> &dyn Any;
}
