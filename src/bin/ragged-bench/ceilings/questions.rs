//! Costs of launching kernels, on the host and on the device, and other figures that the engine's design relies on.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result};
use ragged::{Device, wgpu};
use serde::Serialize;

use super::bandwidth::Variant;
use super::litmus;
use super::rig::{Bound, Kernel, Rig, whole};
use crate::median::median;

const STEP: &str = include_str!("../../../../shaders/bench/step.wgsl");

/// Dispatches per pass, where one would be too short for the clock.
const MANY: u32 = 1000;

/// Bytes of the buffer that measures the cost of a first use.
const FRESH: u64 = 256 << 20;

/// A figure, and the question that it answers.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    pub question: &'static str,
    pub what: &'static str,
    pub value: f64,
    pub unit: &'static str,
    /// The clock that measured it, `device` or `host`, or [`RESULT`].
    pub by: &'static str,
}

/// Determined by the result of a kernel.
pub const RESULT: &str = "result";

const CHAINS: &str = "Dispatch to dispatch: what does a chain of dependent kernels cost on the device?";
const HOST: &str = "Host: what do recording, binding and submitting cost?";
const ENGINE: &str = "Host: what does the engine add to the calls of wgpu?";
const COMPILING: &str = "How long do pipelines take to compile?";
const FRESH_BUFFERS: &str = "What does the first use of a fresh buffer cost?";
const CONTRACTION: &str = "Is a * b + c, written plainly, contracted?";
const MESSAGES: &str = "Between workgroups: is a message whole for who has seen its flag?";
const EMPTY: &str = "Nothing to do: a count on the device, or an indirect dispatch?";

/// The small kernel, with some arrays of words as its data.
struct Steps {
    kernel: Kernel,
    /// Bind groups with an array each.
    groups: Vec<wgpu::BindGroup>,
    /// Binds the first array, with a count of 0.
    none: wgpu::BindGroup,
    /// The arguments of indirect dispatches: one workgroup, and none.
    indirect: [wgpu::Buffer; 2],
}

impl Steps {
    fn new(rig: &Rig<'_>) -> Result<Self> {
        let kernel = rig.kernel(&rig.module(STEP, false)?, "main", &[Bound::Read, Bound::ReadWrite])?;
        let (some, none) = (rig.words(&[64])?, rig.words(&[0])?);
        let arrays: Vec<wgpu::Buffer> = (0..8).map(|_| rig.words(&[0; 64])).collect::<Result<_>>()?;
        let bind = |count: &wgpu::Buffer, words: &wgpu::Buffer| rig.bind(&kernel, &[whole(count), whole(words)]);
        let groups = arrays.iter().map(|array| bind(&some, array)).collect::<Result<_>>()?;
        let none = bind(&none, &arrays[0])?;
        Ok(Self { groups, none, kernel, indirect: [rig.words(&[1, 1, 1])?, rig.words(&[0, 1, 1])?] })
    }

    /// Microseconds per dispatch in a pass of `count` dispatches, each of which `record` records by number.
    fn time(
        &self,
        rig: &Rig<'_>,
        runs: u32,
        count: u32,
        record: impl Fn(&mut wgpu::ComputePass<'_>, u32),
    ) -> Result<f64> {
        let pass = |pass: &mut wgpu::ComputePass<'_>| {
            pass.set_pipeline(&self.kernel.pipeline);
            (0..count).for_each(|k| record(pass, k));
        };
        rig.time(1, pass)?;
        Ok(median(rig.time(runs, pass)?) / f64::from(count) * 1e6)
    }
}

/// Microseconds per call, over `count` calls.
fn host(count: u32, mut f: impl FnMut() -> Result<()>) -> Result<f64> {
    f()?;
    let start = Instant::now();
    for _ in 0..count {
        f()?;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(count) * 1e6)
}

