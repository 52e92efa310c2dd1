//! Sharing of wgpu devices, queues and buffers between the program and the engine, in both directions.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use ragged::{DType, Device, DeviceOptions, Error, HostTensor, HostValues, RaggedTensor, Result, Tensor, s, wgpu};

/// A program with its own wgpu device.
struct Program {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

const USED: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

impl Program {
    /// A program with WebGPU's minimum limits and no features; `None` where no adapter is expected.
    fn plain() -> Option<Self> {
        Self::with(wgpu::Features::empty(), &wgpu::Limits::defaults())
    }

    fn with(features: wgpu::Features, limits: &wgpu::Limits) -> Option<Self> {
        if common::gpus().is_empty() {
            return None;
        }
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let options = wgpu::RequestAdapterOptions::default();
        let adapter = pollster::block_on(instance.request_adapter(&options)).expect("an adapter");
        Some(Self::on(&adapter, features, limits))
    }

    fn on(adapter: &wgpu::Adapter, features: wgpu::Features, limits: &wgpu::Limits) -> Self {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("the program's"),
            required_features: features & adapter.features(),
            required_limits: limits.clone(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).expect("opens");
        Self { device, queue }
    }

    fn ragged(&self) -> Device {
        Device::from_wgpu(&self.device, &self.queue, &DeviceOptions::default()).expect("enough for this crate")
    }
}

fn buffer(device: &wgpu::Device, usage: wgpu::BufferUsages, size: u64) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

fn filled<T: bytemuck::Pod>((device, queue): (&wgpu::Device, &wgpu::Queue), values: &[T]) -> wgpu::Buffer {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    let out = buffer(device, USED, bytes.len().next_multiple_of(4) as u64);
    let mut padded = bytes.to_vec();
    padded.resize(out.size() as usize, 0xff);
    queue.write_buffer(&out, 0, &padded);
    out
}

/// The contents of a buffer after all submitted work.
fn contents(device: &wgpu::Device, queue: &wgpu::Queue, from: &wgpu::Buffer, bytes: u64) -> Vec<u8> {
    let read = buffer(device, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST, bytes);
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(from, 0, &read, 0, bytes);
    queue.submit([encoder.finish()]);
    read.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("waits");
    read.get_mapped_range(..).expect("mapped").to_vec()
}

fn refused(what: &str, outcome: Result<Tensor>, words: &str) {
    match outcome {
        Err(Error::Argument { op: "from_wgpu_buffer", what: said, .. }) if said.contains(words) => {}
        other => panic!("{what}: {other:?}"),
    }
}

/// The program's kernel: `out[i] = factor * in[i]` for the bound buffers.
const SCALE: &str = "
@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> made: array<f32>;
@compute @workgroup_size(64)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&given)) { made[id.x] = 3.0 * given[id.x]; }
}
";

/// Submits the kernel without waiting.
fn scale(device: &wgpu::Device, queue: &wgpu::Queue, given: wgpu::BindingResource<'_>, made: &wgpu::Buffer) {
    let source = wgpu::ShaderSource::Wgsl(SCALE.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: given },
            wgpu::BindGroupEntry { binding: 1, resource: made.as_entire_binding() },
        ],
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(made.size().div_ceil(256) as u32, 1, 1);
    }
    queue.submit([encoder.finish()]);
}

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
    let f64s = HostTensor::dense(&[1], HostValues::F64(vec![1.0])).to_device(&mine);
    assert!(matches!(f64s, Err(Error::Unsupported { dtype: DType::F64, .. })), "{f64s:?}");
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
        Err(Error::Argument { op: "from_wgpu", what, .. }) => {
            assert!(what.contains("max_storage_buffers_per_shader_stage is 4, but must be 8"), "{what}");
            assert!(what.contains("max_compute_workgroup_storage_size is 4096, but must be 16384"), "{what}");
            assert!(!what.contains("invocations"), "{what}");
        }
        other => panic!("{other:?}"),
    }
    // The queue of another device.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
    let adapter = adapter.expect("an adapter");
    let [a, b] = [(), ()].map(|()| Program::on(&adapter, wgpu::Features::empty(), &wgpu::Limits::defaults()));
    let outcome = Device::from_wgpu(&a.device, &b.queue, &DeviceOptions::default());
    assert!(matches!(outcome, Err(Error::Argument { op: "from_wgpu", .. })), "{outcome:?}");
    // A buffer of the other device.
    let foreign = buffer(&b.device, USED, 64);
    refused("a foreign buffer", Tensor::from_wgpu_buffer(&foreign, DType::F32, &[4], &a.ragged()), "");
}

