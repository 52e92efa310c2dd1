//! Many threads record, compute and read concurrently, on one device and across devices.

mod common;

use std::sync::{Arc, Barrier};
use std::thread;

use common::seeded_rows;
use ragged::opt::keep;
use ragged::{CpuOptions, Device, DeviceOptions, HostTensor, HostValues, Result, Tensor, s, wgpu};

const THREADS: usize = 8;

/// Rounds per thread of the stress of one device.
const ROUNDS: usize = 150;

/// Rows of 0 to 8 numbers.
fn rows(nrows: u32, seed: i32) -> HostTensor {
    seeded_rows(nrows, 9, seed)
}

/// Subexpressions that all threads share, of every kind of kernel, each with an operation per thread on top.
fn chain(x: &Tensor, k: i32) -> Result<Tensor> {
    let centred = x.subtract(&x.reduce_max(keep(1))?)?;
    let sorted = centred.sort(1)?;
    let kept = sorted.boolean_mask(&sorted.less(-100)?)?;
    let both = Tensor::concat(&[&kept, &centred.slice(s![.., ..2])?], 1)?;
    both.multiply(k)?.cumsum(1)?.add(&x.reduce_sum(keep(1))?)
}

#[test]
fn shared_subexpressions() {
    let cpu = Device::cpu();
    let host = rows(700, 13);
    let want: Vec<HostTensor> =
        (0..4).map(|k| host.to_device(&cpu).and_then(|x| chain(&x, k)?.to_host()).expect("computes")).collect();
    for (label, device) in common::every_way() {
        for round in 0..3 {
            // Nothing of this round's tensor is computed yet.
            let x = host.to_device(device).expect("uploads");
            let shared = x.add(0).expect("recorded");
            let barrier = Barrier::new(THREADS);
            thread::scope(|scope| {
                for t in 0..THREADS {
                    let (shared, want, barrier) = (&shared, &want, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        let k = (t + round) % want.len();
                        let y = chain(shared, k as i32).expect("recorded");
                        let got = match t % 4 {
                            0 => y.to_host(),
                            1 => pollster::block_on(y.to_host_async()),
                            // Evaluated by one call and read by another, possibly after another thread has done the
                            // same.
                            2 => y.eval().and_then(|()| y.to_host()),
                            _ => y.check().and_then(|()| y.rows_to_host(0..700)),
                        };
                        assert_eq!(got.expect("computes"), want[k], "{label} thread {t}");
                    });
                }
            });
        }
    }
}

/// Threads that run one program at once, each over inputs of other sizes.
const RUNS: usize = 16;

/// Devices of their own, whose plans no other test makes: the options of a GPU apply to a GPU only.
fn devices_alone(options: &DeviceOptions) -> Vec<(&'static str, Device)> {
    let gpu = common::gpu_with(options).map(|gpu| ("gpu", gpu));
    std::iter::once(("cpu", Device::cpu_with(&CpuOptions::default()))).chain(gpu).collect()
}

/// Reads `chain` of each input on `RUNS` threads, which begin at once, several times.
fn read_at_once(device: &Device, hosts: &[HostTensor], want: &[HostTensor], label: &str) {
    for round in 0..4 {
        let barrier = Barrier::new(RUNS);
        thread::scope(|scope| {
            for t in 0..RUNS {
                let barrier = &barrier;
                scope.spawn(move || {
                    let k = (t + round) % hosts.len();
                    let y = hosts[k].to_device(device).and_then(|x| chain(&x, 3)).expect("recorded");
                    barrier.wait();
                    assert_eq!(y.to_host().expect("computes"), want[k], "{label}, thread {t}, round {round}");
                });
            }
        });
    }
}

