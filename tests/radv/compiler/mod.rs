//! Compiles modules with RADV, AMD's Vulkan driver in Mesa, for GPUs that are not there, and checks the compiled code.
//!
//! With `RADV_FORCE_FAMILY` the driver offers a device of that family without hardware, which compiles pipelines and
//! runs nothing. The driver reads the variable when it is loaded: each family is compiled in a process of its own.

mod driver;
// What the engine adds to modules for Vulkan.
#[allow(clippy::duplicate_mod, reason = "the unit tests, which include this module, have it twice")]
#[path = "../../../src/backend/gpu/runtime/execution_modes.rs"]
mod execution_modes;
mod isa;
mod jobs;
mod nir;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use driver::Driver;
pub use jobs::{Jobs, On};

/// The families that modules are compiled for: RDNA 2, RDNA 3 and GCN 5.
const FAMILIES: [&str; 3] = ["navi21", "gfx1100", "vega10"];

/// The families whose driver computes a fused multiply-add as a product and a sum.
const SPLITTING: [&str; 1] = ["vega10"];

/// Environment variables that state that RADV, or any driver of a GPU, is not expected on this machine.
const NO_RADV: [&str; 2] = ["RAGGED_EXPECT_NO_RADV", "RAGGED_EXPECT_NO_GPU"];

/// Environment variable of a compiling process: the folder of its jobs.
const FOLDER: &str = "RAGGED_RADV_JOBS";

/// The environment variable of Mesa that names the family.
const FAMILY: &str = "RADV_FORCE_FAMILY";

/// Environment variable that asks for a table of all pipelines per family: its folder.
const TABLE: &str = "RAGGED_RADV_TABLE";

/// Findings that are printed in full.
const PRINTED: usize = 40;

/// The driver's manifest; `None` where the environment states that none is expected.
///
/// # Panics
/// If the driver is missing and expected.
pub fn manifest() -> Option<PathBuf> {
    let folders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let mut files = files.filter_map(|entry| Some(entry.ok()?.path()));
    let is_radv =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("radeon_icd"));
    let found = files.find(is_radv);
    let none_expected = NO_RADV.into_iter().find(|name| std::env::var(name).is_ok_and(|v| v == "1"));
    match (&found, none_expected) {
        (None, None) => panic!(
            "RADV, AMD's driver in Mesa, is not installed (on Debian: mesa-vulkan-drivers); set {}=1 where it is not \
             expected",
            NO_RADV[0]
        ),
        (None, Some(name)) => eprintln!("no module is compiled for AMD's GPUs: RADV is missing, as {name} states"),
        (Some(_), _) => {}
    }
    found
}