#[test]
fn a_programs_callbacks_are_kept_and_a_lost_device_is_detected() {
    let _guard = exclusive();
    let Some(program) = Program::plain() else { return };
    let (errors, losses) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (seen, lost) = (errors.clone(), losses.clone());
    program.device.on_uncaptured_error(Arc::new(move |error| {
        println!("uncaptured: {error}");
        seen.fetch_add(1, Ordering::Relaxed);
    }));
    program.device.set_device_lost_callback(move |_, _| _ = lost.fetch_add(1, Ordering::Relaxed));
    let mine = program.ragged();
    let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![], vec![3]], &mine).expect("uploads");
    // An error of the program: an invalid combination of buffer usages.
    let wrong = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::STORAGE;
    drop(buffer(&program.device, wrong, 16));
    assert_eq!(errors.load(Ordering::Relaxed), 1, "told to the program");
    assert_eq!(x.reduce_sum(1).and_then(|x| x.to_vec()).expect("is none of ours"), [3, 0, 3]);
    // An error of the engine is returned to the caller and not passed to the program's callback.
    let outcome = Tensor::from_wgpu_buffer(&buffer(&program.device, USED, 6), DType::U8, &[6], &mine);
    refused("six bytes", outcome, "multiple of 4");
    let y = (&x * 2).expect("recorded");
    let early = y.to_host_async();
    program.device.destroy();
    let device_lost = |what: &str, outcome: Result<HostTensor>| {
        assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{what}: {outcome:?}");
    };
    device_lost("a read", y.to_host());
    device_lost("a future", pollster::block_on(early));
    device_lost("a row", x.row_to_host(0));
    assert!(matches!(x.eval(), Ok(())), "computed long ago");
    assert!(matches!((&x + 1).and_then(|z| z.eval()), Err(Error::DeviceLost { .. })));
    assert!(matches!(mine.wait(), Err(Error::DeviceLost { .. })));
    assert_eq!((errors.load(Ordering::Relaxed), losses.load(Ordering::Relaxed)), (1, 1));
}

/// An invalid combination of buffer usages.
fn a_mistake(device: &wgpu::Device) {
    drop(buffer(device, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::STORAGE, 16));
}

#[test]
fn errors_of_the_programs_calls_do_not_affect_the_engine() {
    let _guard = exclusive();
    if common::gpus().is_empty() {
        return;
    }
    let device = Device::gpu_with(&DeviceOptions::default()).expect("opens");
    let (gpu, _) = device.as_wgpu().expect("a GPU");
    let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![3.0]], &device).expect("rows");
    let sums = x.reduce_sum(1).expect("recorded");
    a_mistake(gpu);
    assert_eq!(sums.to_vec().expect("the sums"), [3.0, 3.0]);
    a_mistake(gpu);
    x.add(1.0f32).and_then(|x| x.eval()).expect("computed");
    a_mistake(gpu);
    device.wait().expect("ended");
    // The program receives the error in its own error scope.
    let heard = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&heard);
    gpu.on_uncaptured_error(Arc::new(move |_| {
        counts.fetch_add(1, Ordering::Relaxed);
    }));
    a_mistake(gpu);
    assert_eq!(x.multiply(2.0f32).and_then(|x| x.to_vec()).expect("the products"), [2.0, 4.0, 6.0]);
    assert_eq!(heard.load(Ordering::Relaxed), 1);
}

