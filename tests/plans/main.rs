//! Plans of many programs, compared as text with `tests/plans/golden/`: a line per kernel, with its operations, rows,
//! elements, dispatches, bytes, and the arrays that it reads from other kernels with their fusion barriers.
//!
//! `RAGGED_PLANS=write` writes the golden files. No program runs, apart from sizes that recording waits for.
//!
//! Plans depend on the class of the adapter and on its limits. Those of GPUs are compared on a software adapter
//! (lavapipe) only; the test prints the name of any other first adapter, and that its plans are not compared. Options
//! fix all limits and the tuning, so that no version of lavapipe is needed.
//!
//! | golden files | device |
//! |---|---|
//! | `*.cpu.txt` | the CPU backend |
//! | `*.unfused.txt` | the CPU backend without fusion: programs of several operations |
//! | `*.gpu.txt` | lavapipe |
//! | `*.core.txt` | lavapipe with the minimum limits of WebGPU, bindings of 8 KiB, 64-bit integers as pairs of words, and the tuning of a GPU; inputs that take several bindings |

#[path = "../batches/batch.rs"]
mod batch;
#[path = "../batches/programs.rs"]
#[allow(dead_code, reason = "tests/batches runs the programs")]
mod batches;
#[path = "../common/mod.rs"]
mod common;
mod golden;
mod listing;
mod programs;
mod sample;

use std::collections::BTreeSet;
use std::fs;

use batch::{Batch, Inputs, long, short};
use golden::Plan;
use listing::listing;
use programs::{FAMILIES, Family};
use ragged::{CpuOptions, Device, DeviceOptions, Error, Result, Tensor, Tuning};
use sample::Sample;

/// The plan of the tensors that a program requests; without kernels where a limit of the device forbids it.
///
/// # Panics
/// If the program cannot be recorded.
fn plan(name: String, requested: Result<Vec<Tensor>>) -> Plan {
    let text = match requested.and_then(|tensors| ragged::explain(&tensors)) {
        Ok(explained) => listing(&explained),
        Err(Error::Limit { .. }) => "exceeds a limit of the device\n".to_owned(),
        Err(error) => panic!("{name}: {error}"),
    };
    (name, text)
}

/// Inputs of a program of [`FAMILIES`].
#[derive(Clone, Copy)]
struct Given {
    /// Of the sample.
    copies: usize,
    /// Whether inputs of device-known size follow those of host-known size.
    masked: bool,
}

/// Families whose plans without fusion are compared: programs of several operations.
const UNFUSED: [&str; 3] = ["batches", "chains", "jobs"];

/// The families of a kind of device; `batches` is no part of them.
fn families(kind: &str) -> impl Iterator<Item = Family> {
    let is_unfused = kind == "unfused";
    FAMILIES.into_iter().filter(move |(family, _)| !is_unfused || UNFUSED.contains(family))
}

/// Compares the plans of all families on devices that `open` makes: one per family, so that sizes that one program
/// waits for are not known to another.
#[track_caller]
fn compare(kind: &str, open: impl Fn() -> Device, given: Given) {
    let mut differences = Vec::new();
    for (family, programs) in families(kind) {
        let device = open();
        let sample = || Sample::new(&device, given.copies).expect("uploaded");
        let known = sample();
        let mut plans: Vec<Plan> = programs.iter().map(|(name, f)| plan((*name).to_owned(), f(&known))).collect();
        if given.masked {
            let masked = sample().masked().expect("recorded");
            plans.extend(programs.iter().map(|(name, f)| plan(format!("{name}, of masked inputs"), f(&masked))));
        }
        differences.extend(golden::compare(&format!("{family}.{kind}.txt"), &plans));
    }
    let device = open();
    let mut plans = Vec::new();
    for (lengths, what) in [(short(), "short rows"), (long(), "long rows")] {
        let inputs: Inputs = Batch::new(&lengths, 1).upload(&device).expect("uploaded");
        let of = |(name, f): &batches::Program| plan(format!("{name}, {what}"), f(&inputs));
        plans.extend(batches::PROGRAMS.iter().map(of));
    }
    differences.extend(golden::compare(&format!("batches.{kind}.txt"), &plans));
    golden::assert_none(&differences);
}

/// Options under which plans are the same on all software adapters.
fn fixed() -> DeviceOptions {
    // The tuning of software adapters.
    let tuning = Tuning::default().coalesce_rows(false).stage_bytes(4 << 20);
    DeviceOptions::default().max_binding(128 << 20).tuning(tuning)
}

/// Whether the first adapter's plans are compared. Prints the reason if they are not.
fn has_software_adapter() -> bool {
    let Some((_, device)) = common::gpus().into_iter().next() else {
        println!("plans of GPUs are not compared: no adapter is expected on this machine");
        return false;
    };
    if !device.is_software() {
        println!("plans of GPUs are not compared: {} is no software adapter", device.name());
    }
    device.is_software()
}

#[test]
fn of_the_cpu() {
    compare("cpu", || Device::cpu_with(&CpuOptions::default()), Given { copies: 1, masked: true });
}

#[test]
fn of_the_cpu_without_fusion() {
    compare("unfused", Device::cpu_unfused, Given { copies: 1, masked: false });
}

#[test]
fn of_a_gpu() {
    if has_software_adapter() {
        let open = || Device::gpu_with(&fixed()).expect("the first adapter opens again");
        compare("gpu", open, Given { copies: 1, masked: true });
    }
}

#[test]
fn of_a_gpu_with_the_minimum_limits() {
    if has_software_adapter() {
        let least = DeviceOptions::default().core_limits(true).no_int64(true).max_binding(8 << 10);
        let least = least.tuning(Tuning::default());
        let open = || Device::gpu_with(&least).expect("the first adapter opens again");
        compare("core", open, Given { copies: 5, masked: false });
    }
}

#[test]
fn golden_files_are_those_of_the_families() {
    if golden::is_written() {
        return;
    }
    let files = |kind: &'static str| {
        let names = families(kind).map(|(family, _)| family).chain(["batches"]);
        names.map(move |family| format!("{family}.{kind}.txt"))
    };
    let wanted: BTreeSet<String> = ["cpu", "unfused", "gpu", "core"].into_iter().flat_map(files).collect();
    let entries = fs::read_dir(golden::folder()).expect("a folder");
    let found = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    assert_eq!(found.collect::<BTreeSet<_>>(), wanted);
}

#[test]
fn names_are_distinct() {
    for (family, programs) in FAMILIES {
        let names: BTreeSet<&str> = programs.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), programs.len(), "{family}");
    }
}
