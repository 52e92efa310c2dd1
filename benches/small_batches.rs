//! Streams of small batches of varying sizes: time per batch next to plain Rust loops, and the plans, pipelines and
//! allocations of the engine over the stream.
//!
//! The loops run on the calling thread and use no types of the engine. The sequential loop sums from left to right, as
//! a program without the engine would. The other loop sums in the engine's canonical order, which the compiler
//! vectorizes, and gives the engine's bits.

mod common;
#[path = "../src/bin/ragged-bench/rows.rs"]
#[allow(dead_code, reason = "only the numbers are used here")]
mod rows;

use std::iter;
use std::ops::Range;
use std::time::Instant;

use common::{Args, assert_same_bits, floats, median, mib, or_dash, print_table, resident, sums};
use ragged::{Device, DeviceOptions, HostTensor, HostValues, Result, Stats, Tensor, keep, s, shaped};
use rows::{flat_values, splitmix64};

const USAGE: &str = "\
Streams of small batches: time per batch next to a plain Rust loop, plans, compiled pipelines, memory.

    cargo bench --bench small_batches -- [OPTIONS]

    --device NAME...  cpu, gpu, or a part of an adapter's name [default: cpu and the first adapter]
    --batches N       batches per program; the stream of 64 rows has half as many [default: 1000]
    --gpu-batches N   the same on adapters [default: --batches; 100 at most on software adapters]
    --test            16 batches";

/// Rows and width of the embedding table.
const TABLE: [usize; 2] = [1000, 8];
const WIDTH: usize = TABLE[1];

/// Length to which rows are padded or cropped.
const PADDED: usize = 128;

/// Number of batches after which caches are considered warm.
const WARM: usize = 8;

/// The batch whose memory is compared with that of the last batch, if there are twice as many batches.
const CHECKPOINT: usize = 100;

/// One in so many batches is explained, in a pass of its own.
const EXPLAINED: usize = 8;

/// Pseudorandom numbers with a fixed seed.
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: usize) -> usize {
        self.0 += 1;
        (splitmix64(self.0) % n as u64) as usize
    }
}

/// Rows of numbers.
struct Rows {
    splits: Vec<u32>,
    values: Vec<f32>,
}

impl Rows {
    fn new(lengths: impl Iterator<Item = usize>, noise: &mut Noise) -> Self {
        let ends = lengths.scan(0, |end, length| {
            *end += length as u32;
            Some(*end)
        });
        let splits: Vec<u32> = iter::once(0).chain(ends).collect();
        let values = (0..splits[splits.len() - 1]).map(|_| noise.below(1 << 24) as f32 / (1 << 24) as f32 - 0.5);
        Self { values: values.collect(), splits }
    }

    fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.splits.windows(2).map(|ends| &self.values[ends[0] as usize..ends[1] as usize])
    }

    fn host(&self) -> HostTensor {
        HostTensor::from_row_splits(self.splits.clone(), HostValues::F32(self.values.clone()))
    }
}

/// The host's data of one batch.
struct Batch {
    x: Rows,
    /// As many rows as `x`, of other lengths.
    y: Rows,
    /// One index of a table row per value of `x`.
    ids: Vec<u32>,
}

impl Batch {
    fn new(lengths: [Vec<usize>; 2], noise: &mut Noise) -> Self {
        let [x, y] = lengths.map(|lengths| Rows::new(lengths.into_iter(), noise));
        let ids = (0..x.values.len()).map(|_| noise.below(TABLE[0]) as u32).collect();
        Self { x, y, ids }
    }

    /// 64 rows of 0 to 100 values.
    fn of_64_rows(number: usize) -> Self {
        let mut noise = Noise(splitmix64(number as u64));
        let lengths = [(); 2].map(|()| (0..64).map(|_| noise.below(101)).collect());
        Self::new(lengths, &mut noise)
    }

    /// 0 to 5,000 rows, and 0 to `longest` values per row, where `longest` is a power of two up to 256. One batch in 64
    /// has no rows.
    fn of_any_size(number: usize) -> Self {
        let mut noise = Noise(splitmix64(!(number as u64)));
        let nrows = if number % 64 == 3 { 0 } else { noise.below(5001) };
        let longest = 1 << noise.below(9);
        let lengths = [(); 2].map(|()| (0..nrows).map(|_| noise.below(longest + 1)).collect());
        Self::new(lengths, &mut noise)
    }
}

