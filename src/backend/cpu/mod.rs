//! The CPU backend: the reference implementation, and the fallback without a GPU.
//!
//! The backend runs the same steps as the GPU backend, in cache-sized blocks on all cores. Each primitive has one file,
//! named after the WGSL kernel of the same primitive.

pub mod accumulate;
mod append;
mod arithmetic;
pub(crate) mod array;
mod block_scan;
mod call;
mod column_blocks;
pub mod compact;
mod compiled_expr;
mod compute;
mod copier;
mod copies;
mod encoding;
mod eval;
pub(crate) mod fingerprint;
mod histogram;
mod load;
mod loops;
mod map;
pub mod matmul;
pub(crate) mod number;
mod operand;
mod operations;
pub(crate) mod options;
mod output_writer;
mod packed_matrix;
mod parallel;
mod pool;
mod product_numbers;
#[cfg(test)]
mod random_encodings;
mod rank_bitmap;
mod registers;
mod row_hash;
mod row_kernel;
pub mod row_reduce;
pub mod row_scan;
pub mod row_sort;
mod rows_of;
pub mod scan;
mod scan_rows;
mod segments;
mod sequence_division;
mod simd;
pub mod sort;
mod status;
mod store;
mod template;
mod tile_fold;
mod timed;
mod top_k;
mod unique_scatter;
mod work_items;
mod zeroed_memory;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use array::Array;
use compiled_expr::Inputs;
use compute::{CpuKernels, compute};
use matmul::recomputed::products_of;
use options::CpuOptions;
use pool::Pool;
use status::{holds, settled, word};
use template::Prepared;
use timed::Timed;

use crate::dtype::DType;
use crate::environment;
use crate::error::Result;
use crate::graph::backend::{Backend, BoxedRead, CountedMemory, Elements, Part, ReadBytes, Status, StepCost, Wait};
use crate::graph::node::{Node, Stored};
use crate::graph::plan::{Float64Repr, Int64Repr, LastCounts, LinkedPlan, PlanLimits, ProductRepr, Step};
use crate::graph::planned::{self, SizeView};
use crate::graph::primitive::copied_bytes;
use crate::graph::program::{CheckId, trace};
use crate::graph::run::driver::{CountState, Driver, Execution, StepRun};
use crate::graph::run::timed_run::{TimedRun, TimedRuns};
use crate::graph::run::traced_run::{TracedProgram, TracedRun};
use crate::graph::shared_slice::SharedSlice;
use crate::graph::size::{RecordedSize, RunTable};
use crate::graph::step::fusion::Fusion;
use crate::graph::step::traffic::traffic;
use crate::numerics::Numerics;
use crate::stats::Stats;
use crate::trace::span;
use crate::tuning::Tuning;

/// Numbers of a product from which on it is not stored: they exceed the caches, and the blocks of it that a kernel reads
/// are computed as fast as those of a stored one.
const LARGE_PRODUCT: u64 = 1 << 20;

/// The backend that computes on the host's processor.
#[derive(Default)]
pub(crate) struct CpuBackend {
    /// Counters of [`Stats`].
    dispatches: AtomicU64,
    bytes_moved: AtomicU64,
    fusion: Fusion,
    id: u64,
    pool: Arc<Pool>,
    driver: Driver,
}

/// The array of a stored result.
pub(super) fn array_of(stored: &Stored) -> Arc<Array> {
    into_array(stored.clone())
}

fn into_array(stored: Stored) -> Arc<Array> {
    stored.data.downcast().expect("bug: an array of another backend")
}

impl CpuBackend {
    /// Creates a backend with the given identity. Without `fuse` every map is stored, to test that fusion changes no
    /// bits.
    pub(crate) fn new(id: u64, fuse: bool) -> Self {
        Self { id, fusion: if fuse { Fusion::WhereCheaper } else { Fusion::Nothing }, ..Self::default() }
    }

    /// Creates a backend with the given identity, which stores no product that its readers can compute, to test that this
    /// changes no bits.
    pub(crate) fn recomputing(id: u64) -> Self {
        Self { fusion: Fusion::AllProducts, ..Self::new(id, true) }
    }

    /// Creates a backend with the given identity and options.
    pub(crate) fn with_options(id: u64, options: &CpuOptions) -> Self {
        Self { pool: Arc::new(Pool::new(options.max_memory)), ..Self::new(id, true) }
    }

    /// Computes the nodes by this execution of steps. Returns the plan and the sizes of the run; `None` if the nodes are
    /// computed.
    fn run_recorded(
        &self,
        nodes: &[Node],
        execution: &mut dyn Execution,
    ) -> Result<Option<(Arc<LinkedPlan>, RunTable)>> {
        if nodes.iter().all(|n| n.stored().is_some()) {
            return Ok(None);
        }
        environment::is_portable()?;
        let (program, mut bindings) = trace(nodes)?;
        let table = std::mem::take(&mut bindings.run);
        let run = self.driver.recorded(self, program, (&bindings, table));
        let plan = run.plan.clone();
        let (mut outcome, result) = run.execute(execution);
        let table = std::mem::take(&mut outcome.table);
        outcome.publish(&bindings);
        result.map(|()| Some((plan, table)))
    }

