//! Streams of small batches of varying sizes: time per batch next to plain Rust loops, and the plans, pipelines and
//! allocations of the engine over the stream.
//!
//! The loops run on the calling thread and use no types of the engine. The sequential loop sums from left to right, as
//! a program without the engine would. The other loop sums in the engine's canonical order, which the compiler
//! vectorizes, and gives the engine's bits.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../crates/ragged-bench/src/rows.rs"]
#[allow(dead_code, reason = "only the numbers are used here")]
mod rows;

mod batch;
mod loops;
mod measure;
mod report;
mod streams;

use common::Args;
use measure::{Measured, measure};
use ragged::{Device, DeviceOptions};
use report::print;
use streams::{STREAMS, Stream};

const USAGE: &str = "\
Streams of small batches: time per batch next to a plain Rust loop, plans, compiled pipelines, memory.

    cargo bench --bench small_batches -- [OPTIONS]

    --device NAME...  cpu, gpu, or a part of an adapter's name [default: cpu and the first adapter]
    --batches N       batches per program; the stream of 64 rows has half as many [default: 1000]
    --gpu-batches N   the same on adapters [default: --batches; 100 at most on software adapters]
    --test            16 batches";

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
