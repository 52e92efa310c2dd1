//! Sizes and histories: tensors of device-known size give the same results whatever was recorded, evaluated, read, printed or
//! dropped before, at sizes around the thresholds of both backends.
//!
//! `pairs`: two operations on one source, with an event between them. `program`: random programs with random actions.
//! `threads`: threads that share tensors. `gradients`: gradients of random programs whose values were read.

mod action;
mod campaign;
mod gradients;
mod judges;
mod material;
mod outcome;
mod pairs;
mod program;
mod rows;
mod source;
mod step;
mod threads;
mod traced;
mod twin;

use std::collections::BTreeMap;

use ragged::{DType, Device, DeviceOptions, Tuning};

use crate::{common, each_case};
use campaign::Campaign;
use judges::fresh;
use material::{Lengths, Material};
use outcome::summary;
use pairs::{Pairs, count, materials, once_wrong, tiny};
use program::{Bounds, Program};

/// Coprime to the number of pairs: consecutive cases differ in all parts.
const STRIDE: u64 = 2_654_435_761;

/// Runs pairs of the materials; all of them in `count(materials)` cases.
fn run_pairs(label: &str, device: Device, materials: &[Material], cases: u64) {
    let mut pairs = Pairs::new(device);
    let (mut wrong, mut by_event) = (Vec::new(), BTreeMap::<String, (u64, u64)>::new());
    let total = count(materials);
    each_case(cases, |seed| {
        let pair = pairs.pair(seed.wrapping_mul(STRIDE) % total, materials);
        let fault = pairs.run(&pair);
        let entry = by_event.entry(format!("{:?}, again {}", pair.event, pair.again)).or_default();
        entry.1 += 1;
        if let Some(fault) = fault {
            entry.0 += 1;
            wrong.push(format!("seed {seed}, {pair:?}\n    {fault}"));
        }
    });
    for (event, (wrong, all)) in &by_event {
        println!("{label}: {event}: {wrong} of {all} pairs are wrong");
    }
    wrong.extend(pairs.faults.iter().map(|fault| format!("on a fresh device: {fault}")));
    assert!(wrong.is_empty(), "{label}: {}", summary(&wrong));
}

#[test]
fn pairs_of_operations_are_independent_of_what_happened_between_them() {
    run_pairs("cpu, 9 values", fresh(), &[tiny()], 8_000);
}

/// Runs the pairs that were once wrong.
fn run_once_wrong(label: &str, device: Device, materials: &[Material]) {
    let mut pairs = Pairs::new(device);
    let mut wrong = Vec::new();
    for pair in materials.iter().flat_map(|&material| once_wrong(material)) {
        wrong.extend(pairs.run(&pair).map(|fault| format!("{pair:?}\n    {fault}")));
    }
    wrong.extend(pairs.faults.iter().map(|fault| format!("on a fresh device: {fault}")));
    assert!(wrong.is_empty(), "{label}: {}", summary(&wrong));
}

#[test]
fn pairs_that_were_wrong_are_right() {
    let large = |lengths, seed| Material { size: 140_000, lengths, seed };
    let one = Material { size: 1, lengths: Lengths::Short, seed: 1 };
    run_once_wrong("cpu", fresh(), &[tiny(), one, large(Lengths::Uniform(20), 7), large(Lengths::Uniform(1), 8)]);
}

#[test]
fn pairs_that_were_wrong_are_right_on_gpus() {
    if common::gpus().is_empty() {
        return;
    }
    let staged = DeviceOptions::default().tuning(Tuning::default().stage_bytes(4 << 10));
    let device = Device::gpu_with(&staged).expect("the first adapter opens twice");
    run_once_wrong(
        "gpu, stages of 4 KiB",
        device,
        &[tiny(), Material { size: 9000, lengths: Lengths::Uniform(20), seed: 3 }],
    );
}

#[test]
fn pairs_at_thresholds_are_independent_of_what_happened_between_them() {
    let mut all = materials(0, 1);
    all.extend([1, 2, 16, 257].map(|size| Material { size, lengths: Lengths::Short, seed: size as u64 }));
    all.extend([2048, 16_385].map(|size| Material { size, lengths: Lengths::Edges, seed: size as u64 }));
    run_pairs("cpu, up to 16,385 values", fresh(), &all, 2_000);
    // Above the bytes below which the CPU keeps all intermediate arrays.
    let large = [Lengths::Uniform(20), Lengths::Descending, Lengths::Skewed];
    let large: Vec<_> =
        large.iter().zip(70_000..).map(|(&lengths, seed)| Material { size: 140_000, lengths, seed }).collect();
    run_pairs("cpu, 140,000 values", fresh(), &large, 100);
}

#[test]
fn pairs_on_gpus_are_independent_of_what_happened_between_them() {
    if common::gpus().is_empty() {
        return;
    }
    let staged = DeviceOptions::default().tuning(Tuning::default().stage_bytes(4 << 10));
    let ways = [("stages of 4 KiB", staged), ("windows", DeviceOptions::default().max_binding(64 << 10))];
    let mut all = vec![tiny()];
    all.extend([257, 2049, 9000].map(|size| Material { size, lengths: Lengths::Uniform(20), seed: size as u64 }));
    for (label, options) in ways {
        run_pairs(label, Device::gpu_with(&options).expect("the first adapter opens twice"), &all, 25);
    }
}