/// All answers for a device, each measured `runs` times.
///
/// # Errors
/// The device refuses something.
pub fn ask(device: &Device, rig: &Rig<'_>, runs: u32) -> Result<Vec<Answer>> {
    let mut out = Vec::new();
    let by_clock = if rig.has_clock { "device" } else { "host" };
    let mut say = |question, what, value, unit, by| out.push(Answer { question, what, value, unit, by });
    let steps = Steps::new(rig)?;

    let dependent = |pass: &mut wgpu::ComputePass<'_>, _| {
        pass.set_bind_group(0, &steps.groups[0], &[]);
        pass.dispatch_workgroups(1, 1, 1);
    };
    let independent = |pass: &mut wgpu::ComputePass<'_>, k: u32| {
        pass.set_bind_group(0, &steps.groups[k as usize % 8], &[]);
        pass.dispatch_workgroups(1, 1, 1);
    };
    say(CHAINS, "a dependent dispatch, of 1000 in a pass", steps.time(rig, runs, MANY, dependent)?, "us", by_clock);
    say(CHAINS, "the same on 8 arrays in turn", steps.time(rig, runs, MANY, independent)?, "us", by_clock);
    say(CHAINS, "a pass of 3 dependent dispatches", 3.0 * steps.time(rig, runs, 3, dependent)?, "us", by_clock);
    say(CHAINS, "a pass of 1 dispatch", steps.time(rig, runs, 1, dependent)?, "us", by_clock);

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
    say(EMPTY, "a dispatch whose count is 0", steps.time(rig, runs, MANY, none)?, "us", by_clock);
    say(EMPTY, "an indirect dispatch of 1 workgroup", steps.time(rig, runs, MANY, indirect(0))?, "us", by_clock);
    say(EMPTY, "an indirect dispatch of none", steps.time(rig, runs, MANY, indirect(1))?, "us", by_clock);

    for (what, value) in of_host(rig, &steps)? {
        say(HOST, what, value, "us", "host");
    }
    for (what, value) in super::host::costs(device, rig)? {
        say(ENGINE, what, value, "us", "host");
    }
    for (what, value) in compiling(rig, runs)? {
        say(COMPILING, what, value, "ms", "host");
    }
    if let Some([first, second]) = fresh(rig)? {
        say(FRESH_BUFFERS, "clearing 256 MiB for the first time, allocation included", first, "ms", "host");
        say(FRESH_BUFFERS, "clearing them again", second, "ms", "host");
    }
    let contracts = device.numerics().context("numerics")?.f32.contracts;
    say(
        CONTRACTION,
        "yes is 1; kernels are written so that results do not depend on it",
        f64::from(u8::from(contracts)),
        "",
        RESULT,
    );
    for (what, value) in litmus::ask(rig)? {
        say(MESSAGES, what, value, "messages", RESULT);
    }
    Ok(out)
}

/// Host cost of the calls of a dispatch.
fn of_host(rig: &Rig<'_>, steps: &Steps) -> Result<Vec<(&'static str, f64)>> {
    let mut out = Vec::new();
    let encoder = || rig.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
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
    rig.scoped(|| rig.queue.submit(buffers))?;
    out.push(("submitting it", start.elapsed().as_secs_f64() * 1e6 / f64::from(2 * MANY)));
    rig.wait()?;
    let start = Instant::now();
    let passes = recorded(MANY, 1);
    out.push(("recording a pass of one dispatch", start.elapsed().as_secs_f64() * 1e6 / f64::from(MANY)));
    drop(passes);
    let one = host(100, || {
        rig.queue.submit([recorded(1, 1)]);
        Ok(())
    })?;
    rig.wait()?;
    out.push(("a submission of one dispatch, not waited for", one));
    let waited = host(20, || {
        rig.queue.submit([recorded(1, 1)]);
        rig.wait()
    })?;
    out.push(("the same, waited for", waited));

    let (count, words) = (rig.words(&[64])?, rig.words(&[0; 64])?);
    let entries = [(0, &count), (1, &words)]
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
    let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &steps.kernel.layout, entries: &entries };
    let bind = host(MANY, || {
        black_box(rig.device.create_bind_group(&descriptor));
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
        black_box(rig.device.create_buffer(&small));
        Ok(())
    })?;
    out.push(("creating a buffer of 1 KiB", buffer));
    let write = host(100, || {
        rig.queue.write_buffer(&words, 0, &[0; 16]);
        Ok(())
    })?;
    rig.submit(|_| {})?;
    rig.wait()?;
    out.push(("writing 16 bytes by the queue", write));
    out.push(("reading 16 bytes back, buffers included", host(20, || rig.read(&words, 16).map(drop))?));
    Ok(out)
}

/// Milliseconds to make a module and a pipeline of a small kernel. Each text is new to the driver, whatever it caches.
fn compiling(rig: &Rig<'_>, runs: u32) -> Result<[(&'static str, f64); 3]> {
    let variant = Variant { kernel: 0, is_vec4: true, binding: Bound::Read, is_checked: true, group: 256 };
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.subsec_nanos());
    let (mut modules, mut pipelines, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..runs {
        let new = format!("p.x ^ (p.z * {}u)", seed.wrapping_add(run) | 1);
        let text = variant.text().replace("i < p.x", &format!("i < ({new})"));
        let start = Instant::now();
        let module = rig.module(&text, true)?;
        modules.push(start.elapsed().as_secs_f64() * 1e3);
        for times in [&mut pipelines, &mut again] {
            let start = Instant::now();
            black_box(rig.kernel(&module, "copy_all", &[Bound::Uniform, Bound::Read, Bound::ReadWrite])?);
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok([
        ("a module of three small kernels", median(modules)),
        ("a pipeline of one of them", median(pipelines)),
        ("the same again, which the driver may remember", median(again)),
    ])
}

/// Milliseconds to clear a new buffer, and to clear it again; `None` if there is no room for it.
fn fresh(rig: &Rig<'_>) -> Result<Option<[f64; 2]>> {
    if rig.device.limits().max_buffer_size < FRESH {
        return Ok(None);
    }
    let start = Instant::now();
    let buffer = rig.buffer(FRESH)?;
    let clear = |start: Instant| -> Result<f64> {
        rig.submit(|encoder| encoder.clear_buffer(&buffer, 0, None))?;
        rig.wait()?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let first = clear(start)?;
    Ok(Some([first, clear(Instant::now())?]))
}
