//! The devices that tests run on.

use ragged::{CpuOptions, Device, DeviceOptions};

/// The CPU and every GPU adapter.
///
/// # Panics
/// Without a GPU adapter, unless `RAGGED_EXPECT_NO_GPU` is 1.
pub fn devices() -> Vec<Device> {
    let found = Device::all().expect("every adapter opens");
    let none_expected = std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|v| v == "1");
    assert!(found.iter().any(|device| !device.is_cpu()) || none_expected, "no GPU adapter found");
    found
}

/// A CPU device whose counters no other test changes.
pub fn own_cpu() -> Device {
    Device::cpu_with(&CpuOptions::default())
}

/// The first GPU adapter, as a device whose counters no other test changes; none where no adapter is expected.
pub fn own_gpu() -> Option<Device> {
    let has_gpu = devices().iter().any(|device| !device.is_cpu());
    has_gpu.then(|| Device::gpu_with(&DeviceOptions::default()).expect("it opens twice"))
}

/// Asserts that there is an error of that text, which begins with the function and has a line of these tests.
#[track_caller]
pub fn fails<T>(result: ragged::Result<T>, says: &str) {
    let Err(error) = result else { panic!("no error: {says}") };
    let message = error.to_string();
    assert!(message.contains(says), "{message}\nwithout\n{says}");
    let location = error.location().expect("an error with a line");
    assert!(location.file().contains("tests/data/"), "{location}: {message}");
}
