//! The runtime on every adapter of this machine; a software rasteriser will do. Without any, these tests fail.

mod faults;
mod kernels;
mod memory;
mod threads;
mod transfers;

use std::{
    sync::{Arc, Barrier},
    time::Duration,
};

use super::{execution_modes::Mode, float_controls::FloatControls, readback::ReadFuture, *};
use crate::graph::backend::ReadBytes;
use crate::{Error, Result};

fn open_with(options: &DeviceOptions) -> Arc<Runtime> {
    let adapters = adapters();
    let adapter = adapters.first().expect("a GPU adapter (mesa-vulkan-drivers has one in software)");
    Runtime::open(adapter, options).expect("opens")
}

fn open() -> Arc<Runtime> {
    open_with(&DeviceOptions::default())
}

/// `out[i] = in[i] * factor + i`, one element per invocation.
const AFFINE: &str = "
struct Params { count: u32, factor: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = (wid.x + wid.y * grid.x) * 64u + lane;
    if (i >= params.count) { return; }
    output[i] = input[i] * params.factor + i;
}
";

/// SAFETY: the kernel has no loops, and every test's count is within both buffers.
const UNCHECKED: RuntimeChecks = unsafe { RuntimeChecks::ALL.without_loops().without_bounds() };

fn affine(runtime: &Runtime, input: &Buffer, output: &Buffer, count: u32, factor: u32) -> Command {
    let access = [Access::Read, Access::ReadWrite];
    let pipeline = runtime.pipeline("affine", AFFINE, "main", &access, UNCHECKED).expect("compiles");
    Command::Dispatch(Dispatch {
        pipeline,
        buffers: vec![input.clone().into(), output.clone().into()],
        params: [count, factor].into(),
        workgroups: count.div_ceil(64),
        depth: 1,
        label: "affine".into(),
    })
}

fn whole(buffer: &Buffer) -> ReadRequest {
    ReadRequest { buffer: buffer.clone(), offset: 0, bytes: buffer.bytes() }
}

fn read(runtime: &Runtime, buffer: &Buffer) -> Vec<u8> {
    runtime.submit_and_read(&[], &[whole(buffer)]).expect("reads")[0].to_vec()
}

fn read_later(
    runtime: &Runtime,
    commands: &[Command],
    reads: &[ReadRequest],
) -> Result<impl Future<Output = Result<Vec<ReadBytes>>> + use<>> {
    Ok(runtime.finish_read(runtime.start_read(commands, reads)?))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

fn upload_words(runtime: &Runtime, words: &[u32]) -> Buffer {
    runtime.upload(bytemuck::cast_slice(words)).expect("uploads")
}

fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| ((i + seed) * 31 % 251) as u8).collect()
}
