//! `ragged-bench jobs`: the jobs of `examples/`, end to end, next to plain loops.

#[allow(dead_code, reason = "the test of the same name uses a part of it")]
pub mod cases;

use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use ragged::Device;

use crate::count::count;
use crate::devices;
use crate::failures::Failures;
use crate::median::median;
use crate::table::{bytes, grouped, table};

/// Options of `ragged-bench jobs`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Device: `all`, `cpu`, `gpu` (the first adapter) or a part of an adapter's name; may be repeated
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    device: Vec<String>,
    /// Approximate number of values in the ragged inputs
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = count::<{ 1 << 28 }>)]
    values: u32,
    /// Timed runs, of which the median is reported, after a warm-up run
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count::<10_000>)]
    repeat: u32,
    /// Runs only the jobs whose names contain this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    job: String,
}

/// The result of a run, and its time in milliseconds.
fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed().as_secs_f64() * 1e3)
}

/// Runs the jobs on the devices, from inputs on the device to results on the host.
///
/// # Errors
/// A device does not exist; at the end, an error if a job failed.
pub fn run(options: &Options, out: &mut impl Write) -> Result<()> {
    let mut failures = Failures::default();
    let devices = devices::select(&options.device, &mut failures)?;
    let repeat = options.repeat as usize;
    let mut lines = Vec::new();
    for (name, make) in cases::ALL.into_iter().filter(|(name, _)| name.contains(&options.job)) {
        let case = make(options.values as usize);
        let loops = median((0..repeat.max(1)).map(|_| timed(|| (case.plain)()).1).collect());
        for device in &devices {
            match measure(device, &case, repeat) {
                Err(e) => failures.report(&anyhow::Error::new(e).context(format!("{name} on {}", device.name()))),
                Ok(measured) => {
                    let Measured { first, median, dispatches, waits, moved, peak } = measured;
                    let numbers = [first, median, loops, median / loops];
                    let mut line = vec![name.to_owned(), device.name().to_owned(), grouped(case.values as u64)];
                    line.extend(numbers.map(|x| format!("{x:.2}")));
                    line.extend([dispatches, waits].map(|n| n.to_string()));
                    line.extend([moved, peak].map(bytes));
                    lines.push(line);
                }
            }
        }
    }
    let header = [
        "job",
        "device",
        "values",
        "first ms",
        "ms",
        "loop ms",
        "ms / loop ms",
        "dispatches",
        "waits",
        "moved",
        "peak memory",
    ];
    writeln!(out, "{}", table(&header, 2, lines))?;
    writeln!(
        out,
        "\nThe loops are sequential Rust; `moved` is what the kernels of one run read and write; memory is that of arrays on the \
         device since the program started."
    )?;
    failures.outcome()
}

struct Measured {
    first: f64,
    median: f64,
    dispatches: u64,
    waits: u64,
    moved: u64,
    peak: u64,
}

fn measure(device: &Device, case: &cases::Case, repeat: usize) -> ragged::Result<Measured> {
    let job = (case.upload)(device)?;
    device.wait()?;
    let (result, first) = timed(&job);
    result?;
    let before = device.stats();
    let mut times = Vec::with_capacity(repeat);
    for _ in 0..repeat.max(1) {
        let (result, ms) = timed(&job);
        result?;
        times.push(ms);
    }
    let work = device.stats() - before;
    let of_one = |all: u64| all / repeat.max(1) as u64;
    Ok(Measured {
        first,
        median: median(times),
        dispatches: of_one(work.dispatches),
        waits: of_one(work.waits),
        moved: of_one(work.bytes_moved),
        peak: device.stats().buffer_bytes_peak,
    })
}
