//! Options for opening a GPU device.

use std::path::PathBuf;

use crate::tuning::Tuning;

/// Options for opening a GPU device.
///
/// By default all features and limits of the adapter are used. Budgets, caches and tuning are for programs. Reduced
/// limits and disabled features emulate a smaller device, for tests.
///
/// # Example
/// ```
/// let options = ragged::DeviceOptions::default().core_limits(true).no_int64(true);
/// assert!(options.core_limits);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// A part of the adapter's name, in any case, as [`Device::names`](crate::Device::names) lists them. By default the first
    /// adapter is opened.
    pub adapter: Option<String>,
    /// Maximum bytes per binding, if less than the adapter's limit; at least 8 KiB. Larger arrays are bound as several
    /// windows.
    pub max_binding: Option<u64>,
    /// Maximum bytes per buffer, if less than the adapter's limit.
    pub max_buffer: Option<u64>,
    /// Maximum bytes of unused buffers kept for reuse. By default, used and unused buffers together may take a quarter
    /// more than the largest working set so far, and at least 1 GiB.
    pub max_pooled: Option<u64>,
    /// Budget: maximum bytes of device memory for arrays, including buffers kept for reuse. A computation or an upload
    /// that would exceed the budget fails with [`Error::Limit`](crate::Error::Limit), before any allocation. Unused
    /// buffers are returned to the driver first, least recently used first. Sizes are those requested from the driver,
    /// [`Stats::memory_bytes`](crate::Stats::memory_bytes), which are up to a quarter larger than the arrays.
    ///
    /// Excludes the program's own buffers, staging memory of uploads and reads (host memory on discrete GPUs), kernels
    /// and their parameters. Excludes host memory, which has no budget on a GPU device: results of reads, values that an
    /// upload or a host step holds, and the variables of lists of tensors (`unzip`, `split`, `dynamic_partition`) are
    /// counted against the memory that the machine has available. Memory returned to the driver is free once the
    /// commands that used it have run. The budget of a CPU device is
    /// [`CpuOptions::max_memory`](crate::CpuOptions::max_memory).
    pub max_memory: Option<u64>,
    /// Reduces the limits to core WebGPU's: 8 storage buffers per stage, 256 invocations, 16 KiB of workgroup memory,
    /// 128 MiB per binding, 256 MiB per buffer.
    pub core_limits: bool,
    /// Disables native 64-bit integers; kernels use pairs of words instead, with the same bits. Native 64-bit floats need
    /// such integers, and are disabled too.
    pub no_int64: bool,
    /// Disables native 64-bit floats; kernels compute with pairs of words instead, with the same bits
    /// ([`Numerics::emulates_f64`](crate::Numerics::emulates_f64)).
    pub no_f64: bool,
    /// Disables the device's fused multiply-adds; kernels compute them by other operations, with the same bits, as on devices
    /// that have none.
    pub no_fma: bool,
    /// Allows a device without fused multiply-adds to round the products of two f32 before it adds them, in matrix products
    /// and attention: up to 6 times as fast there, but with other bits than on other devices.
    /// [`Numerics::products`](crate::Numerics::products) tells. Has no effect on devices that have them.
    pub split_products: bool,
    /// Disables Vulkan's float controls, by which kernels keep subnormal numbers on drivers that flush them by default
    /// (see [`Numerics`](crate::Numerics)). They need `wgpu::Features::PASSTHROUGH_SHADERS` on a device of the program's
    /// own.
    pub no_float_controls: bool,
    /// Disables timestamps.
    pub no_timestamps: bool,
    /// Injects wgpu's bounds checks and loop bounds into every kernel. Without this option kernels keep every check
    /// that is not proven redundant, so that no data causes an out-of-bounds access. The results are the same. Enabled
    /// by default in debug builds only.
    pub checked_shaders: bool,
    /// A folder into which every compiled WGSL module is written, as `<label>-<hash>.wgsl`.
    pub dump_wgsl: Option<PathBuf>,
    /// A folder for the driver's pipeline cache, from which the next process loads its compiled kernels. Contains one
    /// file per adapter model, read when the device is opened and written when it is dropped, or by
    /// [`Device::save_pipeline_cache`](crate::Device::save_pipeline_cache). Has no effect on adapters without pipeline
    /// caches (today, all but Vulkan's). A file that is missing, damaged or of another driver is ignored, and so is a
    /// folder that cannot be written.
    ///
    /// The driver does not validate the file: choose a folder that others cannot write to.
    pub pipeline_cache: Option<PathBuf>,
    /// Allows host steps: operations that no kernel computes, such as regular expressions. A host step evaluates its
    /// input, reads it, computes on the host and uploads the result: it waits where it is recorded.
    /// [`record_async`](crate::record_async) awaits the read instead. [`Stats::host_steps`](crate::Stats::host_steps)
    /// counts them. By default such an operation is an error. The CPU backend needs no permission.
    pub host_steps: bool,
    /// Tuning of kernels, instead of the defaults of the adapter's class.
    pub tuning: Option<Tuning>,
}

