//! The devices that tests run on, with their names in test output.

use std::sync::OnceLock;

use ragged::{DType, Device, DeviceOptions, HostTensor, HostValues, Tuning};

/// Environment variable that states that no GPU adapter is expected on this machine.
const NO_GPU: &str = "RAGGED_EXPECT_NO_GPU";

type Named = (String, Device);

/// A separate device of the first GPU adapter; `None` where no adapter is expected.
///
/// # Panics
/// As [`gpus`].
pub fn gpu_with(options: &DeviceOptions) -> Option<Device> {
    (!gpus().is_empty()).then(|| Device::gpu_with(options).expect("the first adapter opens twice"))
}

/// The CPU device, then every GPU adapter.
///
/// # Panics
/// As [`gpus`].
pub fn devices() -> Vec<Named> {
    std::iter::once(("cpu".to_owned(), Device::cpu())).chain(gpus()).collect()
}

/// Every GPU adapter, software ones among them: `gpu` is the first, `gpu1` the next.
///
/// # Panics
/// If there is no adapter, unless the environment states that none is expected.
pub fn gpus() -> Vec<Named> {
    let mut found = Device::all().expect("every adapter opens");
    found.retain(|device| !device.is_cpu());
    let none_expected = std::env::var(NO_GPU).is_ok_and(|v| v == "1");
    assert!(
        !found.is_empty() || none_expected,
        "no GPU adapter found: tests/run installs a software one; set {NO_GPU}=1 where none is expected"
    );
    let label = |k: usize| if k == 0 { "gpu".to_owned() } else { format!("gpu{k}") };
    found.into_iter().enumerate().map(|(k, device)| (label(k), device)).collect()
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
        if has_gpu(&all) {
            let unfused = Device::gpu_unfused(&DeviceOptions::default()).expect("the first adapter opens twice");
            all.push(("gpu unfused".into(), unfused));
        }
        all
    })
}

/// [`fused_and_not`], and the first GPU adapter with the minimum limits of WebGPU and the tuning of a GPU.
///
/// # Panics
/// As [`gpus`].
pub fn every_way() -> &'static [Named] {
    static ALL: OnceLock<Vec<Named>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = fused_and_not().to_vec();
        if has_gpu(&all) {
            // Software adapters have it off by default.
            let tuning = Tuning::default().coalesce_rows(true);
            let least = DeviceOptions::default().core_limits(true).no_int64(true);
            let least = least.tuning(tuning);
            all.push(("gpu core".into(), Device::gpu_with(&least).expect("the first adapter opens with less")));
        }
        all
    })
}

fn has_gpu(all: &[Named]) -> bool {
    all.iter().any(|(_, device)| !device.is_cpu())
}

/// Whether the device has the dtype. Some adapters lack 64-bit floats.
pub fn has(device: &Device, dtype: DType) -> bool {
    let none = match dtype {
        DType::F64 => HostValues::F64(Vec::new()),
        _ => return true,
    };
    HostTensor::dense(&[0], none).to_device(device).is_ok()
}
