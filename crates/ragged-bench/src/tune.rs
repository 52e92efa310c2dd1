//! `ragged-bench tune`: measures the best parameters of a [`Tuning`] for an adapter.
//!
//! Each candidate is a separate device over the adapter's wgpu device. Its runs alternate with those of a baseline
//! device, which has the adapter's current tuning, on the same rows, so that other load on the machine affects both;
//! the fastest run of each counts. The current value of a parameter is measured against the baseline too: its deviation
//! from 1 is the noise.

use std::convert::identity;
use std::io::Write;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use ragged::{Device, DeviceOptions, HostTensor, HostValues, Tensor, Tuning};

use crate::count::count;
use crate::devices;
use crate::failures::Failures;
use crate::inputs::{Inputs, Rows, THRESHOLD};
use crate::progress::progress;
use crate::rows::Distribution;
use crate::table::{self, grouped, number};
use crate::workloads::ALL;

/// Default number of values per workload: on GPUs, and on software adapters.
const VALUES: [u32; 2] = [1 << 26, 1 << 18];

/// Least speed-up of a candidate, in addition to the noise, for it to be chosen.
const MARGIN: f64 = 1.02;

/// Bytes of a timed read.
const READ: u64 = 64 << 20;

/// Element-wise operations without rows: words to words, and words to bytes.
const FLAT: [Operation; 2] = [("affine", |i| (&i.x * 2f32)? + 1f32), ("greater", |i| i.x.greater(THRESHOLD))];

/// An operation: its name, and the function that records it.
type Operation = (&'static str, fn(&Inputs) -> ragged::Result<Tensor>);

/// The operations with those names.
fn operations(names: &[&str]) -> impl Iterator<Item = Operation> {
    ALL.map(|w| (w.name, w.record)).into_iter().chain(FLAT).filter(|(name, _)| names.contains(name))
}

/// Options of `ragged-bench tune`.
#[derive(Debug, ClapArgs)]
pub struct Options {
    /// Adapter: `all`, `gpu` (the first) or a part of a name; may be repeated
    #[arg(long, value_name = "NAME", default_value = "gpu")]
    device: Vec<String>,
    /// Values per workload [default: 67108864; 262144 on software adapters]
    #[arg(long, value_name = "N", value_parser = count::<{ 1 << 30 }>)]
    values: Option<u32>,
    /// Timed runs of each candidate and of the baseline, alternating, after a warm-up run; the fastest counts
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = count::<1000>)]
    repeat: u32,
}

/// A tuning parameter: its name, its candidate values, its accessors, and the workloads that depend on it.
struct Parameter {
    name: &'static str,
    values: &'static [u32],
    get: fn(&Tuning) -> u32,
    set: fn(Tuning, u32) -> Tuning,
    /// The Rust source of a value.
    source_text: fn(u32) -> String,
    ops: &'static [&'static str],
}

/// Declares a parameter by the name of its field and setter, and the conversion of a number to its type.
macro_rules! parameter {
    ($name:ident, $of:path, $values:expr, $ops:expr) => {
        Parameter {
            name: stringify!($name),
            values: &$values,
            get: |t| t.$name.into(),
            set: |t, v| t.$name($of(v)),
            source_text: |v| $of(v).to_string(),
            ops: &$ops,
        }
    };
}

const PARAMETERS: [Parameter; 6] = [
    parameter!(
        map_tile,
        identity,
        [1024, 2048, 4096],
        ["affine", "row_add", "slice_tail", "concat_axis1", "to_padded"]
    ),
    parameter!(map_width, identity, [1, 4], ["affine", "greater"]),
    parameter!(row_tile, identity, [512, 1024, 2048], ["sum", "max", "affine_sum", "softmax"]),
    parameter!(row_cost, identity, [1, 2, 4, 8, 16], ["sum", "max", "affine_sum", "softmax"]),
    parameter!(coalesce_rows, is_on, [0, 1], ["sum", "max", "mean", "affine_sum", "softmax"]),
    parameter!(max_buffers, identity, [8, 12, 16], ["concat_axis1", "gather_rows", "embed_mean"]),
];

fn is_on(v: u32) -> bool {
    v != 0
}

/// A candidate value of a parameter.
struct Candidate {
    parameter: &'static Parameter,
    value: u32,
    /// Time of the baseline over that of the candidate, for each workload, distribution by distribution.
    ratios: Vec<f64>,
}

/// The findings for one adapter.
struct Measured {
    name: String,
    values: u32,
    own: Tuning,
    candidates: Vec<Candidate>,
    /// Microseconds per wait, and GB per second of a read.
    reading: Option<(f64, f64)>,
}

