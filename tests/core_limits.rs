//! The core of the conformance suite on the first adapter with its limits forced down to those of core WebGPU.

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

use std::path::Path;

use case::Case;
use judge::{Outcome, impossible, judge, lacking};
use ragged::{Device, DeviceOptions};

/// The smallest device that WebGPU allows, but for 64-bit numbers; none where none is expected.
fn smallest() -> Option<Device> {
    let options = DeviceOptions::default().core_limits(true).no_subgroups(true).no_timestamps(true);
    (!common::gpus().is_empty()).then(|| Device::gpu_with(&options).expect("the first adapter opens with less"))
}

/// Runs a family of more than 100 cases.
fn run(family: &str) {
    run_of(family, 101);
}

/// Runs a family, of whose cases at least so many must pass.
fn run_of(family: &str, least: usize) {
    let Some(device) = smallest() else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/conformance/{family}.jsonl"));
    let text = std::fs::read_to_string(&path).expect("the family has cases");
    let lacking = lacking(&device);
    let run = families::family(family).expect("the family is there").run;
    let (mut passed, mut failures) = (0, Vec::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        let case = Case::parse(line).expect("a case");
        if impossible(&case, &lacking).is_some() {
            continue;
        }
        match judge(&case, run, &device) {
            Outcome::Passed { .. } => passed += 1,
            Outcome::Failed(why) => failures.push(format!("{}: {why}", case.id)),
            // The suite itself says which operations may be absent.
            Outcome::Unsupported(_) => {}
        }
    }
    println!("{family} within core limits: {passed} passed, {} pipelines", device.stats().pipelines_compiled);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(passed >= least, "{passed} cases");
}

#[test]
fn reduce() {
    run("reduce");
}

#[test]
fn getitem() {
    run("getitem");
}

#[test]
fn binary() {
    run("binary");
}

#[test]
fn concat() {
    run("concat");
}

#[test]
fn mask() {
    run_of("mask", 93);
}
