//! The text pipeline, which is the use case of TensorFlow's guide to ragged tensors: the mean of the embeddings of each
//! line's words and pairs of neighbouring words.

use std::io::Write;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail, ensure};
use ragged::{Device, HostTensor, HostValues, Stats};

use crate::args::Args;
use crate::embed::{SPACES, embed};
use crate::failures::Failures;
use crate::inputs;
use crate::median::median;
use crate::progress::progress;
use crate::table::{self, bytes, grouped, number};
use crate::text::Text;

/// Total time after which no further timed run starts.
const ENOUGH_MS: f64 = 5_000.0;

/// The result and the cost of the pipeline on a device.
struct Run {
    means: Vec<f32>,
    first_ms: f64,
    ms: f64,
    work: Stats,
}

/// Runs the pipeline on one device; `expected` are the numbers of words per line.
fn run_on(device: &Device, text: &Text, args: &Args, expected: &[i64]) -> Result<Run> {
    let (buckets, width) = (args.buckets as usize, args.embedding as usize);
    let table = HostTensor::dense(&[buckets, width], HostValues::F32(inputs::embeddings(buckets, width)));
    let table = table.to_device(device)?;
    let (mut first_ms, mut times) = (0.0, Vec::new());
    let (mut means, mut work) = (Vec::new(), Stats::default());
    for k in 0..=args.repeat {
        if times.iter().sum::<f64>() > ENOUGH_MS {
            break;
        }
        let (start, before) = (Instant::now(), device.stats());
        let embedded = embed(&text.bytes, &table)?;
        let read = embedded.means.to_host()?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let HostValues::F32(values) = read.values else { bail!("the means are not floats") };
        if k > 0 {
            times.push(ms);
            work = device.stats() - before;
            continue;
        }
        first_ms = ms;
        means = values;
        let HostValues::I64(lengths) = embedded.words.row_lengths(1)?.to_host()?.values else {
            bail!("the row lengths are not integers")
        };
        ensure!(lengths == expected, "the words per line differ from those that the host finds");
        ensure!(
            means.len() == expected.len() * width,
            "{} numbers for {} lines of {width} numbers",
            means.len(),
            expected.len()
        );
    }
    Ok(Run { means, first_ms, ms: median(times), work })
}

/// The first position at which the bits of two lists differ, where all NaNs are equal.
fn first_difference(a: &[f32], b: &[f32]) -> Option<usize> {
    let is_same = |a: &f32, b: &f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    match a.iter().zip(b).position(|(a, b)| !is_same(a, b)) {
        None if a.len() != b.len() => Some(a.len().min(b.len())),
        found => found,
    }
}