#[test]
fn callbacks_of_the_queue_may_compute() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let (done, is_done) = std::sync::mpsc::channel();
        let name = label.clone();
        // In a separate thread, since a failure is a deadlock.
        std::thread::spawn(move || {
            let x = RaggedTensor::<i32>::from_nested([vec![1, 2], vec![], vec![3]], &mine).expect("rows");
            let (_, queue) = mine.as_wgpu().expect("a GPU");
            let ran = Arc::new(AtomicU32::new(0));
            for round in 0..20 {
                x.add(round).and_then(|x| x.eval()).expect("computed");
                mine.wait().expect("ended");
                let (y, ran) = (x.multiply(round + 2).expect("recorded"), Arc::clone(&ran));
                // Runs within the next poll or submission.
                queue.on_submitted_work_done(move || {
                    assert_eq!(y.to_vec().expect("a read in a callback"), [1, 2, 3].map(|v| v * (round + 2)));
                    ran.fetch_add(1, Ordering::Relaxed);
                });
                match round % 3 {
                    0 => x.subtract(round).and_then(|x| x.eval()).expect("computed"),
                    1 => assert_eq!(x.subtract(round).and_then(|x| x.to_vec()).expect("read")[0], 1 - round, "{name}"),
                    _ => drop(RaggedTensor::from_nested(vec![round; 1 << 20], &mine).expect("uploaded")),
                }
            }
            mine.wait().expect("ended");
            x.subtract(99).and_then(|x| x.to_vec()).expect("read");
            assert_eq!(ran.load(Ordering::Relaxed), 20, "{name}");
            done.send(()).expect("the test waits");
        });
        is_done.recv_timeout(std::time::Duration::from_secs(60)).unwrap_or_else(|e| panic!("{label}: {e}"));
    }
}

#[test]
fn a_future_returns_when_the_device_is_lost() {
    let _guard = exclusive();
    let Some(program) = Program::plain() else { return };
    let mine = program.ragged();
    let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![], vec![3]], &mine).expect("uploads");
    x.eval().expect("computes");
    program.device.destroy();
    let outcome = pollster::block_on(x.to_vec_async());
    assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{outcome:?}");
}

#[test]
fn tensors_lie_in_the_programs_buffers() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let gpu = mine.as_wgpu().expect("a GPU");
        let values: Vec<f32> = (0..1000).map(|i| i as f32 / 8.0).collect();
        let splits: Vec<u32> = (0..=100).map(|r| r * r / 10).collect();
        let cpu = Device::cpu();
        let want = RaggedTensor::from_row_splits(&values, &splits, &cpu).expect("valid");
        let want = want.reduce_sum(1).and_then(|x| x.to_vec()).expect("reads");
        let before = mine.stats();
        let (flat, rows) = (filled(gpu, &values), filled(gpu, &splits));
        let flat = RaggedTensor::<f32>::from_wgpu_buffer(&flat, &[1000], &mine).expect("adopted");
        let rows = RaggedTensor::<u32>::from_wgpu_buffer(&rows, &[101], &mine).expect("adopted");
        let x = Tensor::from_row_splits(&flat, &rows).expect("recorded");
        assert_eq!(x.shape_text(), "[100, None]");
        let sums = x.reduce_sum(1).and_then(|x| x.to_host()).expect("reads");
        assert_eq!(sums.values, HostValues::F32(want), "{label}");
        let spent = mine.stats() - before;
        assert_eq!((spent.bytes_uploaded, spent.waits, spent.submissions), (0, 1, 1), "{label}: {spent:?}");
        // The tensor's values buffer is the given buffer.
        assert!(flat.values_buffer().expect("there").buffer().size() == 4000, "{label}");
        assert_eq!(flat.to_vec().expect("reads"), values, "{label}");
        // Invalid splits on the device are errors of the read.
        let bad = filled(gpu, &[0u32, 7, 5, 1000]);
        let bad = RaggedTensor::<u32>::from_wgpu_buffer(&bad, &[4], &mine).expect("adopted");
        let outcome = Tensor::from_row_splits(&flat, &bad).and_then(|x| x.reduce_sum(1)?.to_host());
        match outcome {
            Err(Error::Check { op: "from_row_splits", what, at: 1, .. }) => {
                assert!(what.contains("decrease"), "{what}");
            }
            other => panic!("{label}: {other:?}"),
        }
    }
}

/// An engine device over a program's wgpu device, and one whose wgpu device the program uses.
fn programs_and_ours() -> Vec<(String, Device)> {
    let mut all = common::gpus();
    all.truncate(1);
    all.extend(Program::plain().map(|program| ("a program's".to_owned(), program.ragged())));
    all
}

