//! The devices that tests run on.

use ragged::Device;

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
