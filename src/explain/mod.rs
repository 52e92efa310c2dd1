//! The plan of a read, without running it: kernels, traffic and fusion barriers.

mod detailed;
mod sizes;
mod table;
mod units;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::digest::Digest;
use crate::graph::node::Node;
use crate::graph::plan::{LinkedPlan, Step};
use crate::graph::planned::{self, SizeView};
use crate::graph::program::trace;
use crate::graph::run::stage::{EarlyCount, Stages};
use crate::graph::run::timed_run::TimedRuns;
use crate::graph::step::fusion_barrier::FusionBarrier;
use crate::graph::step::many_dispatches::ManyDispatches;
use crate::graph::step::traffic::{self, Loads};
use detailed::Detailed;
pub use sizes::ExplainedSize;
use units::{Bytes, Count, Time};

/// Text of [`ExplainedKernel::emulates_f64`].
const EMULATED: &str = "64-bit floats are pairs of words, computed in integers";

/// An array that one kernel stores and another reads.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedInput {
    /// The kernel that stores the array: its index in [`Explain::kernels`].
    pub kernel: usize,
    /// The operation that requested the array.
    pub operation: &'static str,
    /// Bytes of the array, at its capacity.
    pub bytes: u64,
    /// The reason why the reader does not compute the array itself.
    pub why: FusionBarrier,
}

/// A kernel of a plan. It may take several dispatches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedKernel {
    /// The primitive: `map`, `row_map`, `row_reduce`, `matmul`, `scan`, `row_scan`, `sort`, `row_sort`, `top_k`,
    /// `rank_bitmap`, `compact`, `histogram`, `tile_fold`, `row_hash` or `assert`.
    pub kind: &'static str,
    /// Its operations: first the one that requested the kernel, then those fused into it.
    pub operations: Vec<&'static str>,
    /// Arrays that it reads from other kernels. Arrays stored before the plan runs, such as uploaded ones, are not
    /// listed.
    pub inputs: Vec<ExplainedInput>,
    /// Whether it stores a requested result.
    pub is_output: bool,
    /// Number of rows that it iterates over, or an upper bound; `None` for a kernel that does not iterate over rows.
    pub rows: Option<u64>,
    /// Number of elements that it computes, or an upper bound.
    pub elements: u64,
    /// Whether `elements` is only an upper bound.
    pub is_bound: bool,
    /// Dispatches that it takes.
    pub dispatches: u64,
    /// Limits of the device or the driver for which it takes more dispatches.
    pub limits: Vec<ManyDispatches>,
    /// Whether it computes 64-bit floats in integers, as pairs of words, since the device has none of its own
    /// ([`Numerics::emulates_f64`](crate::Numerics::emulates_f64)). A kernel that only moves them does not.
    pub emulates_f64: bool,
    /// Bytes it reads.
    pub bytes_read: u64,
    /// Bytes it writes.
    pub bytes_written: u64,
    /// The minimum for any kernel with the same inputs and outputs. The excess is scratch data, or data read more than
    /// once.
    pub least_bytes: u64,
    /// The time that it took: by the device's clock, where it has one. `None` if nothing ran, as for
    /// [`Tensor::explain`](crate::Tensor::explain).
    pub time: Option<Duration>,
}

/// Cost.
impl ExplainedKernel {
    /// Bytes read plus written, relative to the minimum; 1 where no byte has to be moved.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![5.0]], &Device::cpu())?;
    /// assert_eq!(x.reduce_sum(1)?.explain()?.kernels[0].ratio(), 1.0);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn ratio(&self) -> f64 {
        ratio(self.bytes_read + self.bytes_written, self.least_bytes)
    }
}

fn ratio(bytes: u64, min: u64) -> f64 {
    if bytes == min { 1.0 } else { bytes as f64 / min.max(1) as f64 }
}