#[test]
fn every_dtype_has_the_buffer_layout_of_the_engine() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let gpu = mine.as_wgpu().expect("a GPU");
        for dtype in common::bools_and_numbers().filter(|&dtype| common::has(&mine, dtype)) {
            // Sizes that end within a word, and within 16 bytes.
            for n in [1usize, 3, 5, 8, 16, 257, 1040] {
                let ints = HostTensor::dense(&[n], HostValues::I32((0..n as i32).map(|i| i % 2).collect()));
                let ours = ints.to_device(&mine).and_then(|x| x.cast(dtype)).expect("cast");
                let bytes = {
                    let held = ours.values_buffer().expect("computed");
                    assert_eq!((held.len(), held.dtype(), held.offset()), (Some(n as u32), dtype, 0));
                    assert_eq!(held.size(), (n * dtype.size()) as u64);
                    contents(gpu.0, gpu.1, held.buffer(), held.size().next_multiple_of(4))
                };
                let theirs = filled(gpu, &bytes);
                let theirs = Tensor::from_wgpu_buffer(&theirs, dtype, &[n], &mine).expect("adopted");
                let what = format!("{label} {dtype} {n}");
                assert_eq!(theirs.to_host().expect("reads"), ours.to_host().expect("reads"), "{what}");
                let twice = |x: &Tensor| Tensor::concat(&[x, &x.reverse(0)?], 0)?.cast(DType::I32)?.to_host();
                assert_eq!(twice(&theirs).expect("reads"), twice(&ours).expect("reads"), "{what}");
                // Flat, so that kernels may use vector loads: they must not read beyond the last element.
                let sums = |x: &Tensor| (x.cast(DType::F32)? * 2f32)?.add(&ours.cast(DType::F32)?)?.to_host();
                assert_eq!(sums(&theirs).expect("reads"), sums(&ours).expect("reads"), "{what}");
            }
        }
    }
}

#[test]
fn invalid_buffers_are_errors() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let (device, _) = mine.as_wgpu().expect("a GPU");
        let of = |b: &wgpu::Buffer, dtype, shape: &[usize]| Tensor::from_wgpu_buffer(b, dtype, shape, &mine);
        let copied = buffer(device, wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST, 64);
        refused(&label, of(&copied, DType::F32, &[4]), "must have STORAGE");
        let good = buffer(device, USED, 64);
        refused(&label, of(&good, DType::F32, &[17]), "68 bytes, but the buffer has 64");
        refused(&label, of(&good, DType::I64, &[3, 3]), "72 bytes, but the buffer has 64");
        assert!(matches!(of(&good, DType::F32, &[1 << 20, 1 << 20]), Err(Error::Limit { .. })), "{label}");
        assert!(matches!(of(&good, DType::F32, &[usize::MAX]), Err(Error::Limit { .. })), "{label}");
        assert!(matches!(of(&good, DType::Str, &[1]), Err(Error::Unsupported { .. })), "{label}");
        refused(&label, of(&buffer(device, USED, 10), DType::U8, &[10]), "multiple of 4");
        // An empty tensor and a part of a buffer are valid.
        assert_eq!(of(&good, DType::F32, &[0, 7]).and_then(|x| x.to_host()).expect("empty").inner_shape, [0, 7]);
        assert_eq!(of(&good, DType::F32, &[2, 3]).and_then(|x| x.to_host()).expect("reads").inner_shape, [2, 3]);
        assert_eq!(of(&good, DType::F32, &[]).and_then(|x| x.to_host()).expect("reads").values.len(), 1);
        // Without COPY_SRC, a tensor can be an operand but cannot be read.
        let unread = buffer(device, wgpu::BufferUsages::STORAGE, 64);
        let x = of(&unread, DType::I32, &[16]).expect("adopted");
        match x.to_host() {
            Err(Error::Argument { op: "a read", what, .. }) => assert!(what.contains("COPY_SRC"), "{label}: {what}"),
            other => panic!("{label}: {other:?}"),
        }
        let sum = x.add(1).and_then(|x| x.to_host()).expect("reads");
        assert_eq!(sum.values, HostValues::I32(vec![1; 16]), "{label}");
        // What the program did to it after all is an error, and no other tensor's.
        good.destroy();
        let gone = of(&good, DType::F32, &[4]).and_then(|x| x.to_host());
        assert!(gone.is_err(), "{label}: {gone:?}");
        assert_eq!(x.add(2).and_then(|x| x.to_host()).expect("reads").values, HostValues::I32(vec![2; 16]), "{label}");
    }
    let cpu = Device::cpu();
    let x = RaggedTensor::from_nested(vec![vec![1.0f32]], &cpu).expect("valid");
    assert!(matches!(x.values_buffer(), Err(Error::Argument { op: "values_buffer", .. })));
    assert!(matches!(x.partitions()[0].splits_buffer(&cpu), Err(Error::Argument { op: "splits_buffer", .. })));
    assert!(cpu.as_wgpu().is_none());
}

