//! What a device is opened with.

use std::path::PathBuf;

use crate::tuning::Tuning;

/// How a GPU device is opened.
///
/// The default uses all that the adapter offers. Budgets, caches and tuning are for programs; limits and features to do
/// without make a device behave like a smaller one, for tests.
///
/// # Example
/// ```
/// let options = ragged::DeviceOptions::default().core_limits(true).no_int64(true);
/// assert!(options.core_limits);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// The most bytes that one binding may hold, if less than the adapter's limit; at least 8 KiB. Larger arrays are
    /// bound as several windows: a small value makes small tensors cross them.
    pub max_binding: Option<u64>,
    /// The most bytes that one buffer may hold, if less than the adapter's limit.
    pub max_buffer: Option<u64>,
    /// The most bytes of unused buffers that are kept for reuse. By default, a quarter more than the largest working
    /// set so far, and at least 1 GiB, counting buffers in use.
    pub max_pooled: Option<u64>,
    /// The most bytes of device memory that arrays may take, those kept for reuse included. What would pass it is
    /// [`Error::Limit`](crate::Error::Limit), before anything of the computation or the upload is allocated; before
    /// that, buffers that lie unused are given back to the driver, oldest first. Sizes are those that the driver is
    /// asked for, [`Stats::memory_bytes`](crate::Stats::memory_bytes), up to a quarter more than the arrays'.
    ///
    /// Not counted: buffers of the program's own, staging memory of uploads and reads (which lies with the host on
    /// devices that have memory of their own), kernels and their parameters. What was given back is free once the
    /// commands that used it have run. The CPU backend has no budget: the system's limits hold for it.
    pub max_memory: Option<u64>,
    /// Forces the limits down to core WebGPU's: 8 storage buffers a stage, 256 invocations, 16 KiB of workgroup memory,
    /// 128 MiB a binding, 256 MiB a buffer.
    pub core_limits: bool,
    /// Does without native 64-bit integers: they are pairs of words then, which give the same bits. 64-bit floats need
    /// them, and are not there either.
    pub no_int64: bool,
    /// Does without native 64-bit floats.
    pub no_f64: bool,
    /// Does without timestamps.
    pub no_timestamps: bool,
    /// Has wgpu add bounds checks and loop bounds to every kernel. Without, kernels still have those that they are not
    /// proven to do without, so that no data and no index can make them reach beyond a buffer. The results are the
    /// same. By default, on in debug builds only.
    pub checked_shaders: bool,
    /// A folder into which every WGSL module that is compiled is written, as `<label>-<hash>.wgsl`.
    pub dump_wgsl: Option<PathBuf>,
    /// A folder that keeps what the driver made of the kernels, so that the next process need not wait for its
    /// compiler: one file for each model of adapter, read when the device is opened and written when it is dropped, or
    /// by [`Device::save_pipeline_cache`](crate::Device::save_pipeline_cache). Nothing happens on adapters without such
    /// caches (today, all that are not Vulkan's). A file that is missing, damaged or of another driver, and a folder
    /// that cannot be written, only cost the time that they would have saved.
    ///
    /// The driver trusts what it finds there as it trusts the program: take a folder that others cannot write to.
    pub pipeline_cache: Option<PathBuf>,
    /// How its kernels are cut, instead of as its class of adapters has them.
    pub tuning: Option<Tuning>,
}

/// Whether kernels have all checks unless something else is asked for.
const CHECKED: bool = cfg!(any(debug_assertions, test));

impl Default for DeviceOptions {
    fn default() -> Self {
        Self {
            max_binding: None,
            max_buffer: None,
            max_pooled: None,
            max_memory: None,
            core_limits: false,
            no_int64: false,
            no_f64: false,
            no_timestamps: false,
            checked_shaders: CHECKED,
            dump_wgsl: None,
            pipeline_cache: None,
            tuning: None,
        }
    }
}

/// One chaining setter a field, so that code outside the crate can set single options.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $of:ty,)*) => {
        impl DeviceOptions {
            $($(#[$doc])* #[must_use] pub fn $field(mut self, $field: $of) -> Self { self.$field = $field; self })*
        }
    };
}

setters! {
    /// Sets [`Self::max_binding`](#structfield.max_binding).
    max_binding: Option<u64>,
    /// Sets [`Self::max_buffer`](#structfield.max_buffer).
    max_buffer: Option<u64>,
    /// Sets [`Self::max_pooled`](#structfield.max_pooled).
    max_pooled: Option<u64>,
    /// Sets [`Self::max_memory`](#structfield.max_memory).
    max_memory: Option<u64>,
    /// Sets [`Self::core_limits`](#structfield.core_limits).
    core_limits: bool,
    /// Sets [`Self::no_int64`](#structfield.no_int64).
    no_int64: bool,
    /// Sets [`Self::no_f64`](#structfield.no_f64).
    no_f64: bool,
    /// Sets [`Self::no_timestamps`](#structfield.no_timestamps).
    no_timestamps: bool,
    /// Sets [`Self::checked_shaders`](#structfield.checked_shaders).
    checked_shaders: bool,
    /// Sets [`Self::dump_wgsl`](#structfield.dump_wgsl).
    dump_wgsl: Option<PathBuf>,
    /// Sets [`Self::pipeline_cache`](#structfield.pipeline_cache).
    pipeline_cache: Option<PathBuf>,
    /// Sets [`Self::tuning`](#structfield.tuning).
    tuning: Option<Tuning>,
}
