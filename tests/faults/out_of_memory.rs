//! Failed allocations: retried once, then errors, without partial results.

use ragged::opt::keep;
use ragged::{Device, DeviceOptions, Result, Tensor};

use crate::common::gpu_with;
use crate::operations::{KERNELS, OF_STRINGS, rows, strings};

fn no_memory<T: std::fmt::Debug>(outcome: Result<T>) {
    let message = outcome.expect_err("there is no memory").to_string();
    assert!(message.contains("memory"), "{message}");
}

#[test]
fn running_out_of_memory_is_an_error_once() {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
    let host = rows(1000, 3);
    // The first failure empties the pool; the allocation is retried.
    device.fail_allocations(1);
    let x = host.to_device(&device).expect("the second attempt");
    device.fail_allocations(2);
    no_memory(host.to_device(&device));
    let y = x.multiply(&x).and_then(|y| y.reduce_sum(1)).expect("recorded");
    for _ in 0..3 {
        device.fail_allocations(2);
        no_memory(y.eval());
        device.fail_allocations(2);
        no_memory(y.to_host());
    }
    // The operands and the failed tensor stay usable.
    let cpu = host.to_device(&Device::cpu()).expect("uploads");
    let want = cpu.multiply(&cpu).and_then(|y| y.reduce_sum(1)).and_then(|y| y.to_host()).expect("reads");
    device.fail_allocations(0);
    assert_eq!(y.to_host().expect("there is memory again"), want);
    assert_eq!(x.to_host().expect("reads"), host);
}

#[test]
fn failed_evaluations_leave_no_partial_results() {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
    let host = rows(5000, 7);
    let chain = |x: &Tensor| -> Result<Tensor> {
        let sums = x.reduce_sum(keep(1))?;
        let scaled = x.subtract(&sums)?;
        Tensor::concat(&[&scaled, x], 1)?.reduce_max(1)
    };
    let want = chain(&host.to_device(&Device::cpu()).expect("uploads")).and_then(|y| y.to_host()).expect("reads");
    let x = host.to_device(&device).expect("uploads");
    for count in [2, 2, 2, 1, 0] {
        let y = chain(&x).expect("recorded");
        device.fail_allocations(count);
        if count == 2 {
            no_memory(y.to_host());
        }
        device.fail_allocations(0);
        assert_eq!(y.to_host().expect("there is memory again"), want);
    }
}

#[test]
fn every_kernel_recovers_from_out_of_memory() {
    for (host, kernels) in [(rows(3000, 11), KERNELS), (strings(), OF_STRINGS)] {
        for (name, op) in kernels {
            // A new device, whose pool is empty.
            let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
            let want = host.to_device(&Device::cpu()).and_then(|x| op(&x)?.to_host()).expect("reads");
            let x = host.to_device(&device).expect("uploads");
            // Some operations wait for a size while they are recorded.
            device.fail_allocations(2);
            no_memory(op(&x).and_then(|y| y.to_host()));
            device.fail_allocations(0);
            let y = op(&x).expect("there is memory again");
            device.fail_allocations(1);
            y.eval().unwrap_or_else(|e| panic!("{name}: the second attempt: {e}"));
            device.fail_allocations(0);
            assert_eq!(y.to_host().expect("reads"), want, "{name}");
            assert_eq!(x.to_host().expect("reads"), host, "{name}");
        }
    }
}
