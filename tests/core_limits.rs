//! Every claimed family of the conformance suite on the first adapter, with the minimum limits of WebGPU and without
//! native 64-bit types, so that 64-bit integers are pairs of words.

mod common;

#[path = "conformance/case.rs"]
#[allow(dead_code, reason = "the suite itself uses the rest")]
mod case;
#[path = "conformance/compare.rs"]
#[allow(dead_code, reason = "the suite itself uses the rest")]
mod compare;
#[path = "conformance/families/mod.rs"]
#[allow(dead_code, reason = "the suite itself uses the rest")]
mod families;
#[path = "conformance/got.rs"]
#[allow(dead_code, reason = "the suite itself uses the rest")]
mod got;
#[path = "conformance/judge.rs"]
#[allow(dead_code, reason = "the suite itself uses the rest")]
mod judge;
#[path = "conformance/quirk.rs"]
#[allow(dead_code, reason = "one binary uses all of it")]
mod quirk;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use case::Case;
use judge::{Outcome, impossible, judge, lacking};
use ragged::{DType, Device, DeviceOptions, Tuning};

/// A device with the minimum limits of WebGPU; `None` where no adapter is expected.
fn smallest() -> Option<Device> {
    let options = DeviceOptions::default().core_limits(true).no_int64(true).no_f64(true);
    // The tuning is that of a GPU, also on software adapters.
    let options = options.no_timestamps(true).host_steps(true).tuning(Tuning::default());
    common::gpu_with(&options)
}

/// Outcomes of a family's cases.
#[derive(Default)]
struct Tally {
    passed: usize,
    without_f64: usize,
    failures: Vec<String>,
}

/// Whether the outcome is that 64-bit floats are not supported.
fn refuses_f64<T>(answer: ragged::Result<T>) -> bool {
    matches!(answer, Err(ragged::Error::Unsupported { dtype: DType::F64, .. }))
}

/// Runs the cases of a file, if its family is claimed.
fn run(file: &Path, device: &Device, lacking: &[DType]) -> Tally {
    let mut out = Tally::default();
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let Some(family) = families::family(&name).filter(|family| family.claimed) else { return out };
    let text = fs::read_to_string(file).expect("the family has cases");
    for line in text.lines().filter(|line| !line.is_empty()) {
        let case = Case::parse(line).expect("a case");
        if impossible(&case, lacking).is_some() {
            out.without_f64 += usize::from(case.missing_dtype().is_none());
            continue;
        }
        match judge(&case, family.run, device) {
            Outcome::Passed { .. } => out.passed += 1,
            // A mean of integers is computed in f64.
            Outcome::Failed(_) if refuses_f64((family.run)(&case, device)) => out.without_f64 += 1,
            Outcome::Failed(why) => out.failures.push(format!("{}: {why}", case.id)),
            // The suite decides which operations may be unsupported; those of the CPU backend must be supported here
            // too.
            Outcome::Unsupported(why) => {
                if let Outcome::Passed { .. } = judge(&case, family.run, &Device::cpu()) {
                    out.failures.push(format!("{}: unsupported here, not on the CPU: {why}", case.id));
                }
            }
        }
    }
    println!("{name} within core limits: {} passed, {} need 64-bit floats", out.passed, out.without_f64);
    out
}

#[test]
fn every_family() {
    let Some(device) = smallest() else { return };
    let lacking = lacking(&device);
    assert_eq!(lacking, [DType::F64], "64-bit floats alone need an adapter's own");
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let files = fs::read_dir(&dir).expect("the suite").map(|entry| entry.expect("an entry").path());
    let files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|e| e == "jsonl")).collect();
    // Compilation takes most of the time: all families share the pipelines of one device, on a few threads.
    let (queue, total) = (Mutex::new(files), Mutex::new(Tally::default()));
    let work = || {
        while let Some(file) = { queue.lock().expect("no panic").pop() } {
            let tally = run(&file, &device, &lacking);
            let mut total = total.lock().expect("no panic");
            total.passed += tally.passed;
            total.without_f64 += tally.without_f64;
            total.failures.extend(tally.failures);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let Tally { passed, without_f64, failures } = total.into_inner().expect("no panic");
    let pipelines = device.stats().pipelines_compiled;
    println!("within core limits: {passed} passed, {without_f64} need 64-bit floats, {pipelines} pipelines");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(passed > 2000, "{passed} cases");
}
