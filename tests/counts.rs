//! Costs of the operations of `ragged-bench`, in counts that do not depend on the machine: kernels, bytes moved per
//! byte of the lower bound, waits, submissions, compilations, buffers. The rows are those of `ragged-bench` too.

mod common;
#[path = "../crates/ragged-bench/src/inputs.rs"]
mod inputs;
#[path = "../crates/ragged-bench/src/least.rs"]
mod least;
#[path = "../crates/ragged-bench/src/length_file.rs"]
mod length_file;
#[path = "../crates/ragged-bench/src/rows.rs"]
mod rows;
#[path = "../crates/ragged-bench/src/workloads.rs"]
mod workloads;

use std::sync::{Mutex, MutexGuard};

use common::outcome::same_bits;
use inputs::{Inputs, Rows};
use ragged::{Device, DeviceOptions, Explain, HostTensor, Stats};
use rows::Distribution;
use workloads::{ALL, Workload};

/// Row lengths from practice: files of `data/row_lengths`.
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

/// The benchmark's distributions and the files of row lengths.
fn all_rows() -> impl Iterator<Item = &'static str> {
    distributions().into_iter().chain(FILES)
}

/// Rows with lengths of a distribution or of a file.
fn rows(name: &str, values: u32) -> Rows {
    if let Some(dist) = Distribution::ALL.into_iter().find(|dist| dist.name() == name) {
        return Rows::new(dist.lengths(values));
    }
    let path = format!("{}/tests/data/row_lengths/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let lengths = length_file::parse(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
    Rows::new(length_file::repeated(&lengths, values))
}

/// An additional workload.
const MIN: Workload = Workload { name: "min", record: |i| i.x.reduce_min(1), least: least::reduced };

/// The benchmark's operations, and an additional one.
fn workloads() -> impl Iterator<Item = Workload> {
    ALL.into_iter().chain([MIN])
}

/// Values that the bounds are stated for.
const MANY: u32 = 1 << 22;

/// Upper bounds on the cost of an operation at [`MANY`] values.
struct Bound {
    /// Kernel launches.
    dispatches: u64,
    /// Bytes moved per byte of the lower bound, in hundredths.
    ratio: u64,
    /// Additional bytes per row.
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

/// Records the operation. Returns the work that recording itself did (none, or the size of the result), and the plan of
/// the rest.
fn recorded(device: &Device, inputs: &Inputs, w: &Workload) -> (Stats, Explain) {
    let before = device.stats();
    let tensor = (w.record)(inputs).expect("recorded");
    (device.stats() - before, tensor.explain().expect("explained"))
}

/// Binary logarithm of the least limit on bindings, 128 MiB.
const SMALLEST_BINDING: u32 = 27;

#[test]
fn kernels_and_bytes_are_within_their_bounds() {
    let _guard = exclusive();
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
                // The lower bound: counted by hand where recording has computed a part of the result.
                let least = if asked.dispatches == 0 { rest.least_bytes } else { by_hand };
                let dispatches = asked.dispatches + rest.dispatches();
                let bytes = asked.bytes_moved + rest.bytes();
                let ratio = (bytes.saturating_sub(nrows * bound.row_bytes) * 100).div_ceil(least);
                // Bytes at capacities: kernels move less where rows are shorter than their bound.
                let of_these_rows = bytes as f64 / by_hand as f64;
                let counts = format!("{dispatches:3} dispatches, x {ratio}, {of_these_rows:.2} of these rows' least");
                println!("{label} {dist:22} {:13} {counts}", w.name);
                // A map over an array that exceeds a binding needs one dispatch per window, as padded rows may.
                let maps = rest.kernels.iter().filter(|k| k.kind == "map");
                let windows: u64 = maps.map(|k| k.bytes_written >> SMALLEST_BINDING).sum();
                if dispatches > bound.dispatches.saturating_add(windows) || ratio > bound.ratio {
                    wrong.push(format!(
                        "{label} {dist} {}: {dispatches} dispatches, x {ratio}, {asked:?}\n{rest}",
                        w.name
                    ));
                }
                // Only repeated rows of device-known lengths wait for their number of values.
                if asked.dispatches > 0 {
                    assert_eq!((w.name, asked.waits, asked.submissions), ("gather_rows", 1, 1), "{label} {dist}");
                    assert!(asked.bytes_moved > 0, "{label} {dist}: {asked:?}");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lower bound on bytes equals the count by hand where every size is known and everything is read once. Otherwise
/// it is counted at capacities, with repeated reads, and is at least the count by hand.
#[test]
fn the_lower_bound_equals_the_count_by_hand() {
    let _guard = exclusive();
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
                    // No row exceeds the padded length.
                    "to_padded" if dist == "uniform" => assert_eq!(explained.least_bytes, least, "{what}"),
                    // Where recording has computed the splits, only the values are left.
                    "gather_rows" if explained.kernels.len() == 1 => {}
                    _ => assert!(explained.least_bytes >= least, "{what}"),
                }
            }
        }
    }
}