/// Runs the pipeline on the CPU and on each device, compares the results, and prints them. A device that fails, or
/// whose result differs, is reported; the other devices continue.
///
/// # Errors
/// `out` cannot be written.
pub fn run(text: &Text, args: &Args, devices: &[Device], failures: &mut Failures, out: &mut impl Write) -> Result<()> {
    let expected: Vec<i64> =
        text.lines().map(|line| line.split(|b| SPACES.contains(b)).filter(|w| !w.is_empty()).count() as i64).collect();
    let skipped = if text.skipped == 0 { String::new() } else { format!(" ({} binary files skipped)", text.skipped) };
    writeln!(
        out,
        "text    {} files{skipped}, {}: {} lines, {} of them empty, {} words",
        grouped(text.files as u64),
        bytes(text.bytes.len() as u64),
        grouped(expected.len() as u64),
        grouped(expected.iter().filter(|&&n| n == 0).count() as u64),
        grouped(expected.iter().sum::<i64>() as u64),
    )?;
    writeln!(
        out,
        "task    mean of the embeddings of each line's words and pairs; {} buckets of {} numbers\n",
        grouped(args.buckets.into()),
        args.embedding
    )?;

    // The CPU always runs, as the reference.
    let mut all = vec![Device::cpu()];
    all.extend(devices.iter().filter(|d| !d.is_cpu()).cloned());
    let bar = progress(all.len() as u64);
    let mut runs = Vec::new();
    for device in &all {
        bar.set_message(format!("{}: text", device.name()));
        match run_on(device, text, args, &expected).with_context(|| format!("the text on {}", device.name())) {
            Ok(run) => runs.push((device, run)),
            Err(e) => bar.suspend(|| failures.report(&e)),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();

    let Some((reference, Run { means, .. })) = runs.first() else { return Ok(()) };
    show_lines(text, &expected, means, args.embedding as usize, out)?;
    let counts = |device: &Device, n: u64| if device.is_cpu() { table::UNKNOWN.to_owned() } else { grouped(n) };
    let rows = runs.iter().map(|(device, run)| {
        vec![
            device.name().to_owned(),
            number(Some(run.first_ms), 1),
            number(Some(run.ms), 1),
            number(Some(text.bytes.len() as f64 / run.ms / 1e3), 1),
            grouped(run.work.dispatches),
            counts(device, run.work.submissions),
            counts(device, run.work.waits),
            if device.is_cpu() { table::UNKNOWN.to_owned() } else { bytes(run.work.buffer_bytes_peak) },
        ]
    });
    let header = ["device", "first ms", "ms", "MB/s", "dispatches", "submissions", "waits", "device memory"];
    writeln!(out, "\n{}\n", table::table(&header, 1, rows))?;
    if !reference.is_cpu() {
        // The CPU backend has failed, which is reported above.
        return Ok(());
    }
    for (device, run) in runs.iter().skip(1) {
        if let Some(at) = first_difference(means, &run.means) {
            let width = args.embedding as usize;
            let value = |of: &[f32]| of.get(at).map_or_else(|| "nothing".to_owned(), |v| format!("{v:e}"));
            failures.report(&anyhow!(
                "line {}, number {}: {} on the CPU, but {} on {}",
                at / width + 1,
                at % width,
                value(means),
                value(&run.means),
                device.name()
            ));
            continue;
        }
        writeln!(out, "{} and the CPU agree bit for bit on {} numbers.", device.name(), grouped(means.len() as u64))?;
    }
    Ok(())
}

/// Number of lines shown, and of characters and numbers per line.
const SHOWN: [usize; 3] = [4, 44, 4];

/// Prints the results of the first few lines with several words.
fn show_lines(text: &Text, words: &[i64], means: &[f32], width: usize, out: &mut impl Write) -> Result<()> {
    let [lines, characters, numbers] = SHOWN;
    let shown = text.lines().enumerate().filter(|(k, _)| words[*k] > 1).take(lines);
    let rows = shown.map(|(k, line)| {
        let line = String::from_utf8_lossy(line);
        let mut start: String =
            line.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(characters).collect();
        if line.trim().chars().count() > characters {
            start.push('…');
        }
        let mut row = vec![grouped(k as u64 + 1), start, grouped(words[k] as u64)];
        row.extend(means[k * width..][..width.min(numbers)].iter().map(|v| format!("{v:.6}")));
        row
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    // The first column is aligned to the left, numbers to the right.
    let mut header = vec!["text".to_owned(), "line".to_owned(), "words".to_owned()];
    header.extend((0..width.min(numbers)).map(|d| format!("mean[{d}]")));
    rows.iter_mut().for_each(|row| row.swap(0, 1));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    Ok(writeln!(out, "{}", table::table(&header, 1, rows))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_equals_nan_and_minus_zero_is_not_zero() {
        assert_eq!(first_difference(&[f32::NAN, 1.0], &[f32::NAN, 1.0]), None);
        assert_eq!(first_difference(&[0.0], &[-0.0]), Some(0));
        assert_eq!(first_difference(&[1.0], &[1.0, 2.0]), Some(1));
    }

    #[test]
    fn a_line_without_words_has_the_pair_of_markers() -> Result<()> {
        let table = HostTensor::dense(&[1, 1], HostValues::F32(vec![0.5])).to_device(&Device::cpu())?;
        let e = embed(b"a b\n\nc", &table)?;
        assert_eq!(e.words.to_host()?.nested_row_splits, [[0, 2, 2, 3]]);
        assert_eq!(e.means.to_host()?.values, HostValues::F32(vec![0.5; 3]));
        Ok(())
    }
}
