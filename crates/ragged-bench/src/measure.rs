//! Times the workloads.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use ragged::{Device, Error, HostTensor, HostValues, Stats, Tensor};

use crate::args::Args;
use crate::failures::Failures;
use crate::inputs::{Inputs, Rows};
use crate::lengths::Lengths;
use crate::median::median;
use crate::progress::progress;
use crate::records::{self, Record};
use crate::rows;
use crate::table::grouped;
use crate::workloads::{ALL, Workload};

/// Warm-up time of a workload after its first run, if there are several timed runs.
const WARM_UP: Duration = Duration::from_millis(30);

/// Default number of values per workload: on the host's CPU, and on a GPU.
const VALUES: [u32; 2] = [1 << 16, 1 << 22];

/// Measures the requested workloads, and prints a table per device. A failure on a device is reported and ends its
/// measurements; the records until then are kept.
///
/// # Errors
/// `out` cannot be written.
pub fn run(
    args: &Args,
    lengths: &[Lengths],
    devices: &[Device],
    failures: &mut Failures,
    out: &mut impl Write,
) -> Result<Vec<Record>> {
    let asked = |name: &str| args.ops().contains(&name);
    let workloads: Vec<Workload> = ALL.into_iter().filter(|w| asked(w.name)).collect();
    let steps = (lengths.len() * workloads.len()) as u64;
    let bar = progress(devices.len() as u64 * steps);
    let mut all = Vec::new();
    for (device, done) in devices.iter().zip(1..) {
        let values = args.values.unwrap_or(VALUES[usize::from(!device.is_software())]);
        let mut of_device = Vec::new();
        if let Err(e) = measure_all(device, args, lengths, values, &workloads, &bar, &mut of_device) {
            bar.suspend(|| failures.report(&e));
        }
        // Also after an early failure.
        bar.set_position(done * steps);
        if of_device.is_empty() {
            continue;
        }
        let runs = if args.repeat == 1 { "one run".to_owned() } else { format!("medians of {} runs", args.repeat) };
        let table = records::show(&of_device);
        bar.suspend(|| -> Result<()> {
            let copied = of_device[0].copy_gb_s;
            let values = grouped(values.into());
            writeln!(out, "{}: {values} values per workload, {runs}; a copy moves {copied:.2} GB/s\n", device.name())?;
            writeln!(out, "{table}\n")?;
            if let Some(skew) = records::skew(&of_device) {
                writeln!(out, "{skew}\n")?;
            }
            Ok(())
        })?;
        all.extend(of_device);
    }
    bar.finish_and_clear();
    if args.values.is_none() {
        writeln!(out, "--values sets the size, --repeat the number of runs; see --help.")?;
    }
    Ok(all)
}

/// Measures the workloads on one device, until one fails. Workloads that exceed the device's limits are reported and
/// skipped.
fn measure_all(
    device: &Device,
    args: &Args,
    lengths: &[Lengths],
    values: u32,
    workloads: &[Workload],
    bar: &ProgressBar,
    records: &mut Vec<Record>,
) -> Result<()> {
    let copied = || format!("a copy of {values} values on {}", device.name());
    let copy_gb_s = copy_gb_s(device, values, args.repeat).with_context(copied)?;
    for lengths in lengths {
        let dist = lengths.name();
        let context = || format!("{values} values in {dist} rows on {}", device.name());
        let rows = Rows::new(lengths.of(values));
        let nrows = rows.lengths.len();
        let least = workloads.iter().map(|w| (w.least)(&rows)).collect::<Vec<u64>>();
        let inputs = Inputs::new(device, rows).with_context(context)?;
        for (workload, least_bytes) in workloads.iter().zip(least) {
            bar.set_message(format!("{} {dist} {}", device.name(), workload.name));
            let measured = measure(device, || (workload.record)(&inputs), args.repeat);
            let measured = match measured.with_context(context).with_context(|| workload.name) {
                Ok(measured) => measured,
                Err(e) if is_too_large(&e) => {
                    bar.suspend(|| eprintln!("skipped: {e:#}"));
                    bar.inc(1);
                    continue;
                }
                Err(e) => return Err(e),
            };
            records.push(Record {
                peer: if device.is_cpu() { "ragged-cpu" } else { "ragged-gpu" },
                device: device.name().to_owned(),
                dist: dist.clone(),
                op: workload.name,
                values,
                rows: nrows,
                ms: measured.ms,
                gpu_ms: measured.gpu_ms,
                host_us: measured.host_us,
                dispatches: measured.work.dispatches,
                submissions: measured.work.submissions,
                waits: measured.work.waits,
                bytes: measured.bytes,
                least_bytes,
                copy_gb_s,
                sweep: lengths.sweep(),
            });
            bar.inc(1);
        }
    }
    Ok(())
}

