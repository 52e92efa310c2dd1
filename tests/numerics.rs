//! `Device::numerics`: the properties of a device's float arithmetic.

mod common;

use ragged::{DType, Device, DeviceOptions};

#[test]
fn every_device_reports_its_numerics() {
    let ideal = Device::cpu().numerics().expect("always");
    assert!(ideal.f64.is_some() && !ideal.f32.contracts && ideal.f32.nan_differs_from_itself);
    for (name, device) in common::devices() {
        let found = device.numerics().expect("the probe runs");
        println!("{name} ({}): {found:#?}", device.name());
        assert_eq!(found.f64.is_some(), common::has(&device, DType::F64), "{name}");
        let before = device.stats();
        assert_eq!(device.numerics().expect("known by now"), found, "{name}");
        assert_eq!((device.stats() - before).waits, 0, "{name}: asked once");
        // Results depend on comparisons and flushing; kernels are robust against the other properties.
        for float in [Some(found.f32), found.f64].into_iter().flatten() {
            assert!(float.nan_is_unordered, "{name}: comparisons of NaN hold");
        }
        if device.name().contains("llvmpipe") {
            let all = [Some(found.f32), found.f64].into_iter().flatten();
            for float in all {
                assert!(!float.flushes_inputs && !float.flushes_outputs, "{float:?}");
                assert!(!float.contracts, "{float:?}");
                assert!(float.conversions_round_to_nearest, "{float:?}");
            }
        }
    }
}

#[test]
fn a_device_without_f64_reports_no_numerics_for_it() {
    if common::gpus().is_empty() {
        return;
    }
    let device = Device::gpu_with(&DeviceOptions::default().no_f64(true)).expect("opens");
    assert!(device.numerics().expect("the probe runs").f64.is_none());
}
