//! Devices of a program: features, limits, and queues of another device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ragged::{DType, Device, DeviceOptions, Error, HostTensor, HostValues, RaggedTensor, Tensor, wgpu};

use crate::program::{Program, USED, buffer, exclusive, refused};

#[test]
fn a_programs_device_works_with_the_features_it_has() {
    let _guard = exclusive();
    let Some(program) = Program::plain() else { return };
    let mine = program.ragged();
    let (device, queue) = mine.as_wgpu().expect("a GPU");
    assert!(*device == program.device && *queue == program.queue, "the program's own");
    assert!(!mine.is_cpu() && mine != program.ragged(), "each call makes a device");
    // Without native 64-bit integers, 64-bit floats and timestamps, the results are the same.
    let host = HostTensor::from_row_splits(vec![0, 3, 3, 5], HostValues::I64(vec![1 << 40, -2, 3, i64::MAX, 1]));
    let compute = |device: &Device| {
        let x = host.to_device(device)?;
        let y = Tensor::concat(&[&x, &x.reverse(1)?], 1)?.sort(1)?;
        y.reduce_sum(1)?.to_host().map(|sums| (sums, y.to_host()))
    };
    assert_eq!(compute(&mine).expect("computes"), compute(&Device::cpu()).expect("computes"));
    let f64s = HostTensor::dense(&[2], HostValues::F64(vec![1.0, 1e-300])).to_device(&mine).expect("uploads");
    let third = f64s.truediv(3.0).and_then(|x| x.to_host()).expect("computes");
    assert_eq!(third.values, HostValues::F64(vec![1.0 / 3.0, 1e-300 / 3.0]));
    let x = host.to_device(&mine).expect("uploads");
    assert_eq!(x.reduce_sum(1).and_then(|x| x.eval_timed()).expect("computes"), None);
    // With all features of the adapter, if the program requests them.
    let all = wgpu::Features::SHADER_INT64 | wgpu::Features::TIMESTAMP_QUERY;
    let program = Program::with(all, &wgpu::Limits::defaults()).expect("as before");
    let mine = program.ragged();
    assert_eq!(compute(&mine).expect("computes"), compute(&Device::cpu()).expect("computes"));
    let x = host.to_device(&mine).expect("uploads");
    let timed = x.reduce_sum(1).and_then(|x| x.eval_timed()).expect("computes");
    assert_eq!(timed.is_some(), program.device.features().contains(wgpu::Features::TIMESTAMP_QUERY));
    // The options apply to such devices too.
    let small = DeviceOptions::default().max_binding(1 << 10);
    let small = Device::from_wgpu(&program.device, &program.queue, &small).expect("opens");
    let most = HostTensor::dense(&[1 << 20], HostValues::I32(vec![1; 1 << 20]));
    assert!(most.to_device(&mine).is_ok() && host.to_device(&small).is_ok());
}

