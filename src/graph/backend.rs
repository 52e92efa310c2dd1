//! Interface of backends to the graph: store arrays, evaluate them, and read them back.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

pub(crate) use super::BackendRef;
pub(crate) use super::run::read_bytes::ReadBytes;
pub(crate) use super::stored::Status;

use super::plan::{LastCounts, PlanLimits, Step};
use super::planned::SizeView;
use super::run::timed_run::TimedRuns;
use super::run::traced_run::{TracedProgram, TracedRun};
use super::shared_slice::SharedSlice;
use super::step::many_dispatches::ManyDispatches;
use super::stored::Stored;
use super::{Node, Size};
use crate::dtype::DType;
use crate::error::Result;
use crate::numerics::Numerics;
use crate::stats::Stats;
use crate::tuning::Tuning;

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

/// The elements of one node that a read returns.
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
    /// A range within the live elements; the caller guarantees that.
    Range(Range<u32>),
    /// One element, whose index may depend on counts. The index is evaluated after the array.
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

/// Host memory that a device counts until this value is dropped.
pub(crate) type CountedMemory = Box<dyn Any + Send + Sync>;

/// A future of the bytes of each part that is read.
pub(crate) type BoxedRead<'a> = Pin<Box<dyn Future<Output = Result<Vec<ReadBytes>>> + Send + 'a>>;

/// An executor of graphs.
pub(crate) trait Backend: Send + Sync {
    /// Distinguishes devices within the process.
    fn id(&self) -> u64;
    /// The name shown to users, by which the device can also be selected.
    fn name(&self) -> &str;
    /// Whether the backend is this crate's CPU backend.
    fn is_cpu(&self) -> bool;
    /// Whether kernels run on the host's processor: the CPU backend, or a software rasterizer.
    fn is_software(&self) -> bool;
    /// Whether operations that no kernel computes may run on the host.
    fn allows_host_steps(&self) -> bool {
        true
    }
    /// Counts an operation that ran on the host.
    fn count_host_step(&self) {}
    /// Maximum bytes per array.
    fn max_bytes(&self) -> u64;
    /// Limits of the backend's kernels.
    fn plan_limits(&self) -> PlanLimits;
    /// Copies `bytes` (whole elements of `dtype`, little endian) into storage.
    fn upload(&self, dtype: DType, bytes: &[u8]) -> Result<Arc<dyn Any + Send + Sync>>;
    /// The memory of the user's program, whole elements of `dtype`, as storage: without a copy where the backend can read it
    /// in place. Bools are bytes of 0 and 1.
    fn adopt(&self, dtype: DType, memory: &SharedSlice) -> Result<Arc<dyn Any + Send + Sync>> {
        self.upload(dtype, memory.bytes())
    }
    /// Counts `bytes` of host memory for the result of `op`, before they are written and until the returned value is
    /// dropped.
    ///
    /// # Errors
    /// The backend's budget or the machine's available memory does not suffice.
    fn reserve_host(&self, op: &str, bytes: u64) -> Result<CountedMemory>;
    /// Element `at` of a stored array of u32, if it is available without waiting and the array's conditions hold.
    fn try_read_u32(&self, _stored: &Stored, _at: u32) -> Option<u32> {
        None
    }
    /// Cost of the step in a run.
    fn cost(&self, step: &Step, sizes: SizeView<'_>) -> Result<StepCost>;
    /// Computes and stores the nodes, without reading the outcomes of their conditions. Waits only for counts whose
    /// upper bounds would make arrays too large, or are far from what they were in the last run.
    fn evaluate(&self, nodes: &[Node]) -> Result<()>;
    /// Runs a traced program, whose inputs are computed, as [`Backend::evaluate`] runs a recorded one. False if this run
    /// would wait for counts whose upper bounds make arrays too large: it computes nothing, and is to be recorded.
    fn run_traced(&self, traced: &TracedProgram, run: &mut TracedRun) -> Result<bool>;
    /// As [`Backend::evaluate`], then waits. Returns the device time in milliseconds; `None` if the device has no
    /// timestamps.
    fn evaluate_timed(&self, nodes: &[Node]) -> Result<Option<f64>>;
    /// As [`Backend::evaluate`], step by step: the runs, in order, of which all but the last compute sizes that are read in
    /// advance, and the time of each step. Empty if the nodes are computed.
    fn evaluate_in_steps(&self, nodes: &[Node]) -> Result<TimedRuns>;
    /// Whether nothing else refers to the storage of a result, so that it can be overwritten.
    fn is_sole_owner(&self, stored: &Stored) -> bool;
    /// Waits until all evaluations are complete.
    fn wait(&self) -> Result<()>;
    /// Evaluates the nodes of the parts, reads the parts, and fails with the first condition that does not hold. Does
    /// nothing before the first poll.
    fn read_parts(&self, parts: Vec<Part>, wait: Wait) -> BoxedRead<'_>;
    /// As [`Backend::read_parts`] of whole nodes, blocking.
    #[cfg(test)]
    fn read(&self, nodes: &[Node]) -> Result<Vec<Vec<u8>>> {
        let parts = nodes.iter().cloned().map(Part::whole).collect();
        let read = pollster::block_on(self.read_parts(parts, Wait::Blocking))?;
        Ok(read.iter().map(|bytes| bytes.to_vec()).collect())
    }
    /// The counts of the last run of each program.
    fn last_counts(&self) -> &LastCounts;
    /// Number of waits of a [`Backend::read_parts`] of the nodes, including `stages` waits for counts.
    fn waits(&self, nodes: &[Node], stages: u64) -> u64;
    /// Statistics of the work so far.
    fn stats(&self) -> Stats;
    /// Properties of the backend's float arithmetic; probed once.
    fn numerics(&self) -> Result<Numerics>;
    /// The tuning of the backend's kernels, if they have any.
    fn tuning(&self) -> Option<Tuning> {
        None
    }
    /// Writes compiled kernels to the folder that the device was opened with, if there is one.
    ///
    /// # Errors
    /// The file cannot be written; a lost device.
    fn save_pipeline_cache(&self) -> Result<()> {
        Ok(())
    }
    /// For fault tests: makes the next `count` allocations on the device fail.
    fn fail_allocations(&self, _count: u32) {}
    /// For fault tests: loses the device.
    fn lose(&self) {}
    /// The backend as [`Any`], for downcasts to its type.
    fn as_any(&self) -> &dyn Any;
}

/// The device's name: what a backend holds grows with its work.
/// The identity of the backend on which programs are traced.
pub(crate) const OF_TRACES: u64 = u64::MAX - 1;

/// Whether arrays of both backends can be operands of one operation: they are one, or a program is traced with arrays
/// of the other one as constants.
pub(crate) fn are_joined(a: &BackendRef, b: &BackendRef) -> bool {
    a.id() == b.id() || a.id() == OF_TRACES || b.id() == OF_TRACES
}

impl fmt::Debug for dyn Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
