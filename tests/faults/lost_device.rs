//! A lost device is an error of every operation on it.

use ragged::{Device, DeviceOptions, Error, HostTensor, Result};

use crate::common::gpu_with;
use crate::operations::{KERNELS, OF_STRINGS, rows, strings};

#[test]
fn every_kernel_reports_a_lost_device() {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
    let on_device = |host: HostTensor| host.to_device(&device).expect("uploads");
    let (numbers, strings) = (on_device(rows(100, 5)), on_device(strings()));
    device.lose();
    for (x, kernels) in [(numbers, KERNELS), (strings, OF_STRINGS)] {
        for (name, op) in kernels {
            let outcome = op(&x).and_then(|y| y.to_host());
            assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{name}: {outcome:?}");
        }
    }
}

#[test]
fn a_lost_device_is_an_error_of_every_operation_on_it() {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
    let host = rows(100, 5);
    let x = host.to_device(&device).expect("uploads");
    let y = x.add(&x).expect("recorded");
    y.eval().expect("computes");
    device.lose();
    let lost = |outcome: Result<()>| assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{outcome:?}");
    lost(x.to_host().map(drop));
    lost(y.to_host().map(drop));
    lost(y.multiply(&y).and_then(|z| z.to_host()).map(drop));
    lost(x.multiply(&y).and_then(|z| z.eval()));
    lost(host.to_device(&device).map(drop));
    lost(x.to_device(&Device::cpu()).map(drop));
    lost(device.numerics().map(drop));
    let _ = device.stats();
    // Another device of the same adapter still works.
    let other = gpu_with(&DeviceOptions::default()).expect("opens again");
    assert_eq!(host.to_device(&other).and_then(|x| x.to_host()).expect("reads"), host);
}
