//! Devices of the first GPU adapter with other options.

use ragged::{Device, DeviceOptions, Tuning};

use super::devices::{Named, gpus};

/// A separate device of the first GPU adapter; `None` where no adapter is expected.
///
/// # Panics
/// As [`gpus`].
pub fn gpu_with(options: &DeviceOptions) -> Option<Device> {
    (!gpus().is_empty()).then(|| Device::gpu_with(options).expect("the first adapter opens twice"))
}

/// The device without fusion.
pub fn without_fusion() -> Option<Named> {
    let unfused = || Device::gpu_unfused(&DeviceOptions::default()).expect("the first adapter opens twice");
    (!gpus().is_empty()).then(|| ("gpu unfused".into(), unfused()))
}

/// The device with the minimum limits of WebGPU and the tuning of a GPU.
pub fn with_core_limits() -> Option<Named> {
    // Software adapters have it off by default.
    let tuning = Tuning::default().coalesce_rows(true);
    let least = DeviceOptions::default().core_limits(true).no_int64(true);
    gpu_with(&least.tuning(tuning)).map(|device| ("gpu core".into(), device))
}

/// The first GPU adapter as a device that stores no product that its readers can compute.
///
/// # Panics
/// As [`gpus`].
pub fn recomputing() -> Option<Named> {
    let device = || Device::gpu_recomputing(&DeviceOptions::default()).expect("the first adapter opens twice");
    (!gpus().is_empty()).then(|| ("gpu recomputing".into(), device()))
}
