//! `ragged-bench ceilings`: peak bandwidth of an adapter, and the cost of launching kernels on it.

mod adapter;
mod bandwidth;
mod harness;
mod host;
mod litmus;
mod questions;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use ragged::Device;
use serde::Serialize;

use crate::count::count;
use crate::devices;
use crate::failures::Failures;
use crate::output_file::OutputFile;
use crate::progress::progress;
use crate::table::{self, number};
use adapter::Sheet;
use bandwidth::{Ceiling, GROUPS, KERNELS};
use harness::Harness;
use questions::{Answer, RESULT};

/// Array sizes in MiB: on GPUs, and on software adapters, where larger arrays give the same results.
const SIZES: [&[u32]; 2] = [&[64, 256, 1024, 2048, 4096], &[16]];

/// Options of `ragged-bench ceilings`.
#[derive(Debug, ClapArgs)]
pub struct Options {
    /// Adapter: `all`, `gpu` (the first) or a part of a name; may be repeated
    #[arg(long, value_name = "NAME", default_value = "all")]
    device: Vec<String>,
    /// Array sizes in MiB, limited to the largest buffer; sizes beyond the available memory are skipped [default: 64 to
    /// 4096; 16 on software adapters]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = count::<{ 1 << 20 }>)]
    mib: Vec<u32>,
    /// Timed runs of each kernel, of which the median is reported, after a warm-up run
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count::<1000>)]
    repeat: u32,
    /// Output file for all results, a JSON list with one object per adapter
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The findings for one adapter.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    sheet: Sheet,
    /// The clock that timed the kernels: `device` or `host`.
    clock: &'static str,
    ceilings: Vec<Ceiling>,
    answers: Vec<Answer>,
}

/// Measures the adapters, and prints the findings.
///
/// # Errors
/// No adapter exists; one fails; the file cannot be written.
pub fn run(options: &Options, out: &mut impl Write) -> Result<()> {
    let mut failures = Failures::default();
    let devices = devices::select(&options.device, &mut failures)?;
    let json = options.json.as_deref().map(OutputFile::for_json).transpose()?;
    let mut reports = Vec::new();
    for device in &devices {
        let Some(harness) = Harness::new(device) else { continue };
        match measure(device, &harness, options) {
            Ok(report) => {
                show(&report, out)?;
                reports.push(report);
            }
            Err(e) => failures.report(&e.context(device.name().to_owned())),
        }
    }
    failures.outcome()?;
    if reports.is_empty() {
        bail!("no GPU adapter among {}", options.device.join(", "));
    }
    if let Some(target) = json {
        let path = target.path().display().to_string();
        let text = serde_json::to_string_pretty(&reports)?;
        target.replace(|file| writeln!(file, "{text}")).with_context(|| format!("--json {path}"))?;
        writeln!(out, "written to {path}")?;
    }
    Ok(())
}

