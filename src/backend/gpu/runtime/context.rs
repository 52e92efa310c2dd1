//! An opened device.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicU64},
};

use super::{
    adapters::{Adapter, AdapterSummary},
    link::{Health, Link},
    options::DeviceOptions,
    pipeline::Pipelines,
    pool::Pool,
    readback::Poller,
    stats::Counters,
    submit::{InFlight, Submitter},
};
use crate::stats::Stats;
use crate::{Error, Result};

/// What the layers above have to keep to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceLimits {
    /// Storage buffers that one kernel can bind.
    pub(crate) storage_buffers: u32,
    /// Bytes that one binding can hold: a multiple of 16.
    pub(crate) max_binding: u64,
    /// Bytes that one buffer can hold: a multiple of 16.
    pub(crate) max_buffer: u64,
    /// Bytes of parameters that one dispatch can have.
    pub(crate) max_params: u64,
    /// Workgroups along one side of the grid. One dispatch can have the square of it.
    pub(crate) workgroups_per_dimension: u32,
    /// Invocations of one workgroup.
    pub(crate) invocations: u32,
    /// Bytes of workgroup memory.
    pub(crate) workgroup_bytes: u32,
    /// The smallest and the largest subgroup.
    pub(crate) subgroup_sizes: (u32, u32),
}

/// An opened device with its pool, its caches and its queue. Dropped when the last handle and the last buffer are gone.
#[derive(Debug)]
pub(crate) struct Runtime {
    link: Arc<Link>,
    pool: Arc<Pool>,
    info: AdapterSummary,
    limits: DeviceLimits,
    features: wgpu::Features,
    pub(super) checked_shaders: bool,
    pub(super) dump_wgsl: Option<PathBuf>,
    pub(super) pipelines: Pipelines,
    pub(super) submitter: Mutex<Submitter>,
    pub(super) in_flight: Arc<InFlight>,
    pub(super) poller: Poller,
    /// Bytes that were uploaded since the last submission.
    pub(super) upload_backlog: AtomicU64,
}

impl Runtime {
    /// Opens a device on an adapter.
    ///
    /// # Errors
    /// [`Error::Gpu`] if the driver refuses: it lacks even core WebGPU's limits, or has no memory left.
    pub(crate) fn open(adapter: &Adapter, options: &DeviceOptions) -> Result<Arc<Self>> {
        let features = wanted_features(options) & adapter.wgpu.features();
        let own = adapter.wgpu.limits();
        let required_limits = if options.core_limits { wgpu::Limits::defaults() } else { own };
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("ragged"),
            required_features: features,
            required_limits,
            // Buffers are pooled above, so that a second pool below would only waste.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let opened = pollster::block_on(adapter.wgpu.request_device(&descriptor));
        let (device, queue) =
            opened.map_err(|error| Error::Gpu { label: adapter.summary.name.clone(), message: error.to_string() })?;
        let limits = limits_of(&device, options);
        let link = Arc::new(Link::new(device, queue));
        let pool = Arc::new(Pool::new(Arc::clone(&link), options.max_pooled));
        Ok(Arc::new(Self {
            link,
            pool,
            info: adapter.summary.clone(),
            limits,
            features,
            checked_shaders: options.checked_shaders,
            dump_wgsl: options.dump_wgsl.clone(),
            pipelines: Pipelines::default(),
            submitter: Mutex::default(),
            in_flight: Arc::default(),
            poller: Poller::default(),
            upload_backlog: AtomicU64::new(0),
        }))
    }

    /// What kernels and buffers have to keep to.
    pub(crate) fn limits(&self) -> &DeviceLimits {
        &self.limits
    }

    /// The adapter this was opened on.
    pub(crate) fn info(&self) -> &AdapterSummary {
        &self.info
    }

    /// Whether WGSL's `i64` and `u64` can be used; else kernels make do with pairs of words.
    pub(crate) fn has_int64(&self) -> bool {
        self.features.contains(wgpu::Features::SHADER_INT64)
    }

    /// Whether WGSL's `f64` can be used.
    pub(crate) fn has_f64(&self) -> bool {
        self.features.contains(wgpu::Features::SHADER_F64)
    }

    /// Whether subgroup operations can be used.
    pub(crate) fn has_subgroups(&self) -> bool {
        self.features.contains(wgpu::Features::SUBGROUP)
    }

    /// Whether [`Runtime::submit_timed`] can tell times.
    pub(crate) fn has_timestamps(&self) -> bool {
        self.features.contains(wgpu::Features::TIMESTAMP_QUERY)
    }

    /// The wgpu device.
    pub(crate) fn device(&self) -> &wgpu::Device {
        &self.link.device
    }

    /// The wgpu queue. What others submit to it runs in order with what is submitted here.
    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.link.queue
    }

    /// What has been done so far.
    pub(crate) fn stats(&self) -> Stats {
        self.link.counters.snapshot()
    }

    /// The live counters.
    pub(crate) fn counters(&self) -> &Counters {
        &self.link.counters
    }

    /// Fails if the device is gone, or (once) if wgpu reported an error outside of any call.
    pub(crate) fn check(&self) -> Result<()> {
        self.link.health.check()
    }

    /// For fault tests: loses the device.
    pub(crate) fn lose(&self) {
        self.link.device.destroy();
        // The callback that poisons the runtime runs from a poll, once the queue is empty.
        self.link.wait_idle();
        self.link.health.lose("destroyed".into());
    }

    pub(super) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    pub(super) fn health(&self) -> &Health {
        &self.link.health
    }

    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

/// The features that are used where the adapter has them.
fn wanted_features(options: &DeviceOptions) -> wgpu::Features {
    use wgpu::Features as F;
    let mut wanted = F::empty();
    wanted.set(F::SHADER_INT64, !options.no_int64);
    wanted.set(F::SHADER_F64, !options.no_f64);
    wanted.set(F::SUBGROUP, !options.no_subgroups);
    wanted.set(F::TIMESTAMP_QUERY, !options.no_timestamps);
    wanted
}

fn limits_of(device: &wgpu::Device, options: &DeviceOptions) -> DeviceLimits {
    let limits = device.limits();
    let info = device.adapter_info();
    // Drivers like to say 2^31 - 1; a buffer's size is a multiple of 16 here. From 4 GiB on Metal computes wrong addresses
    // (gfx-rs/wgpu#10305), and kernels count words in 32 bits.
    let bytes =
        |own: u64, asked: Option<u64>| asked.map_or(own, |asked| asked.max(16).min(own)).min(u32::MAX.into()) & !15;
    DeviceLimits {
        storage_buffers: limits.max_storage_buffers_per_shader_stage,
        max_binding: bytes(limits.max_storage_buffer_binding_size, options.max_binding),
        max_buffer: bytes(limits.max_buffer_size, options.max_buffer),
        max_params: limits.max_uniform_buffer_binding_size,
        workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
        invocations: limits.max_compute_invocations_per_workgroup,
        workgroup_bytes: limits.max_compute_workgroup_storage_size,
        subgroup_sizes: (info.subgroup_min_size, info.subgroup_max_size),
    }
}
