//! The runtime of an opened device.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicU64},
};

use super::{
    adapters::{Adapter, AdapterSummary},
    float_controls::FloatControls,
    fused::Fused,
    in_flight::InFlight,
    limits::DeviceLimits,
    module_cache::Pipelines,
    options::DeviceOptions,
    pipeline_cache::PipelineCache,
    poller::Poller,
    pool::Pool,
    shared::{Health, Shared},
    stats::Counters,
    submitter::Submitter,
};
use crate::graph::plan::Float64Repr;
use crate::stats::Stats;
use crate::{Error, Result};

/// An opened device with its pool, caches and queue.
#[derive(Debug)]
pub(crate) struct Runtime {
    shared: Arc<Shared>,
    pool: Arc<Pool>,
    info: AdapterSummary,
    limits: DeviceLimits,
    features: wgpu::Features,
    fused: Fused,
    pub(super) checked_shaders: bool,
    /// The float behaviour that kernels ask for, where the device offers it.
    pub(super) float_controls: Option<FloatControls>,
    pub(super) dump_wgsl: Option<PathBuf>,
    pub(super) pipelines: Pipelines,
    pub(super) pipeline_cache: Option<PipelineCache>,
    pub(super) submitter: Mutex<Submitter>,
    pub(super) in_flight: Arc<InFlight>,
    pub(super) poller: Poller,
    /// Bytes uploaded since the last submission.
    pub(super) upload_backlog: AtomicU64,
}

impl Runtime {
    /// Opens a device on an adapter.
    ///
    /// # Errors
    /// [`Error::Gpu`] if the driver refuses: the adapter lacks core WebGPU's limits, or memory is exhausted.
    pub(crate) fn open(adapter: &Adapter, options: &DeviceOptions) -> Result<Arc<Self>> {
        let features = wanted_features(options) & adapter.wgpu.features();
        let own = adapter.wgpu.limits();
        let required_limits = if options.core_limits { wgpu::Limits::defaults() } else { own };
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("ragged"),
            required_features: features,
            required_limits,
            // This crate pools buffers; wgpu's own pool would waste memory.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let opened = pollster::block_on(adapter.wgpu.request_device(&descriptor));
        let (device, queue) = opened.map_err(|error| Error::Gpu {
            label: adapter.summary.name.clone(),
            message: error.to_string(),
            location: crate::error::caller(),
        })?;
        Ok(Self::with_shared(Shared::new(device, queue), adapter.summary.clone(), features, options))
    }

    /// Wraps a device that the user opened, with any features and limits. Leaves the device's callbacks unchanged.
    ///
    /// # Errors
    /// [`Error::Argument`] with the required limits that the device lacks, or if the queue belongs to another device;
    /// [`Error::DeviceLost`].
    pub(crate) fn from_user(device: wgpu::Device, queue: wgpu::Queue, options: &DeviceOptions) -> Result<Arc<Self>> {
        let info = AdapterSummary::of(&device.adapter_info());
        check_min_limits(&device.limits(), &info.name)?;
        let features = wanted_features(options) & device.features();
        let shared = Shared::of_user(device, queue);
        shared.check_queue("from_wgpu")?;
        Ok(Self::with_shared(shared, info, features, options))
    }

    fn with_shared(
        shared: Shared,
        info: AdapterSummary,
        features: wgpu::Features,
        options: &DeviceOptions,
    ) -> Arc<Self> {
        let limits = limits_of(&shared.device, options);
        let controlled = features.contains(wgpu::Features::PASSTHROUGH_SHADERS);
        let float_controls = if controlled { FloatControls::of(&shared.device) } else { None };
        let pipeline_cache = options.pipeline_cache.as_deref().and_then(|folder| PipelineCache::open(&shared, folder));
        let shared = Arc::new(shared);
        let pool = Arc::new(Pool::new(Arc::clone(&shared), options));
        let mut runtime = Self {
            shared,
            pool,
            info,
            limits,
            features,
            fused: Fused::Words,
            checked_shaders: options.checked_shaders,
            float_controls,
            dump_wgsl: options.dump_wgsl.clone(),
            pipelines: Pipelines::default(),
            pipeline_cache,
            submitter: Mutex::default(),
            in_flight: Arc::default(),
            poller: Poller::default(),
            upload_backlog: AtomicU64::new(0),
        };
        runtime.confirm_float_controls();
        runtime.fused = runtime.fastest_fused(options.no_fma);
        Arc::new(runtime)
    }