/// A program's device that takes SPIR-V: kernels ask its driver to keep subnormal numbers, as on devices of this crate.
#[test]
fn a_programs_device_that_takes_spirv_keeps_subnormal_numbers() {
    let _guard = exclusive();
    if crate::common::gpus().is_empty() {
        return;
    }
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    let spirv = wgpu::Features::PASSTHROUGH_SHADERS;
    // Subnormal numbers, the least normal ones, and sums and products that are subnormal.
    let edges =
        [1, 3, 0x7f_ffff, 0x80_0000, 0x80_0001, 0x8000_0001, 0x807f_ffff, 0x0100_0000, 0x3f80_0000, 0x2000_0000];
    let values: Vec<f32> = (0..400).map(|k| f32::from_bits(edges[k % edges.len()] + (k / 10) as u32)).collect();
    let rows = HostTensor::from_row_splits(vec![0, 7, 7, 90, 400], HostValues::F32(values));
    let bits = |x: Tensor| match x.to_host().expect("reads").values {
        HostValues::F32(all) => all.iter().map(|v| v.to_bits()).collect::<Vec<u32>>(),
        other => panic!("{other:?}"),
    };
    let compute = |device: &Device| {
        let x = rows.to_device(device).expect("uploads");
        let results = [
            x.multiply(0.5f32),
            x.multiply(&x),
            x.truediv(&x.add(3.0f32).expect("recorded")),
            x.add(1e-38f32).and_then(|y| y.subtract(1e-38f32)),
            x.reduce_sum(1),
            x.cumsum(1),
            x.sort(1),
            x.reduce_max(1).and_then(|most| x.equal(&most.expand_dims(1)?)?.cast(DType::F32)),
            x.abs().and_then(|x| x.sqrt()),
        ];
        results.map(|result| bits(result.expect("recorded")))
    };
    let want = compute(&Device::cpu());
    for adapter in adapters.iter().filter(|adapter| adapter.features().contains(spirv)) {
        for limits in [wgpu::Limits::defaults(), adapter.limits()] {
            let program = Program::on(adapter, spirv, &limits);
            assert!(program.device.features().contains(spirv));
            let (mine, name) = (program.ragged(), adapter.get_info().name);
            let numerics = mine.numerics().expect("probes").f32;
            assert!(
                !name.contains("llvmpipe") || !numerics.flushes_inputs && !numerics.flushes_outputs,
                "{numerics:?}"
            );
            if numerics.flushes_inputs || numerics.flushes_outputs {
                continue;
            }
            for (k, (got, want)) in compute(&mine).iter().zip(&want).enumerate() {
                assert!(got == want, "{name}: result {k}");
            }
        }
    }
}

#[test]
fn missing_limits_are_named() {
    let _guard = exclusive();
    let less = wgpu::Limits {
        max_storage_buffers_per_shader_stage: 4,
        max_compute_workgroup_storage_size: 4096,
        ..wgpu::Limits::defaults()
    };
    let Some(program) = Program::with(wgpu::Features::empty(), &less) else { return };
    match Device::from_wgpu(&program.device, &program.queue, &DeviceOptions::default()) {
        Err(Error::Argument { op: "from_wgpu", what, location }) => {
            assert_eq!(location.file(), file!());
            assert!(what.contains("max_storage_buffers_per_shader_stage is 4, but must be 8"), "{what}");
            assert!(what.contains("max_compute_workgroup_storage_size is 4096, but must be 16384"), "{what}");
            assert!(!what.contains("invocations"), "{what}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_queue_of_another_device_is_refused() {
    let _guard = exclusive();
    let Some(own) = Program::plain() else { return };
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
    let adapter = adapter.expect("an adapter");
    let [a, b] = [(), ()].map(|()| Program::on(&adapter, wgpu::Features::empty(), &wgpu::Limits::defaults()));
    let refused_queue = |of: &Program| match Device::from_wgpu(&a.device, &of.queue, &DeviceOptions::default()) {
        Err(Error::Argument { op: "from_wgpu", what, location }) => {
            assert_eq!(location.file(), file!());
            assert!(what.starts_with("the queue belongs to another device"), "{what}");
        }
        other => panic!("{other:?}"),
    };
    // Without a handler of errors wgpu panics, and with one the other device's program is told.
    refused_queue(&b);
    let heard = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&heard);
    b.device.on_uncaptured_error(Arc::new(move |_| _ = counts.fetch_add(1, Ordering::Relaxed)));
    refused_queue(&b);
    // After submissions, whose indices exist on either device.
    for _ in 0..3 {
        let x = RaggedTensor::from_nested([1, 2], &a.ragged()).expect("uploads");
        assert_eq!(x.add(1).and_then(|x| x.to_vec()).expect("works"), [2, 3]);
        refused_queue(&b);
    }
    assert!(heard.load(Ordering::Relaxed) > 0);
    // Another instance.
    refused_queue(&own);
    // The other device still works with its own queue.
    let x = RaggedTensor::from_nested([1, 2], &b.ragged()).expect("uploads");
    assert_eq!(x.add(1).and_then(|x| x.to_vec()).expect("works"), [2, 3]);
    // A buffer of the other device.
    let foreign = buffer(&b.device, USED, 64);
    refused("a foreign buffer", Tensor::from_wgpu_buffer(&foreign, DType::F32, &[4], &a.ragged()), "");
}
