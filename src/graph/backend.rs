//! What a backend does for the graph: hold arrays, evaluate them, read them back.

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

/// One device-side condition of an evaluated node: where its outcome lies.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    /// The backend's own block of outcomes.
    pub(crate) block: Arc<dyn Any + Send + Sync>,
    /// Which outcome in the block: the first offending position, or u32::MAX.
    pub(crate) slot: u32,
    /// What was checked.
    pub(crate) check: Arc<Check>,
    /// Whether a read has found that it holds: then nothing that is made of the node needs to look again.
    passed: Arc<AtomicBool>,
}

impl Status {
    /// An outcome that nobody has looked at.
    pub(crate) fn new(block: Arc<dyn Any + Send + Sync>, slot: u32, check: Arc<Check>) -> Self {
        Self { block, slot, check, passed: Arc::default() }
    }

    /// Adds those of `from` that are not in the list and have not been found to hold.
    pub(crate) fn inherit(list: &mut Vec<Self>, from: &[Self]) {
        for s in from {
            if !s.passed.load(Ordering::Relaxed) && !list.contains(s) {
                list.push(s.clone());
            }
        }
    }

    /// The error, if a position was recorded; else the condition holds for good.
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

/// What a step costs on a backend.
#[derive(Debug, Clone)]
pub(crate) struct StepCost {
    /// Kernels started.
    pub(crate) dispatches: u64,
    /// Limits that they are more for.
    pub(crate) limits: Vec<ManyDispatches>,
    /// Bytes of intermediate results between its kernels.
    pub(crate) scratch_bytes: u64,
}

/// What a read takes of a node.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// The array.
    pub(crate) node: Node,
    /// What of it.
    pub(crate) elements: Elements,
}

/// Elements of an array.
#[derive(Debug, Clone)]
pub(crate) enum Elements {
    /// All that are live.
    All,
    /// These, which the caller knows to be there.
    Range(Range<u32>),
    /// The one at an index that may depend on counts: it is looked at once the array is computed.
    At(Size),
}

impl Part {
    /// All live elements.
    pub(crate) fn whole(node: Node) -> Self {
        Self { node, elements: Elements::All }
    }

    /// These elements.
    pub(crate) fn of(node: Node, elements: Range<u32>) -> Self {
        Self { node, elements: Elements::Range(elements) }
    }

    /// The element at that index.
    pub(crate) fn at(node: Node, at: Size) -> Self {
        Self { node, elements: Elements::At(at) }
    }
}

/// How a read waits for the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The calling thread is blocked: the future is ready at its first poll.
    Blocking,
    /// The future is pending until the device has finished, and is woken then.
    Polled,
}

/// A read under way: the bytes of each part.
pub(crate) type Reading<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vec<u8>>>> + Send + 'a>>;

/// An executor of graphs.
pub(crate) trait Backend: Debug + Send + Sync {
    /// Distinguishes devices within the process.
    fn id(&self) -> u64;
    /// The name shown to users, and the one that selects it.
    fn name(&self) -> &str;
    /// Whether it computes on the host's processor, by this crate's own loops.
    fn is_cpu(&self) -> bool;
    /// Whether the host's processor does the work: this crate's loops, or a software driver's.
    fn is_software(&self) -> bool;
    /// Whether arrays of this dtype can be stored and computed with; the hint of the error if not.
    fn supports(&self, dtype: DType) -> std::result::Result<(), String>;
    /// The most bytes one array may take.
    fn max_bytes(&self) -> u64;
    /// What its kernels can bind.
    fn plan_limits(&self) -> PlanLimits;
    /// Takes `bytes` (whole elements of `dtype`, little endian) into storage.
    fn upload(&self, dtype: DType, bytes: &[u8]) -> Result<Arc<dyn Any + Send + Sync>>;
    /// Element `at` of a stored array of u32, if it can be had without waiting and its conditions hold.
    fn word(&self, _stored: &Stored, _at: u32) -> Option<u32> {
        None
    }
    /// What the nodes of plans are said to be of: a backend that computes nothing and holds no other alive.
    fn stand_in(&self) -> BackendRef;
    /// What the step would cost.
    fn cost(&self, step: &Step) -> Result<StepCost>;
    /// Computes and stores the nodes, without a look at their conditions. Waits only for counts at whose upper bounds
    /// arrays would take too much memory.
    fn evaluate(&self, nodes: &[Node]) -> Result<()>;
    /// As [`Backend::evaluate`], then waits, and says how many milliseconds the device itself took if it can tell.
    fn evaluate_timed(&self, nodes: &[Node]) -> Result<Option<f64>>;
    /// Waits until everything that was evaluated has been computed.
    fn wait(&self) -> Result<()>;
    /// Evaluates the nodes of the parts, reads the parts, and fails with the first condition that does not hold.
    /// Nothing happens before the first poll.
    fn read_parts(&self, parts: Vec<Part>, wait: Wait) -> Reading<'_>;
    /// As [`Backend::read_parts`] of whole nodes, blocking.
    #[cfg(test)]
    fn read(&self, nodes: &[Node]) -> Result<Vec<Vec<u8>>> {
        pollster::block_on(self.read_parts(nodes.iter().cloned().map(Part::whole).collect(), Wait::Blocking))
    }
    /// The counts that programs came to when they ran last.
    fn last_counts(&self) -> &LastCounts;
    /// How often [`Backend::read`] of the nodes would wait for the device, if it waits so often for counts before.
    fn waits(&self, nodes: &[Node], stages: u64) -> u64;
    /// What did run so far.
    fn stats(&self) -> Stats;
    /// What its float arithmetic does, found out once.
    fn numerics(&self) -> Result<Numerics>;
    /// For fault tests: the next `count` allocations on the device fail.
    fn fail_allocations(&self, _count: u32) {}
    /// For fault tests: loses the device.
    fn lose(&self) {}
    /// The backend itself, for the layers that know its type.
    fn as_any(&self) -> &dyn Any;
}
