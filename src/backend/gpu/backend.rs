//! The GPU implementation of [`Backend`].

use std::any::Any;
use std::sync::{Arc, OnceLock};

use super::codegen::StepModules;
use super::driver_limits::DriverLimits;
use super::launch::Lowering;
use super::primitive::{GpuKernels, lower};
use super::probe;
use super::row_reduce::MAX_STATE;
use super::runtime::{AdapterKind, Buffer, DeviceOptions, Fused, Runtime};
use super::tuning;
use crate::backend::host_memory;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::backend::{Backend, BoxedRead, CountedMemory, Part, StepCost, Wait};
use crate::graph::node::{Node, Stored};
use crate::graph::plan::{Int64Repr, LastCounts, PlanLimits, ProductRepr, Step};
use crate::graph::planned::SizeView;
use crate::graph::run::driver::Driver;
use crate::graph::run::timed_run::TimedRuns;
use crate::graph::run::traced_run::{TracedProgram, TracedRun};
use crate::graph::step::fusion::Fusion;
use crate::graph::step::many_dispatches::ManyDispatches;
use crate::numerics::Numerics;
use crate::stats::Stats;
use crate::tuning::Tuning;

/// Numbers of a product from which on it is not stored: 128 MiB of `f32`, the largest binding that every device has. Shaders
/// compute numbers one by one, at several times the cost of the tiles of a stored product.
pub(super) const LARGE_PRODUCT: u64 = 1 << 25;

/// The graph backend of one GPU.
pub(crate) struct GpuBackend {
    pub(super) runtime: Arc<Runtime>,
    id: u64,
    pub(super) name: String,
    fusion: Fusion,
    /// Whether operations may run on the host.
    host_steps: bool,
    pub(crate) tuning: Tuning,
    products: ProductRepr,
    numerics: OnceLock<Numerics>,
    pub(super) driver: Driver,
}

impl GpuBackend {
    /// The tuning defaults to that of the adapter's class.
    pub(crate) fn new(runtime: Arc<Runtime>, id: u64, name: String, fusion: Fusion, options: &DeviceOptions) -> Self {
        let tuning = options.tuning.unwrap_or(tuning::tuning_of(runtime.info())).feasible();
        let products = match runtime.fused() {
            Fused::Native => ProductRepr::Native,
            _ if options.split_products => ProductRepr::Split,
            Fused::Doubles => ProductRepr::Doubles,
            Fused::Words => ProductRepr::Words,
        };
        Self {
            runtime,
            id,
            name,
            fusion,
            host_steps: options.host_steps,
            tuning,
            products,
            numerics: OnceLock::new(),
            driver: Driver::default(),
        }
    }

