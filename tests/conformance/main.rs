//! Runs the conformance cases on every backend.
//!
//! `RAGGED_CONFORMANCE_FAMILY` and `RAGGED_CONFORMANCE_ID` run the families and the cases whose name contains the
//! text; `RAGGED_CONFORMANCE_DIR` is another folder of cases.

#[path = "../common/mod.rs"]
mod common;

mod case;
mod compare;
mod families;
mod got;
mod judge;
mod quirk;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use case::Case;
use compare::compare;
use families::{family, is_host_step};
use judge::{Outcome, impossible, judge, lacking};
use ragged::{Device, Stats};

/// Prints a line to standard output that the test harness does not capture.
fn say(line: &str) {
    // The harness captures the print macros, but not writes to the stream.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Whether the environment variable is unset, or `name` contains its text.
fn selected(variable: &str, name: &str) -> bool {
    std::env::var(variable).map_or(true, |text| name.contains(&text))
}

/// The cases of each family, in the order of the names.
fn all_cases() -> Vec<(String, Vec<Case>)> {
    let dir = std::env::var_os("RAGGED_CONFORMANCE_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance"), PathBuf::from);
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("a folder entry").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    assert!(!files.is_empty(), "no cases in {}", dir.display());
    let mut out = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !selected("RAGGED_CONFORMANCE_FAMILY", &name) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parse = |(i, line)| Case::parse(line).unwrap_or_else(|e| panic!("{}:{}: {e}", file.display(), i + 1));
        let cases: Vec<Case> = text.lines().enumerate().filter(|(_, l)| !l.is_empty()).map(parse).collect();
        out.push((name, cases.into_iter().filter(|c| selected("RAGGED_CONFORMANCE_ID", &c.id)).collect()));
    }
    out
}

/// Runs every family on a device; returns the failures. Cases of host steps run on `host_steps`: the same adapter, with
/// the option that allows them.
fn run_all(label: &str, device: &Device, host_steps: Option<&Device>) -> Vec<String> {
    let lacking = lacking(device);
    let mut failures = Vec::new();
    for (name, cases) in all_cases() {
        let family = family(&name);
        let claimed = family.as_ref().is_some_and(|f| f.claimed);
        let (mut passed, mut failed, mut unsupported, mut on, mut hosted) = (0, 0, 0, 0, 0);
        for case in &cases {
            let mut impossible = impossible(case, &lacking);
            let by_host = is_host_step(&name, case);
            let device = if by_host { host_steps.unwrap_or(device) } else { device };
            if by_host && host_steps.is_none() {
                impossible = impossible.or(Some("no device of this adapter allows host steps".into()));
            }
            let excused = impossible.is_some();
            let host_before = host_work(device);
            let outcome = match (&family, impossible) {
                (None, _) => Outcome::Unsupported("a later family".into()),
                (Some(_), Some(why)) => Outcome::Unsupported(why),
                (Some(family), None) => judge(case, family.run, device),
            };
            match outcome {
                Outcome::Passed { on_device } => {
                    passed += 1;
                    let all_there = on_device && host_work(device) == host_before;
                    on += usize::from(all_there);
                    hosted += usize::from(by_host && !all_there);
                }
                Outcome::Unsupported(_) if excused || !claimed => unsupported += 1,
                Outcome::Unsupported(why) => {
                    failed += 1;
                    failures.push(format!("{label} {} ({}): unsupported: {why}", case.id, case.op));
                }
                Outcome::Failed(why) => {
                    failed += 1;
                    failures.push(format!("{label} {} ({}): {why}", case.id, case.op));
                }
            }
        }
        // No operation may run on the host implicitly.
        if claimed && !device.is_cpu() && on * 100 < (passed - hosted) * 98 {
            failures.push(format!("{label} {name}: of {passed} cases {on} alone ran wholly on the device"));
        }
        say(&format!(
            "conformance {label} {name}: {passed} passed, {failed} failed, {unsupported} unsupported, {on} on device"
        ));
        if hosted > 0 {
            say(&format!("conformance {label} {name}: {hosted} of these by host steps"));
        }
    }
    say(&format!("conformance {label}: {} pipelines compiled", device.stats().pipelines_compiled));
    failures
}