/// Runs random programs with random histories.
fn run_programs(label: &str, mut campaign: Campaign, cases: u64) {
    let mut faults = Vec::new();
    each_case(cases, |seed| faults.extend(campaign.run(seed)));
    println!("{label}: {:?}, {} programs are wrong", campaign.figures, faults.len());
    assert!(faults.is_empty(), "{label}: {}", summary(&faults));
}

#[test]
fn programs_are_independent_of_their_history() {
    let bounds = Bounds { largest: material::LARGEST, steps: 9, random_steps: true, has_f64: true };
    run_programs("cpu", Campaign::new(fresh, bounds), 150);
}

#[test]
fn traced_programs_give_what_recorded_ones_give() {
    let bounds = Bounds { largest: 3000, steps: 9, random_steps: true, has_f64: true };
    let (mut figures, mut faults) = (traced::Figures::default(), Vec::new());
    each_case(100, |seed| faults.extend(traced::fault(&Program::random(seed, bounds), &fresh(), &mut figures)));
    println!("cpu: {figures:?}, {} programs are wrong", faults.len());
    assert!(faults.is_empty(), "{}", summary(&faults));
}

#[test]
fn traced_programs_on_gpus_give_what_recorded_ones_give() {
    let Some((_, device)) = common::gpus().into_iter().next() else { return };
    let has_f64 = common::has(&device, DType::F64);
    let bounds = Bounds { largest: 1000, steps: 5, random_steps: false, has_f64 };
    let (mut figures, mut faults) = (traced::Figures::default(), Vec::new());
    each_case(8, |seed| faults.extend(traced::fault(&Program::random(seed, bounds), &device, &mut figures)));
    println!("gpu: {figures:?}, {} programs are wrong", faults.len());
    assert!(faults.is_empty(), "{}", summary(&faults));
}

#[test]
fn threads_that_share_a_source_get_what_one_gets() {
    let materials = [tiny()];
    let (mut pairs, mut faults) = (Pairs::new(fresh()), Vec::new());
    let total = count(&materials);
    each_case(300, |seed| {
        let pair = pairs.pair(seed.wrapping_mul(STRIDE) % total, &materials);
        faults.extend(
            threads::run_pair(&mut pairs, &pair, 40).map(|fault| format!("seed {seed}, {pair:?}\n    {fault}")),
        );
    });
    assert!(faults.is_empty(), "{}", summary(&faults));
}

#[test]
fn threads_that_share_a_program_get_what_one_gets() {
    let bounds = Bounds { largest: 3000, steps: 9, random_steps: true, has_f64: true };
    let mut faults = Vec::new();
    each_case(60, |seed| {
        let program = Program::random(seed, bounds);
        let mut random = crate::random::Random(seed);
        let leaves = program.leaves(&fresh());
        let fault = threads::run_program(&program, &leaves, &mut random);
        faults.extend(fault.map(|fault| format!("seed {seed}: {fault}\n{}", program.text(|_| true))));
    });
    assert!(faults.is_empty(), "{}", summary(&faults));
}

#[test]
fn programs_on_gpus_are_independent_of_their_history() {
    if common::gpus().is_empty() {
        return;
    }
    // Stages of 4 KiB: sizes become exact in the middle of a read. Host steps, as on the CPU.
    let staged = || {
        let options = DeviceOptions::default().tuning(Tuning::default().stage_bytes(4 << 10)).host_steps(true);
        Device::gpu_with(&options).expect("the first adapter opens twice")
    };
    let has_f64 = common::has(&staged(), DType::F64);
    let bounds = Bounds { largest: 3000, steps: 5, random_steps: false, has_f64 };
    run_programs("gpu, stages of 4 KiB", Campaign::new(staged, bounds), 8);
}

/// Compares the gradients of random programs on devices that keep their history from program to program.
fn run_gradients(devices: &[(&str, Device)], cases: u64) {
    let mut faults = Vec::new();
    each_case(cases, |seed| faults.extend(gradients::fault(seed, devices)));
    assert!(faults.is_empty(), "{}", summary(&faults));
}

#[test]
fn gradients_are_independent_of_their_history() {
    run_gradients(&[("cpu", fresh()), ("cpu_unfused", Device::cpu_unfused())], 80);
}

#[test]
fn gradients_on_gpus_are_independent_of_their_history() {
    if common::gpus().is_empty() {
        return;
    }
    let staged = DeviceOptions::default().tuning(Tuning::default().stage_bytes(4 << 10));
    let open = |options: &DeviceOptions| Device::gpu_with(options).expect("the first adapter opens twice");
    run_gradients(&[("gpu", open(&DeviceOptions::default())), ("gpu, stages of 4 KiB", open(&staged))], 5);
}
