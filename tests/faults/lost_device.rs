//! A lost device is an error of every operation on it.

use ragged::{
    DType, Device, DeviceOptions, Error, HostTensor, LodTensor, RaggedTensor, Result, SparseTensor, StructuredTensor,
    Tensor, wgpu,
};

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

/// A call that must fail on a lost device, and its name.
type Call = (&'static str, fn(&Device, &Tensor, &wgpu::Buffer) -> Result<()>);

/// Calls that use the device; each is the first one after a loss.
const CALLS: [Call; 12] = [
    ("wait", |device, _, _| device.wait()),
    ("numerics", |device, _, _| device.numerics().map(drop)),
    ("upload", |device, _, _| RaggedTensor::from_nested(vec![1], device).map(drop)),
    ("upload of rows", |device, _, _| RaggedTensor::from_nested([vec![1], vec![]], device).map(drop)),
    ("upload and read", |device, _, _| RaggedTensor::from_nested(vec![1], device)?.add(1)?.to_vec().map(drop)),
    ("read", |_, x, _| x.to_host().map(drop)),
    ("read of a computation", |_, x, _| x.add(x)?.to_host().map(drop)),
    ("async read", |_, x, _| pollster::block_on(x.add(x)?.to_host_async()).map(drop)),
    ("eval", |_, x, _| x.multiply(x)?.eval()),
    ("check", |_, x, _| x.subtract(x)?.check()),
    ("read of a buffer", |device, _, buffer| {
        Tensor::from_wgpu_buffer(buffer, DType::F32, &[4], device)?.add(1f32)?.to_host().map(drop)
    }),
    ("from_wgpu", |device, _, _| {
        let (gpu, queue) = device.as_wgpu().expect("a GPU");
        Device::from_wgpu(gpu, queue, &DeviceOptions::default()).map(drop)
    }),
];

/// A device, of this crate or of the program, and a tensor and a buffer on it.
fn device_of(is_users: bool) -> Option<(Device, Tensor, wgpu::Buffer)> {
    let mut device = gpu_with(&DeviceOptions::default())?;
    if is_users {
        let (gpu, queue) = device.as_wgpu().expect("a GPU");
        device = Device::from_wgpu(gpu, queue, &DeviceOptions::default()).expect("wraps");
    }
    let x = rows(10, 5).to_device(&device).expect("uploads");
    device.numerics().expect("probes");
    x.eval().expect("computes");
    device.wait().expect("waits");
    let descriptor =
        wgpu::BufferDescriptor { label: None, size: 16, usage: wgpu::BufferUsages::STORAGE, mapped_at_creation: false };
    let buffer = device.as_wgpu().expect("a GPU").0.create_buffer(&descriptor);
    Some((device, x, buffer))
}

#[test]
fn the_first_call_after_a_loss_reports_it() {
    for is_users in [false, true] {
        for in_flight in [false, true] {
            for (name, call) in CALLS {
                let Some((device, x, buffer)) = device_of(is_users) else { return };
                if in_flight {
                    x.add(7).and_then(|y| y.eval()).expect("computes");
                }
                device.as_wgpu().expect("a GPU").0.destroy();
                // A submission without a wait is dropped in silence, unless a callback has reported the loss.
                if name == "eval" && (is_users || in_flight) {
                    let _ = call(&device, &x, &buffer);
                    assert!(matches!(device.wait(), Err(Error::DeviceLost { .. })), "after eval");
                }
                for round in ["first", "second"] {
                    let outcome = call(&device, &x, &buffer);
                    let case = format!("{name}, {round} call, in flight: {in_flight}, of the program: {is_users}");
                    assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{case}: {outcome:?}");
                }
                assert!(matches!(device.wait(), Err(Error::DeviceLost { .. })), "{name}");
            }
        }
    }
}

/// `Display` cannot know the line of its call, and names no line of the crate.
#[test]
fn printing_reports_a_lost_device() {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
    let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![3]], &device).expect("uploads");
    let words = RaggedTensor::from_nested(["a"], &device).expect("uploads");
    let records = StructuredTensor::from_fields([("x", &x)], [2]).expect("records");
    let sparse = SparseTensor::from_entries(&[[0]], [1], [2], &device).expect("uploads");
    let lod = LodTensor::from_nested([vec![1, 2], vec![3]], &device).expect("uploads");
    let failing = x.floordiv(&(&x * 0).expect("recorded")).expect("recorded");
    let line = line!() - 1;
    let printed = failing.to_string();
    assert!(printed.contains("floordiv: ") && printed.contains(&format!("at {}:{line}", file!())), "{printed}");
    device.lose();
    for printed in [x.to_string(), words.to_string(), records.to_string(), sparse.to_string(), lod.to_string()] {
        assert!(printed.contains("the GPU device was lost: ") && !printed.contains(".rs"), "{printed}");
    }
}
