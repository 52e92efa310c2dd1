//! `ragged-bench operations`: operations on text, counts, combinations and matrices, for the comparison with other
//! libraries, and operations on rows that TensorFlow lacks.

mod products;
mod reductions;
mod rows;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use ragged::opt::{Encoding, white_space};
use ragged::{Device, HostTensor, HostValues, SparseTensor, Tensor, eval};
use serde::Serialize;

use crate::count::count;
use crate::devices;
use crate::failures::Failures;
use crate::length_file;
use crate::median::median;
use crate::output_file::OutputFile;
use crate::rows::{flat_values, splitmix64};
use crate::table::{self, bytes, grouped, table};
use crate::text;

/// Options of `ragged-bench operations`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Device: `all`, `cpu`, `gpu` (the first adapter) or a part of an adapter's name; may be repeated
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    device: Vec<String>,
    /// Text file, or folder of text files; may be repeated [default: the texts and sources of this repository]
    #[arg(long, value_name = "PATH")]
    input: Vec<PathBuf>,
    /// Copies of the text
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<1024>)]
    copies: u32,
    /// Values that are counted
    #[arg(long, value_name = "N", default_value_t = 8_000_000, value_parser = count::<{ 1 << 28 }>)]
    values: u32,
    /// Events of 0 to 12 items that are combined
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = count::<{ 1 << 24 }>)]
    events: u32,
    /// Entries of the sparse matrix
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = count::<{ 1 << 26 }>)]
    entries: u32,
    /// Rows and columns of the sparse matrix
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = count::<{ 1 << 24 }>)]
    size: u32,
    /// File with one row length per line: combines rows of these lengths instead of events, and attends within them
    #[arg(long, value_name = "FILE")]
    row_lengths: Option<PathBuf>,
    /// Timed runs, of which the median is reported, after a warm-up run
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count::<10_000>)]
    repeat: u32,
    /// Runs only the operation of this name
    #[arg(long, value_name = "NAME")]
    op: Option<String>,
    /// Runs only the operations of this group
    #[arg(long, value_name = "NAME")]
    group: Option<Group>,
    /// Output file for the measurements, a JSON list
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The measurement of an operation.
#[derive(Debug, Serialize)]
struct Record {
    op: &'static str,
    device: String,
    ms: f64,
    /// A sequential loop in Rust.
    loop_ms: Option<f64>,
    dispatches: u64,
    waits: u64,
    bytes_moved: u64,
    /// Bytes of arrays: the inputs, the results, and the peak of the first run.
    input_bytes: u64,
    result_bytes: u64,
    peak_bytes: u64,
}

type Run = Box<dyn Fn() -> ragged::Result<Vec<Tensor>>>;

/// An operation with its inputs on a device.
struct Case {
    run: Run,
    plain: Option<Box<dyn Fn() -> u64>>,
}

