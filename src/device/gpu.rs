//! Devices of the GPU backend: adapters of this machine, and wgpu devices of the program.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::{Device, NEXT_ID, no_device};
use crate::backend::gpu::GpuBackend;
use crate::backend::gpu::runtime::{Adapter, AdapterKind, DeviceOptions, Runtime, adapters};
use crate::environment;
use crate::error::{Result, here};
use crate::graph::step::fusion::Fusion;

/// A device, or the error of opening it: remembered, so that a repeated request is cheap.
type Opened = Result<Device>;

/// The devices opened with the options of the environment, by adapter.
static OPENED: Mutex<Vec<(usize, Opened)>> = Mutex::new(Vec::new());

#[track_caller]
fn open(adapter: &Adapter, options: &DeviceOptions, fusion: Fusion) -> Result<Device> {
    Ok(backend_over(Runtime::open(adapter, options)?, fusion, options))
}

fn backend_over(runtime: Arc<Runtime>, fusion: Fusion, options: &DeviceOptions) -> Device {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let name = runtime.info().name.clone();
    Device(Arc::new(GpuBackend::new(runtime, id, name, fusion, options)))
}

/// An adapter of this machine, with its position.
pub(super) struct Listed {
    at: usize,
    adapter: Adapter,
}

/// Opens the adapter that the options choose.
#[track_caller]
fn open_chosen(options: &DeviceOptions, fusion: Fusion) -> Result<Device> {
    let part = options.adapter.as_deref().unwrap_or("").to_lowercase();
    let is_it = |adapter: &&Adapter| adapter.summary.name.to_lowercase().contains(&part);
    match adapters().iter().find(is_it) {
        Some(adapter) => open(adapter, options, fusion),
        None => Err(no_device(options.adapter.as_deref().unwrap_or("gpu"))),
    }
}

/// Every adapter of this machine.
pub(super) fn listed() -> Vec<Listed> {
    adapters().into_iter().enumerate().map(|(at, adapter)| Listed { at, adapter }).collect()
}

impl Listed {
    pub(super) fn name(&self) -> &str {
        &self.adapter.summary.name
    }

    pub(super) fn is_software(&self) -> bool {
        self.adapter.summary.kind == AdapterKind::Software
    }

    /// The device of the adapter, opened once per process.
    #[track_caller]
    pub(super) fn shared(&self) -> Result<Device> {
        let mut opened = OPENED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, found)) = opened.iter().find(|(at, _)| *at == self.at) {
            return found.clone();
        }
        let device = of_environment().and_then(|options| open(&self.adapter, &options, Fusion::WhereCheaper));
        opened.push((self.at, device.clone()));
        device
    }
}

/// The options that environment variables set.
///
/// # Errors
/// A variable has a value that is not allowed.
#[track_caller]
fn of_environment() -> Result<DeviceOptions> {
    let mut options = DeviceOptions { dump_wgsl: environment::path(environment::DUMP_WGSL)?, ..Default::default() };
    options.checked_shaders |= environment::flag(environment::CHECKED_SHADERS)?;
    Ok(options)
}