/// The plan of a read: its kernels in order, the bytes that they move, and the reasons why they are separate.
///
/// Bytes are those of arrays at their capacities. A size unknown before the program runs is that of the program's last
/// run with inputs of the same sizes on the device, on a GPU if it is read before its arrays are allocated (see
/// [`waits`](Self::waits)). Otherwise it is an upper bound, for sizes that are read at most the largest input.
///
/// The printed form is a table with a line per kernel, in the order of execution. Its last column names the kernels
/// whose arrays the kernel reads, each with the number of the reason why the two are not fused ([`FusionBarrier`]). The
/// reasons follow, each once, with the remedy, then the [`sizes`](Self::sizes) that are read in advance.
/// [`detailed`](Self::detailed) prints a tree instead.
///
/// ```
/// # use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
/// let sums = (&x * 2.0)?.cumsum(1)?.reduce_sum(1)?;
/// assert_eq!(
///     sums.explain()?.to_string(),
///     "\
/// 2 kernels, 2 dispatches, 0 waits; 80 B moved, 40 B at least (x 2.00)
/// kernel         operations        rows  elements  dispatches  read  written  inputs
/// #1 row_scan    multiply, cumsum     3         3           1  28 B     12 B
/// #2 row_reduce  reduce_sum           3         3           1  28 B     12 B  #1 [1]
/// reasons:
/// [1] the row_scan kernel must end before its results are read; inherent in the operation
/// "
/// );
/// let explained = sums.explain()?;
/// assert_eq!((explained.dispatches(), explained.bytes(), explained.ratio()), (2, 80, 2.0));
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Explain {
    /// The kernels, in the order in which they run.
    pub kernels: Vec<ExplainedKernel>,
    /// The minimum for any implementation of the same computation: each operand as often as the program names it, each
    /// result once, splits once.
    pub least_bytes: u64,
    /// Number of times that the read waits for the device. It waits once at the end, and once for each stage whose
    /// counts are read before the rest is computed ([`Tuning::stage_bytes`](crate::Tuning::stage_bytes)), or once where
    /// only the device knows the size of a result that may take more than
    /// [`Tuning::read_at_capacity`](crate::Tuning::read_at_capacity). Always 0 on the CPU backend.
    pub waits: u64,
    /// The sizes that are read in advance, in the order of the waits: before a run, those that are expected to be. Always empty on
    /// the CPU backend.
    pub sizes: Vec<ExplainedSize>,
}

/// Totals, and the detailed text.
impl Explain {
    /// Dispatches of all kernels.
    pub fn dispatches(&self) -> u64 {
        self.kernels.iter().map(|k| k.dispatches).sum()
    }
    /// Bytes that all kernels read plus write.
    pub fn bytes(&self) -> u64 {
        self.kernels.iter().map(|k| k.bytes_read + k.bytes_written).sum()
    }
    /// Bytes that all kernels read plus write, relative to the minimum; 1 where no byte has to be moved.
    pub fn ratio(&self) -> f64 {
        ratio(self.bytes(), self.least_bytes)
    }

