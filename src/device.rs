//! Devices: the backends on which tensors live and are computed.
//!
//! The environment variable `RAGGED_DEVICE` names the device of [`Device::best`]. `RAGGED_DUMP_WGSL` names a folder into
//! which every generated kernel is written, and `RAGGED_CHECKED_SHADERS=1` injects all of wgpu's checks into every
//! kernel; these two apply to devices opened without options.

mod identity;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::backend::cpu::CpuBackend;
use crate::backend::cpu::options::CpuOptions;
use crate::backend::gpu::GpuBackend;
use crate::backend::gpu::runtime::{Adapter, AdapterKind, DeviceOptions, Runtime, adapters};
use crate::environment;
use crate::error::{Error, Result, here, on_behalf};
use crate::graph::backend::{BackendRef, OF_TRACES};
use crate::numerics::Numerics;
use crate::stats::Stats;
use crate::tuning::Tuning;

/// A device on which tensors live and are computed: a GPU, or this machine's CPU. Cheap to clone.
///
/// ```
/// use ragged::Device;
/// let cpu = Device::cpu();
/// assert_eq!((cpu.name(), cpu.is_cpu(), cpu.is_software(), cpu.tuning()), ("cpu", true, true, None));
/// assert_eq!(Device::named("cpu")?, cpu);
/// assert_eq!(Device::names()[0], "cpu");
/// println!("{:?} of {} devices", Device::best()?, Device::names().len());
/// cpu.wait()?;
/// println!("{:?}, {:?}", cpu.stats(), cpu.numerics()?);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Clone)]
pub struct Device(BackendRef);

/// Source of device ids; the first two are the CPU's.
static NEXT_ID: AtomicU64 = AtomicU64::new(2);

/// A device, or the error of opening it: remembered, so that a repeated request is cheap.
type Opened = Result<Device>;

/// The devices opened with the options of the environment, by adapter.
static OPENED: Mutex<Vec<(usize, Opened)>> = Mutex::new(Vec::new());

#[track_caller]
fn open(adapter: &Adapter, options: &DeviceOptions, fuse: bool) -> Result<Device> {
    Ok(backend_over(Runtime::open(adapter, options)?, fuse, options))
}

fn backend_over(runtime: Arc<Runtime>, fuse: bool, options: &DeviceOptions) -> Device {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let name = runtime.info().name.clone();
    Device(Arc::new(GpuBackend::new(runtime, id, name, fuse, options)))
}