fn measure(device: &Device, harness: &Harness<'_>, options: &Options) -> Result<Report> {
    let sizes = if options.mib.is_empty() { SIZES[usize::from(device.is_software())] } else { &options.mib };
    let most = harness.device.limits().max_buffer_size & !((1 << 20) - 1);
    let mut sizes: Vec<u64> = sizes.iter().map(|&mib| (u64::from(mib) << 20).min(most)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let bar = progress(bandwidth::variants(harness) * sizes.len() as u64);
    let mut ceilings: Vec<Ceiling> = Vec::new();
    for bytes in sizes {
        let size = table::bytes(bytes);
        bar.set_message(size.clone());
        match bandwidth::measure(harness, bytes, options.repeat, || bar.inc(1)) {
            Ok(found) => ceilings.extend(found),
            // The device may run out of memory below its limits; smaller arrays have been measured.
            Err(e) if !ceilings.is_empty() => bar.suspend(|| eprintln!("{size} skipped: {e:#}")),
            Err(e) => return Err(e),
        }
    }
    bar.finish_and_clear();
    let clock = if harness.has_clock { "device" } else { "host" };
    Ok(Report {
        sheet: Sheet::of(harness.device),
        clock,
        ceilings,
        answers: questions::answers(device, harness, options.repeat)?,
    })
}

/// Prints the tables of one adapter.
fn show(report: &Report, out: &mut impl Write) -> Result<()> {
    let Sheet { adapter, backend, driver, kind, limits, features } = &report.sheet;
    writeln!(out, "{adapter} ({kind}, {backend}, {driver}); kernels timed by the {}'s clock\n", report.clock)?;
    writeln!(out, "Limits and features\n")?;
    let limit = |(name, value): &(&str, u64)| vec![(*name).to_owned(), table::grouped(*value)];
    let feature = |(name, has): &(&str, Option<bool>)| {
        let has = has.map_or(table::UNKNOWN, |has| if has { "yes" } else { "no" });
        vec![(*name).to_owned(), has.to_owned()]
    };
    let rows = limits.iter().map(limit).chain(features.iter().map(feature));
    writeln!(out, "{}\n", table::table(&["limit or feature", "value"], 1, rows))?;
    writeln!(out, "Bandwidth of copies, reads and writes (GB/s read plus written, by invocations per workgroup)\n")?;
    writeln!(out, "{}\n", speeds(&report.ceilings))?;
    writeln!(out, "Fastest variants, and the kernels of the engine relative to them\n")?;
    writeln!(out, "{}\n", best(&report.ceilings))?;
    for answers in report.answers.chunk_by(|a, b| a.question == b.question) {
        // Counts are whole numbers.
        let decimals = |a: &Answer| if a.by == RESULT { 0 } else { 3 };
        let row = |a: &Answer| {
            vec![a.what.to_owned(), number(Some(a.value), decimals(a)), a.unit.to_owned(), a.by.to_owned()]
        };
        let rows = answers.iter().map(row);
        writeln!(out, "{}\n\n{}\n", answers[0].question, table::table(&["", "value", "unit", "by"], 1, rows))?;
    }
    Ok(())
}

/// A table with a row per kernel variant and a column per workgroup size.
fn speeds(all: &[Ceiling]) -> String {
    let header: Vec<String> = ["array", "kernel", "element", "source bound", "checks"]
        .map(str::to_owned)
        .into_iter()
        .chain(GROUPS.map(|group| group.to_string()))
        .collect();
    let is_same = |a: &Ceiling, b: &Ceiling| {
        (a.bytes, a.kernel, a.element, a.binding, a.checked) == (b.bytes, b.kernel, b.element, b.binding, b.checked)
    };
    let rows = all.chunk_by(is_same).map(|ways| {
        let c = &ways[0];
        let checks = if c.checked { "all" } else { "none" };
        let mut row = vec![table::bytes(c.bytes), c.kernel.into(), c.element.into(), c.binding.into(), checks.into()];
        let speed = |group| ways.iter().find(|c| c.group == group).map(|c| c.gb_s);
        row.extend(GROUPS.map(|group| number(speed(group), 1)));
        row
    });
    table::table(&header.iter().map(String::as_str).collect::<Vec<_>>(), 5, rows)
}

/// For each kernel and size: the fastest variant, and the speed of scalar kernels of 256 invocations (those of the
/// engine) relative to it, with and without checks.
fn best(all: &[Ceiling]) -> String {
    let mut rows = Vec::new();
    for of_size in all.chunk_by(|a, b| a.bytes == b.bytes) {
        for (kernel, ..) in KERNELS {
            let ways = || of_size.iter().filter(|c| c.kernel == kernel);
            let Some(top) = ways().max_by(|a, b| a.gb_s.total_cmp(&b.gb_s)) else { continue };
            let plain = |checked| {
                let of = ways().find(|c| {
                    c.element == "u32" && c.binding != "read_write" && c.group == 256 && c.checked == checked
                });
                number(of.map(|c| c.gb_s / top.gb_s), 3)
            };
            let checks = if top.checked { "checked" } else { "unchecked" };
            let how = format!("{}, {}, {checks}, {} invocations", top.element, top.binding, top.group);
            let speed = number(Some(top.gb_s), 1);
            rows.push(vec![table::bytes(top.bytes), kernel.to_owned(), how, speed, plain(true), plain(false)]);
        }
    }
    table::table(&["array", "kernel", "fastest", "GB/s", "u32, 256, checked", "unchecked"], 3, rows)
}
