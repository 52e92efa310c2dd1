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
mod parallel;
mod pool;
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
mod segments;
mod sequence_division;
mod simd;
pub mod sort;
mod status;
mod store;
mod template;
mod tile_fold;
mod top_k;
mod unique_scatter;
mod work_items;
mod zeroed_memory;

use std::any::Any;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use array::Array;
use compiled_expr::Inputs;
use compute::{CpuKernels, compute};
use options::CpuOptions;
use pool::Pool;
use status::{holds, settled, word};
use template::Prepared;

use crate::dtype::DType;
use crate::environment;
use crate::error::Result;
use crate::graph::backend::{
    Backend, BackendRef, BoxedRead, CountedMemory, Elements, Part, ReadBytes, Status, StepCost, Wait,
};
use crate::graph::expr::Check;
use crate::graph::node::{Node, Stored};
use crate::graph::plan::{ArraySource, Int64Repr, LastCounts, LinkedPlan, PlanCache, PlanLimits, Step};
use crate::graph::program::{ArrayId, Bindings, Locations, Program, trace};
use crate::graph::size::{RunTable, SizeView};
use crate::graph::traced_run::{RunArrays, TracedProgram, TracedRun};
use crate::graph::traffic::traffic;
use crate::numerics::Numerics;
use crate::stats::Stats;
use crate::trace::span;
use crate::tuning::Tuning;

/// The backend that computes on the host's processor.
#[derive(Default)]
pub(crate) struct CpuBackend {
    /// Counters of [`Stats`].
    dispatches: AtomicU64,
    bytes_moved: AtomicU64,
    plans_made: AtomicU64,
    unfused: bool,
    id: u64,
    pool: Arc<Pool>,
    plans: PlanCache<LinkedPlan>,
    last_counts: LastCounts,
    /// The backend that nodes of cached plans refer to, so that they keep no actual backend alive.
    placeholder: OnceLock<BackendRef>,
}

/// The array of a stored result.
pub(super) fn array_of(stored: &Stored) -> Arc<Array> {
    stored.data.clone().downcast().expect("bug: an array of another backend")
}

impl CpuBackend {
    /// Creates a backend with the given identity. Without `fuse` every map is stored, to test that fusion changes no
    /// bits.
    pub(crate) fn new(id: u64, fuse: bool) -> Self {
        Self { id, unfused: !fuse, ..Self::default() }
    }

    /// Creates a backend with the given identity and options.
    pub(crate) fn with_options(id: u64, options: &CpuOptions) -> Self {
        Self { pool: Arc::new(Pool::new(options.max_memory)), ..Self::new(id, true) }
    }

    /// The program's plan from the cache, or a new one.
    fn plan(&self, program: Program, bindings: &Bindings) -> Arc<LinkedPlan> {
        let is_valid = |plan: &LinkedPlan| plan.is_valid(&bindings.run);
        self.plans.get_or_make(program, is_valid, |program| {
            self.plans_made.fetch_add(1, Ordering::Relaxed);
            LinkedPlan::new(program, bindings, &self.placeholder(), self.plan_limits())
        })
    }