#[test]
fn a_buffer_of_another_instance_does_not_panic() {
    let _guard = exclusive();
    let (Some(a), Some(b)) = (Program::plain(), Program::plain()) else { return };
    // The other instance has created more objects, so that its ids are invalid here.
    let many: Vec<_> = (0..2000).map(|_| buffer(&b.device, USED, 64)).collect();
    let mine = a.ragged();
    let last = many.last().expect("some");
    refused("another instance", Tensor::from_wgpu_buffer(last, DType::F32, &[4], &mine), "");
    let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![], vec![3]], &mine).expect("uploads");
    assert_eq!(x.reduce_sum(1).and_then(|x| x.to_vec()).expect("goes on"), [3, 0, 3]);
}

#[test]
fn program_and_engine_compute_on_each_others_arrays() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let (device, queue) = mine.as_wgpu().expect("a GPU");
        let before = mine.stats();
        let host: Vec<f32> = (0..5000).map(|i| i as f32).collect();
        let x = RaggedTensor::from_row_lengths(&host, [2000, 0, 3000], &mine).expect("uploads");
        // Kernels of the engine, the program and the engine, without waits in between.
        let doubled = (&x * 2.0).expect("recorded");
        let held = doubled.values_buffer().expect("computed");
        let made = buffer(device, USED, held.size());
        scale(device, queue, held.binding(), &made);
        drop((held, doubled));
        let y = RaggedTensor::<f32>::from_wgpu_buffer(&made, &[5000], &mine).expect("adopted");
        let y: RaggedTensor<f32> =
            Tensor::from_row_partitions(&y, x.partitions()).and_then(TryInto::try_into).expect("as many");
        let got = (&y + &x).expect("recorded").to_vec().expect("reads");
        let spent = mine.stats() - before;
        assert_eq!(got, host.iter().map(|v| v * 2.0 * 3.0 + v).collect::<Vec<_>>(), "{label}");
        assert_eq!((spent.waits, spent.submissions), (1, 2), "{label}: {spent:?}");
    }
}

#[test]
fn a_buffer_that_the_program_holds_is_not_reused() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let (device, queue) = mine.as_wgpu().expect("a GPU");
        let data: Vec<u32> = (0..4096).collect();
        let x = RaggedTensor::from_nested(data.clone(), &mine).and_then(|x| &x + 1).expect("recorded");
        let held = x.values_buffer().expect("computed");
        let level = mine.stats().buffer_bytes;
        drop(x);
        assert_eq!(mine.stats().buffer_bytes, level, "{label}: held by the program alone");
        // Arrays of the same size are created and dropped.
        for round in 0..5u32 {
            let other = RaggedTensor::from_nested(data.clone(), &mine).and_then(|y| &y * round).expect("recorded");
            other.eval().expect("computes");
            assert!(other.values_buffer().expect("there").buffer() != held.buffer(), "{label}");
        }
        let bytes = contents(device, queue, held.buffer(), held.size());
        let want: Vec<u32> = data.iter().map(|v| v + 1).collect();
        assert_eq!(bytemuck::cast_slice::<u8, u32>(&bytes), want, "{label}");
        let ours = held.buffer().clone();
        drop(held);
        // The buffer is in the pool again, and is reused.
        let again: Vec<_> = (0..8)
            .map(|k| {
                let y = RaggedTensor::from_nested(data.clone(), &mine).and_then(|y| &y + k).expect("recorded");
                y.values_buffer().expect("computed")
            })
            .collect();
        assert!(again.iter().any(|held| *held.buffer() == ours), "{label}: pooled");
    }
}