    /// Limits of the adapter's driver.
    pub(super) fn driver_limits(&self) -> DriverLimits {
        DriverLimits::of(self.runtime.info().kind)
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The buffer that holds the array. Evaluates the node first, if necessary.
    pub(crate) fn array(&self, node: &Node) -> Result<Buffer> {
        self.evaluate(std::slice::from_ref(node))?;
        let data = node.stored().expect("bug: evaluation left a node without a result").data.clone();
        let array = data.downcast::<Buffer>().expect("bug: an array of another backend");
        Ok(Buffer::clone(&array))
    }

    /// As [`Backend::evaluate_timed`], with the time of each kernel.
    #[cfg(feature = "wgpu-profiler")]
    pub(crate) fn evaluate_profiled(&self, nodes: &[Node]) -> Result<Option<Vec<wgpu_profiler::GpuTimerQueryResult>>> {
        let run = || {
            let recorded = self.record(nodes, self.trace_in_stages(nodes)?, &self.stages())?;
            let scopes = self.runtime.submit_profiled(&recorded.commands)?;
            recorded.publish(&self.runtime);
            Ok(scopes)
        };
        run().map_err(|e| self.runtime.with_cause(e))
    }
}

impl Backend for GpuBackend {
    fn id(&self) -> u64 {
        self.id
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn is_cpu(&self) -> bool {
        false
    }
    fn is_software(&self) -> bool {
        self.runtime.info().kind == AdapterKind::Software
    }
    fn allows_host_steps(&self) -> bool {
        self.host_steps
    }
    fn count_host_step(&self) {
        self.runtime.counters().host_step();
    }
    fn reserve_host(&self, op: &str, bytes: u64) -> Result<CountedMemory> {
        Ok(Box::new(host_memory::reserve(op, bytes, || ())?))
    }
    fn max_bytes(&self) -> u64 {
        self.runtime.limits().max_buffer
    }
    fn plan_limits(&self) -> PlanLimits {
        let limits = self.runtime.limits();
        PlanLimits {
            arrays: limits.storage_buffers.min(self.tuning.max_buffers),
            bindings: limits.storage_buffers,
            reads_any_number: false,
            max_binding: limits.max_binding,
            fusion: self.fusion,
            large_product: LARGE_PRODUCT,
            int64: if self.runtime.has_int64() { Int64Repr::Native } else { Int64Repr::Pairs },
            products: self.products,
            float64: self.runtime.doubles(),
            kernels: GpuKernels::of(self.driver_limits()),
            row_state: MAX_STATE,
            tuning: self.tuning,
        }
    }
    fn upload(&self, dtype: DType, bytes: &[u8]) -> Result<Arc<dyn Any + Send + Sync>> {
        debug_assert!(bytes.len().is_multiple_of(dtype.size().max(1)), "bug: part of an element");
        Ok(Arc::new(self.runtime.upload(bytes).map_err(|e| self.runtime.with_cause(e))?))
    }
    fn cost(&self, step: &Step, sizes: SizeView<'_>) -> Result<StepCost> {
        let modules = StepModules::default();
        let lowered = lower(step, Lowering { first_slot: 0, sizes, modules: &modules, driver: self.driver_limits() })?;
        let (mut dispatches, mut limits) = (0, Vec::new());
        for launch in lowered.launches.iter().filter(|l| l.workgroups > 0 && l.depth > 0) {
            let windows = self.windows(step, sizes, &lowered, launch)?.map_or(1, |parts| parts.len() as u64);
            if windows > 1 && limits.is_empty() {
                limits.push(ManyDispatches::BindingLimit);
            }
            dispatches += windows;
        }
        limits.extend(lowered.limit);
        Ok(StepCost { dispatches, limits, scratch_bytes: lowered.scratch.iter().sum() })
    }
    fn evaluate(&self, nodes: &[Node]) -> Result<()> {
        let run = || {
            let recorded = self.record(nodes, self.trace_in_stages(nodes)?, &self.stages())?;
            if !recorded.commands.is_empty() {
                self.runtime.submit(&recorded.commands)?;
            }
            recorded.publish(&self.runtime);
            Ok(())
        };
        run().map_err(|e| self.runtime.with_cause(e))
    }
    fn run_traced(&self, traced: &TracedProgram, run: &mut TracedRun) -> Result<bool> {
        self.submit_traced(traced, run).map_err(|e| self.runtime.with_cause(e))
    }
    fn evaluate_timed(&self, nodes: &[Node]) -> Result<Option<f64>> {
        let run = || {
            let recorded = self.record(nodes, self.trace_in_stages(nodes)?, &self.stages())?;
            let ms = self.runtime.submit_timed(&recorded.commands)?;
            recorded.publish(&self.runtime);
            self.runtime.wait()?;
            Ok(ms)
        };
        run().map_err(|e| self.runtime.with_cause(e))
    }
    fn evaluate_in_steps(&self, nodes: &[Node]) -> Result<TimedRuns> {
        self.run_in_steps(nodes).map_err(|e| self.runtime.with_cause(e))
    }
    fn is_sole_owner(&self, stored: &Stored) -> bool {
        let is_sole = |buffer: &Buffer| buffer.is_sole_owner();
        Arc::strong_count(&stored.data) == 1 && stored.data.downcast_ref().is_some_and(is_sole)
    }
    fn wait(&self) -> Result<()> {
        self.runtime.wait()
    }
    fn read_parts(&self, parts: Vec<Part>, wait: Wait) -> BoxedRead<'_> {
        Box::pin(async move { self.read_in_order(parts, wait).await.map_err(|e| self.runtime.with_cause(e)) })
    }
    fn last_counts(&self) -> &LastCounts {
        &self.driver.last_counts
    }
    fn waits(&self, nodes: &[Node], stages: u64) -> u64 {
        // Sizes are exact once counts have been read.
        1 + stages + u64::from(stages == 0) * u64::from(!nodes.iter().all(|n| self.at_capacity(n, n.bytes())))
    }
    fn stats(&self) -> Stats {
        Stats { plans: self.driver.plans_made(), ..self.runtime.stats() }
    }
    fn numerics(&self) -> Result<Numerics> {
        if let Some(known) = self.numerics.get() {
            self.runtime.probe()?;
            return Ok(*known);
        }
        // Two threads may both run the probe; the first result is kept.
        let found = probe::numerics(&self.runtime, self.products).map_err(|e| self.runtime.with_cause(e))?;
        Ok(*self.numerics.get_or_init(|| found))
    }
    fn tuning(&self) -> Option<Tuning> {
        Some(self.tuning)
    }
    fn save_pipeline_cache(&self) -> Result<()> {
        self.runtime.save_pipeline_cache()
    }
    fn fail_allocations(&self, count: u32) {
        self.runtime.trim();
        self.runtime.fail_allocations(count);
    }
    fn lose(&self) {
        self.runtime.lose();
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