    /// Runs a plan, step by step. Every size is exact when its step runs. An array is freed after the last step that
    /// reads it.
    ///
    /// `table` has the sizes and scalars of the run, and the exact counts afterwards; `kept` are the computed arrays that
    /// are published.
    fn run(
        &self,
        plan: &LinkedPlan,
        (kept, locations): (&[bool], &Locations),
        run_table: &mut RunTable,
        arrays: &mut dyn RunArrays,
    ) -> Result<()> {
        // Shared with the inputs of each step. Only this function changes the table, between steps.
        let mut table = Arc::new(std::mem::take(run_table));
        // A count that another thread has stored in the meantime is an input.
        for count in &plan.counts {
            if let ArraySource::Input(array) = count.source
                && let Some(stored) = arrays.input(array)
            {
                let at = SizeView::of(&table).value(&count.at);
                let value = if holds(&stored.status) { word(stored, at) } else { 0 };
                let size = &mut Arc::make_mut(&mut table).sizes[count.number];
                size.exact = Some(value.min(size.bound));
            }
        }
        let prepared: &Vec<Arc<Prepared>> =
            plan.prepared(|plan| plan.steps.iter().map(|step| Arc::new(Prepared::of(step))).collect());
        let mut made: Vec<Option<Stored>> = vec![None; plan.computed.len()];
        for (k, step) in plan.steps.iter().enumerate() {
            debug_assert!(self.is_exact(plan, k, &made), "bug: {} runs before its sizes are exact", step.out.op());
            let links = &plan.links[k];
            let find = |source: &ArraySource| match source {
                ArraySource::Input(array) => arrays.input(*array),
                ArraySource::Computed(m) => made[*m].as_ref(),
            };
            let (reads, after) = (links.reads.iter().map(find), links.after.iter().map(find));
            let stored = |found: Option<&Stored>| found.expect("bug: a step before its inputs").clone();
            let (reads, after): (Vec<Stored>, Vec<Stored>) = (reads.map(stored).collect(), after.map(stored).collect());
            let (results, status) = self.step((step, &prepared[k]), &table, (&reads, &after), locations)?;
            for (m, mut array) in (links.first_output..).zip(results) {
                array.set_written();
                let len = array.len() as u32;
                made[m] = Some(Stored { data: Arc::new(array), status: status.clone(), len });
                // The sizes that this array holds are exact from here on.
                for count in plan.computed[m].counts.iter().map(|&count| &plan.counts[count]) {
                    let (bound, at) = (table.sizes[count.number].bound, SizeView::of(&table).value(&count.at));
                    // The value of a count is undefined if one of its conditions failed. Zero then avoids a large
                    // allocation: the arrays of that size inherit the condition, and reading them returns the error.
                    // The host does not record such a count.
                    let is_valid = holds(&status);
                    let value = made[m].as_ref().filter(|_| is_valid).map_or(0, |stored| word(stored, at));
                    debug_assert!(value <= bound, "bug: a count of {value} exceeds its bound {bound}");
                    let value = value.min(bound);
                    Arc::make_mut(&mut table).sizes[count.number].exact = Some(value);
                    arrays.count(count.number, is_valid.then_some(value));
                    if is_valid {
                        count.key.iter().for_each(|key| self.last_counts.put(key, bound, value));
                    }
                }
            }
            for &m in &links.released {
                match plan.computed[m].array {
                    Some(array) if kept[m] => {
                        if let Some(stored) = made[m].take() {
                            arrays.publish(array, stored);
                        }
                    }
                    _ => made[m] = None,
                }
            }
        }
        *run_table = Arc::unwrap_or_clone(table);
        Ok(())
    }

    /// Whether each count in the sizes of a step's results was computed before the step.
    fn is_exact(&self, plan: &LinkedPlan, step: usize, made: &[Option<Stored>]) -> bool {
        let outputs = plan.steps[step].outputs();
        let mut counts = outputs.iter().flat_map(|n| n.extent().size().counts()).collect::<Vec<_>>().into_iter();
        counts.all(|count| {
            plan.count(count).is_some_and(|known| match known.source {
                ArraySource::Input(_) => true,
                // An array that was computed and freed again has been read.
                ArraySource::Computed(m) => made[m].is_some() || plan.computed[m].last_step < step,
            })
        })
    }

