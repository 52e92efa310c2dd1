//! Callbacks and errors of the program, and lost devices.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ragged::{DType, Device, DeviceOptions, Error, HostTensor, RaggedTensor, Result, Tensor, wgpu};

use crate::common;
use crate::program::{Program, USED, buffer, exclusive, programs_and_ours, refused};

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
