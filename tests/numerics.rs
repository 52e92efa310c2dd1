//! `Device::numerics`: the properties of a device's float arithmetic.

mod common;

use ragged::{Device, DeviceOptions};

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
