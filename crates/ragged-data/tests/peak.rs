//! Peak memory of batches that are cut by bytes, in a process of its own.
#![cfg(target_os = "linux")]

use ragged::{Device, HostTensor, HostValues};
use ragged_data::dataset::{BatchSize, Dataset};
use ragged_data::item::Item;

/// A figure of the process, in bytes.
fn figure(name: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("the status of the process");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("the figure");
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

/// 512 MiB of rows of 64 KiB with one of 24 MiB among them, in batches of 8 MiB.
#[test]
fn the_peak_is_a_multiple_of_the_target_and_the_longest_row() {
    const MIB: usize = 1 << 20;
    let (target, longest) = (8 * MIB, 24 * MIB);
    let rows = Dataset::from_fn(move || {
        (0..8192).map(move |k| {
            let n = if k == 4000 { longest } else { MIB / 16 };
            Item::from_host(HostTensor::dense(&[n], HostValues::U8(vec![1; n])))
        })
    });
    let device = Device::cpu();
    let size = BatchSize::bytes(target as u64).max_row_bytes(32 << 20);
    let batches = rows.ragged_batch(size).to_device(&device);
    // The first batch sets up the device.
    assert!(batches.iter().next().expect("a batch").is_ok());
    let base = figure("VmRSS");
    let (mut rows, mut most) = (0, 0);
    for batch in &batches {
        let batch = batch.and_then(|batch| batch.tensor(&device)).expect("a batch");
        rows += batch.len().expect("a number");
        most = most.max(figure("VmRSS"));
    }
    let peak = figure("VmHWM").max(most).saturating_sub(base);
    assert_eq!(rows, 8192);
    assert!(peak <= 3 * (target + longest), "{} MiB above {} MiB", peak / MIB, base / MIB);
}
