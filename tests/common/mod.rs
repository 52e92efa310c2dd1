//! What the integration tests share.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use ragged::Device;

/// The variable that says that this machine has no GPU adapter on purpose.
const NO_GPU: &str = "RAGGED_EXPECT_NO_GPU";

/// The CPU device, then every GPU adapter, software ones among them.
pub fn devices() -> Vec<Device> {
    let mut out = vec![Device::cpu()];
    out.extend(gpus());
    out
}

/// Every GPU adapter, software ones among them.
///
/// # Panics
/// If there is none though the environment does not say that none is expected.
pub fn gpus() -> Vec<Device> {
    let found: Vec<Device> = all_gpus();
    let none_expected = std::env::var(NO_GPU).is_ok_and(|v| v == "1");
    assert!(
        !found.is_empty() || none_expected || !GPU_BACKEND,
        "no GPU adapter found; tests/run installs a software one; set {NO_GPU}=1 where none is expected"
    );
    found
}

/// Whether the crate has its GPU backend.
const GPU_BACKEND: bool = false;

fn all_gpus() -> Vec<Device> {
    Vec::new()
}

/// What a device is called in the tests' output: `cpu`, `gpu` for the first adapter, `gpu1` for the next.
pub fn labelled() -> Vec<(String, Device)> {
    let mut gpus = 0;
    devices()
        .into_iter()
        .map(|device| {
            if device.is_cpu() {
                return ("cpu".to_owned(), device);
            }
            gpus += 1;
            (if gpus == 1 { "gpu".to_owned() } else { format!("gpu{}", gpus - 1) }, device)
        })
        .collect()
}