    /// The time of all kernels; `None` if nothing ran.
    ///
    /// ```
    /// # use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![5.0]], &Device::cpu())?;
    /// let sums = x.reduce_sum(1)?;
    /// assert!(sums.explain()?.time().is_none() && sums.explain_timed()?.time().is_some());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn time(&self) -> Option<Duration> {
        self.kernels.iter().map(|k| k.time).reduce(|all, one| Some(all? + one?)).flatten()
    }

    /// The long form, to print: a tree.
    ///
    /// Requested results are its roots. Below each kernel are the kernels whose arrays it reads, each with the reason
    /// why the two are not fused. Kernels are numbered in the order of execution; one with several readers is shown in
    /// full at its first occurrence only. Operations are listed from the requested one to those computed first. `x
    /// 1.20` means that a kernel moves 1.2 times the bytes of its inputs and outputs.
    ///
    /// ```
    /// # use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
    /// let sums = (&x * 2.0)?.cumsum(1)?.reduce_sum(1)?;
    /// println!("{}", sums.explain()?.detailed());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn detailed(&self) -> impl fmt::Display {
        Detailed(self)
    }

    /// Total kernels, dispatches, waits and bytes, on one line.
    fn summary(&self) -> String {
        let time = self.time().map_or_else(String::new, |time| format!("; {}", Time(time)));
        format!(
            "{}, {}, {}; {} moved, {} at least (x {:.2}){time}",
            Count(self.kernels.len() as u64, "kernel"),
            Count(self.dispatches(), "dispatch"),
            Count(self.waits, "wait"),
            Bytes(self.bytes()),
            Bytes(self.least_bytes),
            self.ratio()
        )
    }

    pub(crate) fn new(backend: &BackendRef, roots: &[Node]) -> Result<Self> {
        let (program, mut bindings) = trace(roots)?;
        let bounds: Vec<u32> = (0..bindings.sizes.len()).map(|size| bindings.run.value(size)).collect();
        let mut stages = Stages::new(backend.plan_limits().tuning.stage_bytes, backend.last_counts());
        let sizes = sizes_of(backend, stages.predict(&program, &mut bindings));
        // On a GPU, arrays are as long as the bounds of counts that are not read first.
        if backend.is_cpu() {
            backend.last_counts().apply(&program, &mut bindings, &bounds);
        }
        let plan = LinkedPlan::new(Arc::new(program), (&bindings, &bindings.run), backend.plan_limits());
        let waits = backend.waits(roots, sizes.last().map_or(0, |size| size.wait));
        let mut out = Self { waits, sizes, ..Self::default() };
        out.add(backend, &plan, bindings.view(), &vec![None; plan.steps.len()])?;
        Ok(out)
    }

    /// Computes the roots, and explains the kernels that ran.
    pub(crate) fn timed(backend: &BackendRef, roots: &[Node]) -> Result<Self> {
        let TimedRuns { runs, counts } = backend.evaluate_in_steps(roots)?;
        let stages = runs.len().saturating_sub(1) as u64;
        let waits = if runs.is_empty() { 0 } else { backend.waits(roots, stages) };
        let mut out = Self { waits, sizes: sizes_of(backend, counts), ..Self::default() };
        for run in &runs {
            let times: Vec<Option<Duration>> = run.times.iter().copied().map(Some).collect();
            out.add(backend, &run.plan, SizeView::of(&run.table), &times)?;
        }
        Ok(out)
    }

    /// Appends the kernels of a plan, with the time of each.
    fn add(
        &mut self,
        backend: &BackendRef,
        plan: &LinkedPlan,
        sizes: SizeView<'_>,
        times: &[Option<Duration>],
    ) -> Result<()> {
        let outputs: Vec<planned::Node> = plan.outputs().cloned().collect();
        let requested: HashSet<Digest> = outputs.iter().map(planned::Node::digest).collect();
        let producers = producers(plan, self.kernels.len());
        for (step, &time) in plan.steps.iter().zip(times) {
            let cost = backend.cost(step, sizes)?;
            let moved = traffic::traffic(step, &Loads::of(step), sizes, cost.scratch_bytes);
            let extent = step.recipe.facts().shown_elements().unwrap_or(step.out.extent());
            self.kernels.push(ExplainedKernel {
                kind: step.family(),
                operations: step.fused.clone(),
                inputs: inputs(step, sizes, &producers),
                is_output: step.outputs().iter().any(|n| requested.contains(&n.digest())),
                rows: step.recipe.domain().map(|on| u64::from(sizes.capacity(&on.nrows))),
                elements: u64::from(sizes.capacity(extent)),
                is_bound: sizes.host_value(extent.size()).is_none(),
                dispatches: cost.dispatches,
                limits: cost.limits,
                emulates_f64: step.computes_pairs_of_words(),
                bytes_read: moved.read,
                bytes_written: moved.written,
                least_bytes: traffic::min_step_bytes(step, sizes),
                time,
            });
        }
        self.least_bytes += traffic::min_bytes(&plan.steps, sizes, &outputs);
        Ok(())
    }
}

/// The counts that a read fetches in advance. The CPU backend knows each one once it is computed.
fn sizes_of(backend: &BackendRef, counts: Vec<EarlyCount>) -> Vec<ExplainedSize> {
    let counts = if backend.is_cpu() { Vec::new() } else { counts };
    counts.into_iter().map(ExplainedSize::from).collect()
}

/// The kernel that stores each array; the first of the plan has number `first`.
fn producers(plan: &LinkedPlan, first: usize) -> HashMap<Digest, usize> {
    let steps = (first..).zip(&plan.steps);
    steps.flat_map(|(k, step)| step.outputs().into_iter().map(move |n| (n.digest(), k))).collect()
}

/// Inputs of a step from other steps: the arrays that it reads, then arrays needed only for their conditions.
fn inputs(step: &Step, sizes: SizeView<'_>, producers: &HashMap<Digest, usize>) -> Vec<ExplainedInput> {
    let input = |n: &planned::Node, bytes: u64, why: Option<FusionBarrier>| {
        let (&kernel, why) = (producers.get(&n.digest())?, why?);
        Some(ExplainedInput { kernel, operation: n.op(), bytes, why })
    };
    let read = step.reads.iter().filter_map(|n| input(n, sizes.bytes(n), step.barriers.why(n)));
    let after = step.after.iter().filter(|n| !step.reads.contains(n));
    read.chain(after.filter_map(|n| input(n, 0, Some(FusionBarrier::ConditionsOnly)))).collect()
}