    /// Runs one step, whose checks and functions are those at `locations`. Returns its outputs and the conditions that
    /// they depend on.
    fn step(
        &self,
        (step, prepared): (&Step, &Arc<Prepared>),
        table: &Arc<RunTable>,
        (reads, after): (&[Stored], &[Stored]),
        locations: &Locations,
    ) -> Result<(Vec<Array>, Arc<[Status]>)> {
        let sizes = SizeView::of(table);
        let bytes = || step.outputs().iter().map(|n| sizes.bytes(n)).sum::<u64>();
        let _span = span!("cpu step", op = step.out.op(), kind = step.family(), bytes = bytes());
        let mut status: Vec<Status> = Vec::new();
        reads.iter().chain(after).for_each(|stored| Status::inherit(&mut status, &stored.status));
        let arrays = reads.iter().map(array_of).collect();
        let outcomes: Arc<[AtomicU32]> = prepared.checks.iter().map(|_| AtomicU32::new(u32::MAX)).collect();
        let panic = Arc::default();
        let (functions, pool, table) = (locations.functions(), self.pool.clone(), table.clone());
        let step_of = prepared.clone();
        let inputs = Inputs { functions, arrays, step: step_of, outcomes: outcomes.clone(), panic, pool, table };
        self.dispatches.fetch_add(1, Ordering::Relaxed);
        // Every size is exact here.
        self.bytes_moved.fetch_add(traffic(step, sizes, 0).total(), Ordering::Relaxed);
        if !prepared.checks.is_empty() {
            let block: Arc<dyn Any + Send + Sync> = Arc::new(outcomes);
            let fresh =
                |(slot, check): (usize, &Arc<Check>)| Status::new(block.clone(), slot as u32, locations.of(check));
            status.extend(prepared.checks.iter().enumerate().map(fresh));
        }
        let computed = compute(step, &inputs);
        let computed = inputs.panic.get().map_or(computed, |e| Err(e.clone()));
        // A size may exceed a limit, and a function of the user may panic, because an earlier condition failed, such as an
        // index beyond all rows. The failed condition is then the error to report.
        match computed {
            Ok(arrays) => {
                // Every outcome is known. A read reports the first failed condition.
                let failed = status.into_iter().find(|s| settled(s).is_err());
                Ok((arrays, failed.into_iter().collect()))
            }
            Err(e) => Err(status.iter().find_map(|s| settled(s).err()).unwrap_or(e)),
        }
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
                    let at = SizeView::RECORDED.value(at) as usize;
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
    fn supports(&self, _: DType) -> std::result::Result<(), String> {
        Ok(())
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
            fuse: !self.unfused,
            int64: Int64Repr::Native,
            kernels: &CpuKernels,
            // As on the GPU, so that both backends run the same steps.
            row_state: 52,
            tuning: Tuning::DEFAULT,
        }
    }
    fn upload(&self, dtype: DType, bytes: &[u8]) -> Result<Arc<dyn Any + Send + Sync>> {
        Ok(Arc::new(Array::from_bytes(&self.pool, dtype, bytes)?))
    }
    fn reserve_host(&self, op: &str, bytes: u64) -> Result<CountedMemory> {
        Ok(Box::new(self.pool.reserve_host(op, bytes)?))
    }
    fn try_read_u32(&self, stored: &Stored, at: u32) -> Option<u32> {
        holds(&stored.status).then(|| word(stored, at))
    }
    fn placeholder(&self) -> BackendRef {
        self.placeholder.get_or_init(|| Arc::new(Self::new(u64::MAX, true))).clone()
    }
    fn cost(&self, _: &Step, _: SizeView<'_>) -> Result<StepCost> {
        Ok(StepCost { dispatches: 1, limits: Vec::new(), scratch_bytes: 0 })
    }
    fn evaluate(&self, nodes: &[Node]) -> Result<()> {
        if nodes.iter().all(|n| n.stored().is_some()) {
            return Ok(());
        }
        environment::is_portable()?;
        let (program, mut bindings) = trace(nodes)?;
        let plan = self.plan(program, &bindings);
        let kept = plan.kept(&bindings, true);
        let (mut table, locations) = (std::mem::take(&mut bindings.run), std::mem::take(&mut bindings.locations));
        self.run(&plan, (&kept, &locations), &mut table, &mut bindings)
    }
    fn run_traced(&self, traced: &TracedProgram, run: &mut TracedRun) -> Result<bool> {
        environment::is_portable()?;
        let plan = traced.plan(self.id, || {
            self.plans_made.fetch_add(1, Ordering::Relaxed);
            LinkedPlan::new(traced.program.clone(), &traced.trace, &self.placeholder(), self.plan_limits())
        });
        let is_kept = |array: ArrayId| traced.is_output[array.index()];
        let kept: Vec<bool> = plan.computed.iter().map(|computed| computed.array.is_some_and(is_kept)).collect();
        let mut table = std::mem::take(&mut run.table);
        self.run(&plan, (&kept, &traced.trace.locations), &mut table, run)?;
        run.table = table;
        Ok(true)
    }
    fn evaluate_timed(&self, nodes: &[Node]) -> Result<Option<f64>> {
        self.evaluate(nodes)?;
        Ok(None)
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
        &self.last_counts
    }
    fn waits(&self, _: &[Node], _: u64) -> u64 {
        0
    }
    fn stats(&self) -> Stats {
        Stats {
            dispatches: self.dispatches.load(Ordering::Relaxed),
            bytes_moved: self.bytes_moved.load(Ordering::Relaxed),
            plans: self.plans_made.load(Ordering::Relaxed),
            ..self.pool.stats()
        }
    }
    fn numerics(&self) -> Result<Numerics> {
        Ok(Numerics::IDEAL)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod random_exprs;

#[cfg(test)]
mod tests;