/// Compiles the jobs for their families, in processes that run the test `child` of this binary, which must call
/// [`compile_jobs`].
///
/// # Panics
/// If a module does not compile, or its code has a finding.
pub fn compile_for_every_family(jobs: &Jobs, manifest: &Path, child: &str) {
    let start = |family: &'static str| (family, spawned(&mut command(jobs, manifest, child, family)));
    let mut failures = String::new();
    // All at once: each process has one thread.
    for (family, process) in FAMILIES.map(start) {
        let Output { status, stdout, stderr } = process.wait_with_output().expect("the process ends");
        let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        let summary = stdout.lines().find(|line| line.contains(" pipelines: "));
        println!("{}", summary.unwrap_or("no summary"));
        if !status.success() || summary.is_none() {
            // A crash of the driver leaves the name of the job behind.
            let last = jobs.last_started(family);
            failures.push_str(&format!("{family}: {status}, last job {last}\n{stdout}\n{stderr}\n"));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// The command that compiles the jobs for a family by the test `child`.
fn command(jobs: &Jobs, manifest: &Path, child: &str, family: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary has a path"));
    command.args([child, "--exact", "--ignored", "--nocapture"]);
    command.env(FOLDER, jobs.folder()).env(FAMILY, family);
    command.env("VK_ICD_FILENAMES", manifest).env("VK_DRIVER_FILES", manifest);
    // Neither on disk nor in memory: a cached pipeline has no representations.
    command.env("MESA_SHADER_CACHE_DISABLE", "true").env("RADV_DEBUG", "nocache");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn spawned(command: &mut Command) -> Child {
    command.spawn().expect("this binary runs")
}

/// The driver's version, and a line of the statistics of each pipeline on one of the families: name, instructions, VGPRs, bytes
/// of workgroup memory, waves, spilled registers and bytes of code, with tabs between them.
///
/// # Panics
/// As [`compile_for_every_family`].
#[allow(dead_code, reason = "the shader tests have no table")]
pub fn table(jobs: &Jobs, manifest: &Path, child: &str, family: &str) -> (String, String) {
    let mut command = command(jobs, manifest, child, family);
    let Output { status, stdout, stderr } =
        spawned(command.env(TABLE, jobs.folder())).wait_with_output().expect("the process ends");
    let stdout = String::from_utf8_lossy(&stdout);
    assert!(status.success(), "{family}: {status}\n{stdout}\n{}", String::from_utf8_lossy(&stderr));
    let driver = stdout.lines().find_map(|line| Some(line.split_once(DRIVER)?.1)).expect("the driver's version");
    let table = std::fs::read_to_string(jobs.folder().join(format!("{family}.tsv"))).expect("the table is there");
    (driver.to_owned(), table)
}

/// What precedes the version of the driver.
const DRIVER: &str = "driver: ";

/// Compiles the jobs of the process that called this one.
///
/// # Panics
/// As [`compile_for_every_family`].
pub fn compile_jobs() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).expect("called by `compile_for_every_family`"));
    let family = std::env::var(FAMILY).expect("called by `compile_for_every_family`");
    let driver = Driver::open();
    println!("{DRIVER}{}", driver.version());
    let (started, mut jobs) = (Instant::now(), jobs::read(&folder));
    let place = FAMILIES.iter().position(|of| *of == family).expect("one of the families");
    // A table has every pipeline.
    let table = std::env::var_os(TABLE);
    jobs.retain(|job| table.is_some() || job.is_for(place));
    let splits = SPLITTING.contains(&&*family);
    let (mut findings, mut totals) = (Vec::new(), Totals { splits, ..Totals::default() });
    for job in &jobs {
        jobs::note_start(&folder, &family, &job.name);
        match driver.compile(job) {
            Err(e) => findings.push(format!("{}: does not compile: {e}", job.name)),
            Ok(code) => findings.extend(totals.check(job, &code)),
        }
    }
    println!(
        "{family}: {} pipelines: {} instructions, at most {} VGPRs, {} spilled, {} float operations, {} exact \
         fused multiply-adds, {:.1} s",
        jobs.len(),
        totals.instructions,
        totals.vgprs,
        totals.spilled,
        totals.float_operations,
        totals.exact,
        started.elapsed().as_secs_f64()
    );
    if let Some(path) = table {
        let path = PathBuf::from(path).join(format!("{family}.tsv"));
        std::fs::write(path, &totals.table).expect("the table is written");
    }
    findings.extend(totals.missing(&family, &jobs));
    let (count, first) = (findings.len(), &findings[..findings.len().min(PRINTED)]);
    assert!(findings.is_empty(), "{family}: {count} findings, the first of them:\n{}", first.join("\n"));
}

/// Sums over all pipelines of a family.
#[derive(Default)]
struct Totals {
    instructions: u64,
    vgprs: u64,
    spilled: u64,
    float_operations: usize,
    /// Fused multiply-adds of exact conversions.
    exact: usize,
    /// The findings in the jobs that must have some.
    expected: usize,
    /// Whether the family has no fused multiply-add at full rate, so that the driver splits them.
    splits: bool,
    table: String,
}

impl Totals {
    /// The findings in a pipeline's code.
    fn check(&mut self, job: &jobs::Job, code: &driver::Code) -> Vec<String> {
        let statistic = |name: &str| {
            let found = code.statistics.iter().find(|s| s.0.eq_ignore_ascii_case(name));
            found.unwrap_or_else(|| panic!("the driver has no statistic {name}: {:?}", code.statistics)).1
        };
        let (instructions, vgprs) = (statistic("Instructions"), statistic("VGPRs"));
        let spilled = statistic("Spilled VGPRs") + statistic("Spilled SGPRs");
        self.instructions += instructions;
        self.vgprs = self.vgprs.max(vgprs);
        self.spilled += spilled;
        let (memory, waves, size) = (statistic("LDS Size"), statistic("Subgroups per SIMD"), statistic("Code Size"));
        let line = format!("{}\t{instructions}\t{vgprs}\t{memory}\t{waves}\t{spilled}\t{size}\n", job.name);
        if !job.is_control {
            self.table.push_str(&line);
        }

        let fused = isa::fused(&code.assembly);
        self.exact += fused.exact;
        let nir = nir::unguarded(&code.nir);
        self.float_operations += nir.operations;
        let mut out = Vec::new();
        // Where the driver splits fused products, devices have other kernels.
        if !(job.fuses() && self.splits) {
            out.extend(nir.pairs.iter().map(|pair| format!("{}: unguarded: {pair}", job.name)));
        }
        match job.fuses() {
            false => out.extend(fused.others.iter().map(|i| format!("{}: multiply-add: {i}", job.name))),
            true if fused.others.is_empty() => out.push(format!("{}: no multiply-add", job.name)),
            true => {}
        }
        if job.is_control {
            self.expected += usize::from(!fused.others.is_empty()) + usize::from(!nir.pairs.is_empty());
            out.clear();
        }
        out
    }

    /// The findings about the checks themselves: the control is contracted, and operations are found in the NIR.
    fn missing(&self, family: &str, jobs: &[jobs::Job]) -> Option<String> {
        let controls = jobs.iter().filter(|job| job.is_control).count();
        let is_blind = controls == 0 || self.expected != 2 * controls || self.float_operations < jobs.len();
        is_blind.then(|| {
            format!(
                "{family}: the checks are blind: {} of {} findings in unguarded code, {} float operations. Has the \
                 text of the driver's representations changed?",
                self.expected,
                2 * controls,
                self.float_operations
            )
        })
    }
}
