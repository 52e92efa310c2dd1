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

use common::outcome::same_bits;
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

/// All rows that there are: the benchmark's distributions and the files.
fn all_rows() -> impl Iterator<Item = &'static str> {
    distributions().into_iter().chain(FILES)
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
const MIN: Workload = Workload { name: "min", record: |i| i.x.reduce_min(1), least: least::reduced };

/// The benchmark's operations, and another.
fn workloads() -> impl Iterator<Item = Workload> {
    ALL.into_iter().chain([MIN])
}

/// Values that the bounds are stated for.
const MANY: u32 = 1 << 22;

/// What an operation may cost at [`MANY`] values.
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

/// Records the operation, which computes nothing or the size of its result: what that took, and how the rest will be
/// computed.
fn recorded(device: &Device, inputs: &Inputs, w: &Workload) -> (Stats, Explain) {
    let before = device.stats();
    let tensor = (w.record)(inputs).expect("recorded");
    (device.stats() - before, tensor.explain().expect("explained"))
}

/// The smallest binding that adapters have is 128 MiB: its binary logarithm.
const SMALLEST_BINDING: u32 = 27;

#[test]
fn kernels_and_bytes_are_within_their_bounds() {
    let _turn = turn();
    let mut wrong = Vec::new();
    for (label, device) in common::gpus() {
        for dist in all_rows() {
            let rows = rows(dist, MANY);
            let nrows = rows.lengths.len() as u64;
            let all = workloads().map(|w| (w, (w.least)(&rows))).collect::<Vec<_>>();
            let inputs = Inputs::new(&device, rows).expect("valid");
            for (w, by_hand) in all {
                let bound = bound(&w);
                let (asked, rest) = recorded(&device, &inputs, &w);
                // What the ratio divides by: counted by hand where recording it has computed a part of it.
                let least = if asked.dispatches == 0 { rest.least_bytes } else { by_hand };
                let dispatches = asked.dispatches + rest.dispatches();
                let bytes = asked.bytes_moved + rest.bytes();
                let ratio = (bytes.saturating_sub(nrows * bound.row_bytes) * 100).div_ceil(least);
                // At capacities: where few rows have as many values as they may, kernels move less.
                let of_these_rows = bytes as f64 / by_hand as f64;
                let counts = format!("{dispatches:3} dispatches, x {ratio}, {of_these_rows:.2} of these rows' least");
                println!("{label} {dist:22} {:13} {counts}", w.name);
                // A map of more than a binding holds takes a dispatch a window: padded rows do, of which many are short.
                let maps = rest.kernels.iter().filter(|k| k.kind == "map");
                let windows: u64 = maps.map(|k| k.bytes_written >> SMALLEST_BINDING).sum();
                if dispatches > bound.dispatches.saturating_add(windows) || ratio > bound.ratio {
                    wrong.push(format!(
                        "{label} {dist} {}: {dispatches} dispatches, x {ratio}, {asked:?}\n{rest}",
                        w.name
                    ));
                }
                // Only rows of unknown lengths that may be taken again and again are asked for how many values they are.
                if asked.dispatches > 0 {
                    assert_eq!((w.name, asked.waits, asked.submissions), ("gather_rows", 1, 1), "{label} {dist}");
                    assert!(asked.bytes_moved > 0, "{label} {dist}: {asked:?}");
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
    let _turn = turn();
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
                    // Where recording it has computed its splits already, only the values are left.
                    "gather_rows" if explained.kernels.len() == 1 => {}
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
            let inputs = Inputs::new(&device, rows(dist, MANY)).expect("valid");
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

/// Runs each operation twice, over those rows: one submission and one wait a read, and nothing new the second time.
fn runs_twice(label: &str, device: &Device, dist: &str, values: u32) {
    let inputs = Inputs::new(device, rows(dist, values)).expect("valid");
    // Sorting is slow in software; how it waits does not depend on how much there is.
    for w in workloads().filter(|w| w.name != "sort" || values < MANY) {
        let what = format!("{label} {dist} {} of {values} values", w.name);
        let (first, at_first) = run(device, &inputs, &w);
        let (second, stats) = run(device, &inputs, &w);
        assert!(first.nested_row_splits == second.nested_row_splits, "{what}: the same rows");
        assert!(same_bits(&first.values, &second.values), "{what}: the same values");
        // Rows of unknown length that may be taken many times: for the size of the result.
        let asked = u64::from(w.name == "gather_rows");
        for stats in [at_first, stats] {
            assert!(stats.waits <= 1 + asked && stats.waits > 0, "{what}: {stats:?}");
            assert!(stats.submissions <= 1 + asked, "{what}: {stats:?}");
        }
        assert_eq!((stats.plans, stats.pipelines_compiled), (0, 0), "{what}");
        assert_eq!(stats.pool_misses, 0, "{what}");
    }
}

#[test]
fn a_read_is_one_submission_and_one_wait_and_the_second_run_makes_nothing_new() {
    let _turn = turn();
    for (label, device) in common::gpus() {
        all_rows().for_each(|dist| runs_twice(&label, &device, dist, 1 << 15));
        distributions().into_iter().for_each(|dist| runs_twice(&label, &device, dist, MANY));
    }
}

/// Where only the device knows the size of a result that may be large, its size is read first.
#[test]
fn a_large_result_of_unknown_size_is_read_in_two() {
    let _turn = turn();
    if common::gpus().is_empty() {
        return;
    }
    const MOST: u64 = 1 << 16;
    let shared = Device::gpu().expect("there is one");
    let tuning = shared.tuning().expect("a GPU's").read_at_capacity(MOST);
    let device = Device::gpu_with(&DeviceOptions::default().tuning(Some(tuning))).expect("opens again");
    let mask = |w: &Workload| w.name == "mask_gt_half";
    let w = workloads().find(mask).expect("one of them");
    for (values, reads) in [(MOST as u32 / 4, 1), (MOST as u32 / 4 + 1, 2)] {
        let inputs = Inputs::new(&device, rows("giant", values)).expect("valid");
        let explained = (w.record)(&inputs).and_then(|t| t.explain()).expect("explained");
        let (result, stats) = run(&device, &inputs, &w);
        assert_eq!((explained.waits, stats.waits, stats.submissions), (reads, reads, reads), "{values}: {stats:?}");
        // Of the values, what there is; or all that there may be, and how many there are.
        let there = 4 * result.values.len() as u64;
        let room = if reads == 1 { 4 * u64::from(values) } else { there };
        assert!(there < 3 * u64::from(values) && stats.bytes_read_back >= room, "{values}: {stats:?}");
        let splits = 4 * result.nested_row_splits[0].len() as u64;
        assert!(stats.bytes_read_back <= room + splits + 64, "{values}: {stats:?}");
        let cpu = Inputs::new(&Device::cpu(), rows("giant", values)).expect("valid");
        assert_eq!((w.record)(&cpu).and_then(|t| t.to_host()).expect("computed"), result);
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
            // Counts at whose bounds it would take much memory are read on the way.
            let evaluated = device.stats() - before;
            assert_eq!(evaluated.dispatches, explained.dispatches(), "{what}");
            // Everything is there: reading it is what is left.
            let (before, waits) = (device.stats(), tensor.explain().expect("explained").waits);
            tensor.to_host().expect("read");
            let read = device.stats() - before;
            assert_eq!((read.dispatches, read.waits), (0, waits), "{what}");
            assert_eq!(explained.waits, evaluated.waits + waits, "{what}");
        }
    }
}

/// Bytes of what the operation is given, its splits among them.
fn given(w: &Workload, rows: &Rows) -> u64 {
    let (values, nrows) = (4 * rows.values.len() as u64, rows.lengths.len() as u64);
    let ragged = values + 4 * (nrows + 1);
    match w.name {
        "row_add" => ragged + 4 * nrows,
        "gather_rows" => ragged + 8 * nrows,
        // Tokens take what values do.
        "embed_mean" => ragged + 4 * inputs::TABLE.iter().product::<usize>() as u64,
        _ => ragged,
    }
}

/// Bytes that the operation's result may take: at its capacity, where only the device knows its size.
fn room(w: &Workload, result: &HostTensor, nrows: usize, values: usize) -> u64 {
    let splits = 4 * (nrows + 1);
    let room = match w.name {
        "slice_head" | "slice_tail" => 4 * values.min(nrows * inputs::TAKEN as usize) + splits,
        "mask_gt_half" => 4 * values + splits,
        "gather_rows" | "concat_axis1" => 4 * result.values.len() + splits,
        // The splits are those of the input.
        _ => 4 * result.values.len(),
    };
    room as u64
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
    for dist in all_rows() {
        for w in workloads().filter(|w| w.name != "sort") {
            // The peak is that of the device's life: a device each.
            let device = Device::gpu_with(&DeviceOptions::default()).expect("opens again");
            let rows = rows(dist, MANY);
            let (given, nrows, values) = (given(&w, &rows), rows.lengths.len(), rows.values.len());
            let inputs = Inputs::new(&device, rows).expect("valid");
            // Inputs of the other operations are held all the while.
            let before = device.stats().buffer_bytes;
            let result = (w.record)(&inputs).expect("recorded");
            result.eval().expect("computed");
            device.wait().expect("idle");
            let stats = device.stats();
            let (made, most) = (stats.buffer_bytes - before, stats.buffer_bytes_peak - before);
            assert!(made > 0, "{dist} {}: the result is held", w.name);
            let spare = (most - made) * 100;
            println!("{dist:22} {:13} {given} B given, {made} B made, {most} B at most", w.name);
            if spare > SPARE * (given + made) {
                wrong.push(format!("{dist} {}: {given} B given, {made} B made, {most} B at most", w.name));
            }
            // What stays is the result alone.
            let read = result.to_host().expect("read");
            let room = room(&w, &read, nrows, values);
            // A scan notes beside the sums of its tiles, of 2048 rows each, whether the total fits.
            let noted = 64 + nrows as u64 / 128;
            assert!(made <= room + noted, "{dist} {}: {made} B held for {room}", w.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_cpu_backend_counts_its_work() {
    let _turn = turn();
    let device = Device::cpu();
    for dist in all_rows() {
        let rows = rows(dist, 1 << 15);
        let inputs = Inputs::new(&device, rows).expect("valid");
        for w in workloads() {
            let what = format!("{dist} {}", w.name);
            let tensor = (w.record)(&inputs).expect("recorded");
            let explained = tensor.explain().expect("explained");
            let before = device.stats();
            tensor.eval().expect("computed");
            let after = device.stats();
            let work = after - before;
            assert!(work.plans <= 1 && work.dispatches > 0, "{what}: {work:?}");
            // Sizes that only the device knows are explained at their bounds, and counted as they are.
            if !explained.kernels.iter().any(|kernel| kernel.is_bound) {
                assert_eq!((work.dispatches, work.bytes_moved), (explained.dispatches(), explained.bytes()), "{what}");
            }
            assert!(work.bytes_moved > 0, "{what}: {work:?}");
            // The result is held, and its memory counts.
            let result = tensor.to_host().expect("read");
            let made = 4 * result.values.len() as u64;
            assert!(after.buffer_bytes >= before.buffer_bytes + made, "{what}: {before:?}, {after:?}");
            assert!(after.buffer_bytes_peak >= after.buffer_bytes, "{what}: {after:?}");
            assert!(after.memory_bytes >= after.buffer_bytes, "{what}: {after:?}");
            drop(tensor);
            assert_eq!(device.stats().buffer_bytes, before.buffer_bytes, "{what}: nothing is held any more");
            // The next batch of the same operations takes the plan.
            let before = device.stats();
            (w.record)(&inputs).and_then(|tensor| tensor.eval()).expect("computed");
            let again = device.stats() - before;
            assert_eq!(
                (again.plans, again.dispatches, again.bytes_moved),
                (0, work.dispatches, work.bytes_moved),
                "{what}"
            );
        }
    }
}
