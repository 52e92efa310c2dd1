//! What reading a tensor would run, before it runs.

use std::fmt;

use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::node::{Node, Recipe};
use crate::graph::plan::plan;
use crate::graph::traffic;

/// One kernel of a plan, with its passes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedKernel {
    /// The primitive: `map`, `row_map`, `row_reduce`, `matmul`, `scan`, `row_scan`, `sort`, `row_sort`, `marks`,
    /// `compact`, `row_hash` or `assert`.
    pub kind: &'static str,
    /// The operations in it: the one that asked for it first, then those fused into its loads and its pass.
    pub operations: Vec<&'static str>,
    /// How many elements it computes, at most.
    pub elements: u64,
    /// Whether that many are known, or only that there are no more.
    pub is_bound: bool,
    /// Kernels started for it.
    pub dispatches: u64,
    /// Bytes it reads.
    pub bytes_read: u64,
    /// Bytes it writes.
    pub bytes_written: u64,
}

/// What reading a tensor would run: its kernels in order, with the bytes they move.
///
/// Bytes are counted at capacities: where a size is known on the device only they are what could be moved at most.
/// Printing it shows one line a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Explain {
    /// The kernels, in the order in which they run.
    pub kernels: Vec<ExplainedKernel>,
    /// Bytes that any way of computing the same would move: each operand as often as it is named, each result once,
    /// splits once.
    pub least_bytes: u64,
    /// Times that reading it waits for the device: once, at the end; once more where only the device knows the size of a
    /// result that may take more than 32 MiB. Never on the CPU backend.
    pub waits: u64,
}

impl Explain {
    /// Kernels started in all.
    pub fn dispatches(&self) -> u64 {
        self.kernels.iter().map(|k| k.dispatches).sum()
    }
    /// Bytes that kernels read plus write.
    pub fn bytes(&self) -> u64 {
        self.kernels.iter().map(|k| k.bytes_read + k.bytes_written).sum()
    }

    pub(crate) fn new(backend: &BackendRef, roots: &[Node]) -> Result<Self> {
        let plan = plan(roots, backend.plan_limits());
        let mut kernels = Vec::new();
        for step in &plan.steps {
            let cost = backend.cost(step)?;
            let moved = traffic::traffic(step, cost.scratch_bytes);
            let (kind, extent) = match &step.recipe {
                Recipe::Map { .. } if step.row_context.is_some() => ("row_map", step.out.extent()),
                Recipe::Map { .. } => ("map", step.out.extent()),
                Recipe::Reduce { .. } => ("row_reduce", step.out.extent()),
                Recipe::Product(_) => ("matmul", step.out.extent()),
                Recipe::Scan { .. } => ("scan", step.out.extent()),
                Recipe::RowScan { .. } => ("row_scan", step.out.extent()),
                Recipe::Sort { .. } => ("sort", step.out.extent()),
                Recipe::RowSort { .. } => ("row_sort", step.out.extent()),
                Recipe::Hash { .. } => ("row_hash", step.out.extent()),
                Recipe::Marks { count, .. } => ("marks", count),
                Recipe::Compact { .. } => ("compact", step.out.extent()),
                Recipe::Assert { count, .. } => ("assert", count),
            };
            kernels.push(ExplainedKernel {
                kind,
                operations: step.fused.clone(),
                elements: u64::from(extent.capacity()),
                is_bound: extent.as_known().is_none(),
                dispatches: cost.dispatches,
                bytes_read: moved.read,
                bytes_written: moved.written,
            });
        }
        Ok(Self { kernels, least_bytes: traffic::least(&plan, roots), waits: backend.waits(roots) })
    }
}

/// A number of bytes, in the largest unit that leaves at least one.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"];
        let unit = (self.0.max(1).ilog2() / 10).min(4);
        let value = self.0 as f64 / (1u64 << (10 * unit)) as f64;
        let text = if unit == 0 { format!("{} B", self.0) } else { format!("{value:.1} {}", units[unit as usize]) };
        f.pad(&text)
    }
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = self.bytes() as f64 / self.least_bytes.max(1) as f64;
        writeln!(
            f,
            "{} kernels, {} dispatches, {} waits; {} moved, {} at the least (x {ratio:.2})",
            self.kernels.len(),
            self.dispatches(),
            self.waits,
            Bytes(self.bytes()),
            Bytes(self.least_bytes)
        )?;
        for (k, kernel) in self.kernels.iter().enumerate() {
            let branch = if k + 1 == self.kernels.len() { "└─" } else { "├─" };
            let bound = if kernel.is_bound { "<= " } else { "" };
            writeln!(
                f,
                "{branch} {:<10} {:>12} elements {:>2} dispatches  reads {:>10}  writes {:>10}  {}",
                kernel.kind,
                format!("{bound}{}", kernel.elements),
                kernel.dispatches,
                Bytes(kernel.bytes_read),
                Bytes(kernel.bytes_written),
                kernel.operations.join(" < ")
            )?;
        }
        Ok(())
    }
}
