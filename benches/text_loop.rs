//! The text pipeline of `ragged-bench` next to a plain Rust loop over the same bytes: time and memory of both.
//!
//! The loop uses no types of the engine: rayon over lines, the crate `farmhash`, and sums in the engine's canonical
//! order, so that the results must be equal bit for bit.

mod common;
#[path = "../crates/ragged-bench/src/embed.rs"]
mod embed;
#[path = "../crates/ragged-bench/src/rows.rs"]
#[allow(dead_code, reason = "only the values are used here")]
mod rows;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use common::{
    Args, assert_same_bits, floats, median, mib, or_dash, peak_resident, print_table, reset_peak_resident, resident,
    sums,
};
use embed::{SPACES, embed};
use ragged::{Device, Explain, HostTensor, HostValues, Stats};
use rayon::prelude::*;
use rows::flat_values;

const USAGE: &str = "\
The main job of ragged-bench next to a plain Rust loop with the same result.

    cargo bench --bench text_loop -- [OPTIONS]

    --input FILE...   text files [default: the texts and sources of this repository]
    --repeat N        the text is N copies of the files [default: 1]
    --device NAME...  cpu, gpu, or a part of an adapter's name [default: cpu]
    --runs N          timed runs after the first one [default: 5]
    --test            one run over a short text, on the CPU and on the first adapter";

/// Rows of the embedding table.
const BUCKETS: usize = 1024;

/// Numbers per embedding.
const WIDTH: usize = 4;

/// Bytes of the text in a test run.
const TEST_BYTES: usize = 64 << 10;

/// The default text: files of the repository, and files in folders with these extensions.
const OWN: [&str; 8] = ["README.md", "CHANGELOG.md", "src", "crates", "shaders", "tests", "examples", "benches"];
const ENDINGS: [&str; 3] = ["md", "rs", "wgsl"];

/// The text files at or below the path, sorted by name.
fn files(path: &Path, out: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        out.push(path.to_owned());
        return;
    }
    let entries = fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for entry in entries {
        let is_text = entry.extension().is_some_and(|e| ENDINGS.iter().any(|&text| e == text));
        if entry.is_dir() || is_text {
            files(&entry, out);
        }
    }
}

/// The files, concatenated and repeated `repeat` times, without the last newline.
fn read(inputs: &[PathBuf], repeat: usize) -> Vec<u8> {
    let mut once = Vec::new();
    for path in inputs {
        once.extend(fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
        if once.last().is_some_and(|&b| b != b'\n') {
            once.push(b'\n');
        }
    }
    let mut text = once.repeat(repeat);
    text.pop();
    text
}

/// The text that the options select. A test run uses the start of the repository's text, and a line of 6,000 words,
/// whose embeddings are summed in several blocks.
fn text(args: &Args) -> Vec<u8> {
    let mut inputs: Vec<PathBuf> = args.values("--input").into_iter().map(PathBuf::from).collect();
    if inputs.is_empty() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        OWN.iter().for_each(|name| files(&root.join(name), &mut inputs));
    }
    let mut text = read(&inputs, args.number("--repeat").unwrap_or(1));
    if args.is_test {
        text.truncate(TEST_BYTES);
        text.push(b'\n');
        (0..6000).for_each(|k| text.extend(format!("word{k} ").bytes()));
    }
    text
}

/// Scratch memory of the loop for one line.
#[derive(Default)]
struct Scratch<'a> {
    words: Vec<&'a [u8]>,
    pair: Vec<u8>,
    ids: Vec<u32>,
}

/// The table row of a string.
fn bucket(string: &[u8]) -> u32 {
    (farmhash::fingerprint64(string) % BUCKETS as u64) as u32
}

/// The mean of the embeddings of the line's words and of its pairs of neighbouring words, with `#` at both ends. A mean
/// adds the words first, then the pairs, in the engine's canonical order ([`sums`]).
fn mean_of_line<'a>(line: &'a [u8], table: &[[f32; WIDTH]], scratch: &mut Scratch<'a>) -> [f32; WIDTH] {
    let Scratch { words, pair, ids } = scratch;
    words.clear();
    words.extend(line.split(|byte| SPACES.contains(byte)).filter(|word| !word.is_empty()));
    ids.clear();
    ids.extend(words.iter().map(|word| bucket(word)));
    let mut before: &[u8] = b"#";
    for &word in words.iter().chain([&&b"#"[..]]) {
        pair.clear();
        pair.extend_from_slice(before);
        pair.push(b'+');
        pair.extend_from_slice(word);
        ids.push(bucket(pair));
        before = word;
    }
    let count = ids.len() as f32;
    sums::sum_rows(table, ids).map(|sum| sum / count)
}

/// The mean of each line.
fn means_by_loop(text: &[u8], table: &[[f32; WIDTH]]) -> Vec<f32> {
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let mut means = vec![0.0; lines.len() * WIDTH];
    let out = means.as_chunks_mut::<WIDTH>().0.par_iter_mut();
    out.zip(&lines).for_each_init(Scratch::default, |scratch, (out, line)| *out = mean_of_line(line, table, scratch));
    means
}

/// Time and memory of the first run and of later ones.
struct Measured {
    first_ms: f64,
    median_ms: f64,
    resident: Option<u64>,
    /// Peak resident memory after the first run and after all runs, if the system can reset the peak.
    peaks: [Option<u64>; 2],
}

/// Runs the job `1 + runs` times and returns the last result. Each other result is dropped before the next run.
fn measure<T>(runs: usize, mut job: impl FnMut() -> T) -> (T, Measured) {
    let is_reset = reset_peak_resident();
    let peak = || peak_resident().filter(|_| is_reset);
    let before = resident();
    let start = Instant::now();
    let mut result = job();
    let first_ms = start.elapsed().as_secs_f64() * 1e3;
    let first_peak = peak();
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        drop(result);
        let start = Instant::now();
        result = job();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let peaks = [first_peak, peak()];
    (result, Measured { first_ms, median_ms: median(times), resident: before, peaks })
}

