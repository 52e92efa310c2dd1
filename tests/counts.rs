//! What the benchmark's operations cost, in counts that hold on any machine: kernels, bytes against the least possible,
//! waits, submissions, compilations, buffers.
//!
//! The bounds are those that the engine is built for.

mod common;

use std::sync::{Mutex, MutexGuard};

use ragged::{Device, DeviceOptions, Explain, HostTensor, HostValues, Result, Stats, Tensor, s};

/// SplitMix64's output for that state.
fn splitmix64(x: u64) -> u64 {
    let z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The benchmark's distributions.
const DISTRIBUTIONS: [&str; 4] = ["uniform", "pareto", "giant", "empty"];

/// Row lengths as they occur in practice: files of `data/row_lengths`.
const FILES: [&str; 7] = [
    "amazon_book_users",
    "canada_rings",
    "cmudict_phonemes",
    "git_neighbours",
    "nuscenes_pillars",
    "shakespeare_line_words",
    "wikitext2_line_words",
];

/// Row lengths that add up to `values`: of a distribution, or of a file.
fn lengths(dist: &str, values: u32) -> Vec<u32> {
    if DISTRIBUTIONS.contains(&dist) { drawn(dist, values) } else { shuffled(dist, values) }
}

/// The lengths in a file, shuffled, and repeated until they add up to `values`.
fn shuffled(file: &str, values: u32) -> Vec<u32> {
    let path = format!("{}/tests/data/row_lengths/{file}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut all: Vec<u32> = text.lines().map(|l| l.parse().expect("a length a line")).collect();
    for k in (1..all.len()).rev() {
        all.swap(k, (splitmix64(0x5FFE + k as u64) % (k as u64 + 1)) as usize);
    }
    let mut left = values;
    let mut out = Vec::new();
    for &len in all.iter().cycle() {
        out.push(len.min(left));
        left -= len.min(left);
        if left == 0 {
            break;
        }
    }
    out
}

/// Row lengths that add up to `values`, as the benchmark draws them.
fn drawn(dist: &str, values: u32) -> Vec<u32> {
    let length = |h: u64| match dist {
        "uniform" => h % 32,
        "pareto" => ((4.0 / (((h >> 11) as f64 + 1.0) / (1u64 << 53) as f64)).floor() as u64).min(4096),
        "giant" => h % 16,
        _ if h.is_multiple_of(16) => (h >> 8) % 256,
        _ => 0,
    } as u32;
    let target = if dist == "giant" { values / 2 } else { values };
    let (mut out, mut total) = (Vec::new(), 0);
    for i in 0u64.. {
        if total >= target {
            break;
        }
        let len = length(splitmix64(0x5EED + i)).min(target - total);
        total += len;
        out.push(len);
    }
    if dist == "giant" {
        let middle = out.len() / 2;
        out[middle] += values - target;
    }
    out
}

fn floats(n: usize) -> Vec<f32> {
    (0..n as u64).map(|j| (splitmix64(0xDA7A + j) >> 40) as f32 / (1u32 << 24) as f32).collect()
}

/// What the operations work on.
struct Inputs {
    x: Tensor,
    row: Tensor,
    ids: Tensor,
    table: Tensor,
    tokens: Tensor,
    nrows: u64,
}

impl Inputs {
    fn new(device: &Device, dist: &str, values: u32) -> Result<Self> {
        let lengths = lengths(dist, values);
        let n = lengths.len();
        let splits = std::iter::once(0).chain(lengths.iter().scan(0, |end, len| {
            *end += len;
            Some(*end)
        }));
        let values = floats(values as usize);
        let dense = |shape: &[usize], values| HostTensor::dense(shape, values).to_device(device);
        let x = HostTensor {
            nested_row_splits: vec![splits.collect()],
            uniform_row_lengths: vec![None],
            inner_shape: vec![values.len()],
            values: HostValues::F32(values.clone()),
        };
        let x = x.to_device(device)?;
        let tokens = values.iter().map(|v| (v * 1024.0) as i32).collect();
        let tokens = dense(&[values.len()], HostValues::I32(tokens))?;
        let ids = (0..n as u64).map(|r| (splitmix64(0x1D5 + r) % n as u64) as i64).collect();
        Ok(Self {
            tokens: Tensor::from_row_partitions(&tokens, x.partitions())?,
            x,
            row: dense(&[n, 1], HostValues::F32(values.iter().cycle().take(n).copied().collect()))?,
            ids: dense(&[n], HostValues::I64(ids))?,
            table: dense(&[1024, 16], HostValues::F32(floats(1024 * 16)))?,
            nrows: n as u64,
        })
    }
}

/// An operation of the benchmark, and what it may cost at 4,194,304 values.
struct Workload {
    name: &'static str,
    record: fn(&Inputs) -> Result<Tensor>,
    /// Kernels started.
    dispatches: u64,
    /// Bytes against the least, in hundredths.
    ratio: u64,
    /// Bytes a row besides.
    row_bytes: u64,
}

const fn bound(
    name: &'static str,
    record: fn(&Inputs) -> Result<Tensor>,
    dispatches: u64,
    ratio: u64,
    row_bytes: u64,
) -> Workload {
    Workload { name, record, dispatches, ratio, row_bytes }
}

const ANY: u64 = u64::MAX;

const WORKLOADS: [Workload; 15] = [
    bound("sum", |i| i.x.reduce_sum(1, false), 2, 115, 0),
    bound("max", |i| i.x.reduce_max(1, false), 2, 115, 0),
    // Not one of the benchmark's.
    bound("min", |i| i.x.reduce_min(1, false), 2, 115, 0),
    bound("mean", |i| i.x.reduce_mean(1, false), 2, 115, 0),
    bound("affine_sum", |i| ((&i.x * 2f32)? + 1f32)?.reduce_sum(1, false), 2, 115, 0),
    bound("row_add", |i| &i.x + &i.row, 1, 115, 0),
    bound("slice_head", |i| i.x.slice(s![.., ..8]), 5, 115, 24),
    bound("slice_tail", |i| i.x.slice(s![.., -8..]), 5, 115, 24),
    bound("gather_rows", |i| i.x.gather(&i.ids, Some(0), 0), 5, 115, 24),
    bound("concat_axis1", |i| Tensor::concat(&[&i.x, &i.x], 1), 2, 115, 0),
    bound("to_padded", |i| i.x.to_tensor(0f32, Some(&[None, Some(64)])), 2, 115, 0),
    bound("softmax", |i| i.x.softmax(1), 3, 150, 0),
    bound("mask_gt_half", |i| i.x.boolean_mask(&i.x.greater(0.5f32)?), ANY, 175, 0),
    bound("sort", |i| i.x.sort(1, false), ANY, ANY, 0),
    bound("embed_mean", |i| i.table.gather(&i.tokens, Some(0), 0)?.reduce_mean(1, false), 2, 115, 0),
];

/// Bytes against the least and what may come on top, in hundredths, rounded up.
fn ratio(e: &Explain, nrows: u64, w: &Workload) -> u64 {
    let bytes = e.bytes().saturating_sub(nrows * w.row_bytes);
    (bytes * 100).div_ceil(e.least_bytes.max(1))
}

/// The smallest binding that adapters have is 128 MiB: its binary logarithm.
const SMALLEST_BINDING: u32 = 27;

#[test]
fn kernels_and_bytes_are_within_their_bounds() {
    let _turn = turn();
    let mut wrong = Vec::new();
    for (label, device) in common::gpus() {
        for dist in DISTRIBUTIONS.into_iter().chain(FILES) {
            let inputs = Inputs::new(&device, dist, 1 << 22).expect("valid");
            for w in &WORKLOADS {
                let explained = (w.record)(&inputs).and_then(|t| t.explain()).expect("recorded");
                let (dispatches, ratio) = (explained.dispatches(), ratio(&explained, inputs.nrows, w));
                println!("{label} {dist:22} {:13} {dispatches:3} dispatches, x {ratio}", w.name);
                // A map of more than a binding holds takes a dispatch a window.
                let windows: u64 = explained.kernels.iter().map(|k| k.bytes_written >> SMALLEST_BINDING).sum();
                if dispatches > w.dispatches.saturating_add(windows) || ratio > w.ratio {
                    wrong.push(format!("{label} {dist} {}: {dispatches} dispatches, x {ratio}\n{explained}", w.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the ratios divide by, where it can be counted by hand: each operand and result once, the splits once, a small table once.
#[test]
fn the_least_is_what_is_counted_by_hand() {
    const N: u64 = 1 << 20;
    for (label, device) in common::devices() {
        for dist in DISTRIBUTIONS {
            let inputs = Inputs::new(&device, dist, N as u32).expect("valid");
            let rows = inputs.nrows;
            let (values, splits, results) = (4 * N, 4 * (rows + 1), 4 * rows);
            for w in &WORKLOADS {
                let least = match w.name {
                    "sum" | "max" | "min" | "mean" | "affine_sum" => values + splits + results,
                    "row_add" => values + 4 * rows + splits + values,
                    "softmax" => values + splits + values,
                    "embed_mean" => values + 4 * 1024 * 16 + splits + 16 * results,
                    _ => continue,
                };
                let explained = (w.record)(&inputs).and_then(|t| t.explain()).expect("recorded");
                assert_eq!(explained.least_bytes, least, "{label} {dist} {}: {explained}", w.name);
            }
        }
    }
}

/// Where no row is longer than a block of its reduction, as far as the host knows, nothing is left for a second kernel.
#[test]
fn rows_of_one_block_are_reduced_by_one_kernel() {
    let _turn = turn();
    for (label, device) in common::gpus() {
        for dist in ["uniform", "empty", "cmudict_phonemes", "shakespeare_line_words"] {
            let inputs = Inputs::new(&device, dist, 1 << 22).expect("valid");
            for w in WORKLOADS.iter().filter(|w| w.dispatches == 2 && !["concat_axis1", "to_padded"].contains(&w.name))
            {
                let explained = (w.record)(&inputs).and_then(|t| t.explain()).expect("recorded");
                assert_eq!(explained.dispatches(), 1, "{label} {dist} {}: {explained}", w.name);
            }
        }
    }
}

/// Runs the operation and reads it, with nothing else going on.
fn run(device: &Device, inputs: &Inputs, w: &Workload) -> (HostTensor, Stats) {
    let before = device.stats();
    let result = (w.record)(inputs).and_then(|t| t.to_host()).expect("computed");
    (result, device.stats() - before)
}

/// Waits until no other test of this binary works on a device, so that its counts tell whose work it was.
fn turn() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[test]
fn a_read_is_one_submission_and_one_wait_and_the_second_run_makes_nothing_new() {
    let _turn = turn();
    for (label, device) in common::gpus() {
        for dist in DISTRIBUTIONS {
            let inputs = Inputs::new(&device, dist, 1 << 15).expect("valid");
            for t in [&inputs.x, &inputs.row, &inputs.ids, &inputs.table, &inputs.tokens] {
                t.eval().expect("uploaded");
            }
            device.wait().expect("idle");
            for w in &WORKLOADS {
                let what = format!("{label} {dist} {}", w.name);
                let (first, _) = run(&device, &inputs, w);
                let (second, stats) = run(&device, &inputs, w);
                assert!(format!("{first:?}") == format!("{second:?}"), "{what}: the same values");
                // Rows of unknown length that may be taken many times: for the size of the result.
                let asked = u64::from(w.name == "gather_rows");
                assert!(stats.waits <= 1 + asked && stats.waits > 0, "{what}: {stats:?}");
                assert!(stats.submissions <= 1 + asked, "{what}: {stats:?}");
                assert_eq!((stats.plans, stats.pipelines_compiled), (0, 0), "{what}");
                assert_eq!(stats.pool_misses, 0, "{what}");
            }
        }
    }
}

#[test]
fn what_is_explained_is_what_runs() {
    let _turn = turn();
    for (label, device) in common::gpus() {
        let inputs = Inputs::new(&device, "pareto", 1 << 15).expect("valid");
        for w in &WORKLOADS {
            let what = format!("{label} {}", w.name);
            let tensor = (w.record)(&inputs).expect("recorded");
            let explained = tensor.explain().expect("explained");
            device.wait().expect("idle");
            let before = device.stats();
            tensor.eval().expect("computed");
            assert_eq!((device.stats() - before).dispatches, explained.dispatches(), "{what}");
            // Everything is there: reading it is what is left.
            let (before, waits) = (device.stats(), tensor.explain().expect("explained").waits);
            tensor.to_host().expect("read");
            assert_eq!((device.stats() - before).waits, waits, "{what}");
            assert_eq!(explained.waits, waits, "{what}");
        }
    }
}

/// What may be held besides inputs and outputs while these are computed, in hundredths of them.
const SPARE: u64 = 10;

#[test]
fn little_more_memory_is_held_than_inputs_and_outputs_take() {
    let _turn = turn();
    if common::gpus().is_empty() {
        return;
    }
    let mut wrong = Vec::new();
    for dist in DISTRIBUTIONS {
        for w in WORKLOADS.iter().filter(|w| w.name != "sort") {
            // The peak is that of the device's life: a device each.
            let device = Device::gpu_with(&DeviceOptions::default()).expect("opens again");
            let inputs = Inputs::new(&device, dist, 1 << 20).expect("valid");
            let result = (w.record)(&inputs).expect("recorded");
            result.eval().expect("computed");
            device.wait().expect("idle");
            let stats = device.stats();
            let ratio = (stats.buffer_bytes_peak * 100).div_ceil(stats.buffer_bytes);
            if ratio > 100 + SPARE {
                wrong.push(format!("{dist} {}: x {ratio}", w.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