/// Whether the error is a limit of the device, such as the largest buffer, which padded rows exceed first.
fn is_too_large(e: &anyhow::Error) -> bool {
    matches!(e.downcast_ref(), Some(Error::Limit { .. }))
}

/// The measurements of one workload.
struct Measured {
    ms: f64,
    gpu_ms: Option<f64>,
    host_us: Option<f64>,
    work: Stats,
    bytes: Option<u64>,
}

/// Copy bandwidth of the device in GB/s, read plus written, through the API of the workloads. The values are negated,
/// since a plain copy would need no kernel.
///
/// # Errors
/// The values exceed the device's memory or limits.
fn copy_gb_s(device: &Device, values: u32, repeat: u32) -> Result<f64> {
    let n = values as usize;
    let x = HostTensor::dense(&[n], HostValues::F32(rows::flat_values(n))).to_device(device)?;
    x.eval()?;
    device.wait()?;
    let copied = measure(device, || x.negative(), repeat)?;
    Ok(8.0 * f64::from(values) / copied.ms / 1e6)
}

fn measure(device: &Device, record: impl Fn() -> ragged::Result<Tensor>, repeat: u32) -> Result<Measured> {
    // The first run compiles the kernels and fills the pool. It also determines whether recording runs kernels.
    let before = device.stats();
    let first = record()?;
    let is_lazy = (device.stats() - before).dispatches == 0;
    let explained = if is_lazy && device.is_cpu() { Some(first.explain()?) } else { None };
    first.eval()?;
    device.wait()?;
    drop(first);
    // Short runs get faster for about 10 ms, while caches fill and clocks ramp up.
    let start = Instant::now();
    while repeat > 1 && start.elapsed() < WARM_UP {
        record()?.eval()?;
        device.wait()?;
    }
    let mut times = Vec::new();
    let mut host_times = Vec::new();
    let mut work = Stats::default();
    for _ in 0..repeat {
        let (start, before) = (Instant::now(), device.stats());
        let result = record()?;
        result.eval()?;
        let submitted = start.elapsed().as_secs_f64() * 1e6;
        device.wait()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        work = device.stats() - before;
        if is_lazy && !device.is_cpu() && work.dispatches > 0 {
            host_times.push(submitted / work.dispatches as f64);
        }
    }
    let mut gpu_times = Vec::new();
    if is_lazy && !device.is_cpu() {
        for _ in 0..repeat {
            gpu_times.extend(record()?.eval_timed()?);
        }
    }
    Ok(Measured {
        ms: median(times),
        host_us: (!host_times.is_empty()).then(|| median(host_times)),
        gpu_ms: (!gpu_times.is_empty()).then(|| median(gpu_times)),
        work,
        bytes: if device.is_cpu() { explained.map(|e| e.bytes()) } else { Some(work.bytes_moved) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_distinguished_from_failures() {
        let whose = "an adapter".to_owned();
        let limit = Error::Limit {
            what: "pad".into(),
            requested: 9,
            unit: "bytes",
            limit: 8,
            whose,
            location: std::panic::Location::caller(),
        };
        let with_context = |e: Error| anyhow::Error::new(e).context("256 values").context("to_padded");
        assert!(is_too_large(&with_context(limit)));
        assert!(!is_too_large(&with_context(Error::Argument {
            op: "pad",
            what: "no".into(),
            location: std::panic::Location::caller()
        })));
    }
}