/// The result of a device, with the counters of its last run.
struct OfEngine {
    name: String,
    means: Vec<f32>,
    words: Vec<i64>,
    measured: Measured,
    stats: Stats,
    explain: Explain,
}

/// Runs the pipeline on a device, from bytes on the host to means on the host.
fn run_engine(device: &Device, text: &[u8], table: &[[f32; WIDTH]], runs: usize) -> ragged::Result<OfEngine> {
    let table = HostTensor::dense(&[BUCKETS, WIDTH], HostValues::F32(table.as_flattened().to_vec()));
    let table = table.to_device(device)?;
    table.eval()?;
    device.wait()?;
    let mut stats = Stats::default();
    let (means, measured) = measure(runs, || -> ragged::Result<Vec<f32>> {
        let before = device.stats();
        let means = floats(embed(text, &table)?.means.to_host()?);
        stats = device.stats() - before;
        Ok(means)
    });
    let again = embed(text, &table)?;
    let explain = again.means.explain()?;
    let HostValues::I64(words) = again.words.row_lengths(1)?.to_host()?.values else {
        panic!("row lengths are not i64")
    };
    Ok(OfEngine { name: device.name().to_owned(), means: means?, words, measured, stats, explain })
}

fn main() {
    let args = Args::parse(USAGE, &["--input", "--repeat", "--device", "--runs"]);
    if !args.selects("text_loop") {
        return;
    }
    let runs = args.number("--runs").unwrap_or(if args.is_test { 1 } else { 5 });
    let mut devices = args.devices();
    if devices.is_empty() {
        devices.push(Device::cpu());
        if args.is_test {
            devices.extend(Device::gpu());
        }
    }
    let text = text(&args);
    let values: Vec<f32> = flat_values(BUCKETS * WIDTH).into_iter().map(|v| v - 0.5).collect();
    let table = values.as_chunks::<WIDTH>().0;

    // The engine runs first, so that memory that the allocator keeps from the loop is not attributed to the engine.
    let engines: Vec<OfEngine> = devices
        .iter()
        .map(|device| {
            run_engine(device, &text, table, runs).unwrap_or_else(|e| panic!("the main job on {}: {e}", device.name()))
        })
        .collect();
    let (means, of_loop) = measure(runs, || means_by_loop(&text, table));

    let lines = text.split(|&byte| byte == b'\n');
    let words = lines.map(|line| line.split(|byte| SPACES.contains(byte)).filter(|word| !word.is_empty()).count());
    let words: Vec<i64> = words.map(|words| words as i64).collect();
    for engine in &engines {
        assert_eq!(engine.words, words, "words per line on {}", engine.name);
        assert_same_bits(&format!("means on {}", engine.name), &engine.means, &means);
    }
    print(&text, &words, runs, &engines, &of_loop);
}

fn print(text: &[u8], words: &[i64], runs: usize, engines: &[OfEngine], of_loop: &Measured) {
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "text_loop: {megabytes:.2} MB, {} lines, {} words; {BUCKETS} buckets of {WIDTH} numbers; medians over {runs} \
         later runs; {} threads\n",
        words.len(),
        words.iter().sum::<i64>(),
        rayon::current_num_threads()
    );
    let row = |name: &str, of: &Measured| {
        let memory = |bytes: Option<u64>| or_dash(bytes.map(mib));
        vec![
            name.to_owned(),
            format!("{:.1}", of.first_ms),
            format!("{:.1}", of.median_ms),
            format!("{:.1}", megabytes / of.median_ms * 1e3),
            format!("{:.3}", of_loop.first_ms / of.first_ms),
            format!("{:.3}", of_loop.median_ms / of.median_ms),
            memory(of.resident),
            memory(of.peaks[0]),
            memory(of.peaks[1]),
        ]
    };
    let mut rows: Vec<Vec<String>> = engines.iter().map(|e| row(&e.name, &e.measured)).collect();
    rows.push(row("plain loop", of_loop));
    let header = [
        "",
        "first ms",
        "median ms",
        "MB/s",
        "loop/this first",
        "loop/this median",
        "MiB before",
        "peak MiB first run",
        "peak MiB all runs",
    ];
    print_table(&header, &rows);

    println!("\nCounts of the engine's last run; bytes as `Tensor::explain` gives them, in MiB:\n");
    let rows: Vec<Vec<String>> = engines
        .iter()
        .map(|e| {
            vec![
                e.name.clone(),
                e.stats.dispatches.to_string(),
                e.stats.submissions.to_string(),
                e.stats.waits.to_string(),
                e.stats.plans.to_string(),
                e.stats.pool_misses.to_string(),
                mib(e.stats.buffer_bytes_peak),
                mib(e.stats.memory_bytes),
                e.explain.kernels.len().to_string(),
                mib(e.explain.bytes()),
                mib(e.explain.least_bytes),
                format!("{:.2}", e.explain.ratio()),
            ]
        })
        .collect();
    let header = [
        "",
        "dispatches",
        "submissions",
        "waits",
        "plans",
        "pool misses",
        "buffers peak MiB",
        "device MiB",
        "kernels",
        "moved",
        "least",
        "ratio",
    ];
    print_table(&header, &rows);
    println!("\nThe CPU backend submits nothing, waits for nothing and copies nothing between memories.");
    println!("All results equal those of the loop bit for bit: {} numbers.", words.len() * WIDTH);
}
