//! Times other GPU libraries next to `ragged` on the same rows, and compares the results.

mod on_lampshade;
mod on_massively;
mod on_ragged;
mod record;
mod table;

// The rows and operations of `ragged-bench`.
#[path = "../../../crates/ragged-bench/src/count.rs"]
mod count;
#[path = "../../../crates/ragged-bench/src/inputs.rs"]
mod inputs;
#[path = "../../../crates/ragged-bench/src/least.rs"]
mod least;
#[path = "../../../crates/ragged-bench/src/length_file.rs"]
mod length_file;
#[allow(dead_code, reason = "the benchmark needs more of it")]
#[path = "../../../crates/ragged-bench/src/lengths.rs"]
mod lengths;
#[path = "../../../crates/ragged-bench/src/rows.rs"]
mod rows;
#[allow(dead_code, reason = "only the benchmark's table uses the lower bounds on bytes")]
#[path = "../../../crates/ragged-bench/src/workloads.rs"]
mod workloads;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;

use count::count;
use inputs::{Inputs, Rows};
use lengths::Lengths;
use record::Record;
use rows::Distribution;

/// Times massively and lampshade next to ragged on one adapter: one table, with each library's time as a multiple of
/// ragged's.
#[derive(Debug, Parser)]
struct Args {
    /// Values of a workload
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = count::<{ 1 << 30 }>)]
    values: u32,
    /// Distributions of row lengths [default: all, or none with --row-lengths]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    dist: Vec<Distribution>,
    /// File with one row length per line; may be repeated
    #[arg(long, value_name = "FILE")]
    row_lengths: Vec<PathBuf>,
    /// Operations [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    op: Vec<String>,
    /// Timed runs, of which the median is reported, after a warm-up run
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count::<10_000>)]
    repeat: u32,
    /// File with measurements of the other programs (cuda/, gpu_python.py), for the same table; may be repeated
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// Expected adapter, or a part of its name [default: the adapter that massively chooses]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Output file for the measurements, including those of --with, one object per line
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Reads a result to the host.
type Read<'a> = Box<dyn FnOnce() -> Result<Vec<f32>> + 'a>;

/// An operation of a library: computes, waits, and returns a result that can be read.
struct Contender<'a> {
    peer: &'static str,
    op: &'static str,
    run: Box<dyn Fn() -> Result<Read<'a>> + 'a>,
}

/// Inputs of all libraries, on the host.
struct Data {
    dist: String,
    values: u32,
    lengths: Vec<u32>,
    splits: Vec<u32>,
    x: Vec<f32>,
}