#[test]
fn an_engine_buffer_given_as_input_is_not_reused() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let data: Vec<u32> = (0..4096).collect();
        let x = RaggedTensor::from_nested(data.clone(), &mine).and_then(|x| &x + 1).expect("recorded");
        let held = x.values_buffer().expect("computed");
        let y = RaggedTensor::<u32>::from_wgpu_buffer(held.buffer(), &[4096], &mine).expect("adopted");
        let z = RaggedTensor::<u32>::from_wgpu_buffer(held.buffer(), &[64, 64], &mine).expect("adopted twice");
        let ours = held.buffer().clone();
        drop((x, held, z));
        let others: Vec<_> = (0..8u32)
            .map(|k| {
                let other = RaggedTensor::from_nested(data.clone(), &mine).and_then(|y| &y * k).expect("recorded");
                let other = other.values_buffer().expect("computed");
                assert!(*other.buffer() != ours, "{label}");
                other
            })
            .collect();
        drop(others);
        let want: Vec<u32> = data.iter().map(|v| v + 1).collect();
        assert_eq!(y.to_vec().expect("reads"), want, "{label}");
        drop(y);
        // Dropped in the other order, the buffer returns to the pool.
        let before = mine.stats();
        let x = RaggedTensor::from_nested(data.clone(), &mine).and_then(|x| &x + 2).expect("recorded");
        let held = x.values_buffer().expect("computed");
        drop(RaggedTensor::<u32>::from_wgpu_buffer(held.buffer(), &[4096], &mine).expect("adopted"));
        drop((x, held));
        assert_eq!(mine.stats().buffer_bytes, before.buffer_bytes, "{label}");
    }
}

#[test]
fn a_programs_buffer_never_enters_the_pool() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let gpu = mine.as_wgpu().expect("a GPU");
        let data: Vec<u32> = (0..4096).collect();
        let theirs = filled(gpu, &data);
        let before = mine.stats();
        let x = RaggedTensor::<u32>::from_wgpu_buffer(&theirs, &[4096], &mine).expect("adopted");
        assert_eq!(mine.stats().buffer_bytes, before.buffer_bytes, "{label}: not ours");
        assert_eq!(mine.stats().memory_bytes, before.memory_bytes, "{label}: not ours");
        assert_eq!((&x + 1).and_then(|x| x.to_vec()).expect("reads")[4095], 4096, "{label}");
        drop(x);
        let made: Vec<_> = (0..32)
            .map(|k| {
                let y = RaggedTensor::from_nested(data.clone(), &mine).and_then(|y| &y * k).expect("recorded");
                y.values_buffer().expect("computed")
            })
            .collect();
        assert!(made.iter().all(|held| *held.buffer() != theirs), "{label}");
        // The contents are unchanged, and the buffer is writable.
        let bytes = contents(gpu.0, gpu.1, &theirs, 4096 * 4);
        assert_eq!(bytemuck::cast_slice::<u8, u32>(&bytes), data, "{label}");
        let second: Vec<u32> = data.iter().rev().copied().collect();
        gpu.1.write_buffer(&theirs, 0, bytemuck::cast_slice(&second));
        let x = RaggedTensor::<u32>::from_wgpu_buffer(&theirs, &[4096], &mine).expect("adopted");
        assert_eq!((&x + 1).and_then(|x| x.to_vec()).expect("reads")[4095], 1, "{label}");
    }
}

#[test]
fn device_known_sizes_are_in_the_splits() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let (device, queue) = mine.as_wgpu().expect("a GPU");
        let x = RaggedTensor::from_nested(vec![vec![5, 1], vec![], vec![7, 8, 2]], &mine).expect("uploads");
        let kept = x.boolean_mask(&x.greater(2).expect("recorded")).expect("recorded");
        let (values, splits) = (kept.values_buffer(), kept.partitions()[0].splits_buffer(&mine));
        let (values, splits) = (values.expect("computed"), splits.expect("computed"));
        assert_eq!((values.len(), values.capacity(), splits.len()), (None, 5, Some(4)), "{label}");
        let read = |held: &ragged::DeviceBuffer| {
            let bytes = contents(device, queue, held.buffer(), held.size());
            bytemuck::pod_collect_to_vec::<u8, u32>(&bytes)
        };
        let ends = read(&splits);
        assert_eq!(ends, [0, 1, 1, 3], "{label}");
        assert_eq!(read(&values)[..ends[3] as usize], [5, 7, 8], "{label}");
        // Uniform rows have splits on request.
        let even = x.to_tensor(0).and_then(|x| x.slice(s![.., ..2])).expect("recorded");
        let rows = Tensor::from_uniform_row_length(even.flat_values().expect("dense").erased(), 1);
        let rows = rows.expect("recorded");
        let ends = read(&rows.partitions()[0].splits_buffer(&mine).expect("computed"));
        assert_eq!(ends, [0, 1, 2, 3], "{label}");
    }
}
