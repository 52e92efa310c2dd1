//! What AMD's compiler makes of the kernels of the benchmark's operations, next to `benches/results/isa.md`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::compiler::{Jobs, On, manifest, table};
use super::inputs::{Inputs, Rows};
use super::rows::Distribution;
use super::{VALUES, idle, workloads};
use ragged::DeviceOptions;

/// The family of the table.
const FAMILY: &str = "navi21";

/// Environment variable: `write` writes the file anew.
const WRITE: &str = "RAGGED_ISA";

/// What the file begins with, before the version of the driver.
const HEADER: &str = "# Kernels of the benchmark's operations, as AMD's compiler compiles them

The kernels of the 14 workloads on rows of four distributions, compiled by Mesa's RADV for navi21 without a card, with waves of 64
threads. Workgroup memory in bytes; at most 16 waves fit a SIMD. Without the clamps of indices into arrays of workgroup memory
that wgpu adds. The test `kernels_of_the_workloads_stay_small` of `tests/radv` fails when registers are spilled, or when
instructions, registers or workgroup memory rise by more than a tenth. `RAGGED_ISA=write cargo test --test radv statistics`
writes the file anew.
";

const COLUMNS: &str = "| kernel | instructions | VGPRs | workgroup memory | waves per SIMD | bytes of code |";

/// The statistics of one pipeline: instructions, VGPRs, workgroup memory, waves, bytes of code.
type Row = [u64; 5];

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results/isa.md")
}

/// The modules of the operations, each once, under the name of the first operation that uses it.
fn jobs() -> Jobs {
    let mut jobs = Jobs::new("statistics");
    let mut folder = std::env::temp_dir();
    folder.push(format!("ragged-modules-statistics-{}", std::process::id()));
    for distribution in Distribution::ALL {
        for workload in workloads::ALL {
            let device = idle(&DeviceOptions::default().host_steps(true).dump_wgsl(&folder));
            let inputs = Inputs::new(&device, Rows::new(distribution.lengths(VALUES))).expect("valid inputs");
            (workload.record)(&inputs).and_then(|t| t.eval()).expect("the operation runs");
            let mut modules: Vec<(String, String)> = std::fs::read_dir(&folder)
                .expect("modules were compiled")
                .map(|entry| {
                    let path = entry.expect("an entry").path();
                    let text = std::fs::read_to_string(&path).expect("readable");
                    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    (stem.rsplit_once('-').map_or(stem.clone(), |(label, _)| label.to_owned()), text)
                })
                .collect();
            modules.sort_unstable();
            for (label, text) in modules {
                let kernel = label.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
                jobs.add(&format!("{}, {}: {kernel}", workload.name, distribution.name()), &text, On::Every);
            }
            std::fs::remove_dir_all(&folder).expect("removable");
        }
    }
    jobs
}

/// The rows of a table whose fields have that separator.
fn rows(table: &str, separator: char) -> BTreeMap<String, Row> {
    let row = |line: &str| {
        let mut fields = line.trim_matches(['|', ' ']).split(separator).map(str::trim);
        let name = fields.next()?.to_owned();
        let numbers: Vec<u64> = fields.map(|field| field.parse().ok()).collect::<Option<_>>()?;
        Some((name, numbers.try_into().ok()?))
    };
    table.lines().filter_map(row).collect()
}

/// The statistics of all kernels, of which none spills a register.
fn found(jobs: &Jobs, manifest: &Path) -> (String, BTreeMap<String, Row>) {
    let (driver, table) = table(jobs, manifest, "compile_in_this_process", FAMILY);
    let mut all = BTreeMap::new();
    for line in table.lines() {
        let (name, numbers) = line.split_once('\t').expect("a name");
        let numbers: Vec<u64> = numbers.split('\t').map(|number| number.parse().expect("a number")).collect();
        let &[instructions, vgprs, memory, slots, spilled, size] = numbers.as_slice() else { panic!("{line}") };
        assert_eq!(spilled, 0, "{name} spills registers");
        // Several kernels of an operation may have one name.
        let names = std::iter::once(name.to_owned()).chain((2..).map(|k| format!("{name} ({k})")));
        let name = names.into_iter().find(|name| !all.contains_key(name)).expect("there are numbers enough");
        // The driver counts slots of waves of 32 threads.
        all.insert(name, [instructions, vgprs, memory, slots / 2, size]);
    }
    (driver, all)
}

fn written(driver: &str, all: &BTreeMap<String, Row>) -> String {
    let mut out = format!("{HEADER}\nDriver: {driver}\n\n{COLUMNS}\n|---|---|---|---|---|---|\n");
    for (name, row) in all {
        let numbers: Vec<String> = row.iter().map(u64::to_string).collect();
        writeln!(out, "| {name} | {} |", numbers.join(" | ")).expect("a string takes text");
    }
    let sum: u64 = all.values().map(|row| row[0]).sum();
    writeln!(out, "\n{} kernels, {sum} instructions.", all.len()).expect("a string takes text");
    out
}

#[test]
fn kernels_of_the_workloads_stay_small() {
    let Some(manifest) = manifest() else { return };
    let (driver, found) = found(&jobs(), &manifest);
    assert!(found.len() > 30, "{found:?}");
    if std::env::var(WRITE).is_ok_and(|word| word == "write") {
        std::fs::write(path(), written(&driver, &found)).expect("written");
        return;
    }
    let text = std::fs::read_to_string(path()).expect("the file is in the repository");
    let before = rows(&text, '|');
    if !text.contains(&format!("\nDriver: {driver}\n")) {
        eprintln!("{driver} is another compiler than that of {}: only spills are tested", path().display());
        return;
    }
    let rises = |now: u64, before: u64| now * 10 > before * 11;
    let mut wrong = Vec::new();
    for (name, row) in &found {
        match before.get(name) {
            None => wrong.push(format!("{name} is new: {row:?}")),
            Some(old) if (0..3).any(|k| rises(row[k], old[k])) => wrong.push(format!("{name}: {row:?}, was {old:?}")),
            Some(_) => {}
        }
    }
    wrong.extend(before.keys().filter(|name| !found.contains_key(*name)).map(|name| format!("{name} is gone")));
    assert!(wrong.is_empty(), "{}\n{WRITE}=write writes {} anew", wrong.join("\n"), path().display());
}

#[test]
fn rows_are_read_as_they_are_written() {
    let all = BTreeMap::from([("sum, uniform: row_reduce main".to_owned(), [800, 24, 4096, 16, 3000])]);
    assert_eq!(rows(&written("a driver", &all), '|'), all);
}