    /// Limits that kernels and buffers must respect.
    pub(crate) fn limits(&self) -> &DeviceLimits {
        &self.limits
    }

    /// The adapter of this device.
    pub(crate) fn info(&self) -> &AdapterSummary {
        &self.info
    }

    /// The optional features that kernels may use.
    pub(super) fn features(&self) -> wgpu::Features {
        self.features
    }

    /// Whether WGSL's `i64` and `u64` are available; otherwise kernels use pairs of words.
    pub(crate) fn has_int64(&self) -> bool {
        self.features.contains(wgpu::Features::SHADER_INT64)
    }

    /// The representation of 64-bit floats in kernels. Native ones need 64-bit integers for operations on bits.
    pub(crate) fn doubles(&self) -> Float64Repr {
        if self.has_f64() && self.has_int64() { Float64Repr::Native } else { Float64Repr::Pairs }
    }

    /// Whether WGSL's `f64` is available.
    pub(crate) fn has_f64(&self) -> bool {
        self.features.contains(wgpu::Features::SHADER_F64)
    }

    /// The fused multiply-adds of f32.
    pub(crate) fn fused(&self) -> Fused {
        self.fused
    }

    /// Whether [`Runtime::submit_timed`] can measure times.
    pub(crate) fn has_timestamps(&self) -> bool {
        self.features.contains(wgpu::Features::TIMESTAMP_QUERY)
    }

    /// The wgpu device.
    pub(crate) fn device(&self) -> &wgpu::Device {
        &self.shared.device
    }

    /// The wgpu queue. Submissions by others run in order with those made here.
    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.shared.queue
    }

    /// A snapshot of the counters.
    pub(crate) fn stats(&self) -> Stats {
        let (memory_bytes, memory_budget) = self.pool.memory();
        Stats { memory_bytes, memory_budget, ..self.shared.counters.snapshot() }
    }

    /// The live counters.
    pub(crate) fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    /// Fails if the device is lost.
    #[cfg(test)]
    pub(crate) fn check(&self) -> Result<()> {
        self.shared.health.alive()
    }

    /// Fails if the device is lost, even if no callback has reported the loss. Waits for submitted work.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub(crate) fn probe(&self) -> Result<()> {
        self.shared.probe()
    }

    /// Replaces an error by [`Error::DeviceLost`] if the device is lost. On a lost device wgpu returns invalid objects,
    /// whose errors it reports later.
    pub(crate) fn with_cause(&self, error: Error) -> Error {
        let probed = if matches!(error, Error::Gpu { .. }) { self.shared.probe() } else { self.shared.health.alive() };
        probed.err().unwrap_or(error)
    }

    /// Saves the driver's pipeline cache to its folder, if the device was opened with one.
    ///
    /// # Errors
    /// [`Error::Gpu`] if the file cannot be written; [`Error::DeviceLost`].
    pub(crate) fn save_pipeline_cache(&self) -> Result<()> {
        self.shared.probe()?;
        self.save_live_pipeline_cache()
    }

    fn save_live_pipeline_cache(&self) -> Result<()> {
        let Some(cache) = &self.pipeline_cache else { return Ok(()) };
        self.health().alive()?;
        let saved = cache.save();
        saved.map_err(|error| {
            let message = format!("cannot write the file: {error}; check the folder of DeviceOptions::pipeline_cache");
            Error::Gpu { label: "the pipeline cache".into(), message, location: crate::error::caller() }
        })
    }

    /// For fault tests: loses the device.
    pub(crate) fn lose(&self) {
        self.shared.device.destroy();
        // The device-lost callback runs in a poll, once the queue is empty.
        self.shared.wait_idle();
        self.shared.health.lose("destroyed".into());
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn health(&self) -> &Health {
        &self.shared.health
    }

    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // A drop cannot report the error; without the file the next process recompiles its kernels.
        let _ = self.save_live_pipeline_cache();
    }
}

