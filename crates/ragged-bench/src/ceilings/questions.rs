//! Launch costs of kernels on the host and on the device, and other measurements behind the engine's design.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result};
use ragged::{Device, wgpu};
use serde::Serialize;

use super::bandwidth::Variant;
use super::harness::{BindingType, Harness, Kernel, whole};
use super::litmus;
use crate::median::median;

const STEP: &str = include_str!("../../shaders/step.wgsl");

/// Dispatches per pass, where one would be too short for the clock.
const MANY: u32 = 1000;

/// Bytes of the buffer whose first use is measured.
const FRESH: u64 = 256 << 20;

/// A measurement, and the question that it answers.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    pub question: &'static str,
    pub what: &'static str,
    pub value: f64,
    pub unit: &'static str,
    /// The clock that measured it, `device` or `host`, or [`RESULT`].
    pub by: &'static str,
}

/// In `by`: determined by the result of a kernel, not by a clock.
pub const RESULT: &str = "result";

const CHAINS: &str = "Device: cost per dispatch in a chain of dependent kernels";
const HOST: &str = "Host: cost of recording, binding and submitting";
const ENGINE: &str = "Host: overhead of the engine over bare wgpu calls";
const COMPILING: &str = "Compilation time of pipelines";
const FRESH_BUFFERS: &str = "Cost of the first use of a new buffer";
const CONTRACTION: &str = "Is a * b + c contracted to a fused multiply-add?";
const MESSAGES: &str = "Message passing between workgroups: is a message complete once its flag is read?";
const EMPTY: &str = "Empty work: a count on the device, or an indirect dispatch?";

/// A small kernel with several arrays of words.
struct SmallKernel {
    kernel: Kernel,
    /// Bind groups with one array each.
    groups: Vec<wgpu::BindGroup>,
    /// Bind group with the first array and a count of 0.
    none: wgpu::BindGroup,
    /// The arguments of indirect dispatches: one workgroup, and none.
    indirect: [wgpu::Buffer; 2],
}

impl SmallKernel {
    fn new(harness: &Harness<'_>) -> Result<Self> {
        let kernel =
            harness.kernel(&harness.module(STEP, false)?, "main", &[BindingType::Read, BindingType::ReadWrite])?;
        let (some, none) = (harness.words(&[64])?, harness.words(&[0])?);
        let arrays: Vec<wgpu::Buffer> = (0..8).map(|_| harness.words(&[0; 64])).collect::<Result<_>>()?;
        let bind = |count: &wgpu::Buffer, words: &wgpu::Buffer| harness.bind(&kernel, &[whole(count), whole(words)]);
        let groups = arrays.iter().map(|array| bind(&some, array)).collect::<Result<_>>()?;
        let none = bind(&none, &arrays[0])?;
        Ok(Self { groups, none, kernel, indirect: [harness.words(&[1, 1, 1])?, harness.words(&[0, 1, 1])?] })
    }

    /// Microseconds per dispatch in a pass of `count` dispatches, each of which `record` records by number.
    fn time(
        &self,
        harness: &Harness<'_>,
        runs: u32,
        count: u32,
        record: impl Fn(&mut wgpu::ComputePass<'_>, u32),
    ) -> Result<f64> {
        let pass = |pass: &mut wgpu::ComputePass<'_>| {
            pass.set_pipeline(&self.kernel.pipeline);
            (0..count).for_each(|k| record(pass, k));
        };
        harness.time(1, pass)?;
        Ok(median(harness.time(runs, pass)?) / f64::from(count) * 1e6)
    }
}

/// Mean time per call in microseconds, over `count` calls.
fn host(count: u32, mut f: impl FnMut() -> Result<()>) -> Result<f64> {
    f()?;
    let start = Instant::now();
    for _ in 0..count {
        f()?;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(count) * 1e6)
}

