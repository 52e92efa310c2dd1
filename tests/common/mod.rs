//! What the integration tests share.
#![allow(dead_code, reason = "every test binary uses a part of it")]

pub mod naive;
pub mod outcome;
pub mod random;

use ragged::{DType, Device, HostTensor, HostValues};

/// The variable that says that this machine has no GPU adapter on purpose.
const NO_GPU: &str = "RAGGED_EXPECT_NO_GPU";

/// The CPU device, then every GPU adapter, each with its name in the tests' output.
///
/// # Panics
/// As [`gpus`].
pub fn devices() -> Vec<(String, Device)> {
    std::iter::once(("cpu".to_owned(), Device::cpu())).chain(gpus()).collect()
}

/// Every GPU adapter, software ones among them: `gpu` is the first, `gpu1` the next.
///
/// # Panics
/// If there is none though the environment does not say that none is expected.
pub fn gpus() -> Vec<(String, Device)> {
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

/// Whether the device has the dtype: 64-bit floats are not on every adapter.
pub fn has(device: &Device, dtype: DType) -> bool {
    let none = match dtype {
        DType::F64 => HostValues::F64(Vec::new()),
        _ => return true,
    };
    HostTensor::dense(&[0], none).to_device(device).is_ok()
}
