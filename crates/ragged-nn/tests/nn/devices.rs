//! The devices that tests run on, and reads.

use ragged::{CpuOptions, Device, DeviceOptions, HostValues, RaggedTensor, Result, Tensor};

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

/// The CPU and the first GPU adapter, as devices of their own whose counters no other test changes.
pub fn own_devices() -> Vec<Device> {
    let has_gpu = devices().iter().any(|device| !device.is_cpu());
    let gpu = has_gpu.then(|| Device::gpu_with(&DeviceOptions::default()).expect("it opens twice"));
    std::iter::once(Device::cpu_with(&CpuOptions::default())).chain(gpu).collect()
}

/// A dense tensor of f32.
pub fn dense(values: &[f32], shape: &[usize], device: &Device) -> Result<Tensor> {
    Ok(RaggedTensor::dense(values.to_vec(), shape, device)?.into_erased())
}

/// The values of a tensor of f32.
pub fn numbers(x: &impl AsRef<Tensor>) -> Result<Vec<f32>> {
    match x.as_ref().to_host()?.values {
        HostValues::F32(values) => Ok(values),
        other => panic!("{} instead of f32", other.dtype()),
    }
}

/// The bits of a tensor of f32.
pub fn bits(x: &impl AsRef<Tensor>) -> Result<Vec<u32>> {
    Ok(numbers(x)?.into_iter().map(f32::to_bits).collect())
}

/// The largest magnitude.
pub fn largest(numbers: &[f32]) -> f64 {
    numbers.iter().fold(0.0, |all, x| f64::from(x.abs()).max(all))
}

/// Asserts that each number is within some units in the last place of the expected one, or within a small distance of it.
pub fn assert_near(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (k, (x, y)) in found.iter().zip(expected).enumerate() {
        let distance = f64::from(*x) - f64::from(*y);
        assert!(distance.abs() <= 2e-6 * f64::from(y.abs()).max(0.1), "{what}, number {k}: {x}, not {y}");
    }
}