/// The device of the `k`-th adapter, opened once per process.
#[track_caller]
fn shared(k: usize, adapter: &Adapter) -> Result<Device> {
    let mut opened = OPENED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, found)) = opened.iter().find(|(at, _)| *at == k) {
        return found.clone();
    }
    let device = of_environment().and_then(|options| open(adapter, &options, true));
    opened.push((k, device.clone()));
    device
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
        match adapters().first() {
            Some(adapter) => shared(0, adapter),
            None => Err(no_device("gpu")),
        }
    }

    /// Opens a GPU with the given options; not shared with other callers.
    ///
    /// # Errors
    /// No adapter exists, or the driver refuses.
    ///
    /// ```no_run
    /// use ragged::{Device, DeviceOptions};
    /// let gpu = Device::gpu_with(&DeviceOptions::default().host_steps(true))?;
    /// println!("{}", gpu.name());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn gpu_with(options: &DeviceOptions) -> Result<Self> {
        match adapters().first() {
            Some(adapter) => open(adapter, options, true),
            None => Err(no_device("gpu")),
        }
    }

    /// As [`Device::gpu_with`], storing every intermediate array: tests that fusion changes no bits.
    #[doc(hidden)]
    #[track_caller]
    pub fn gpu_unfused(options: &DeviceOptions) -> Result<Self> {
        match adapters().first() {
            Some(adapter) => open(adapter, options, false),
            None => Err(no_device("gpu")),
        }
    }

    /// A GPU device over a wgpu device and queue of the program, with any features and limits. Not shared: call this
    /// once, and clone the result.
    ///
    /// Without `SHADER_INT64`, 64-bit integers are pairs of words, and f64 is unavailable. Without `TIMESTAMP_QUERY`,
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
    ///   returned. A loss is [`Error::DeviceLost`] at the next upload, read, [`Device::wait`] or
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
        Ok(backend_over(runtime, true, options))
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

    /// The device named by the variable `RAGGED_DEVICE` if it is set, else the first real GPU, else the CPU backend. A
    /// software adapter is slower than the CPU backend, and is selected only by name.
    ///
    /// # Errors
    /// `RAGGED_DEVICE` names no available device, is blank, or is not UTF-8: nothing is selected in its place. The driver
    /// of the first real GPU refuses. Another variable for devices has a value that is not allowed.
    #[track_caller]
    pub fn best() -> Result<Self> {
        let allowed = format!("best, gpu, or a part of one of these names: {}", Self::names().join(", "));
        match environment::text(environment::DEVICE, &allowed)? {
            Some(name) if name != "best" => return Self::named(&name),
            _ => {}
        }
        let real = adapters().into_iter().enumerate().find(|(_, a)| a.summary.kind != AdapterKind::Software);
        real.map_or_else(|| Ok(Self::cpu()), |(k, a)| shared(k, &a))
    }

    /// Finds a device by name: `cpu`, `gpu` (the first adapter), `best`, or any part of an adapter's name in any case.
    ///
    /// # Errors
    /// No device has that name, or the name is blank; the message lists the available ones.
    #[track_caller]
    pub fn named(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "cpu" => Ok(Self::cpu()),
            "gpu" => Self::gpu().map_err(|e| if adapters().is_empty() { no_device(name) } else { e }),
            "best" => Self::best(),
            lower => {
                let found = adapters()
                    .into_iter()
                    .enumerate()
                    .find(|(_, a)| !lower.trim().is_empty() && a.summary.name.to_ascii_lowercase().contains(lower));
                found.map_or_else(|| Err(no_device(name)), |(k, a)| shared(k, &a))
            }
        }
    }

    /// Every device of this machine: the CPU backend, then each adapter, including software adapters.
    ///
    /// # Errors
    /// A driver refuses; [`Device::each`] tells which one.
    ///
    /// ```no_run
    /// for device in ragged::Device::all()? {
    ///     println!("{}", device.name());
    /// }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn all() -> Result<Vec<Self>> {
        Self::each().into_iter().map(|(_, device)| device).collect()
    }

    /// As [`Device::all`], with each device's name and own outcome: a driver that refuses does not affect other
    /// devices.
    ///
    /// ```
    /// let (name, cpu) = ragged::Device::each().swap_remove(0);
    /// assert_eq!((name.as_str(), cpu?), ("cpu", ragged::Device::cpu()));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn each() -> Vec<(String, Result<Self>)> {
        let mut out = vec![("cpu".to_owned(), Ok(Self::cpu()))];
        let all = adapters();
        let named = all.iter().enumerate().map(|(k, a)| (a.summary.name.clone(), shared(k, a)));
        on_behalf(|| out.extend(named));
        out
    }

    /// The names that [`Device::named`] accepts on this machine.
    pub fn names() -> Vec<String> {
        let mut out = vec!["cpu".to_owned()];
        out.extend(adapters().iter().map(|a| a.summary.name.clone()));
        out
    }

    /// The CPU backend, which is always available.
    pub fn cpu() -> Self {
        static CPU: OnceLock<BackendRef> = OnceLock::new();
        Self(CPU.get_or_init(|| Arc::new(CpuBackend::new(0, true))).clone())
    }

    /// A CPU device with the given options, such as a budget of memory; not shared with other callers. Tensors of
    /// different devices do not mix: [`Tensor::to_device`](crate::Tensor::to_device) copies them.
    ///
    /// ```
    /// use ragged::{CpuOptions, Device, Error, RaggedTensor};
    /// let device = Device::cpu_with(&CpuOptions::default().max_memory(1 << 20));
    /// let x = RaggedTensor::from_nested(vec![1i32; 100_000], &device)?;
    /// // The array has 400 kB, and so do the read's result and any other array.
    /// let y = x.add(1)?;
    /// y.eval()?;
    /// assert!(matches!(y.to_vec(), Err(Error::Limit { limit: 1_048_576, .. })));
    /// drop(x);
    /// assert_eq!(y.to_vec()?[99_999], 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn cpu_with(options: &CpuOptions) -> Self {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(CpuBackend::with_options(id, options)))
    }

    /// A CPU backend that stores every intermediate array: slower, with the same bits. For tests.
    /// The device of the inputs of programs that are traced.
    pub(crate) fn of_traces() -> Self {
        static TRACES: OnceLock<BackendRef> = OnceLock::new();
        Self(TRACES.get_or_init(|| Arc::new(CpuBackend::new(OF_TRACES, true))).clone())
    }

    #[doc(hidden)]
    pub fn cpu_unfused() -> Self {
        static CPU: OnceLock<BackendRef> = OnceLock::new();
        Self(CPU.get_or_init(|| Arc::new(CpuBackend::new(1, false))).clone())
    }

    /// The name that selects this device: `cpu`, or the adapter's name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether this is the CPU backend.
    pub fn is_cpu(&self) -> bool {
        self.0.is_cpu()
    }

    /// Whether the host's CPU does the work: true for the CPU backend and for software adapters (lavapipe, WARP).
    pub fn is_software(&self) -> bool {
        self.0.is_software()
    }

    /// The tuning of its kernels: [`DeviceOptions::tuning`](crate::DeviceOptions::tuning) if given, else the default of
    /// the adapter's class. `None` for the CPU backend.
    pub fn tuning(&self) -> Option<Tuning> {
        self.0.as_any().downcast_ref::<GpuBackend>().map(|gpu| gpu.tuning)
    }

    /// Counters of this device's work so far, over all tensors.
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    /// Blocks until all evaluated tensors have been computed, and what the program submitted before: for measurements,
    /// or before the process uses the GPU otherwise. Reads wait by themselves.
    ///
    /// # Errors
    /// A failure since the last read; a lost device.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        self.0.wait().map_err(here())
    }

    /// Writes the driver's compiled kernels to the folder of [`DeviceOptions::pipeline_cache`], as dropping the device
    /// does. Does nothing for the CPU, for a device opened without such a folder, and on an adapter without pipeline
    /// caches.
    ///
    /// # Errors
    /// The file cannot be written; a lost device.
    ///
    /// ```
    /// ragged::Device::cpu().save_pipeline_cache()?;
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn save_pipeline_cache(&self) -> Result<()> {
        self.0
            .as_any()
            .downcast_ref::<GpuBackend>()
            .map_or(Ok(()), |gpu| gpu.runtime().save_pipeline_cache())
            .map_err(here())
    }

    /// Float behaviour of the device where specifications leave it open. Measured on the device once, with a wait; the
    /// CPU backend follows IEEE 754.
    ///
    /// # Errors
    /// The device refuses, or is lost.
    #[track_caller]
    pub fn numerics(&self) -> Result<Numerics> {
        self.0.numerics().map_err(here())
    }

    /// For fault tests: makes the next `count` device allocations fail as if memory were exhausted, after the pool was
    /// emptied. Does nothing on the CPU.
    #[doc(hidden)]
    pub fn fail_allocations(&self, count: u32) {
        self.0.fail_allocations(count);
    }

    /// For fault tests: loses the device, as a driver reset does. Does nothing on the CPU.
    #[doc(hidden)]
    pub fn lose(&self) {
        self.0.lose();
    }
}

#[track_caller]
fn no_device(name: &str) -> Error {
    Error::NoDevice { name: name.into(), available: Device::names().join(", ") }
}