/// The optional features to enable where the adapter has them.
fn wanted_features(options: &DeviceOptions) -> wgpu::Features {
    use wgpu::Features as F;
    let mut wanted = F::empty();
    wanted.set(F::SHADER_INT64, !options.no_int64);
    wanted.set(F::SHADER_F64, !options.no_f64);
    wanted.set(F::TIMESTAMP_QUERY, !options.no_timestamps);
    wanted.set(F::PIPELINE_CACHE, options.pipeline_cache.is_some());
    wanted.set(F::PASSTHROUGH_SHADERS, !options.no_float_controls);
    wanted
}

/// Checks the limits that every kernel assumes, all within core WebGPU's.
///
/// # Errors
/// Lists the limits of the device that are too low.
fn check_min_limits(limits: &wgpu::Limits, name: &str) -> Result<()> {
    let core = wgpu::Limits::defaults();
    let mut missing = Vec::new();
    macro_rules! at_least {
        ($($limit:ident: $least:expr,)*) => {$(
            let (has, least) = (limits.$limit, $least);
            if has < least {
                missing.push(format!("{} is {has}, but must be {least} or more", stringify!($limit)));
            }
        )*};
    }
    at_least! {
        max_storage_buffers_per_shader_stage: core.max_storage_buffers_per_shader_stage,
        max_compute_invocations_per_workgroup: core.max_compute_invocations_per_workgroup,
        max_compute_workgroup_size_x: core.max_compute_workgroup_size_x,
        max_compute_workgroup_storage_size: core.max_compute_workgroup_storage_size,
        max_compute_workgroups_per_dimension: core.max_compute_workgroups_per_dimension,
        max_bind_groups: 1,
        // The parameters and the storage buffers.
        max_bindings_per_bind_group: 1 + core.max_storage_buffers_per_shader_stage,
        max_uniform_buffers_per_shader_stage: 1,
        max_dynamic_uniform_buffers_per_pipeline_layout: 1,
        max_uniform_buffer_binding_size: MIN_PARAMS,
        max_storage_buffer_binding_size: MIN_BUFFER,
        max_buffer_size: MIN_BUFFER,
    }
    if missing.is_empty() {
        return Ok(());
    }
    let what = format!(
        "{name} was opened with less than core WebGPU's limits: {}; open it with wgpu::Limits::default() or more",
        missing.join(", ")
    );
    Err(Error::Argument { op: "from_wgpu", what, location: crate::error::caller() })
}

/// Bytes of parameters that one dispatch may have on every device: the limit of WebGPU's compatibility mode.
const MIN_PARAMS: u64 = 16 << 10;

/// Minimum limit of buffers and bindings: the initial size of a submission's parameter buffer.
const MIN_BUFFER: u64 = 64 << 10;

fn limits_of(device: &wgpu::Device, options: &DeviceOptions) -> DeviceLimits {
    let limits = device.limits();
    // Devices opened by this crate have these limits already; a user's device may exceed them.
    let core = if options.core_limits { wgpu::Limits::defaults() } else { limits.clone() };
    // Drivers report limits such as 2^31 - 1; buffer sizes here are multiples of 16. From 4 GiB on, Metal computes
    // wrong addresses (gfx-rs/wgpu#10305), and kernels count words in 32 bits.
    let bytes = |own: u64, core: u64, asked: Option<u64>| {
        let own = own.min(core);
        asked.map_or(own, |asked| asked.max(16).min(own)) & !15
    };
    let (binding, buffer) = (limits.max_storage_buffer_binding_size.min(u32::MAX.into()), limits.max_buffer_size);
    DeviceLimits {
        storage_buffers: limits.max_storage_buffers_per_shader_stage.min(core.max_storage_buffers_per_shader_stage),
        // A map's tile must fit one window, and window offsets are multiples of 256.
        max_binding: bytes(binding, core.max_storage_buffer_binding_size, options.max_binding).max(8 << 10),
        max_buffer: bytes(buffer, core.max_buffer_size, options.max_buffer),
        max_params: limits.max_uniform_buffer_binding_size,
        workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
        invocations: limits.max_compute_invocations_per_workgroup.min(core.max_compute_invocations_per_workgroup),
        workgroup_bytes: limits.max_compute_workgroup_storage_size.min(core.max_compute_workgroup_storage_size),
    }
}