/// The plan holds no size of a run, so that all threads share it.
#[test]
fn one_plan_runs_on_many_threads_at_once() {
    let hosts: Vec<HostTensor> = (0..RUNS as u32).map(|k| rows(30 + 41 * k, 3 + k as i32)).collect();
    let one = |host: &HostTensor| host.to_device(&Device::cpu()).and_then(|x| chain(&x, 3)?.to_host());
    let want: Vec<HostTensor> = hosts.iter().map(|host| one(host).expect("computes")).collect();
    for (label, device) in devices_alone(&DeviceOptions::default()) {
        read_at_once(&device, &hosts, &want, label);
        assert_eq!(device.stats().plans, 1, "{label}");
    }
}

/// Plans for arrays that exceed a binding depend on sizes: one for each size that a thread has, never one for another.
#[test]
fn plans_of_large_arrays_belong_to_their_sizes() {
    let hosts: Vec<HostTensor> = [20, 900, 1000, 1100].map(|n| rows(n, 11)).into();
    let one = |host: &HostTensor| host.to_device(&Device::cpu()).and_then(|x| chain(&x, 3)?.to_host());
    let want: Vec<HostTensor> = hosts.iter().map(|host| one(host).expect("computes")).collect();
    for (label, device) in devices_alone(&DeviceOptions::default().max_binding(4 << 10)) {
        read_at_once(&device, &hosts, &want, label);
        let made = device.stats().plans;
        assert_eq!(made, if device.is_cpu() { 1 } else { hosts.len() as u64 }, "{label}");
    }
}

#[test]
fn tensors_are_made_read_and_dropped_by_different_threads() {
    for (label, device) in common::devices() {
        let (sender, receiver) = std::sync::mpsc::channel::<(i32, Tensor)>();
        thread::scope(|scope| {
            for t in 0..4 {
                let (sender, device) = (sender.clone(), &device);
                scope.spawn(move || {
                    for round in 0..25 {
                        let seed = 1 + t * 25 + round;
                        let x = rows(100, seed).to_device(device).expect("uploads");
                        let y = x.multiply(2).and_then(|y| y.reduce_sum(1)).expect("recorded");
                        if round % 3 == 0 {
                            y.eval().expect("computes");
                        }
                        sender.send((seed, y)).expect("is heard");
                    }
                });
            }
            drop(sender);
            for (seed, y) in receiver {
                let host = rows(100, seed);
                let HostValues::I32(values) = &host.values else { unreachable!("made so") };
                let ends = host.nested_row_splits[0].windows(2);
                let sums = ends.map(|w| values[w[0] as usize..w[1] as usize].iter().map(|v| v * 2).sum()).collect();
                assert_eq!(y.to_host().expect("reads").values, HostValues::I32(sums), "{label} {seed}");
            }
        });
    }
}

#[test]
fn devices_side_by_side() {
    let mut devices = common::devices();
    if !common::gpus().is_empty() {
        let second = Device::gpu_with(&DeviceOptions::default()).expect("the adapter opens twice");
        devices.push(("gpu, opened again".into(), second));
    }
    let host = rows(300, 5);
    let want = host.to_device(&Device::cpu()).and_then(|x| chain(&x, 3)?.to_host()).expect("computes");
    thread::scope(|scope| {
        for t in 0..THREADS {
            let (devices, host, want) = (&devices, &host, &want);
            scope.spawn(move || {
                let mut x = host.to_device(&devices[t % devices.len()].1).expect("uploads");
                for round in 0..6 {
                    let (label, next) = &devices[(t + round) % devices.len()];
                    // Moved between devices while other threads compute on both.
                    x = match round % 2 {
                        0 => x.to_device(next).expect("moves"),
                        _ => pollster::block_on(x.to_device_async(next)).expect("moves"),
                    };
                    let got = chain(&x, 3).and_then(|y| y.to_host()).expect("computes");
                    assert_eq!(&got, want, "{label} thread {t}");
                }
            });
        }
    });
}

