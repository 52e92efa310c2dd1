//! Devices: where tensors live and who computes them.
//!
//! This is the only file that reads environment variables: `RAGGED_DEVICE` names the device of [`Device::best`],
//! `RAGGED_DUMP_WGSL` a folder into which every generated kernel is written, and `RAGGED_CHECKED_SHADERS=1` has every
//! check of wgpu's in every kernel. The last two hold for devices that are opened without options.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::backend::cpu::CpuBackend;
use crate::backend::gpu::GpuBackend;
use crate::backend::gpu::runtime::{Adapter, AdapterKind, DeviceOptions, Runtime, adapters};
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::numerics::Numerics;
use crate::stats::Stats;
use crate::tuning::Tuning;

/// Where tensors live and who computes them: a GPU, or this machine's processor. Cheap to clone.
///
/// ```
/// let device = ragged::Device::cpu();
/// assert_eq!(device.name(), "cpu");
/// ```
#[derive(Clone)]
pub struct Device(BackendRef);

/// Identities of devices; the first two are the CPU's.
static NEXT_ID: AtomicU64 = AtomicU64::new(2);

/// What is done with a device that could not be opened: remembered, so that asking again is cheap.
type Opened = Result<Device>;

/// The devices that were opened with the options of the environment, by adapter.
static OPENED: Mutex<Vec<(usize, Opened)>> = Mutex::new(Vec::new());

fn open(adapter: &Adapter, options: &DeviceOptions, fuse: bool) -> Result<Device> {
    Ok(backend_over(Runtime::open(adapter, options)?, fuse, options))
}

fn backend_over(runtime: Arc<Runtime>, fuse: bool, options: &DeviceOptions) -> Device {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let name = runtime.info().name.clone();
    Device(Arc::new(GpuBackend::new(runtime, id, name, fuse, options.tuning)))
}

/// The device of the `k`-th adapter, opened once a process.
fn shared(k: usize, adapter: &Adapter) -> Result<Device> {
    let mut opened = OPENED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, found)) = opened.iter().find(|(at, _)| *at == k) {
        return found.clone();
    }
    let mut options =
        DeviceOptions { dump_wgsl: std::env::var_os("RAGGED_DUMP_WGSL").map(Into::into), ..Default::default() };
    options.checked_shaders |= std::env::var("RAGGED_CHECKED_SHADERS").is_ok_and(|v| v == "1");
    let device = open(adapter, &options, true);
    opened.push((k, device.clone()));
    device
}

impl Device {
    /// The first GPU, software adapters included where there is no other; opened once a process.
    ///
    /// # Errors
    /// There is no adapter, or the driver refuses.
    pub fn gpu() -> Result<Self> {
        match adapters().first() {
            Some(adapter) => shared(0, adapter),
            None => Err(no_device("gpu")),
        }
    }

    /// A GPU opened with options of its own; not shared with other callers.
    ///
    /// # Errors
    /// There is no adapter, or the driver refuses.
    pub fn gpu_with(options: &DeviceOptions) -> Result<Self> {
        match adapters().first() {
            Some(adapter) => open(adapter, options, true),
            None => Err(no_device("gpu")),
        }
    }

    /// As [`Device::gpu_with`], storing every intermediate array: to test that fusing changes no bits.
    #[doc(hidden)]
    pub fn gpu_unfused(options: &DeviceOptions) -> Result<Self> {
        match adapters().first() {
            Some(adapter) => open(adapter, options, false),
            None => Err(no_device("gpu")),
        }
    }