/// All measurements of a device, each over `runs` runs.
///
/// # Errors
/// wgpu reports an error.
pub fn answers(device: &Device, harness: &Harness<'_>, runs: u32) -> Result<Vec<Answer>> {
    let mut out = Vec::new();
    let by_clock = if harness.has_clock { "device" } else { "host" };
    let mut add = |question, what, value, unit, by| out.push(Answer { question, what, value, unit, by });
    let steps = SmallKernel::new(harness)?;

    let dependent = |pass: &mut wgpu::ComputePass<'_>, _| {
        pass.set_bind_group(0, &steps.groups[0], &[]);
        pass.dispatch_workgroups(1, 1, 1);
    };
    let independent = |pass: &mut wgpu::ComputePass<'_>, k: u32| {
        pass.set_bind_group(0, &steps.groups[k as usize % 8], &[]);
        pass.dispatch_workgroups(1, 1, 1);
    };
    add(CHAINS, "a dependent dispatch, of 1000 in a pass", steps.time(harness, runs, MANY, dependent)?, "us", by_clock);
    add(
        CHAINS,
        "an independent dispatch: the same on 8 arrays in turn",
        steps.time(harness, runs, MANY, independent)?,
        "us",
        by_clock,
    );
    add(CHAINS, "a pass of 3 dependent dispatches", 3.0 * steps.time(harness, runs, 3, dependent)?, "us", by_clock);
    add(CHAINS, "a pass of 1 dispatch", steps.time(harness, runs, 1, dependent)?, "us", by_clock);

    let none = |pass: &mut wgpu::ComputePass<'_>, _| {
        pass.set_bind_group(0, &steps.none, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    };
    let indirect = |k: usize| {
        let (group, arguments) = (&steps.groups[0], &steps.indirect[k]);
        move |pass: &mut wgpu::ComputePass<'_>, _| {
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups_indirect(arguments, 0);
        }
    };
    add(EMPTY, "a dispatch whose count is 0", steps.time(harness, runs, MANY, none)?, "us", by_clock);
    add(EMPTY, "an indirect dispatch of 1 workgroup", steps.time(harness, runs, MANY, indirect(0))?, "us", by_clock);
    add(EMPTY, "an indirect dispatch of none", steps.time(harness, runs, MANY, indirect(1))?, "us", by_clock);

    for (what, value) in of_host(harness, &steps)? {
        add(HOST, what, value, "us", "host");
    }
    for (what, value) in super::host::costs(device, harness)? {
        add(ENGINE, what, value, "us", "host");
    }
    for (what, value) in compiling(harness, runs)? {
        add(COMPILING, what, value, "ms", "host");
    }
    if let Some([first, second]) = fresh(harness)? {
        add(FRESH_BUFFERS, "allocating and clearing 256 MiB", first, "ms", "host");
        add(FRESH_BUFFERS, "clearing the same buffer again", second, "ms", "host");
    }
    let contracts = device.numerics().context("numerics")?.f32.contracts;
    add(
        CONTRACTION,
        "1 if so; the results of the engine do not depend on it",
        f64::from(u8::from(contracts)),
        "",
        RESULT,
    );
    for (what, value) in litmus::counts(harness)? {
        add(MESSAGES, what, value, "messages", RESULT);
    }
    Ok(out)
}