/// Default of `checked_shaders`.
const CHECKED: bool = cfg!(debug_assertions);

impl Default for DeviceOptions {
    fn default() -> Self {
        Self {
            adapter: None,
            max_binding: None,
            max_buffer: None,
            max_pooled: None,
            max_memory: None,
            core_limits: false,
            no_int64: false,
            no_f64: false,
            no_fma: false,
            split_products: false,
            no_float_controls: false,
            no_timestamps: false,
            checked_shaders: CHECKED,
            dump_wgsl: None,
            pipeline_cache: None,
            host_steps: false,
            tuning: None,
        }
    }
}

/// Declares one chaining setter per field, so that code outside the crate can set single options.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $of:ty = $value:expr,)*) => {
        /// Options, each set by a method of its name.
        impl DeviceOptions {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $field(mut self, $field: $of) -> Self {
                    self.$field = $value;
                    self
                }
            )*
        }
    };
}

setters! {
    /// Sets [`Self::adapter`](#structfield.adapter).
    adapter: impl Into<String> = Some(adapter.into()),
    /// Sets [`Self::max_binding`](#structfield.max_binding).
    max_binding: u64 = Some(max_binding),
    /// Sets [`Self::max_buffer`](#structfield.max_buffer).
    max_buffer: u64 = Some(max_buffer),
    /// Sets [`Self::max_pooled`](#structfield.max_pooled).
    max_pooled: u64 = Some(max_pooled),
    /// Sets [`Self::max_memory`](#structfield.max_memory).
    max_memory: u64 = Some(max_memory),
    /// Sets [`Self::core_limits`](#structfield.core_limits).
    core_limits: bool = core_limits,
    /// Sets [`Self::no_int64`](#structfield.no_int64).
    no_int64: bool = no_int64,
    /// Sets [`Self::no_f64`](#structfield.no_f64).
    no_f64: bool = no_f64,
    /// Sets [`Self::no_fma`](#structfield.no_fma).
    no_fma: bool = no_fma,
    /// Sets [`Self::split_products`](#structfield.split_products).
    split_products: bool = split_products,
    /// Sets [`Self::no_float_controls`](#structfield.no_float_controls).
    no_float_controls: bool = no_float_controls,
    /// Sets [`Self::no_timestamps`](#structfield.no_timestamps).
    no_timestamps: bool = no_timestamps,
    /// Sets [`Self::checked_shaders`](#structfield.checked_shaders).
    checked_shaders: bool = checked_shaders,
    /// Sets [`Self::dump_wgsl`](#structfield.dump_wgsl).
    dump_wgsl: impl Into<PathBuf> = Some(dump_wgsl.into()),
    /// Sets [`Self::pipeline_cache`](#structfield.pipeline_cache).
    pipeline_cache: impl Into<PathBuf> = Some(pipeline_cache.into()),
    /// Sets [`Self::host_steps`](#structfield.host_steps).
    host_steps: bool = host_steps,
    /// Sets [`Self::tuning`](#structfield.tuning).
    tuning: Tuning = Some(tuning),
}
