//! Parquet files that are larger than the memory of the process:
//! `cargo run --release --package ragged-data --features parquet --example larger_than_memory -- FOLDER [MIB]`.
//!
//! Writes two files into the folder if they are not there: 4 GiB (`MIB`) of short rows, and 512 MiB of short rows with a row of
//! 400 MB among them. Reads each in batches of at most 64 MiB in a process whose data the system limits (`ulimit -d`), to 512 MiB
//! and to 2 GiB, and prints sizes, peaks and speed. Batches end with a row group, which has 8 MiB of short rows here.

mod file;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use file::Shape;
use ragged::Device;
use ragged_data::parquet::{ReadOptions, batches};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Most bytes of a batch.
const TARGET: u64 = 64 << 20;

/// The files: name, sizes, limit in MiB.
fn files(mib: u64) -> [(String, Shape, u64); 2] {
    [
        (format!("short_rows_{mib}.parquet"), Shape { bytes: mib << 20, longest: 4 }, 512),
        ("long_row.parquet".into(), Shape { bytes: 512 << 20, longest: 400_000_000 }, 2048),
    ]
}

/// A figure of the process, in MiB.
fn figure(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib >> 10)
}

/// Sums each row, and prints what that took.
fn read(path: &Path) -> Outcome<()> {
    let device = Device::cpu();
    let before = figure("VmHWM");
    let (mut rows, mut values, mut count) = (0, 0, 0);
    let start = Instant::now();
    for records in batches(path, &ReadOptions::new().batch_bytes(TARGET), &device)? {
        let records = records?;
        let lists = records.field_value("values")?.tensor()?;
        lists.reduce_sum(1)?.to_host()?;
        rows += records.len()?;
        values += lists.flat_values()?.shape()[0].unwrap_or(0);
        count += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "  {rows} rows, {values} values in {count} batches: {seconds:.1} s, {:.0} M values/s",
        values as f64 / seconds / 1e6
    );
    println!("  peak of resident memory {:?} MiB, {before:?} before the first batch", figure("VmHWM"));
    Ok(())
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let mib = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(4096);
    if let Some(path) = std::env::var_os("LARGER_THAN_MEMORY_FILE") {
        return read(Path::new(&path));
    }
    for (name, shape, limit) in files(mib) {
        let path = folder.join(&name);
        if !path.exists() {
            file::write(&path, &shape)?;
        }
        let size = std::fs::metadata(&path)?.len() >> 20;
        println!(
            "{name}: {size} MiB, {} rows, the longest of {} bytes; limit {limit} MiB",
            file::rows(&shape),
            shape.longest
        );
        let script = format!("ulimit -d {} && exec \"$0\"", limit << 10);
        let mut child = Command::new("sh");
        child.args(["-c", &script]).arg(std::env::current_exe()?).env("LARGER_THAN_MEMORY_FILE", &path);
        if !child.status()?.success() {
            return Err(format!("{name} does not stream through {limit} MiB").into());
        }
    }
    Ok(())
}