/// A program and the batches that it runs over.
struct Stream {
    name: &'static str,
    /// Share of the batches that it runs over: all, or every other batch.
    one_of: usize,
    batch: fn(usize) -> Batch,
    /// The tensors to upload.
    inputs: fn(&Batch) -> Vec<HostTensor>,
    /// Records the program on the uploaded tensors and the table.
    record: fn(&[Tensor], &Tensor) -> Result<Tensor>,
    /// The program as a loop, in the engine's canonical order.
    plain: fn(&Batch, &[[f32; WIDTH]], Order) -> Vec<f32>,
    /// As [`Self::plain`] with sequential sums. Programs of many operations have one loop and one new list per
    /// operation.
    by_operation: Option<fn(&Batch) -> Vec<f32>>,
    /// Number of recorded operations.
    operations: usize,
}

/// Order in which a loop sums the values of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// From left to right.
    Sequential,
    /// The engine's canonical order.
    Canonical,
}

impl Order {
    fn sum(self, values: &[f32]) -> f32 {
        match self {
            Self::Sequential => values.iter().sum(),
            Self::Canonical => sums::sum(values),
        }
    }

    fn sum_rows(self, table: &[[f32; WIDTH]], ids: &[u32]) -> [f32; WIDTH] {
        match self {
            Self::Sequential => ids.iter().fold([0.0; WIDTH], |sum, &id| {
                let row = &table[id as usize];
                std::array::from_fn(|k| sum[k] + row[k])
            }),
            Self::Canonical => sums::sum_rows(table, ids),
        }
    }
}

const STREAMS: [Stream; 5] = [
    Stream {
        name: "chain_64_rows",
        one_of: 2,
        batch: Batch::of_64_rows,
        inputs: |batch| vec![batch.x.host()],
        record: chain,
        plain: plain_chain,
        by_operation: Some(chain_by_operation),
        operations: 10,
    },
    Stream {
        name: "lookup_mean",
        one_of: 1,
        batch: Batch::of_any_size,
        inputs: |batch| {
            let ids = batch.ids.iter().map(|&id| id as i32).collect();
            vec![HostTensor::from_row_splits(batch.x.splits.clone(), HostValues::I32(ids))]
        },
        record: |inputs, table| table.embedding_lookup(&inputs[0])?.reduce_mean(1),
        plain: plain_lookup_mean,
        by_operation: None,
        operations: 2,
    },
    Stream {
        name: "chain",
        one_of: 1,
        batch: Batch::of_any_size,
        inputs: |batch| vec![batch.x.host()],
        record: chain,
        plain: plain_chain,
        by_operation: Some(chain_by_operation),
        operations: 10,
    },
    Stream {
        name: "concat_padded",
        one_of: 1,
        batch: Batch::of_any_size,
        inputs: |batch| vec![batch.x.host(), batch.y.host()],
        record: |inputs, _| {
            let joined = Tensor::concat(&[&inputs[0], &inputs[1]], 1)?;
            joined.to_tensor(shaped(0f32, [-1, PADDED as i64]))
        },
        plain: plain_concat_padded,
        by_operation: None,
        operations: 2,
    },
    Stream {
        name: "sort",
        one_of: 1,
        batch: Batch::of_any_size,
        inputs: |batch| vec![batch.x.host()],
        record: |inputs, _| inputs[0].sort(1),
        plain: plain_sort,
        by_operation: None,
        operations: 1,
    },
];

/// Ten row operations: each value's deviation from the mean of its row over the row's variance plus one, relative to
/// the row's largest, summed without the first value.
fn chain(inputs: &[Tensor], _: &Tensor) -> Result<Tensor> {
    let x = &inputs[0];
    let mean = x.reduce_mean(keep(1))?;
    let deviation = (x - &mean)?;
    let square = (&deviation * &deviation)?;
    let variance = square.reduce_mean(keep(1))?;
    let divisor = (&variance + 1f32)?;
    let scaled = (&deviation / &divisor)?;
    let largest = scaled.reduce_max(keep(1))?;
    let relative = (&scaled - &largest)?;
    let tail = relative.slice(s![.., 1..])?;
    tail.reduce_sum(1)
}

fn plain_chain(batch: &Batch, _: &[[f32; WIDTH]], order: Order) -> Vec<f32> {
    let (mut scaled, mut square) = (Vec::new(), Vec::new());
    let row = |row: &[f32]| {
        let count = row.len() as f32;
        let mean = order.sum(row) / count;
        square.clear();
        square.extend(row.iter().map(|x| (x - mean) * (x - mean)));
        let divisor = order.sum(&square) / count + 1.0;
        scaled.clear();
        scaled.extend(row.iter().map(|x| (x - mean) / divisor));
        let largest = scaled.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        scaled.iter_mut().for_each(|x| *x -= largest);
        order.sum(scaled.get(1..).unwrap_or_default())
    };
    batch.x.iter().map(row).collect()
}

