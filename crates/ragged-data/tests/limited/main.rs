//! Parquet files that exceed the memory of the process: batches by bytes in child processes under a limit of the system, whose
//! allocations are counted.
#![cfg(target_os = "linux")]

mod allocations;
#[path = "../../../../tests/memory/child.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod child;
#[path = "../../examples/larger_than_memory/file.rs"]
mod file;

use std::path::PathBuf;

use ragged::{Device, Result, StructuredTensor};
use ragged_data::dataset::Dataset;
use ragged_data::parquet::{ReadOptions, batches};

use file::Shape;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

const MIB: usize = 1 << 20;

/// Bytes of a batch.
const TARGET: usize = 4 * MIB;

/// 160 MiB of short rows, and one of 24 MiB among them.
const SHAPE: Shape = Shape { bytes: 160 * MIB as u64, longest: 24 * MIB as u64 };

/// Row groups of short rows, and that of the long one.
const CHUNKS: usize = file::ROW_GROUP as usize + SHAPE.longest as usize;

/// Memory of the child process beside that of the batches: code, stacks, the heap's own.
const BASE: usize = 48 * MIB;

/// Most bytes of the batches' memory: that of the promise.
const MOST: usize = 3 * (TARGET + SHAPE.longest as usize) + CHUNKS;

struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs the test of that name in a child process under a limit that is smaller than the file; the child's path to it.
fn limited(name: &str) -> Option<PathBuf> {
    let file = std::env::var_os("RAGGED_LIMITED_FILE").map(PathBuf::from);
    if !child::is_child() {
        let path = std::env::temp_dir().join(format!("ragged-data-{}-{name}.parquet", std::process::id()));
        let path = Temporary(path);
        file::write(&path.0, &SHAPE).expect("a file");
        let limit = BASE + MOST;
        let size = std::fs::metadata(&path.0).expect("the file").len();
        assert!(size > limit as u64, "the file has {size} bytes, the limit is {limit}");
        // Data and heap, but not the addresses that threads reserve.
        let shell = format!("ulimit -d {} && export RAGGED_LIMITED_FILE={}", limit >> 10, path.0.display());
        print!("{}", child::output(name, &shell));
        return None;
    }
    file
}

/// The number and the sum of the values of `records`.
fn sums(records: &StructuredTensor) -> Result<(u64, i64)> {
    let rows = records.field_value("values")?.tensor()?;
    let values = rows.flat_values()?.to_shared()?.values;
    let values = values.numbers::<i32>().expect("numbers");
    Ok((values.len() as u64, values.iter().map(|&v| i64::from(v)).sum()))
}

/// Runs it, and asserts that it takes no more memory than was promised.
fn within(run: impl FnOnce() -> Result<(u64, i64)>) {
    let (sums, peak) = allocations::peak_of(run);
    let sums = sums.expect("batches");
    println!("at most {} MiB of {} MiB", peak / MIB, MOST / MIB);
    assert_eq!(sums, file::sums(&SHAPE));
    assert!(peak <= MOST, "{peak} bytes are more than {MOST}");
}

#[test]
fn batches_stream_through() {
    let Some(path) = limited("batches_stream_through") else { return };
    within(|| {
        let options = ReadOptions::new().batch_bytes(TARGET as u64);
        let (mut count, mut sum) = (0, 0);
        for records in batches(&path, &options, &Device::cpu())? {
            let (n, s) = sums(&records?)?;
            (count, sum) = (count + n, sum + s);
        }
        Ok((count, sum))
    });
}

#[test]
fn datasets_stream_through() {
    let Some(path) = limited("datasets_stream_through") else { return };
    within(|| {
        let options = ReadOptions::new().batch_bytes(TARGET as u64);
        let (mut count, mut sum) = (0, 0);
        for batch in &Dataset::from_parquet([&path], &options) {
            let batch = batch?;
            let values = batch.field("values")?.values::<i32>()?;
            count += values.len() as u64;
            sum += values.iter().map(|&v| i64::from(v)).sum::<i64>();
        }
        Ok((count, sum))
    });
}

/// The whole file does not fit, and a row of it that is refused takes no memory.
#[test]
fn what_does_not_fit_is_an_error() {
    let Some(path) = limited("what_does_not_fit_is_an_error") else { return };
    let options = ReadOptions::new().batch_bytes(TARGET as u64).max_row_bytes(TARGET as u64);
    let (mut refused, mut rows) = (Vec::new(), 0);
    for outcome in batches(&path, &options, &Device::cpu()).expect("a file") {
        match outcome {
            Ok(records) => rows += records.len().expect("a number") as u64,
            Err(e) => refused.push(e.to_string()),
        }
    }
    let (long, all) = (file::longest_row(&SHAPE), file::rows(&SHAPE));
    assert_eq!((refused.len(), rows), (1, all - 1), "{refused:?}");
    let says = format!("(row {long} of {}) needs {} bytes, but {TARGET} is the", path.display(), SHAPE.longest + 8);
    assert!(refused[0].contains(&says), "{}", refused[0]);
}