/// Where the host knows that every row has at most one block, a reduction needs no second kernel.
#[test]
fn rows_of_one_block_are_reduced_by_one_kernel() {
    let _guard = exclusive();
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

/// Runs and reads the operation; returns the work.
fn run(device: &Device, inputs: &Inputs, w: &Workload) -> (HostTensor, Stats) {
    let before = device.stats();
    let result = (w.record)(inputs).and_then(|t| t.to_host()).expect("computed");
    (result, device.stats() - before)
}

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs each operation twice over these rows: one submission and one wait per read, and no new plan, pipeline or buffer
/// in the second run.
fn runs_twice(label: &str, device: &Device, dist: &str, values: u32) {
    let inputs = Inputs::new(device, rows(dist, values)).expect("valid");
    // Sorting is slow on software adapters; its waits do not depend on the size.
    for w in workloads().filter(|w| w.name != "sort" || values < MANY) {
        let what = format!("{label} {dist} {} of {values} values", w.name);
        let (first, at_first) = run(device, &inputs, &w);
        let (second, stats) = run(device, &inputs, &w);
        assert!(first.nested_row_splits == second.nested_row_splits, "{what}: the same rows");
        assert!(same_bits(&first.values, &second.values), "{what}: the same values");
        // Repeated rows of device-known lengths wait for the size of the result.
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
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        all_rows().for_each(|dist| runs_twice(&label, &device, dist, 1 << 15));
        distributions().into_iter().for_each(|dist| runs_twice(&label, &device, dist, MANY));
    }
}

/// If the bound on a result of device-known size is large, the size is read first.
#[test]
fn a_large_result_of_unknown_size_is_read_in_two_steps() {
    let _guard = exclusive();
    if common::gpus().is_empty() {
        return;
    }
    const MOST: u64 = 1 << 16;
    let shared = Device::gpu().expect("there is one");
    let tuning = shared.tuning().expect("a GPU's").read_at_capacity(MOST);
    let device = Device::gpu_with(&DeviceOptions::default().tuning(tuning)).expect("opens again");
    let mask = |w: &Workload| w.name == "mask_gt_half";
    let w = workloads().find(mask).expect("one of them");
    for (values, reads) in [(MOST as u32 / 4, 1), (MOST as u32 / 4 + 1, 2)] {
        let inputs = Inputs::new(&device, rows("giant", values)).expect("valid");
        let explained = (w.record)(&inputs).and_then(|t| t.explain()).expect("explained");
        let (result, stats) = run(&device, &inputs, &w);
        assert_eq!((explained.waits, stats.waits, stats.submissions), (reads, reads, reads), "{values}: {stats:?}");
        // The values at their exact size; or at their capacity, and their size.
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
fn the_run_matches_its_explanation() {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        let inputs = Inputs::new(&device, rows("pareto", 1 << 15)).expect("valid");
        for w in workloads() {
            let what = format!("{label} {}", w.name);
            let tensor = (w.record)(&inputs).expect("recorded");
            let explained = tensor.explain().expect("explained");
            device.wait().expect("idle");
            let before = device.stats();
            tensor.eval().expect("computed");
            // Counts with large bounds are read during the run.
            let evaluated = device.stats() - before;
            assert_eq!(evaluated.dispatches, explained.dispatches(), "{what}");
            // Everything is computed: only the read is left.
            let (before, waits) = (device.stats(), tensor.explain().expect("explained").waits);
            tensor.to_host().expect("read");
            let read = device.stats() - before;
            assert_eq!((read.dispatches, read.waits), (0, waits), "{what}");
            assert_eq!(explained.waits, evaluated.waits + waits, "{what}");
        }
    }
}

/// Bytes of the operation's inputs, including splits.
fn given(w: &Workload, rows: &Rows) -> u64 {
    let (values, nrows) = (4 * rows.values.len() as u64, rows.lengths.len() as u64);
    let ragged = values + 4 * (nrows + 1);
    match w.name {
        "row_add" => ragged + 4 * nrows,
        "gather_rows" => ragged + 8 * nrows,
        // A token has the size of a value.
        "embed_mean" => ragged + 4 * inputs::TABLE.iter().product::<usize>() as u64,
        _ => ragged,
    }
}

/// Bytes of the operation's result, at its capacity if its size is device-known.
fn room(w: &Workload, result: &HostTensor, nrows: usize, values: usize) -> u64 {
    let splits = 4 * (nrows + 1);
    let room = match w.name {
        "slice_head" | "slice_tail" => 4 * values.min(nrows * inputs::TAKEN as usize) + splits,
        "mask_gt_half" => 4 * values + splits,
        "gather_rows" | "concat_axis1" => 4 * result.values.len() + splits,
        // The result shares the splits of the input.
        _ => 4 * result.values.len(),
    };
    room as u64
}

/// Bound on memory in use during the computation, in hundredths of the inputs and outputs.
const SPARE: u64 = 10;

#[test]
fn peak_memory_is_little_more_than_inputs_and_outputs() {
    let _guard = exclusive();
    if common::gpus().is_empty() {
        return;
    }
    let mut wrong = Vec::new();
    for dist in all_rows() {
        for w in workloads().filter(|w| w.name != "sort") {
            // The peak counts from the device's creation: one device per operation.
            let device = Device::gpu_with(&DeviceOptions::default()).expect("opens again");
            let rows = rows(dist, MANY);
            let (given, nrows, values) = (given(&w, &rows), rows.lengths.len(), rows.values.len());
            let inputs = Inputs::new(&device, rows).expect("valid");
            // The inputs of the other operations are held as well.
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
            // Only the result is left.
            let read = result.to_host().expect("read");
            let room = room(&w, &read, nrows, values);
            // A scan stores, besides the sums of its tiles of 2048 rows, whether the total overflows.
            let noted = 64 + nrows as u64 / 128;
            assert!(made <= room + noted, "{dist} {}: {made} B held for {room}", w.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_cpu_backend_counts_its_work() {
    let _guard = exclusive();
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
            // `explain` takes device-known sizes at their bounds, the counters take the actual sizes.
            if !explained.kernels.iter().any(|kernel| kernel.is_bound) {
                assert_eq!((work.dispatches, work.bytes_moved), (explained.dispatches(), explained.bytes()), "{what}");
            }
            assert!(work.bytes_moved > 0, "{what}: {work:?}");
            // The memory of the live result counts.
            let result = tensor.to_host().expect("read");
            let made = 4 * result.values.len() as u64;
            assert!(after.buffer_bytes >= before.buffer_bytes + made, "{what}: {before:?}, {after:?}");
            assert!(after.buffer_bytes_peak >= after.buffer_bytes, "{what}: {after:?}");
            assert!(after.memory_bytes >= after.buffer_bytes, "{what}: {after:?}");
            drop(tensor);
            assert_eq!(device.stats().buffer_bytes, before.buffer_bytes, "{what}: nothing is held any more");
            // The next batch of the same operations reuses the plan.
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
