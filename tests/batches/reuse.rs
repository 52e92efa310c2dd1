//! Reuse of plans, pipelines, memory and bind groups by later batches, and by other threads.

use std::sync::Barrier;
use std::thread;

use ragged::{Device, DeviceOptions};

use crate::batch::{Batch, long, short};
use crate::programs::{PROGRAMS, run, wanted};
use crate::{common, exclusive};

#[test]
fn a_batch_of_the_same_shapes_makes_nothing_new() {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        for lengths in [short(), long()] {
            for program in &PROGRAMS {
                // The first two batches fill the pool: the results of a batch are freed only after those of the next
                // one exist.
                for number in 0..5 {
                    let what = format!("{label} {} batch {number}", program.0);
                    let batch = Batch::new(&lengths, number);
                    let inputs = batch.upload(&device).expect("uploaded");
                    device.wait().expect("idle");
                    let before = device.stats();
                    let got = run(program, &inputs);
                    let stats = device.stats() - before;
                    assert_eq!(got, wanted(program, &batch), "{what}");
                    if number > 0 {
                        assert_eq!((stats.plans, stats.pipelines_compiled), (0, 0), "{what}");
                        assert_eq!(stats.pool_misses, 0, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_repeated_batch_needs_no_new_bind_groups() {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        let inputs = Batch::new(&long(), 1).upload(&device).expect("uploaded");
        for program in &PROGRAMS {
            let runs = (0..3).map(|_| {
                let before = device.stats();
                (run(program, &inputs), device.stats() - before)
            });
            let runs: Vec<_> = runs.collect();
            assert_eq!(runs[0].0, runs[2].0, "{label} {}", program.0);
            assert_eq!(runs[2].1.bind_groups_created, 0, "{label} {}", program.0);
        }
    }
}

#[test]
fn threads_with_separate_batches_share_a_plan() {
    let _guard = exclusive();
    const THREADS: usize = 6;
    if common::gpus().is_empty() {
        return;
    }
    let device = Device::gpu_with(&DeviceOptions::default()).expect("opens again");
    let batches: Vec<Batch> = (0..THREADS as u64).map(|k| Batch::new(&short(), k)).collect();
    for program in &PROGRAMS {
        let barrier = Barrier::new(THREADS);
        thread::scope(|scope| {
            for batch in &batches {
                let (device, barrier) = (&device, &barrier);
                scope.spawn(move || {
                    let inputs = batch.upload(device).expect("uploaded");
                    barrier.wait();
                    for round in 0..3 {
                        assert_eq!(run(program, &inputs), wanted(program, batch), "{} round {round}", program.0);
                    }
                });
            }
        });
        let before = device.stats();
        let last = Batch::new(&short(), 100);
        assert_eq!(run(program, &last.upload(&device).expect("uploaded")), wanted(program, &last), "{}", program.0);
        assert_eq!((device.stats() - before).plans, 0, "{}", program.0);
    }
}