/// Work done on the host for `device` so far: its host steps and, for a GPU, all work of the CPU backend.
fn host_work(device: &Device) -> (u64, Option<Stats>) {
    (device.stats().host_steps, (!device.is_cpu()).then(|| Device::cpu().stats()))
}

/// Locks the CPU backend against the other tests of this binary, so that its counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The first adapter, with operations that run on the host.
#[cfg(feature = "gpu")]
fn gpu_with_host_steps() -> Option<Device> {
    common::gpu_with(&ragged::DeviceOptions::default().host_steps(true))
}

#[cfg(not(feature = "gpu"))]
fn gpu_with_host_steps() -> Option<Device> {
    None
}

/// Runs the cases on the devices of one kind.
fn conformance(devices: &[(String, Device)]) {
    let _guard = exclusive();
    let mut failures = Vec::new();
    for (k, (label, device)) in devices.iter().enumerate() {
        let host_steps = match device.is_cpu() {
            true => Some(device.clone()),
            false if k == 0 => gpu_with_host_steps(),
            false => None,
        };
        failures.extend(run_all(label, device, host_steps.as_ref()));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn cpu() {
    conformance(&[("cpu".to_owned(), Device::cpu())]);
}

#[test]
fn gpu() {
    conformance(&common::gpus());
}

#[test]
fn inputs_survive_a_round_trip() {
    let _guard = exclusive();
    for (_, cases) in all_cases() {
        for case in cases {
            for input in &case.inputs {
                let case::Value::Tensor(t) = input else { continue };
                // A few cases have invalid splits.
                let Ok(on_device) = t.to_device(&Device::cpu()) else { continue };
                let back = got::Read::Tensor { tensor: on_device.to_host().expect("a read"), index: false };
                let exact = Case { tol: None, quirk: false, ..case.clone() };
                compare(&exact, input, &back).unwrap_or_else(|e| panic!("{}: {e}", case.id));
            }
        }
    }
}

/// Arguments that no case of the files has: lengths of rows for `from_shape`, and a padding of a number per column.
#[test]
fn nested_lengths_and_vectors_of_padding_are_read() {
    let _guard = exclusive();
    let cases = [
        r#"{"id":"lengths","op":"structured.from_shape","inputs":[],"attrs":{"lengths":[2,[1,3]]},"expected":{"struct":{
            "rank":2,"shape":[2,null],"row_partitions":[[0,1,4]],"nrows":2,"fields":{}},"pyval":[[{}],[{},{},{}]]}}"#,
        r#"{"id":"padding","op":"lod.sequence_pad","inputs":[{"dtype":"f32","nested_row_splits":[[0,1,3]],
            "inner_shape":[3,2],"values":[1.0,2.0,3.0,4.0,5.0,6.0]}],"attrs":{"pad_value":[-1.0,-2.0],"maxlen":null},
            "expected":{"list":[{"dtype":"f32","nested_row_splits":[],"inner_shape":[2,2,2],
            "values":[1.0,2.0,-1.0,-2.0,3.0,4.0,5.0,6.0]},
            {"dtype":"i64","nested_row_splits":[],"inner_shape":[2],"values":[1,2]}]}}"#,
    ];
    for (text, of) in cases.into_iter().zip(["structured", "lod"]) {
        let (case, run) = (Case::parse(text).expect("a case"), family(of).expect("a family").run);
        for (name, device) in common::devices() {
            match judge(&case, run, &device) {
                Outcome::Passed { .. } => {}
                Outcome::Failed(why) | Outcome::Unsupported(why) => panic!("{} on {name}: {why}", case.id),
            }
        }
    }
}
