//! Every claimed family of the conformance suite on the first adapter, with the minimum limits of WebGPU and without
//! native 64-bit types, so that 64-bit integers and floats are pairs of words.

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
use judge::{Outcome, impossible, judge};
use ragged::{DType, Device, DeviceOptions, Tuning};

/// A device with the minimum limits of WebGPU; `None` where no adapter is expected.
fn smallest() -> Option<Device> {
    let options = DeviceOptions::default().core_limits(true).no_int64(true).no_f64(true);
    // The tuning is that of a GPU, also on software adapters. Modules are WGSL, as wgpu compiles it.
    let options = options.no_timestamps(true).no_float_controls(true).host_steps(true).tuning(Tuning::default());
    common::gpu_with(&options)
}

/// Cases that do not run: with a dtype that the crate lacks, supported by no backend, and of families that are not claimed.
const EXCLUDED: [usize; 3] = [0, 0, 90];

/// Cases with 64-bit floats.
const OF_DOUBLES: usize = 107;

/// Outcomes of cases. Every case of every file counts once.
#[derive(Default)]
struct Tally {
    cases: usize,
    passed: usize,
    /// Cases with a dtype that the crate lacks.
    without_dtype: usize,
    /// Cases that no backend supports, which the suite itself judges.
    unsupported: usize,
    /// Cases of families that are not claimed.
    unclaimed: usize,
    /// Cases with 64-bit floats that another test runs.
    of_doubles: usize,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.passed += other.passed;
        self.without_dtype += other.without_dtype;
        self.unsupported += other.unsupported;
        self.unclaimed += other.unclaimed;
        self.of_doubles += other.of_doubles;
        self.failures.extend(other.failures);
    }
}

/// Whether the outcome is that a kernel binds too many buffers, which is never an error of the arguments.
fn exceeds_bindings(case: &Case, run: fn(&Case, &Device) -> ragged::Result<got::Got>, device: &Device) -> bool {
    let answer = run(case, device).and_then(|got| got.read());
    matches!(answer, Err(ragged::Error::Limit { unit: "storage buffers", .. }))
}

/// Runs the cases of a file, if its family is claimed.
fn run(file: &Path, device: &Device) -> Tally {
    let mut out = Tally::default();
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(file).expect("the family has cases");
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    out.cases = lines.len();
    let Some(family) = families::family(&name).filter(|family| family.claimed) else {
        out.unclaimed = lines.len();
        println!("{name} within core limits: {} cases of a family that is not claimed", lines.len());
        return out;
    };
    for line in lines {
        let case = Case::parse(line).expect("a case");
        if impossible(&case, &[]).is_some() {
            out.without_dtype += 1;
            continue;
        }
        if case.uses(DType::F64) && !with_emulated() {
            out.of_doubles += 1;
            continue;
        }
        match judge(&case, family.run, device) {
            Outcome::Passed { .. }
                if matches!(case.expected, case::Expected::Error(_)) && exceeds_bindings(&case, family.run, device) =>
            {
                out.failures.push(format!("{}: more buffers than the device binds", case.id));
            }
            Outcome::Passed { .. } => out.passed += 1,
            Outcome::Failed(why) => out.failures.push(format!("{}: {why}", case.id)),
            // The suite decides which operations may be unsupported; those of the CPU backend must be supported here
            // too.
            Outcome::Unsupported(why) => match judge(&case, family.run, &Device::cpu()) {
                Outcome::Passed { .. } => {
                    out.failures.push(format!("{}: unsupported here, not on the CPU: {why}", case.id));
                }
                _ => out.unsupported += 1,
            },
        }
    }
    println!("{name} within core limits: {} passed", out.passed);
    out
}

/// Whether all tests run doubles where adapters emulate them: software adapters compile them for minutes.
fn with_emulated() -> bool {
    std::env::var("RAGGED_EMULATED").is_ok_and(|v| v == "1")
}

/// The files of cases, by family.
fn files() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let files = fs::read_dir(&dir).expect("the suite").map(|entry| entry.expect("an entry").path());
    files.filter(|file| file.extension().is_some_and(|e| e == "jsonl")).collect()
}

#[test]
fn every_family() {
    let Some(device) = smallest() else { return };
    // Compilation takes most of the time: all families share the pipelines of one device, on a few threads.
    let (queue, total) = (Mutex::new(files()), Mutex::new(Tally::default()));
    let work = || {
        while let Some(file) = { queue.lock().expect("no panic").pop() } {
            let tally = run(&file, &device);
            total.lock().expect("no panic").add(tally);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let Tally { cases, passed, without_dtype, unsupported, unclaimed, of_doubles, failures } =
        total.into_inner().expect("no panic");
    let pipelines = device.stats().pipelines_compiled;
    println!(
        "within core limits, of {cases} cases: {passed} passed, {without_dtype} need a \
         dtype that the crate lacks, {unsupported} are supported nowhere, {unclaimed} are of families that are not \
         claimed, {of_doubles} run in another test; {pipelines} pipelines"
    );
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    let excluded = [without_dtype, unsupported, unclaimed];
    assert_eq!(of_doubles, if with_emulated() { 0 } else { OF_DOUBLES }, "cases with 64-bit floats");
    assert_eq!(passed + of_doubles + excluded.iter().sum::<usize>(), cases, "every case counts once");
    // A case that is excluded for a new reason, or no longer, changes these numbers.
    assert_eq!(excluded, EXCLUDED, "cases that did not run");
}

/// Cases with 64-bit floats on a device that has 64-bit integers, but no such floats: as pairs of words in kernels whose
/// integers are pairs too, beside kernels with native ones.
#[test]
fn doubles_beside_native_integers() {
    let Some(device) = common::gpu_with(&DeviceOptions::default().no_f64(true).host_steps(true)) else { return };
    assert!(device.numerics().expect("the probe runs").emulates_f64);
    let (mut passed, mut failures) = (0, Vec::new());
    for file in files() {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some(family) = families::family(&name).filter(|family| family.claimed) else { continue };
        let text = fs::read_to_string(&file).expect("the family has cases");
        let cases = text.lines().filter(|line| !line.is_empty()).map(|line| Case::parse(line).expect("a case"));
        for case in cases.filter(|case| case.uses(DType::F64)) {
            match judge(&case, family.run, &device) {
                Outcome::Passed { .. } => passed += 1,
                Outcome::Failed(why) | Outcome::Unsupported(why) => failures.push(format!("{}: {why}", case.id)),
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(passed, OF_DOUBLES, "cases with 64-bit floats");
}