/// GPU devices, and devices shared with wgpu.
impl Device {
    /// The first GPU, or a software adapter if there is no GPU; opened once per process.
    ///
    /// # Errors
    /// No adapter exists, or the driver refuses.
    ///
    /// ```no_run
    /// let gpu = ragged::Device::gpu()?;
    /// println!("{}", gpu.name());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn gpu() -> Result<Self> {
        match listed().first() {
            Some(adapter) => adapter.shared(),
            None => Err(no_device("gpu")),
        }
    }

    /// Opens a GPU with the given options: the first adapter, or that of [`DeviceOptions::adapter`]; not shared with other
    /// callers.
    ///
    /// # Errors
    /// No adapter exists, or none of that name; the driver refuses.
    ///
    /// ```no_run
    /// use ragged::{Device, DeviceOptions};
    /// let gpu = Device::gpu_with(&DeviceOptions::default().host_steps(true))?;
    /// println!("{}", gpu.name());
    /// let other = Device::gpu_with(&DeviceOptions::default().adapter("llvmpipe").max_memory(1 << 30))?;
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn gpu_with(options: &DeviceOptions) -> Result<Self> {
        open_chosen(options, Fusion::WhereCheaper)
    }

    /// As [`Device::gpu_with`], storing every intermediate array: tests that fusion changes no bits.
    #[doc(hidden)]
    #[track_caller]
    pub fn gpu_unfused(options: &DeviceOptions) -> Result<Self> {
        open_chosen(options, Fusion::Nothing)
    }

    /// As [`Device::gpu_with`], storing no product that its readers can compute, such as scores of attention, however small:
    /// tests that this changes no bits.
    #[doc(hidden)]
    #[track_caller]
    pub fn gpu_recomputing(options: &DeviceOptions) -> Result<Self> {
        open_chosen(options, Fusion::AllProducts)
    }

    /// A GPU device over a wgpu device and queue of the program, with any features and limits. Not shared: call this
    /// once, and clone the result.
    ///
    /// Without `SHADER_INT64`, 64-bit integers are pairs of words; without it or `SHADER_F64`, so are 64-bit floats
    /// ([`Numerics::emulates_f64`](crate::Numerics::emulates_f64)). Without `TIMESTAMP_QUERY`,
    /// [`Tensor::eval_timed`](crate::Tensor::eval_timed) reports no time. Without `PASSTHROUGH_SHADERS`, a Vulkan driver may
    /// flush subnormal numbers ([`Device::numerics`]). Required are core WebGPU's limits
    /// ([`wgpu::Limits::defaults`]) for storage buffers per stage, workgroups and their memory; arrays are as large as
    /// the device allows. Options that limit features and sizes restrict what is used of the device.
    ///
    /// # Rules for both sides
    /// - The queue is the order: work that the program submits before a call of this crate runs before that call's
    ///   submissions.
    /// - Callbacks of the wgpu device run in whichever thread polls it: one of the program's, or one of this crate's.
    /// - The device's error and loss callbacks stay the program's own. Errors of this crate's commands are caught and
    ///   returned. A loss is [`Error::DeviceLost`](crate::Error::DeviceLost) at the next upload, read, [`Device::wait`] or
    ///   [`Tensor::check`](crate::Tensor::check).
    ///
    /// # Errors
    /// Each limit that the device lacks, with its value and the required one; a queue of another device.
    ///
    /// ```no_run
    /// use ragged::{Device, DeviceOptions, RaggedTensor, wgpu};
    /// # fn example(device: wgpu::Device, queue: wgpu::Queue) -> ragged::Result<()> {
    /// // `device` and `queue` are what a renderer or another compute library works with.
    /// let mine = Device::from_wgpu(&device, &queue, &DeviceOptions::default())?;
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &mine)?;
    /// assert_eq!(x.reduce_sum(1)?.to_vec()?, [3, 0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn from_wgpu(device: &wgpu::Device, queue: &wgpu::Queue, options: &DeviceOptions) -> Result<Self> {
        let runtime = Runtime::from_user(device.clone(), queue.clone(), options).map_err(here())?;
        Ok(backend_over(runtime, Fusion::WhereCheaper, options))
    }

    /// The wgpu device and queue of this device: for buffers that become tensors ([`Tensor::from_wgpu_buffer`]), and
    /// for the program's own commands on the buffers of tensors. `None` for the CPU backend.
    ///
    /// Device and queue may be cloned and kept. A submission of the program runs after everything that this crate
    /// submitted before it, and before everything that this crate submits after it. Destroying the wgpu device loses it
    /// for all.
    ///
    /// Errors of the program's own calls never fail a call of this crate. On a device that this crate opened they are
    /// printed to standard error, unless the program sets a handler with [`wgpu::Device::on_uncaptured_error`], which
    /// it may do at any time.
    ///
    /// [`Tensor::from_wgpu_buffer`]: crate::Tensor::from_wgpu_buffer
    ///
    /// ```
    /// assert!(ragged::Device::cpu().as_wgpu().is_none());
    /// ```
    pub fn as_wgpu(&self) -> Option<(&wgpu::Device, &wgpu::Queue)> {
        let gpu = self.0.as_any().downcast_ref::<GpuBackend>()?;
        Some((gpu.runtime().device(), gpu.runtime().queue()))
    }
}
