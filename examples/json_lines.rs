//! JSON lines of nested records into columns: reads a file (or generated lines), prints the schema, the time, the peak
//! memory and a summary, which are computed without a loop over records.
//!
//!     cargo run --release --example json_lines [-- FILE]

use std::time::Instant;

use ragged::{Device, JsonLines, Result, StructuredTensor, keys};

/// A few lines like those of `benches/json_lines.py`.
const LINES: &str = r#"{"id": 1, "user": {"name": "ada", "age": 36}, "tags": ["a", "b"], "items": [{"sku": "x1", "price": 2.5}]}
{"id": 2, "user": {"name": "alan", "age": 41}, "tags": [], "items": [{"sku": "x2", "price": 1.0}, {"sku": "x1", "price": 2.5}]}
{"id": 3, "user": {"name": "grace"}, "tags": ["c"], "items": []}
"#;

/// The most memory that the process has had, in MiB, where the system tells it.
fn peak_mebibytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes / 1024.0)
}

/// What each record costs, and how many words its tags have.
fn summary(records: &StructuredTensor) -> Result<String> {
    let price = records.get(keys![.., "items", .., "price"])?.tensor()?;
    let tags = records.field_value("tags")?.tensor()?;
    let (cost, words) = (price.reduce_sum(1)?, tags.row_lengths(1)?);
    Ok(format!("cost of the dearest record {}, most tags {}", cost.reduce_max(..)?, words.reduce_max(..)?))
}

fn main() -> Result<()> {
    let device = Device::cpu();
    let start = Instant::now();
    let records = match std::env::args().nth(1) {
        Some(file) => {
            let mut lines = JsonLines::open(file)?;
            let records = lines.read(&device)?;
            println!("schema {}", lines.schema());
            records
        }
        None => {
            // The third line has no age: it is skipped and counted.
            let mut lines = JsonLines::new(LINES.as_bytes()).skip_misfits();
            let records = lines.read(&device)?;
            println!("schema {}", lines.schema());
            for misfit in lines.misfits() {
                println!("skipped line {}: {}: {}", misfit.line, misfit.path, misfit.what);
            }
            records
        }
    };
    println!("records {:?}", records.shape());
    println!("seconds {:.4}", start.elapsed().as_secs_f64());
    if let Some(peak) = peak_mebibytes() {
        println!("peak_mib {peak:.1}");
    }
    println!("{}", summary(&records)?);
    Ok(())
}