/// Host cost of the calls of a dispatch.
fn of_host(harness: &Harness<'_>, steps: &SmallKernel) -> Result<Vec<(&'static str, f64)>> {
    let mut out = Vec::new();
    let encoder = || harness.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let dispatches = |encoder: &mut wgpu::CommandEncoder, count: u32| {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&steps.kernel.pipeline);
        for k in 0..count as usize {
            pass.set_bind_group(0, &steps.groups[k % 8], &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
    };
    let recorded = |passes: u32, each: u32| {
        let mut encoder = encoder();
        (0..passes).for_each(|_| dispatches(&mut encoder, each));
        encoder.finish()
    };
    let start = Instant::now();
    let buffers = [recorded(1, MANY), recorded(1, MANY)];
    out.push(("recording a dispatch, of 1000 in a pass", start.elapsed().as_secs_f64() * 1e6 / f64::from(2 * MANY)));
    let start = Instant::now();
    harness.scoped(|| harness.queue.submit(buffers))?;
    out.push(("submitting it", start.elapsed().as_secs_f64() * 1e6 / f64::from(2 * MANY)));
    harness.wait()?;
    let start = Instant::now();
    let passes = recorded(MANY, 1);
    out.push(("recording a pass of one dispatch", start.elapsed().as_secs_f64() * 1e6 / f64::from(MANY)));
    drop(passes);
    let one = host(100, || {
        harness.queue.submit([recorded(1, 1)]);
        Ok(())
    })?;
    harness.wait()?;
    out.push(("a submission of one dispatch, without a wait", one));
    let waited = host(20, || {
        harness.queue.submit([recorded(1, 1)]);
        harness.wait()
    })?;
    out.push(("the same, with a wait", waited));

    let (count, words) = (harness.words(&[64])?, harness.words(&[0; 64])?);
    let entries = [(0, &count), (1, &words)]
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
    let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &steps.kernel.layout, entries: &entries };
    let bind = host(MANY, || {
        black_box(harness.device.create_bind_group(&descriptor));
        Ok(())
    })?;
    out.push(("creating a bind group of two buffers", bind));
    let small = wgpu::BufferDescriptor {
        label: None,
        size: 1024,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    };
    let buffer = host(MANY, || {
        black_box(harness.device.create_buffer(&small));
        Ok(())
    })?;
    out.push(("creating a buffer of 1 KiB", buffer));
    let write = host(100, || {
        harness.queue.write_buffer(&words, 0, &[0; 16]);
        Ok(())
    })?;
    harness.submit(|_| {})?;
    harness.wait()?;
    out.push(("writing 16 bytes by the queue", write));
    out.push(("reading 16 bytes back, buffers included", host(20, || harness.read(&words, 16).map(drop))?));
    Ok(out)
}

/// Milliseconds to create a module and a pipeline of a small kernel. Each text is unique, so that the driver's caches
/// miss.
fn compiling(harness: &Harness<'_>, runs: u32) -> Result<[(&'static str, f64); 3]> {
    let variant = Variant { kernel: 0, is_vec4: true, binding: BindingType::Read, is_checked: true, group: 256 };
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.subsec_nanos());
    let (mut modules, mut pipelines, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..runs {
        let new = format!("p.x ^ (p.z * {}u)", seed.wrapping_add(run) | 1);
        let text = variant.text().replace("i < p.x", &format!("i < ({new})"));
        let start = Instant::now();
        let module = harness.module(&text, true)?;
        modules.push(start.elapsed().as_secs_f64() * 1e3);
        for times in [&mut pipelines, &mut again] {
            let start = Instant::now();
            black_box(harness.kernel(
                &module,
                "copy_all",
                &[BindingType::Uniform, BindingType::Read, BindingType::ReadWrite],
            )?);
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok([
        ("a module of three small kernels", median(modules)),
        ("a pipeline of one of them", median(pipelines)),
        ("the same pipeline again, possibly from the driver's cache", median(again)),
    ])
}

/// Milliseconds to create and clear a buffer, and to clear it again; `None` if the device does not support its size.
fn fresh(harness: &Harness<'_>) -> Result<Option<[f64; 2]>> {
    if harness.device.limits().max_buffer_size < FRESH {
        return Ok(None);
    }
    let start = Instant::now();
    let buffer = harness.buffer(FRESH)?;
    let clear = |start: Instant| -> Result<f64> {
        harness.submit(|encoder| encoder.clear_buffer(&buffer, 0, None))?;
        harness.wait()?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let first = clear(start)?;
    Ok(Some([first, clear(Instant::now())?]))
}