fn chain_by_operation(batch: &Batch) -> Vec<f32> {
    let rows = |splits: &[u32]| splits.windows(2).map(|w| w[0] as usize..w[1] as usize).collect::<Vec<_>>();
    let (own, x) = (rows(&batch.x.splits), &batch.x.values);
    let per_row = |values: &[f32], of: fn(&[f32]) -> f32| -> Vec<f32> {
        own.iter().map(|row| of(&values[row.clone()])).collect()
    };
    let with_row = |values: &[f32], numbers: &[f32], of: fn(f32, f32) -> f32| -> Vec<f32> {
        let row = |(row, &n): (&Range<usize>, &f32)| values[row.clone()].iter().map(move |&v| of(v, n));
        own.iter().zip(numbers).flat_map(row).collect()
    };
    let mean = |row: &[f32]| row.iter().sum::<f32>() / row.len() as f32;
    let means = per_row(x, mean);
    let deviation = with_row(x, &means, |x, mean| x - mean);
    let square: Vec<f32> = deviation.iter().map(|d| d * d).collect();
    let variance = per_row(&square, mean);
    let divisor: Vec<f32> = variance.iter().map(|v| v + 1.0).collect();
    let scaled = with_row(&deviation, &divisor, |d, divisor| d / divisor);
    let largest = per_row(&scaled, |row| row.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b)));
    let relative = with_row(&scaled, &largest, |s, largest| s - largest);
    let tails = own.iter().map(|row| &relative[(row.start + 1).min(row.end)..row.end]);
    let tail_lengths: Vec<usize> = tails.clone().map(<[f32]>::len).collect();
    let tail: Vec<f32> = tails.flatten().copied().collect();
    let mut at = 0;
    let sum = |len: usize| {
        at += len;
        tail[at - len..at].iter().sum()
    };
    tail_lengths.into_iter().map(sum).collect()
}

fn plain_lookup_mean(batch: &Batch, table: &[[f32; WIDTH]], order: Order) -> Vec<f32> {
    let rows = batch.x.splits.windows(2);
    let mean = |ends: &[u32]| {
        let ids = &batch.ids[ends[0] as usize..ends[1] as usize];
        order.sum_rows(table, ids).map(|sum| sum / ids.len() as f32)
    };
    rows.flat_map(mean).collect()
}

fn plain_concat_padded(batch: &Batch, _: &[[f32; WIDTH]], _: Order) -> Vec<f32> {
    let mut out = vec![0.0; (batch.x.splits.len() - 1) * PADDED];
    for (out, (x, y)) in out.chunks_exact_mut(PADDED).zip(batch.x.iter().zip(batch.y.iter())) {
        let x = &x[..x.len().min(PADDED)];
        let y = &y[..y.len().min(PADDED - x.len())];
        out[..x.len()].copy_from_slice(x);
        out[x.len()..][..y.len()].copy_from_slice(y);
    }
    out
}

fn plain_sort(batch: &Batch, _: &[[f32; WIDTH]], _: Order) -> Vec<f32> {
    let mut out = batch.x.values.clone();
    for ends in batch.x.splits.windows(2) {
        out[ends[0] as usize..ends[1] as usize].sort_unstable_by(f32::total_cmp);
    }
    out
}

/// Times per batch in microseconds.
#[derive(Default)]
struct Times {
    upload: Vec<f64>,
    record: Vec<f64>,
    read: Vec<f64>,
    engine: Vec<f64>,
    plain: Vec<f64>,
    by_operation: Vec<f64>,
    canonical: Vec<f64>,
    /// For some batches, the time of `Tensor::explain`, which plans without running.
    explain: Vec<f64>,
}

/// Memory in use at one batch.
struct Levels {
    batch: usize,
    stats: Stats,
    resident: Option<u64>,
}

/// Measurements of one stream on one device.
struct Measured {
    name: &'static str,
    operations: usize,
    batches: usize,
    /// Rows and values of all batches.
    rows: usize,
    values: usize,
    times: Times,
    /// Counters over the whole stream, and over the batches after the warm-up.
    work: Stats,
    warm_work: Stats,
    levels: [Levels; 2],
}

