//! The devices that tests run on, with their names in test output.

use std::sync::OnceLock;

use ragged::{DType, Device};

#[cfg(feature = "gpu")]
use super::adapter::{recomputing, with_core_limits, without_fusion};

/// Environment variable that states that no GPU adapter is expected on this machine.
const NO_GPU: &str = "RAGGED_EXPECT_NO_GPU";

pub type Named = (String, Device);

/// The CPU device, then every GPU adapter.
///
/// # Panics
/// As [`gpus`].
pub fn devices() -> Vec<Named> {
    std::iter::once(("cpu".to_owned(), Device::cpu())).chain(gpus()).collect()
}

/// Every GPU adapter, software ones among them: `gpu` is the first, `gpu1` the next. None without the feature `gpu`.
///
/// # Panics
/// If there is no adapter, unless the environment states that none is expected.
pub fn gpus() -> Vec<Named> {
    let mut found = Device::all().expect("every adapter opens");
    found.retain(|device| !device.is_cpu());
    let none_expected = cfg!(not(feature = "gpu")) || std::env::var(NO_GPU).is_ok_and(|v| v == "1");
    assert!(
        !found.is_empty() || none_expected,
        "no GPU adapter found: tests/run installs a software one; set {NO_GPU}=1 where none is expected"
    );
    let label = |k: usize| if k == 0 { "gpu".to_owned() } else { format!("gpu{k}") };
    found.into_iter().enumerate().map(|(k, device)| (label(k), device)).collect()
}

/// A new device of the first GPU adapter that stores no product that its readers can compute; `None` where no adapter is
/// expected.
///
/// # Panics
/// As [`gpus`].
pub fn recomputing_gpu() -> Option<Named> {
    #[cfg(feature = "gpu")]
    return recomputing();
    #[cfg(not(feature = "gpu"))]
    None
}

/// The CPU device, the CPU device without fusion, then every GPU adapter.
///
/// # Panics
/// As [`gpus`].
pub fn devices_and_unfused_cpu() -> &'static [Named] {
    static ALL: OnceLock<Vec<Named>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = devices();
        all.insert(1, ("cpu unfused".into(), Device::cpu_unfused()));
        all
    })
}

/// [`devices_and_unfused_cpu`], and the first GPU adapter without fusion.
///
/// # Panics
/// As [`gpus`].
pub fn fused_and_not() -> &'static [Named] {
    static ALL: OnceLock<Vec<Named>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = devices_and_unfused_cpu().to_vec();
        all.extend(without_fusion());
        all
    })
}

/// [`fused_and_not`], the CPU device and the first GPU adapter that store no product that its readers can compute, and that
/// adapter with the minimum limits of WebGPU and the tuning of a GPU.
///
/// # Panics
/// As [`gpus`].
pub fn every_way() -> &'static [Named] {
    static ALL: OnceLock<Vec<Named>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = fused_and_not().to_vec();
        all.insert(2, ("cpu recomputing".into(), Device::cpu_recomputing()));
        all.extend(recomputing_gpu());
        all.extend(with_core_limits());
        all
    })
}

#[cfg(not(feature = "gpu"))]
fn without_fusion() -> Option<Named> {
    None
}

#[cfg(not(feature = "gpu"))]
fn with_core_limits() -> Option<Named> {
    None
}

/// Whether the device has the dtype natively. Emulated doubles, whose kernels software adapters compile for seconds, have
/// tests of their own: `core_limits`, and the unit tests of operations and functions.
pub fn has(device: &Device, dtype: DType) -> bool {
    dtype != DType::F64 || !device.numerics().expect("the probe runs").emulates_f64
}