#[test]
fn commands_of_the_program_in_between() {
    for (label, device) in common::gpus() {
        let (gpu, queue) = device.as_wgpu().expect("a GPU");
        let host = rows(300, 7);
        let x = host.to_device(&device).expect("uploads");
        let want: Vec<HostTensor> = (0..4)
            .map(|k| host.to_device(&Device::cpu()).and_then(|x| chain(&x, k)?.to_host()).expect("computes"))
            .collect();
        let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        thread::scope(|scope| {
            let finished = done.clone();
            scope.spawn(move || {
                // The program writes, copies, polls and waits while the other threads work.
                let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
                let new = || {
                    let label = Some("the program's");
                    gpu.create_buffer(&wgpu::BufferDescriptor {
                        label,
                        size: 1 << 16,
                        usage,
                        mapped_at_creation: false,
                    })
                };
                let (a, b) = (new(), new());
                let mut round = 0u8;
                while !finished.load(std::sync::atomic::Ordering::Relaxed) {
                    round = round.wrapping_add(1);
                    queue.write_buffer(&a, 0, &[round; 1 << 16]);
                    let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                    encoder.copy_buffer_to_buffer(&a, 0, &b, 0, 1 << 16);
                    queue.submit([encoder.finish()]);
                    if round.is_multiple_of(8) {
                        gpu.poll(wgpu::PollType::wait_indefinitely()).expect("waits");
                    }
                }
            });
            let workers: Vec<_> = (0..4)
                .map(|t| {
                    let (x, want, label) = (&x, &want, &label);
                    scope.spawn(move || {
                        for round in 0..10 {
                            let k = (t + round) % want.len();
                            let y = chain(x, k as i32).expect("recorded");
                            let got = if round % 2 == 0 { y.to_host() } else { pollster::block_on(y.to_host_async()) };
                            assert_eq!(got.expect("computes"), want[k], "{label} thread {t}");
                        }
                    })
                })
                .collect();
            let outcomes: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(outcomes.iter().all(|outcome| outcome.is_ok()), "{label}");
        });
    }
}

#[test]
fn submissions_waits_uploads_and_drops_of_many_threads_on_core_limits() {
    let options = DeviceOptions::default().core_limits(true);
    let Some(device) = common::gpu_with(&options) else { return };
    let (gpu, _) = device.as_wgpu().expect("a GPU");
    let host = rows(64, 3);
    let x = host.to_device(&device).expect("uploads");
    let want = |k: i32| -> Result<HostTensor> { host.to_device(&Device::cpu())?.multiply(k)?.reduce_sum(1)?.to_host() };
    let want: Vec<HostTensor> = (0..4).map(|k| want(k).expect("computes")).collect();
    thread::scope(|scope| {
        for t in 0..THREADS {
            let (device, x, host, want) = (&device, &x, &host, &want);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let k = (t + round) % want.len();
                    let sums = |x: &Tensor| x.multiply(k as i32)?.reduce_sum(1);
                    let got = match (t + round / 4) % 5 {
                        // A read, and a wait of its own.
                        0 => sums(x).and_then(|y| y.to_host()),
                        // An upload, whose tensors are dropped while work of other threads is in flight.
                        1 => host.to_device(device).and_then(|x| sums(&x)?.to_host()),
                        // Work that is submitted and dropped without a read, then a read by the polling thread.
                        2 => sums(x).and_then(|y| {
                            x.add(round as i32)?.eval()?;
                            pollster::block_on(y.to_host_async())
                        }),
                        3 => sums(x).and_then(|y| {
                            y.eval()?;
                            device.wait()?;
                            y.to_host()
                        }),
                        // The program polls and waits too.
                        _ => {
                            gpu.poll(wgpu::PollType::Poll).expect("polls");
                            gpu.poll(wgpu::PollType::wait_indefinitely()).expect("waits");
                            sums(x).and_then(|y| y.to_host())
                        }
                    };
                    assert_eq!(got.expect("computes"), want[k], "thread {t}, round {round}");
                }
            });
        }
    });
    device.wait().expect("the device is not lost");
}