    fn read_now(&self, parts: &[Part]) -> Result<Vec<ReadBytes>> {
        let wanted: Vec<Node> = parts.iter().map(|part| part.node.clone()).collect();
        self.evaluate(&wanted)?;
        let stored = |n: &Node| n.stored().expect("bug: evaluation left a node without a result").clone();
        wanted.iter().try_for_each(|n| stored(n).status.iter().try_for_each(settled))?;
        let bytes = |part: &Part| {
            let array = array_of(&stored(&part.node));
            let elements = match &part.elements {
                Elements::All => 0..array.len(),
                Elements::Range(range) => range.start as usize..range.end as usize,
                Elements::At(at) => {
                    let at = at.capacity() as usize;
                    assert!(at < array.len(), "bug: a count at {at} of an array of {}", array.len());
                    at..at + 1
                }
            };
            let size = part.node.dtype().size();
            ReadBytes::new(array, elements.start * size..elements.end * size)
        };
        Ok(parts.iter().map(bytes).collect())
    }
}

impl Execution for &CpuBackend {
    /// Runs a step, whose sizes are exact.
    fn step(&mut self, run: StepRun<'_>) -> Result<Vec<Stored>> {
        let StepRun { plan, number, reads, overwritten, inherited: mut status, table, locations } = run;
        let (step, sizes) = (&plan.steps[number], SizeView::of(table));
        let prepare = |plan: &LinkedPlan| plan.steps.iter().map(|step| Arc::new(Prepared::of(step))).collect();
        let prepared = &plan.prepared::<Vec<Arc<Prepared>>>(prepare)[number];
        let is_exact = |n: &&planned::Node| sizes.host_value(n.extent().size()).is_some();
        debug_assert!(step.outputs().iter().all(is_exact), "bug: {} runs before its sizes are exact", step.out.op());
        let bytes = || step.outputs().iter().map(|n| sizes.bytes(n)).sum::<u64>();
        let _span = span!("cpu step", op = step.out.op(), kind = step.family(), bytes = bytes());
        let base = step.recipe.base().and_then(|base| step.reads.iter().position(|n| n == base));
        let mut moved = traffic(step, &prepared.loads, sizes, 0).total();
        let (base, arrays) = match (base, overwritten) {
            (Some(k), Some(stored)) => {
                moved -= copied_bytes(step, sizes);
                let none = Arc::new(Array::from_bytes(&self.pool, step.out.dtype(), &[])?);
                let array = |(m, stored)| if m == k { none.clone() } else { array_of(stored) };
                (Some(into_array(stored)), reads.into_iter().enumerate().map(array).collect())
            }
            (base, _) => (base.map(|k| array_of(reads[k])), reads.into_iter().map(array_of).collect()),
        };
        let outcomes: Arc<[AtomicU32]> = prepared.checks.iter().map(|_| AtomicU32::new(u32::MAX)).collect();
        let (panic, written_twice) = (Arc::default(), Arc::new(AtomicU32::new(u32::MAX)));
        let (functions, pool, table) = (locations.functions(), self.pool.clone(), table.clone());
        let step_of = prepared.clone();
        let outcomes_of = outcomes.clone();
        let mut inputs = Inputs {
            functions,
            arrays,
            products: Vec::new(),
            step: step_of,
            outcomes: outcomes_of,
            panic,
            written_twice,
            pool,
            table,
        };
        self.dispatches.fetch_add(1, Ordering::Relaxed);
        self.bytes_moved.fetch_add(moved, Ordering::Relaxed);
        if !prepared.checks.is_empty() {
            let block: Arc<dyn Any + Send + Sync> = Arc::new(outcomes);
            let fresh =
                |(slot, check): (usize, &CheckId)| Status::new(block.clone(), slot as u32, locations.check(*check));
            status.extend(prepared.checks.iter().enumerate().map(fresh));
        }
        let computed = products_of(step, &inputs).and_then(|products| {
            inputs.products = products;
            compute(step, &inputs, base)
        });
        let computed = inputs.panic.get().map_or(computed, |e| Err(e.clone()));
        // A size may exceed a limit, and a function of the user may panic, because an earlier condition failed, such as an
        // index beyond all rows. The failed condition is then the error to report.
        let arrays = computed.map_err(|e| status.iter().find_map(|s| settled(s).err()).unwrap_or(e))?;
        // Every outcome is known. A read reports the first failed condition.
        let status: Arc<[Status]> = status.into_iter().find(|s| settled(s).is_err()).into_iter().collect();
        let twice = inputs.written_twice.load(Ordering::Relaxed);
        debug_assert!(twice == u32::MAX || !status.is_empty(), "bug: {} writes index {twice} twice", step.out.op());
        let stored = |mut array: Array| {
            array.set_written();
            let len = array.len() as u32;
            Stored { data: Arc::new(array), status: status.clone(), len }
        };
        Ok(arrays.into_iter().map(stored).collect())
    }

