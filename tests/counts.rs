//! What the benchmark's operations cost, in counts that hold on any machine: kernels, bytes against the least possible,
//! waits, submissions, compilations, buffers.
//!
//! The bounds are those that the engine is built for. Rows and operations are the very ones of `ragged-bench`.

mod common;
#[path = "../src/bin/ragged-bench/inputs.rs"]
mod inputs;
#[path = "../src/bin/ragged-bench/least.rs"]
mod least;
#[path = "../src/bin/ragged-bench/length_file.rs"]
mod length_file;
#[path = "../src/bin/ragged-bench/rows.rs"]
mod rows;
#[path = "../src/bin/ragged-bench/workloads.rs"]
mod workloads;

use std::sync::{Mutex, MutexGuard};

use inputs::{Inputs, Rows};
use ragged::{Device, DeviceOptions, Explain, HostTensor, Stats};
use rows::Distribution;
use workloads::{ALL, Workload};

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

/// The names of the benchmark's distributions.
fn distributions() -> [&'static str; 4] {
    Distribution::ALL.map(Distribution::name)
}

/// Rows of a distribution, or as long as a file says.
fn rows(name: &str, values: u32) -> Rows {
    if let Some(dist) = Distribution::ALL.into_iter().find(|dist| dist.name() == name) {
        return Rows::new(dist.lengths(values));
    }
    let path = format!("{}/tests/data/row_lengths/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let lengths = length_file::parse(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
    Rows::new(length_file::repeated(&lengths, values))
}

/// Not one of the benchmark's.
const MIN: Workload = Workload { name: "min", record: |i| i.x.reduce_min(1, false), least: least::reduced };

/// The benchmark's operations, and another.
fn workloads() -> impl Iterator<Item = Workload> {
    ALL.into_iter().chain([MIN])
}

/// What an operation may cost at 4,194,304 values.
struct Bound {
    /// Kernels started.
    dispatches: u64,
    /// Bytes against the least, in hundredths.
    ratio: u64,
    /// Bytes a row besides.
    row_bytes: u64,
}

const ANY: u64 = u64::MAX;

fn bound(w: &Workload) -> Bound {
    let (dispatches, ratio, row_bytes) = match w.name {
        "sum" | "max" | "min" | "mean" | "affine_sum" => (2, 115, 0),
        "row_add" => (1, 115, 0),
        "slice_head" | "slice_tail" | "gather_rows" => (5, 115, 24),
        "concat_axis1" | "to_padded" | "embed_mean" => (2, 115, 0),
        "softmax" => (3, 150, 0),
        "mask_gt_half" => (ANY, 175, 0),
        "sort" => (ANY, ANY, 0),
        other => panic!("{other} has no bound"),
    };
    Bound { dispatches, ratio, row_bytes }
}

/// Bytes against the least and what may come on top, in hundredths, rounded up.
fn ratio(e: &Explain, nrows: usize, bound: &Bound) -> u64 {
    let bytes = e.bytes().saturating_sub(nrows as u64 * bound.row_bytes);
    (bytes * 100).div_ceil(e.least_bytes.max(1))
}

/// The smallest binding that adapters have is 128 MiB: its binary logarithm.
const SMALLEST_BINDING: u32 = 27;

#[test]
fn kernels_and_bytes_are_within_their_bounds() {
    let _turn = turn();
    let mut wrong = Vec::new();
    for (label, device) in common::gpus() {
        for dist in distributions().into_iter().chain(FILES) {
            let rows = rows(dist, 1 << 22);
            let nrows = rows.lengths.len();
            let inputs = Inputs::new(&device, rows).expect("valid");
            for w in workloads() {
                let bound = bound(&w);
                let explained = (w.record)(&inputs).and_then(|t| t.explain()).expect("recorded");
                let (dispatches, ratio) = (explained.dispatches(), ratio(&explained, nrows, &bound));
                println!("{label} {dist:22} {:13} {dispatches:3} dispatches, x {ratio}", w.name);
                // A map of more than a binding holds takes a dispatch a window.
                let windows: u64 = explained.kernels.iter().map(|k| k.bytes_written >> SMALLEST_BINDING).sum();
                if dispatches > bound.dispatches.saturating_add(windows) || ratio > bound.ratio {
                    wrong.push(format!("{label} {dist} {}: {dispatches} dispatches, x {ratio}\n{explained}", w.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the ratios divide by: as counted by hand where every size is known and everything is read once. Else it is
/// counted at capacities, and what is read for two purposes twice, so that it is no less.
#[test]
fn the_least_is_what_is_counted_by_hand() {
    for (label, device) in common::devices() {
        for dist in distributions() {
            let rows = rows(dist, 1 << 20);
            let all = workloads().map(|w| (w, (w.least)(&rows))).collect::<Vec<_>>();
            let inputs = Inputs::new(&device, rows).expect("valid");
            for (w, least) in all {
                let explained = (w.record)(&inputs).and_then(|t| t.explain()).expect("recorded");
                let what = format!("{label} {dist} {}: {least} by hand, but {explained}", w.name);
                match w.name {
                    "sum" | "max" | "min" | "mean" | "affine_sum" | "row_add" | "concat_axis1" | "softmax"
                    | "embed_mean" => {
                        assert_eq!(explained.least_bytes, least, "{what}");
                    }
                    // No row is longer than the padded ones.
                    "to_padded" if dist == "uniform" => assert_eq!(explained.least_bytes, least, "{what}"),
                    // Where recording it has computed it already, nothing is left.
                    "gather_rows" if explained.kernels.is_empty() => {}
                    _ => assert!(explained.least_bytes >= least, "{what}"),
                }
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
            let inputs = Inputs::new(&device, rows(dist, 1 << 22)).expect("valid");
            for w in
                workloads().filter(|w| bound(w).dispatches == 2 && !["concat_axis1", "to_padded"].contains(&w.name))
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
        for dist in distributions() {
            let inputs = Inputs::new(&device, rows(dist, 1 << 15)).expect("valid");
            for w in workloads() {
                let what = format!("{label} {dist} {}", w.name);
                let (first, _) = run(&device, &inputs, &w);
                let (second, stats) = run(&device, &inputs, &w);
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
        let inputs = Inputs::new(&device, rows("pareto", 1 << 15)).expect("valid");
        for w in workloads() {
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
    for dist in distributions() {
        for w in workloads().filter(|w| w.name != "sort") {
            // The peak is that of the device's life: a device each.
            let device = Device::gpu_with(&DeviceOptions::default()).expect("opens again");
            let inputs = Inputs::new(&device, rows(dist, 1 << 20)).expect("valid");
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