/// Names and groups of the operations that other libraries have. Each is measured on inputs of its own, so that the peak
/// is that of the operation.
const COMPARED: [(&str, Group); 20] = [
    ("split", Group::Text),
    ("lower", Group::Text),
    ("strip", Group::Text),
    ("length", Group::Text),
    ("substr", Group::Text),
    ("join", Group::Words),
    ("bigrams", Group::Words),
    ("hash_buckets", Group::Words),
    ("code_points", Group::Text),
    ("combinations", Group::Events),
    ("sparse_product", Group::Sparse),
    ("bincount", Group::Counts),
    ("histogram", Group::Counts),
    ("product_f32", Group::Products),
    ("product_f64", Group::Products),
    ("product_transposed", Group::Products),
    ("product_long", Group::Products),
    ("products_ragged", Group::Products),
    ("attention", Group::Products),
    ("attention_fused", Group::Products),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Group {
    Text,
    Words,
    Events,
    Counts,
    Sparse,
    Products,
    Reductions,
    Rows,
}

/// The operations of all groups.
fn all() -> impl Iterator<Item = (&'static str, Group)> {
    COMPARED
        .into_iter()
        .chain(reductions::ALL.map(|name| (name, Group::Reductions)))
        .chain(rows::ALL.map(|(name, _)| (name, Group::Rows)))
}

/// Bins of the counts.
const BINS: usize = 100;

/// Columns of the dense factor.
const COLUMNS: usize = 64;

/// Characters of a substring.
const TAKEN: i64 = 10;

fn strings(splits: Option<Vec<u32>>, values: Vec<Vec<u8>>, device: &Device) -> ragged::Result<Tensor> {
    let values = HostValues::Str(values);
    match splits {
        Some(splits) => HostTensor::from_row_splits(splits, values).to_device(device),
        None => HostTensor::dense(&[values.len()], values).to_device(device),
    }
}

fn splits(lengths: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let ends = lengths.into_iter().scan(0, |end, n| {
        *end += n;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

fn text_case(name: &str, text: &text::Text, options: &Options, device: &Device) -> ragged::Result<Case> {
    let lines = || text.lines().map(<[u8]>::to_vec);
    let x = strings(None, (0..options.copies).flat_map(|_| lines()).collect(), device)?;
    x.eval()?;
    let run: Run = match name {
        "split" => Box::new(move || Ok(vec![x.string_split(white_space())?])),
        "lower" => Box::new(move || Ok(vec![x.string_lower()?])),
        "strip" => Box::new(move || Ok(vec![x.string_strip()?])),
        "length" => Box::new(move || Ok(vec![x.string_length_chars()?])),
        "substr" => Box::new(move || Ok(vec![x.substr_chars(0, TAKEN)?])),
        _ => Box::new(move || Ok(vec![x.unicode_decode(Encoding::Utf8)?])),
    };
    Ok(Case { run, plain: None })
}

fn word_case(name: &str, text: &text::Text, options: &Options, device: &Device) -> ragged::Result<Case> {
    let lines: Vec<Vec<&[u8]>> = text
        .lines()
        .map(|line| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect())
        .collect();
    let copies = || (0..options.copies).flat_map(|_| &lines);
    let lengths = splits(copies().map(|words| words.len() as u32));
    let x = strings(Some(lengths), copies().flatten().map(|word| word.to_vec()).collect(), device)?;
    x.eval()?;
    let run: Run = match name {
        "join" => Box::new(move || Ok(vec![x.reduce_join(1, " ")?])),
        "bigrams" => Box::new(move || Ok(vec![x.string_ngrams(2, " ")?])),
        _ => Box::new(move || Ok(vec![x.to_hash_bucket_fast(1024)?])),
    };
    Ok(Case { run, plain: None })
}

fn event_lengths(options: &Options, lengths: Option<&[u32]>) -> Vec<u32> {
    match lengths {
        Some(lengths) => lengths.to_vec(),
        None => (0..u64::from(options.events)).map(|k| (splitmix64(0xE7E7 + k) % 13) as u32).collect(),
    }
}

/// Lengths of the rows that are looked up: 100,000 of 0 to 40, or those of the file.
fn lookup_lengths(lengths: Option<&[u32]>) -> Vec<u32> {
    lengths.map_or_else(|| (0..100_000).map(|k| (splitmix64(0x100C + k) % 41) as u32).collect(), <[u32]>::to_vec)
}

fn row_case(name: &str, lengths: Vec<u32>, device: &Device) -> ragged::Result<Case> {
    let (_, upload) = rows::ALL.into_iter().find(|(own, _)| *own == name).expect("bug: an operation of no group");
    Ok(Case { run: upload(&rows::Rows::new(lengths, device))?, plain: None })
}

fn event_case(options: &Options, lengths: Option<&[u32]>, device: &Device) -> ragged::Result<Case> {
    let splits = splits(event_lengths(options, lengths));
    let values = flat_values(*splits.last().expect("bug: no splits") as usize);
    let x = HostTensor::from_row_splits(splits.clone(), HostValues::F32(values.clone())).to_device(device)?;
    x.eval()?;
    let plain = move || {
        let (mut first, mut second, mut ends) = (Vec::new(), Vec::new(), vec![0u32]);
        for row in splits.windows(2) {
            let row = &values[row[0] as usize..row[1] as usize];
            for (k, &a) in row.iter().enumerate() {
                for &b in &row[k + 1..] {
                    first.push(a);
                    second.push(b);
                }
            }
            ends.push(first.len() as u32);
        }
        u64::from(ends[ends.len() - 1]) + first.iter().chain(&second).map(|x| u64::from(x.to_bits())).max().unwrap_or(0)
    };
    Ok(Case { run: Box::new(move || x.combinations(2, 1)), plain: Some(Box::new(plain)) })
}

fn count_case(name: &str, options: &Options, device: &Device) -> ragged::Result<Case> {
    let values = flat_values(options.values as usize);
    let n = values.len();
    if name == "bincount" {
        let keys: Vec<i32> = values.iter().map(|v| (v * BINS as f32) as i32).collect();
        let x = HostTensor::dense(&[n], HostValues::I32(keys.clone())).to_device(device)?;
        x.eval()?;
        let plain = move || {
            let mut counts = vec![0u32; BINS];
            for &key in &keys {
                counts[key as usize] += 1;
            }
            counts.iter().map(|&count| u64::from(count)).max().unwrap_or(0)
        };
        let run = move || Ok(vec![x.bincount(.., BINS)?]);
        return Ok(Case { run: Box::new(run), plain: Some(Box::new(plain)) });
    }
    let x = HostTensor::dense(&[n], HostValues::F32(values.clone())).to_device(device)?;
    x.eval()?;
    let plain = move || {
        let mut counts = vec![0u32; BINS];
        for &value in &values {
            if (0.0..1.0).contains(&value) {
                counts[(value * BINS as f32) as usize] += 1;
            }
        }
        counts.iter().map(|&count| u64::from(count)).max().unwrap_or(0)
    };
    let run = move || Ok(vec![x.histogram(.., 0f32..1f32, BINS)?]);
    Ok(Case { run: Box::new(run), plain: Some(Box::new(plain)) })
}

/// A square sparse matrix with entries at random places, in order, times a dense matrix of [`COLUMNS`] columns.
fn sparse_case(options: &Options, device: &Device) -> ragged::Result<Case> {
    let size = u64::from(options.size);
    let mut places: Vec<[i64; 2]> = (0..u64::from(options.entries))
        .map(|k| [2 * k, 2 * k + 1].map(|k| (splitmix64(0x59A5 + k) % size) as i64))
        .collect();
    places.sort_unstable();
    let n = places.len();
    let indices = HostTensor::dense(&[n, 2], HostValues::I64(places.into_flattened())).to_device(device)?;
    let values = HostTensor::dense(&[n], HostValues::F32(flat_values(n))).to_device(device)?;
    // Sorted once, so that the products neither sort nor check the order.
    let x = SparseTensor::new(&indices, &values, &[size, size])?.reorder()?;
    let rows = options.size as usize;
    let dense = HostTensor::dense(&[rows, COLUMNS], HostValues::F32(flat_values(rows * COLUMNS))).to_device(device)?;
    eval([x.indices(), x.values(), &dense])?;
    Ok(Case { run: Box::new(move || Ok(vec![x.matmul(&dense)?])), plain: None })
}

/// The result of a run, and its time in milliseconds.
fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed().as_secs_f64() * 1e3)
}

fn read_lengths(path: &Path) -> Result<Vec<u32>> {
    let name = || format!("--row-lengths {}", path.display());
    let text = fs::read_to_string(path).with_context(name)?;
    length_file::parse(&text).map_err(anyhow::Error::msg).with_context(name)
}

/// Runs the operations on the devices.
///
/// # Errors
/// An input cannot be read; a device does not exist; at the end, an error if an operation failed.
pub fn run(options: &Options, out: &mut impl Write) -> Result<()> {
    let mut failures = Failures::default();
    let devices = devices::select(&options.device, &mut failures)?;
    let json = options.json.as_deref().map(OutputFile::for_json).transpose()?;
    let is_wanted = |&(name, group): &(&str, Group)| {
        options.op.as_deref().is_none_or(|op| op == name) && options.group.is_none_or(|wanted| wanted == group)
    };
    let wanted: Vec<_> = all().filter(is_wanted).collect();
    let names = || all().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    anyhow::ensure!(!wanted.is_empty(), "--op, --group: the operations are {}", names());
    let lengths = options.row_lengths.as_deref().map(read_lengths).transpose()?;
    let reads = wanted.iter().any(|(_, group)| matches!(group, Group::Text | Group::Words));
    let text = if reads { Some(text::read(&options.input)?) } else { None };
    let mut records = Vec::new();
    for device in &devices {
        for &(name, group) in &wanted {
            let text = || text.as_ref().expect("bug: the text was not read");
            let case = match group {
                Group::Text => text_case(name, text(), options, device),
                Group::Words => word_case(name, text(), options, device),
                Group::Events => event_case(options, lengths.as_deref(), device),
                Group::Counts => count_case(name, options, device),
                Group::Sparse => sparse_case(options, device),
                Group::Products => products::run(name, lengths.as_deref(), device).map(|run| Case { run, plain: None }),
                Group::Reductions => reductions::case(name, lookup_lengths(lengths.as_deref()), options.values, device),
                Group::Rows => row_case(name, event_lengths(options, lengths.as_deref()), device),
            };
            match case.and_then(|case| measure(device, name, &case, options.repeat)) {
                Ok(record) => records.push(record),
                Err(e) => failures.report(&anyhow::Error::new(e).context(format!("{name} on {}", device.name()))),
            }
        }
    }
    let header = ["operation", "device", "ms", "loop ms", "dispatches", "waits", "moved", "inputs", "results", "peak"];
    let lines = records.iter().map(|r| {
        let mut line = vec![r.op.to_owned(), r.device.clone(), format!("{:.2}", r.ms), table::number(r.loop_ms, 2)];
        line.extend([r.dispatches, r.waits].map(grouped));
        line.extend([r.bytes_moved, r.input_bytes, r.result_bytes, r.peak_bytes].map(bytes));
        line
    });
    writeln!(out, "{}", table(&header, 2, lines))?;
    let notes = "The loops are sequential Rust. `moved` are the bytes that the kernels read and write; the least is `inputs` and \
                 `results`. The peak includes inputs of earlier operations; see --op.";
    writeln!(out, "\n{notes}")?;
    if let Some(target) = json {
        target
            .replace(|file| Ok::<_, anyhow::Error>(serde_json::to_writer_pretty(file, &records)?))
            .context("--json")?;
    }
    failures.outcome()
}

fn measure(device: &Device, op: &'static str, case: &Case, repeat: u32) -> ragged::Result<Record> {
    device.wait()?;
    let before = device.stats();
    let evaluated = || {
        let results = (case.run)()?;
        eval(&results)?;
        device.wait()?;
        Ok(results)
    };
    let first = evaluated()?;
    let after = device.stats();
    drop(first);
    let mut times = Vec::new();
    for _ in 0..repeat {
        let (results, ms) = timed(evaluated);
        results?;
        times.push(ms);
    }
    let loop_ms = case.plain.as_ref().map(|plain| {
        let runs = (0..repeat).map(|_| timed(|| std::hint::black_box(plain())).1);
        median(runs.collect())
    });
    let work = after - before;
    Ok(Record {
        op,
        device: device.name().to_owned(),
        ms: median(times),
        loop_ms,
        dispatches: work.dispatches,
        waits: work.waits,
        bytes_moved: work.bytes_moved,
        input_bytes: before.buffer_bytes,
        result_bytes: after.buffer_bytes - before.buffer_bytes,
        peak_bytes: after.buffer_bytes_peak,
    })
}