impl Data {
    fn new(lengths: &Lengths, values: u32) -> Self {
        let dist = lengths.name();
        let lengths = lengths.of(values);
        let mut splits = vec![0];
        splits.extend(lengths.iter().scan(0, |end, &l| {
            *end += l;
            Some(*end)
        }));
        Self { dist, values, lengths, splits, x: rows::flat_values(values as usize) }
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let massively = on_massively::Library::new()?;
    if let Some(wanted) = &args.device {
        // Neither library selects an adapter by name.
        let has = |name: &str| name.to_lowercase().contains(&wanted.to_lowercase());
        let is_first = wanted == "gpu" || has(&massively.adapter);
        ensure!(is_first, "massively runs on {}, not on {wanted}: hide it with VK_DRIVER_FILES", massively.adapter);
    }
    let lampshade = on_lampshade::Library::new(&massively.adapter)?;
    let device = ragged::Device::named(&massively.adapter).context("ragged on massively's adapter")?;
    println!(
        "adapter  {}{}",
        device.name(),
        if device.is_software() { " (software: says little about a GPU)" } else { "" }
    );
    println!("{} values, medians of {} runs; in brackets: that many times ragged's time\n", args.values, args.repeat);

    let mut records = Vec::new();
    for lengths in all_lengths(&args)? {
        let data = Data::new(&lengths, args.values);
        let inputs = Inputs::new(&device, Rows::new(data.lengths.clone()))?;
        let uploaded = massively.upload(&data)?;
        let mut all = on_ragged::rows(&device, &inputs);
        all.extend(on_massively::rows(&massively, &uploaded));
        measure(&args, &data, device.name(), &all, &mut records);
    }
    // Operations on flat arrays, for libraries without rows.
    let mut data = Data::new(&Lengths::Of(Distribution::Uniform), args.values);
    data.dist = "flat".to_owned();
    let words: Vec<u32> = inputs::tokens(&data.x).into_iter().map(|t| t as u32).collect();
    let ours = on_ragged::words(&device, &words)?;
    let shaded = lampshade.upload(&words)?;
    let massive = massively.exec.to_device(&words);
    let mut all = on_ragged::flat(&device, &ours);
    all.extend(on_massively::flat(&massively, &massive));
    all.extend(on_lampshade::flat(&lampshade, &shaded));
    measure(&args, &data, device.name(), &all, &mut records);

    for path in &args.with {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let also = record::parse(&text).with_context(|| path.display().to_string())?;
        // What is not in the table has nothing to be compared with.
        records.extend(also.into_iter().filter(|r| r.values == args.values && args.asks_for(&r.op)));
    }
    if let Some(path) = &args.json {
        let mut file = BufWriter::new(File::create(path).with_context(|| path.display().to_string())?);
        for record in &records {
            writeln!(file, "{}", serde_json::to_string(record)?)?;
        }
        file.flush()?;
    }
    println!("{}", table::show(&records));
    let differing = records.iter().filter(|r| r.equal == Some(false)).count();
    ensure!(differing == 0, "{differing} results differ from ragged's");
    Ok(())
}

impl Args {
    fn asks_for(&self, op: &str) -> bool {
        self.op.is_empty() || self.op.iter().any(|o| o == op)
    }
}

/// The selected row lengths.
fn all_lengths(args: &Args) -> Result<Vec<Lengths>> {
    let is_default = args.dist.is_empty() && args.row_lengths.is_empty();
    let dists = if is_default { &Distribution::ALL[..] } else { &args.dist };
    Lengths::select(dists, &args.row_lengths)
}

/// Runs the operations of ragged and of the other libraries. A library that fails is reported and has no time.
fn measure(args: &Args, data: &Data, device: &str, all: &[Contender], records: &mut Vec<Record>) {
    let mut expected: Vec<(&str, Vec<f32>)> = Vec::new();
    for one in all.iter().filter(|c| args.asks_for(c.op)) {
        let measured = catch(|| time(one, args.repeat));
        let (values, ms) = match measured {
            Ok(measured) => measured,
            Err(e) => {
                eprintln!("{} {} {}: {e:#}", one.peer, data.dist, one.op);
                continue;
            }
        };
        let ours = expected.iter().find(|(op, _)| *op == one.op).map(|(_, values)| values);
        let equal = ours.map(|ours| record::same(ours, &values));
        if ours.is_none() && one.peer == on_ragged::PEER {
            expected.push((one.op, values));
        }
        records.push(Record {
            peer: one.peer.to_owned(),
            device: device.to_owned(),
            dist: data.dist.clone(),
            op: one.op.to_owned(),
            values: data.values,
            rows: if data.dist == "flat" { 1 } else { data.lengths.len() },
            ms,
            equal,
        });
    }
}

/// The result, and the median time.
fn time(one: &Contender, repeat: u32) -> Result<(Vec<f32>, f64)> {
    // The first run compiles the kernels.
    let values = (one.run)()?()?;
    let mut times = Vec::new();
    for _ in 0..repeat {
        let start = Instant::now();
        let result = (one.run)()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        drop(result);
    }
    times.sort_by(f64::total_cmp);
    Ok((values, (times[(times.len() - 1) / 2] + times[times.len() / 2]) / 2.0))
}

/// Turns a panic into an error, so that one library does not stop the others.
fn catch<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or_else(|e| {
        let what = e.downcast_ref::<String>().map(String::as_str).or(e.downcast_ref::<&str>().copied());
        Err(anyhow::anyhow!("panicked: {}", what.unwrap_or("no message")))
    })
}