    fn count(&mut self, _: usize, array: &Stored, at: u32) -> CountState {
        if holds(&array.status) { CountState::Known(word(array, at)) } else { CountState::Failed }
    }
}

impl Backend for CpuBackend {
    fn id(&self) -> u64 {
        self.id
    }
    fn name(&self) -> &str {
        "cpu"
    }
    fn is_cpu(&self) -> bool {
        true
    }
    fn is_software(&self) -> bool {
        true
    }
    fn max_bytes(&self) -> u64 {
        isize::MAX as u64
    }
    fn plan_limits(&self) -> PlanLimits {
        PlanLimits {
            arrays: 12,
            bindings: 12,
            reads_any_number: true,
            max_binding: u64::MAX,
            fusion: self.fusion,
            large_product: LARGE_PRODUCT,
            int64: Int64Repr::Native,
            products: ProductRepr::Native,
            float64: Float64Repr::Native,
            kernels: &CpuKernels,
            // As on the GPU, so that both backends run the same steps.
            row_state: 52,
            tuning: Tuning::DEFAULT,
        }
    }
    fn upload(&self, dtype: DType, bytes: &[u8]) -> Result<Arc<dyn Any + Send + Sync>> {
        Ok(Arc::new(Array::from_bytes(&self.pool, dtype, bytes)?))
    }
    fn adopt(&self, dtype: DType, memory: &SharedSlice) -> Result<Arc<dyn Any + Send + Sync>> {
        match Array::shared(memory, dtype) {
            Some(array) => Ok(Arc::new(array)),
            None => self.upload(dtype, memory.bytes()),
        }
    }
    fn reserve_host(&self, op: &str, bytes: u64) -> Result<CountedMemory> {
        Ok(Box::new(self.pool.reserve_host(op, bytes)?))
    }
    fn try_read_u32(&self, stored: &Stored, at: u32) -> Option<u32> {
        holds(&stored.status).then(|| word(stored, at))
    }
    fn cost(&self, _: &Step, _: SizeView<'_>) -> Result<StepCost> {
        Ok(StepCost { dispatches: 1, limits: Vec::new(), scratch_bytes: 0 })
    }
    fn evaluate(&self, nodes: &[Node]) -> Result<()> {
        self.run_recorded(nodes, &mut &*self).map(drop)
    }
    fn run_traced(&self, traced: &TracedProgram, run: &mut TracedRun) -> Result<bool> {
        environment::is_portable()?;
        let (outcome, result) = self.driver.traced(self, traced, run).execute(&mut &*self);
        result?;
        outcome.finish(run);
        Ok(true)
    }
    fn evaluate_timed(&self, nodes: &[Node]) -> Result<Option<f64>> {
        self.evaluate(nodes)?;
        Ok(None)
    }
    fn evaluate_in_steps(&self, nodes: &[Node]) -> Result<TimedRuns> {
        let mut timed = Timed { execution: &mut &*self, times: Vec::new() };
        let run = self.run_recorded(nodes, &mut timed)?;
        let times = timed.times;
        let runs = run.map(|(plan, table)| TimedRun { plan, table, times }).into_iter().collect();
        Ok(TimedRuns { runs, counts: Vec::new() })
    }
    fn is_sole_owner(&self, stored: &Stored) -> bool {
        Arc::strong_count(&stored.data) == 1 && !array_of(stored).is_shared()
    }
    fn wait(&self) -> Result<()> {
        // `evaluate` returns only after its results are computed.
        Ok(())
    }
    fn read_parts(&self, parts: Vec<Part>, _: Wait) -> BoxedRead<'_> {
        // The poll itself computes, so the future never waits.
        Box::pin(async move { self.read_now(&parts) })
    }
    fn last_counts(&self) -> &LastCounts {
        &self.driver.last_counts
    }
    fn waits(&self, _: &[Node], _: u64) -> u64 {
        0
    }
    fn stats(&self) -> Stats {
        Stats {
            dispatches: self.dispatches.load(Ordering::Relaxed),
            bytes_moved: self.bytes_moved.load(Ordering::Relaxed),
            plans: self.driver.plans_made(),
            ..self.pool.stats()
        }
    }
    fn numerics(&self) -> Result<Numerics> {
        Ok(Numerics::of_cpu(simd::has_fma()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod random_exprs;

#[cfg(test)]
mod tests;
