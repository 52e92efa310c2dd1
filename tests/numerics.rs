//! `Device::numerics`: the properties of a device's float arithmetic.

mod common;

use ragged::{Device, DeviceOptions, ProductRounding, RaggedTensor, Result};

#[test]
fn every_device_reports_its_numerics() {
    let ideal = Device::cpu().numerics().expect("always");
    assert!(!ideal.emulates_f64 && !ideal.f32.contracts && ideal.f32.nan_differs_from_itself);
    for (name, device) in common::devices() {
        let found = device.numerics().expect("the probe runs");
        println!("{name} ({}): {found:#?}", device.name());
        let before = device.stats();
        assert_eq!(device.numerics().expect("known by now"), found, "{name}");
        assert_eq!((device.stats() - before).waits, 0, "{name}: asked once");
        // Results depend on comparisons and flushing; kernels are robust against the other properties.
        for float in [found.f32, found.f64] {
            assert!(float.nan_is_unordered, "{name}: comparisons of NaN hold");
        }
        if device.name().contains("llvmpipe") {
            assert_eq!(found.products, ProductRounding::Emulated, "its `fma` is a product and a sum");
            for float in [found.f32, found.f64] {
                assert!(!float.flushes_inputs && !float.flushes_outputs, "{float:?}");
                assert!(!float.contracts, "{float:?}");
                assert!(float.conversions_round_to_nearest, "{float:?}");
            }
        }
    }
}

#[test]
fn a_device_without_64_bit_types_emulates_f64() {
    if common::gpus().is_empty() {
        return;
    }
    let ideal = Device::cpu().numerics().expect("always").f64;
    for options in [DeviceOptions::default().no_f64(true), DeviceOptions::default().no_int64(true)] {
        let found = Device::gpu_with(&options).expect("opens").numerics().expect("the probe runs");
        assert!(found.emulates_f64 && found.f64 == ideal, "{found:?}");
    }
}

/// The sums of products whose rounding errors are all that is left: an element for each row.
fn cancelled(device: &Device) -> Result<Vec<f32>> {
    let row = |k: u32| (1.0 + f32::EPSILON * (k + 1) as f32, -(1.0 + f32::EPSILON * (2 * k + 2) as f32));
    let (x, y): (Vec<_>, Vec<_>) = (0..9).map(row).map(|(a, square)| (vec![1.0, a], vec![square, a])).unzip();
    let x = RaggedTensor::from_nested(x, device)?.to_tensor(0.0)?.expand_dims(1)?;
    let y = RaggedTensor::from_nested(y, device)?.to_tensor(0.0)?.expand_dims(2)?;
    x.matmul(&y)?.reshape([-1])?.to_vec()
}

#[test]
fn products_are_fused_unless_a_device_may_split_them() -> Result<()> {
    let wanted: Vec<f32> = (0..9).map(|k| (f32::EPSILON * (k + 1) as f32).powi(2)).collect();
    assert_eq!(cancelled(&Device::cpu())?, wanted);
    if common::gpus().is_empty() {
        return Ok(());
    }
    let options = DeviceOptions::default().no_fma(true);
    for options in [options.clone(), options.clone().no_f64(true), options.clone().core_limits(true).no_int64(true)] {
        let device = Device::gpu_with(&options)?;
        assert_eq!(device.numerics()?.products, ProductRounding::Emulated);
        assert_eq!(cancelled(&device)?, wanted, "{options:?}");
    }
    let split = Device::gpu_with(&options.split_products(true))?;
    assert_eq!(split.numerics()?.products, ProductRounding::Split);
    assert_eq!(cancelled(&split)?, [0.0; 9]);
    Ok(())
}