/// Whether the two loops differ only in the order of sums.
fn assert_about_equal(what: &str, plain: &[f32], canonical: &[f32]) {
    assert_eq!(plain.len(), canonical.len(), "{what}");
    for (a, b) in plain.iter().zip(canonical) {
        let is_same = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-3 * b.abs().max(1.0);
        assert!(is_same, "{what}: {a} and {b}");
    }
}

fn microseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

fn upload(stream: &Stream, batch: &Batch, device: &Device) -> (Vec<Tensor>, f64) {
    let inputs = (stream.inputs)(batch);
    let start = Instant::now();
    let inputs = inputs.iter().map(|input| input.to_device(device)).collect::<Result<_>>().expect("uploaded");
    (inputs, microseconds(start))
}

/// Runs a stream of batches, and asserts that each result equals that of the loop.
fn measure(stream: &Stream, device: &Device, batches: usize) -> Measured {
    let table: Vec<f32> = flat_values(TABLE[0] * TABLE[1]).into_iter().map(|v| v - 0.5).collect();
    let on_device = HostTensor::dense(&TABLE, HostValues::F32(table.clone())).to_device(device).expect("a small table");
    let table = table.as_chunks::<WIDTH>().0;
    let checkpoint = CHECKPOINT.min(batches / 2).max(1);

    let mut times = Times::default();
    let (mut rows, mut values) = (0, 0);
    let mut levels = Vec::new();
    let before = device.stats();
    let mut warm = None;
    for number in 0..batches {
        let batch = (stream.batch)(number);
        rows += batch.x.splits.len() - 1;
        values += batch.x.values.len();

        let (inputs, upload) = upload(stream, &batch, device);
        let start = Instant::now();
        let result = (stream.record)(&inputs, &on_device).expect("recorded");
        let record = microseconds(start);
        let start = Instant::now();
        let read = floats(result.to_host().expect("read"));
        let read_time = microseconds(start);
        // Before the loop, so that dropping the tensors frees the batch's memory.
        drop((result, inputs));

        let start = Instant::now();
        let plain = (stream.plain)(&batch, table, Order::Sequential);
        times.plain.push(microseconds(start));
        if let Some(by_operation) = stream.by_operation {
            let start = Instant::now();
            let result = by_operation(&batch);
            times.by_operation.push(microseconds(start));
            assert_about_equal(&format!("{}, batch {number}, by operation", stream.name), &result, &plain);
        }
        let start = Instant::now();
        let canonical = (stream.plain)(&batch, table, Order::Canonical);
        times.canonical.push(microseconds(start));
        times.upload.push(upload);
        times.record.push(record);
        times.read.push(read_time);
        times.engine.push(upload + record + read_time);
        let what = format!("{} on {}, batch {number}", stream.name, device.name());
        assert_same_bits(&what, &read, &canonical);
        assert_about_equal(&what, &plain, &canonical);

        if number + 1 == WARM {
            warm = Some(device.stats());
        }
        if [checkpoint, batches].contains(&(number + 1)) {
            levels.push(Levels { batch: number + 1, stats: device.stats(), resident: resident() });
        }
    }
    let end = device.stats();

    for number in (0..batches).step_by(EXPLAINED) {
        let (inputs, _) = upload(stream, &(stream.batch)(number), device);
        let result = (stream.record)(&inputs, &on_device).expect("recorded");
        let start = Instant::now();
        result.explain().expect("explained");
        times.explain.push(microseconds(start));
    }
    let last = || Levels { batch: batches, stats: end, resident: resident() };
    let mut levels = levels.into_iter();
    let levels = [levels.next().unwrap_or_else(last), levels.next().unwrap_or_else(last)];
    let (work, warm_work) = (end - before, end - warm.unwrap_or(end));
    Measured { name: stream.name, operations: stream.operations, batches, rows, values, times, work, warm_work, levels }
}

