//! Devices: the backends on which tensors live and are computed.
//!
//! The environment variable `RAGGED_DEVICE` names the device of [`Device::best`]. `RAGGED_DUMP_WGSL` names a folder into
//! which every generated kernel is written, and `RAGGED_CHECKED_SHADERS=1` injects all of wgpu's checks into every
//! kernel; these two apply to devices opened without options.

#[cfg(feature = "gpu")]
mod gpu;
mod identity;
#[cfg(not(feature = "gpu"))]
mod no_gpu;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

#[cfg(feature = "gpu")]
use gpu::listed;
#[cfg(not(feature = "gpu"))]
use no_gpu::listed;

use crate::backend::cpu::CpuBackend;
use crate::backend::cpu::options::CpuOptions;
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

/// Choice of a device, its properties and its work.
impl Device {
    /// The device named by the variable `RAGGED_DEVICE` if it is set, else the first real GPU, else the CPU backend. A
    /// software adapter is slower than the CPU backend, and is selected only by name. Without the feature `gpu` the CPU
    /// backend is the only device.
    ///
    /// # Errors
    /// `RAGGED_DEVICE` names no available device, such as a GPU in a build without the feature `gpu`, is blank, or is not
    /// UTF-8: nothing is selected in its place. The driver of the first real GPU refuses. Another variable for devices has
    /// a value that is not allowed.
    #[track_caller]
    pub fn best() -> Result<Self> {
        let allowed = format!("best, gpu, or a part of one of these names: {}", Self::names().join(", "));
        match environment::text(environment::DEVICE, &allowed)? {
            Some(name) if name != "best" => return Self::named(&name),
            _ => {}
        }
        let real = listed().into_iter().find(|adapter| !adapter.is_software());
        real.map_or_else(|| Ok(Self::cpu()), |adapter| adapter.shared())
    }

    /// Finds a device by name: `cpu`, `gpu` (the first adapter), `best`, or any part of an adapter's name in any case.
    ///
    /// # Errors
    /// No device has that name, or the name is blank; the message lists the available ones.
    #[track_caller]
    pub fn named(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "cpu" => Ok(Self::cpu()),
            "best" => Self::best(),
            lower => {
                let is_named = |name: &str| name.to_ascii_lowercase().contains(lower);
                let is_any = |name: &str| lower == "gpu" || !lower.trim().is_empty() && is_named(name);
                let found = listed().into_iter().find(|adapter| is_any(adapter.name()));
                found.map_or_else(|| Err(no_device(name)), |adapter| adapter.shared())
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

    /// Every device of this machine with its name and its own outcome: a driver that refuses does not affect other
    /// devices, as it does in [`Device::all`]. The CPU backend is the first, then each adapter.
    ///
    /// ```
    /// let (name, cpu) = ragged::Device::each().swap_remove(0);
    /// assert_eq!((name.as_str(), cpu?), ("cpu", ragged::Device::cpu()));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn each() -> Vec<(String, Result<Self>)> {
        let mut out = vec![("cpu".to_owned(), Ok(Self::cpu()))];
        let all = listed();
        let named = all.iter().map(|adapter| (adapter.name().to_owned(), adapter.shared()));
        on_behalf(|| out.extend(named));
        out
    }

    /// The names that [`Device::named`] accepts on this machine.
    pub fn names() -> Vec<String> {
        let mut out = vec!["cpu".to_owned()];
        out.extend(listed().iter().map(|adapter| adapter.name().to_owned()));
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

    /// The device of the inputs of programs that are traced.
    pub(crate) fn of_traces() -> Self {
        static TRACES: OnceLock<BackendRef> = OnceLock::new();
        Self(TRACES.get_or_init(|| Arc::new(CpuBackend::new(OF_TRACES, true))).clone())
    }

    /// A CPU backend that stores every intermediate array: slower, with the same bits. For tests.
    #[doc(hidden)]
    pub fn cpu_unfused() -> Self {
        static CPU: OnceLock<BackendRef> = OnceLock::new();
        Self(CPU.get_or_init(|| Arc::new(CpuBackend::new(1, false))).clone())
    }

    /// A CPU backend that stores no product that its readers can compute, such as scores of attention, however small: slower,
    /// with the same bits. For tests.
    #[doc(hidden)]
    pub fn cpu_recomputing() -> Self {
        static CPU: OnceLock<BackendRef> = OnceLock::new();
        let backend = || Arc::new(CpuBackend::recomputing(NEXT_ID.fetch_add(1, Ordering::Relaxed)));
        Self(CPU.get_or_init(|| backend()).clone())
    }

    /// The name that selects this device: `cpu`, or the adapter's name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether this is the device of tensors within a trace: inputs of a program that is traced, and what is computed from them.
    /// They may be combined with tensors of any one device.
    ///
    /// ```
    /// use ragged::{DType, Device, Program, TensorSpec};
    /// Program::trace(&[TensorSpec::new(DType::F32, [None])], |x| {
    ///     assert!(x[0].device().is_of_traces());
    ///     x[0].exp()
    /// })?;
    /// assert!(!Device::cpu().is_of_traces());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn is_of_traces(&self) -> bool {
        self.0.id() == OF_TRACES
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
        self.0.tuning()
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

    /// Writes the driver's compiled kernels to the folder of
    /// [`DeviceOptions::pipeline_cache`](crate::DeviceOptions::pipeline_cache), as dropping the device does. Does
    /// nothing for the CPU, for a device opened without such a folder, and on an adapter without pipeline caches.
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
        self.0.save_pipeline_cache().map_err(here())
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