/// Measures the adapters, and prints the best parameters of each.
///
/// # Errors
/// No adapter exists; one fails; `out` cannot be written.
pub fn run(options: &Options, out: &mut impl Write) -> Result<()> {
    let mut failures = Failures::default();
    let mut measured = 0;
    for device in devices::select(&options.device, &mut failures)? {
        let Some(own) = device.tuning() else { continue };
        measured += 1;
        match measure(&device, own, options) {
            Ok(found) => show(&found, options, out)?,
            Err(e) => failures.report(&e.context(device.name().to_owned())),
        }
    }
    if measured == 0 {
        bail!("no GPU adapter among {}", options.device.join(", "));
    }
    failures.outcome()
}

/// A device of the same adapter with another tuning. Keeps no unused memory, since several such devices exist at a
/// time.
fn tuned(device: &Device, tuning: Tuning) -> Result<Device> {
    let (wgpu, queue) = device.as_wgpu().context("a GPU")?;
    let options = DeviceOptions::default().tuning(tuning).max_pooled(0);
    Ok(Device::from_wgpu(wgpu, queue, &options)?)
}

fn measure(device: &Device, own: Tuning, options: &Options) -> Result<Measured> {
    let values = options.values.unwrap_or(VALUES[usize::from(device.is_software())]);
    let of_parameter = |parameter: &'static Parameter| {
        parameter.values.iter().map(move |&value| Candidate { parameter, value, ratios: Vec::new() })
    };
    let mut candidates: Vec<Candidate> = PARAMETERS.iter().flat_map(of_parameter).collect();
    let baseline = tuned(device, own)?;
    let bar = progress((Distribution::ALL.len() * candidates.len()) as u64);
    for dist in Distribution::ALL {
        let inputs = |device: &Device| Inputs::new(device, Rows::new(dist.lengths(values)));
        let ours = inputs(&baseline)?;
        for candidate in &mut candidates {
            bar.set_message(format!("{} {} {}", dist.name(), candidate.parameter.name, candidate.value));
            let other = tuned(device, (candidate.parameter.set)(own, candidate.value))?;
            let theirs = inputs(&other)?;
            for (name, record) in operations(candidate.parameter.ops) {
                let ratio = ratio(record, (&baseline, &ours), (&other, &theirs), options.repeat);
                candidate.ratios.push(ratio.with_context(|| format!("{name} of {} rows", dist.name()))?);
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let reading = reading(&baseline, options.repeat)?;
    Ok(Measured { name: device.name().to_owned(), values, own, candidates, reading })
}

fn show(found: &Measured, options: &Options, out: &mut impl Write) -> Result<()> {
    let Measured { name, values, own, candidates, reading } = found;
    writeln!(
        out,
        "{name}: {} values per workload, the fastest of {} runs\n",
        grouped((*values).into()),
        options.repeat
    )?;
    writeln!(out, "Speed-up over the current tuning, by distribution: geometric mean over the workloads\n")?;
    let rows = candidates.iter().map(|c| {
        let is_now = c.value == (c.parameter.get)(own);
        let mark = if is_now { "current" } else { "" };
        let mut row = vec![c.parameter.name.to_owned(), c.value.to_string(), mark.to_owned()];
        let by_dist = c.ratios.chunks(c.parameter.ops.len()).map(mean);
        row.extend(by_dist.chain([mean(&c.ratios)]).map(|r| number(Some(r), 3)));
        row
    });
    let mut header = vec!["parameter", "value", ""];
    header.extend(Distribution::ALL.iter().map(|d| d.name()));
    header.push("all");
    writeln!(out, "{}\n", table::table(&header, 3, rows))?;
    let mut best = chosen(candidates, *own);
    match reading {
        Some((wait_us, gb_s)) => {
            // Bytes read in the time of a wait.
            let moved = (wait_us * gb_s * 1e3) as u64;
            writeln!(
                out,
                "A wait costs {wait_us:.0} µs, the time of reading {} at {gb_s:.2} GB/s.\n",
                table::bytes(moved)
            )?;
            if moved > own.read_at_capacity * 2 || moved < own.read_at_capacity / 2 {
                best.read_at_capacity = moved;
            }
        }
        None => writeln!(out, "A read of {} takes no longer than a wait.\n", table::bytes(READ))?,
    }
    writeln!(out, "current {}", source_text(*own))?;
    writeln!(
        out,
        "better  {}",
        if best == *own { "nothing better by more than the noise".to_owned() } else { source_text(best) }
    )?;
    Ok(())
}

/// The Rust source of a tuning.
fn source_text(t: Tuning) -> String {
    let parameters = PARAMETERS.iter().filter(|f| (f.get)(&t) != (f.get)(&Tuning::default()));
    let mut out = "Tuning::default()".to_owned();
    for f in parameters {
        out += &format!(".{}({})", f.name, (f.source_text)((f.get)(&t)));
    }
    if t.read_at_capacity != Tuning::default().read_at_capacity {
        out += &format!(".read_at_capacity({})", t.read_at_capacity);
    }
    out
}

/// The geometric mean.
fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

/// The best value of each parameter, if its speed-up exceeds the margin and the noise.
fn chosen(candidates: &[Candidate], own: Tuning) -> Tuning {
    let mut tuning = own;
    for of_parameter in candidates.chunk_by(|a, b| a.parameter.name == b.parameter.name) {
        let now = of_parameter.iter().find(|c| c.value == (c.parameter.get)(&own));
        let noise = now.map_or(1.0, |c| mean(&c.ratios)).ln().abs().exp();
        let best = of_parameter.iter().max_by(|a, b| mean(&a.ratios).total_cmp(&mean(&b.ratios)));
        if let Some(best) = best.filter(|c| mean(&c.ratios) > MARGIN * noise) {
            tuning = (best.parameter.set)(tuning, best.value);
        }
    }
    tuning
}

/// Speed-up of `other` over `now`.
fn ratio(
    record: fn(&Inputs) -> ragged::Result<Tensor>,
    now: (&Device, &Inputs),
    other: (&Device, &Inputs),
    repeat: u32,
) -> Result<f64> {
    let mut fastest = [f64::INFINITY; 2];
    for round in 0..=repeat {
        for (best, (device, inputs)) in fastest.iter_mut().zip([now, other]) {
            let start = Instant::now();
            let by_device = record(inputs)?.eval_timed()?;
            device.wait()?;
            let ms = by_device.unwrap_or_else(|| start.elapsed().as_secs_f64() * 1e3);
            // The first round warms up.
            if round > 0 {
                *best = best.min(ms);
            }
        }
    }
    // A clock that measured no time gives no ratio.
    Ok(if fastest.iter().all(|&ms| ms > 0.0) { fastest[0] / fastest[1] } else { 1.0 })
}

/// Microseconds to read one number, and GB per second to read many. `None` if both take about as long, so that the
/// difference is noise.
fn reading(device: &Device, repeat: u32) -> Result<Option<(f64, f64)>> {
    let time = |n: usize| -> Result<f64> {
        let x = HostTensor::dense(&[n], HostValues::F32(vec![1.0; n])).to_device(device)?;
        let mut fastest = f64::INFINITY;
        for _ in 0..=repeat {
            let start = Instant::now();
            x.to_host()?;
            fastest = fastest.min(start.elapsed().as_secs_f64());
        }
        Ok(fastest)
    };
    let (one, all) = (time(1)?, time(READ as usize / 4)?);
    Ok((all > 2.0 * one).then(|| (one * 1e6, READ as f64 / (all - one) / 1e9)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clear_speed_ups_are_chosen() {
        let candidates = |ratios: [f64; 3]| -> Vec<Candidate> {
            let of = |(&value, ratio): (&u32, f64)| Candidate {
                parameter: &PARAMETERS[0],
                value,
                ratios: vec![ratio, ratio],
            };
            PARAMETERS[0].values.iter().zip(ratios).map(of).collect()
        };
        let own = Tuning::default();
        let tile = |ratios| chosen(&candidates(ratios), own).map_tile;
        assert_eq!(tile([1.0, 1.3, 1.2]), 2048);
        assert_eq!(tile([1.0, 1.01, 0.9]), 1024, "within the margin");
        assert_eq!(tile([0.8, 1.2, 1.2]), 1024, "within the noise");
    }

    #[test]
    fn the_operations_of_every_parameter_exist() {
        for parameter in &PARAMETERS {
            assert_eq!(operations(parameter.ops).count(), parameter.ops.len(), "{}", parameter.name);
        }
    }

    #[test]
    fn tunings_have_rust_source() {
        assert_eq!(source_text(Tuning::default()), "Tuning::default()");
        let tuning = Tuning::default().coalesce_rows(false).row_cost(8).read_at_capacity(5);
        assert_eq!(source_text(tuning), "Tuning::default().row_cost(8).coalesce_rows(false).read_at_capacity(5)");
    }
}