fn print(device: &Device, all: &[Measured]) {
    println!("small_batches on {}\n", device.name());
    println!(
        "Median microseconds per batch; record and explain in all and per operation; engine: upload, record and read \
         together; a loop, the same with a list per operation, and with the engine's bits: on one thread"
    );
    let time = |times: &[f64]| format!("{:.1}", median(times.to_vec()));
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|m| {
            let per_batch = |count: usize| (count / m.batches).to_string();
            let t = &m.times;
            let total = |times: &[f64]| times.iter().sum::<f64>();
            let with_share = |times: &[f64]| {
                let all = median(times.to_vec());
                format!("{all:.1} / {:.1}", all / m.operations as f64)
            };
            vec![
                m.name.to_owned(),
                m.batches.to_string(),
                per_batch(m.rows),
                per_batch(m.values),
                time(&t.upload),
                with_share(&t.record),
                with_share(&t.explain),
                time(&t.read),
                time(&t.engine),
                time(&t.plain),
                or_dash((!t.by_operation.is_empty()).then(|| time(&t.by_operation))),
                time(&t.canonical),
                format!("{:.2}", median(t.engine.clone()) / median(t.plain.clone())),
                or_dash(
                    (!t.by_operation.is_empty())
                        .then(|| format!("{:.2}", median(t.engine.clone()) / median(t.by_operation.clone()))),
                ),
                format!("{:.2}", median(t.engine.clone()) / median(t.canonical.clone())),
                format!("{:.2}", total(&t.engine) / total(&t.plain)),
            ]
        })
        .collect();
    let header = [
        "stream",
        "batches",
        "rows",
        "values",
        "upload",
        "record",
        "explain",
        "read",
        "engine",
        "loop",
        "loop by operation",
        "same bits",
        "engine/loop",
        "engine/by operation",
        "engine/same bits",
        "of totals",
    ];
    print_table(&header, &rows);

    println!("\nCounts per batch, and over the stream: in all, and after the first {WARM} batches");
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|m| {
            let per_batch = |count: u64| format!("{:.2}", count as f64 / m.batches as f64);
            let both = |count: fn(&Stats) -> u64| format!("{} / {}", count(&m.work), count(&m.warm_work));
            vec![
                m.name.to_owned(),
                per_batch(m.work.dispatches),
                per_batch(m.work.submissions),
                per_batch(m.work.waits),
                both(|stats| stats.plans),
                both(|stats| stats.pipelines_compiled),
                both(|stats| stats.bind_groups_created),
                both(|stats| stats.pool_hits),
                both(|stats| stats.pool_misses),
            ]
        })
        .collect();
    let header = [
        "stream",
        "dispatches",
        "submissions",
        "waits",
        "plans",
        "pipelines compiled",
        "bind groups",
        "pool hits",
        "pool misses",
    ];
    print_table(&header, &rows);

    println!("\nMemory in MiB at two batches of the stream");
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|m| {
            let [early, late] = &m.levels;
            let both = |level: fn(&Levels) -> Option<u64>| {
                let level = |at| or_dash(level(at).map(mib));
                format!("{} / {}", level(early), level(late))
            };
            vec![
                m.name.to_owned(),
                format!("{} / {}", early.batch, late.batch),
                both(|at| Some(at.stats.buffer_bytes)),
                both(|at| Some(at.stats.buffer_bytes_peak)),
                both(|at| Some(at.stats.memory_bytes)),
                both(|at| at.resident),
            ]
        })
        .collect();
    let header = ["stream", "batch", "buffers", "buffers peak", "device memory", "resident"];
    print_table(&header, &rows);
    println!("\nAll results equal those of the loop bit for bit.\n");
}

fn main() {
    let args = Args::parse(USAGE, &["--device", "--batches", "--gpu-batches"]);
    let streams: Vec<&Stream> =
        STREAMS.iter().filter(|stream| args.selects(&format!("small_batches/{}", stream.name))).collect();
    if streams.is_empty() {
        return;
    }
    let mut devices = args.devices();
    if devices.is_empty() {
        devices.push(Device::cpu());
        devices.extend(Device::gpu());
    }
    let batches = args.number("--batches").unwrap_or(if args.is_test { 16 } else { 1000 });
    for device in &devices {
        let at_most = if device.is_software() { 100 } else { usize::MAX };
        let of_gpu = || args.number("--gpu-batches").unwrap_or(batches.min(at_most));
        let batches = if device.is_cpu() { batches } else { of_gpu() };
        let measured: Vec<Measured> =
            streams.iter().map(|stream| measure(stream, &fresh(device), batches.div_ceil(stream.one_of))).collect();
        print(device, &measured);
    }
    println!("explain: the time of `Tensor::explain`, which plans without the cache of plans and runs nothing.");
    println!("The CPU backend has no pipelines, submissions or waits, and shares its pool between streams.");
}

/// A new device of the same adapter, without cached plans and pipelines, so that its counters cover one stream only.
/// Adapters other than the first, and the CPU backend, are shared by all streams.
fn fresh(device: &Device) -> Device {
    if device.is_cpu() {
        return device.clone();
    }
    match Device::gpu_with(&DeviceOptions::default()) {
        Ok(fresh) if fresh.name() == device.name() => fresh,
        _ => device.clone(),
    }
}