    /// A GPU device over a wgpu device and queue that the program has already, with whatever features and limits they
    /// were made with. Not shared: call it once, and clone what it gives.
    ///
    /// Without `SHADER_INT64`, 64-bit integers are pairs of words, and there is no f64; without `TIMESTAMP_QUERY`,
    /// [`Tensor::eval_timed`](crate::Tensor::eval_timed) tells no time. Of the limits it needs core WebGPU's
    /// ([`wgpu::Limits::defaults`]) for storage buffers a stage, workgroups and their memory; arrays are as large as
    /// the device allows. The options that limit features and sizes limit what is used of the device.
    ///
    /// # What both sides keep to
    /// - The queue is the order: what the program submits before a call of this crate runs before what that call
    ///   submits.
    /// - Callbacks of the wgpu device run in whichever thread polls it, the program's among them, or one of this
    ///   crate's.
    /// - The device's error and loss callbacks stay the program's own. Errors of this crate's commands are caught and
    ///   returned. A loss is [`Error::DeviceLost`] at the next read, [`Device::wait`] or
    ///   [`Tensor::check`](crate::Tensor::check).
    ///
    /// # Errors
    /// The limits that the device lacks, each with what it has and what it takes; a queue of another device.
    ///
    /// ```no_run
    /// use ragged::{Device, DeviceOptions, RaggedTensor, wgpu};
    /// # fn example(device: wgpu::Device, queue: wgpu::Queue) -> ragged::Result<()> {
    /// // `device` and `queue` are what a renderer or another compute library works with.
    /// let mine = Device::from_wgpu(&device, &queue, &DeviceOptions::default())?;
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &mine)?;
    /// assert_eq!(x.reduce_sum(1, false)?.to_vec()?, [3, 0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_wgpu(device: &wgpu::Device, queue: &wgpu::Queue, options: &DeviceOptions) -> Result<Self> {
        Ok(backend_over(Runtime::over_user(device.clone(), queue.clone(), options)?, true, options))
    }

    /// The wgpu device and queue that it works with: to make buffers for [`Tensor::from_wgpu_buffer`], and to run
    /// commands of the program's own on the buffers of tensors. None for the CPU backend.
    ///
    /// Device and queue may be cloned and kept. A submission of the program's runs after everything that this crate
    /// submitted before it, and before everything that it submits after it. Destroying the wgpu device loses it for
    /// all.
    ///
    /// An error of the program's own calls is no error of any call of this crate. On a device that this crate opened it
    /// is printed to standard error, unless the program sets a handler with
    /// [`wgpu::Device::on_uncaptured_error`], which it may at any time.
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

    /// The device that the variable `RAGGED_DEVICE` names if it is set, else the first real GPU, else the CPU backend.
    /// A software adapter is slower than the CPU backend: it is taken only when named.
    ///
    /// # Errors
    /// `RAGGED_DEVICE` names nothing that is there: nothing else is taken in its place. The only real GPU's driver
    /// refuses.
    pub fn best() -> Result<Self> {
        match std::env::var("RAGGED_DEVICE") {
            Ok(name) if !name.is_empty() && name != "best" => return Self::named(&name),
            _ => {}
        }
        let real = adapters().into_iter().enumerate().find(|(_, a)| a.summary.kind != AdapterKind::Software);
        real.map_or_else(|| Ok(Self::cpu()), |(k, a)| shared(k, &a))
    }

    /// The device of that name: `cpu`, `gpu` (the first adapter), `best`, or any part of an adapter's name in any case.
    ///
    /// # Errors
    /// Nothing has that name; the message lists what there is.
    pub fn named(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "cpu" => Ok(Self::cpu()),
            "gpu" => Self::gpu().map_err(|e| if adapters().is_empty() { no_device(name) } else { e }),
            "best" => Self::best(),
            lower => {
                let found = adapters()
                    .into_iter()
                    .enumerate()
                    .find(|(_, a)| !lower.is_empty() && a.summary.name.to_ascii_lowercase().contains(lower));
                found.map_or_else(|| Err(no_device(name)), |(k, a)| shared(k, &a))
            }
        }
    }

    /// Every device of this machine: the CPU backend, then each adapter, software ones too.
    ///
    /// # Errors
    /// A driver refuses; [`Device::each`] tells which.
    pub fn all() -> Result<Vec<Self>> {
        Self::each().into_iter().map(|(_, device)| device).collect()
    }

    /// As [`Device::all`], each with its name and on its own: a driver that refuses takes no other device away.
    ///
    /// ```
    /// let (name, cpu) = ragged::Device::each().swap_remove(0);
    /// assert_eq!((name.as_str(), cpu?), ("cpu", ragged::Device::cpu()));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn each() -> Vec<(String, Result<Self>)> {
        let mut out = vec![("cpu".to_owned(), Ok(Self::cpu()))];
        out.extend(adapters().iter().enumerate().map(|(k, a)| (a.summary.name.clone(), shared(k, a))));
        out
    }

    /// The names that [`Device::named`] takes on this machine.
    pub fn names() -> Vec<String> {
        let mut out = vec!["cpu".to_owned()];
        out.extend(adapters().iter().map(|a| a.summary.name.clone()));
        out
    }

    /// The CPU backend. Always there.
    pub fn cpu() -> Self {
        static CPU: OnceLock<BackendRef> = OnceLock::new();
        Self(CPU.get_or_init(|| Arc::new(CpuBackend::new(0, true))).clone())
    }

    /// A CPU backend that stores every intermediate array: slower, with the same bits. For tests.
    #[doc(hidden)]
    pub fn cpu_unfused() -> Self {
        static CPU: OnceLock<BackendRef> = OnceLock::new();
        Self(CPU.get_or_init(|| Arc::new(CpuBackend::new(1, false))).clone())
    }

    /// The name that selects it: `cpu`, or a part of the adapter's name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether it is the CPU backend.
    pub fn is_cpu(&self) -> bool {
        self.0.is_cpu()
    }

    /// Whether the host's processor does its work: the CPU backend, and adapters that are software (lavapipe, WARP).
    pub fn is_software(&self) -> bool {
        self.0.is_software()
    }

    /// How its kernels are cut: as [`DeviceOptions::tuning`](crate::DeviceOptions::tuning) asked for, or as its class
    /// of adapters has them. None for the CPU backend.
    pub fn tuning(&self) -> Option<Tuning> {
        self.0.as_any().downcast_ref::<GpuBackend>().map(|gpu| gpu.tuning)
    }

    /// Counts of what it did so far, over all tensors.
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    /// Blocks until everything that was evaluated has been computed: to measure, or before the process does something
    /// else with the GPU. Reads wait by themselves.
    ///
    /// # Errors
    /// A fault since the last read; a lost device.
    pub fn wait(&self) -> Result<()> {
        self.0.wait()
    }

    /// Writes what the driver made of the kernels so far to the folder of [`DeviceOptions::pipeline_cache`], as
    /// dropping the device does. Does nothing for a device that was opened without one, whose adapter has no such
    /// caches, and for the CPU.
    ///
    /// # Errors
    /// The file cannot be written; a lost device.
    ///
    /// ```
    /// ragged::Device::cpu().save_pipeline_cache()?;
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn save_pipeline_cache(&self) -> Result<()> {
        self.0.as_any().downcast_ref::<GpuBackend>().map_or(Ok(()), |gpu| gpu.runtime().save_pipeline_cache())
    }

    /// What its float arithmetic does where specifications leave it open. Asked of the device once, with a wait; the
    /// CPU backend is what IEEE 754 says.
    ///
    /// # Errors
    /// The device refuses, or is lost.
    pub fn numerics(&self) -> Result<Numerics> {
        self.0.numerics()
    }

    /// For fault tests: makes the next `count` allocations on the device fail as if there were no memory left, after
    /// what is pooled has been given back. Does nothing on the CPU.
    #[doc(hidden)]
    pub fn fail_allocations(&self, count: u32) {
        self.0.fail_allocations(count);
    }

    /// For fault tests: loses the device, as a driver's reset does. Does nothing on the CPU.
    #[doc(hidden)]
    pub fn lose(&self) {
        self.0.lose();
    }

    pub(crate) fn backend(&self) -> &BackendRef {
        &self.0
    }

    pub(crate) fn of(backend: &BackendRef) -> Self {
        Self(backend.clone())
    }

    /// Fails unless both operands of `op` live on one device.
    pub(crate) fn check_same(op: &'static str, a: &BackendRef, b: &BackendRef) -> Result<()> {
        if a.id() == b.id() {
            return Ok(());
        }
        Err(Error::Devices { op, lhs: a.name().into(), rhs: b.name().into() })
    }
}

fn no_device(name: &str) -> Error {
    Error::NoDevice { name: name.into(), available: Device::names().join(", ") }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }
}
impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
