//! Host cost of a submission and of a dispatch: by bare wgpu calls, and through the engine.

use std::time::{Duration, Instant};

use anyhow::Result;
use ragged::{Device, RaggedTensor, Tensor, wgpu};

use super::harness::{BindingType, Harness, whole};

const BOUND: &str = include_str!("../../shaders/bound.wgsl");

/// Dispatches of a large submission. A further dispatch costs the difference to a submission of one dispatch, per
/// additional dispatch.
const MANY: usize = 20;

/// Submissions, of which the shortest counts, since other load on the machine only adds time.
const RUNS: usize = 200;

/// Bytes of a dispatch's parameters, with their alignment.
const PARAMS: usize = 256;

/// Microseconds of a submission of one dispatch, and of each further dispatch in it.
struct Cost {
    one: f64,
    further: f64,
}

impl Cost {
    fn of(one: f64, many: f64) -> Self {
        Self { one, further: (many - one) / (MANY - 1) as f64 }
    }
}

/// Minimum time of each part of a run in microseconds, without waiting for the submitted work.
fn parts<const N: usize>(harness: &Harness<'_>, mut run: impl FnMut() -> Result<[Duration; N]>) -> Result<[f64; N]> {
    let mut least = [f64::INFINITY; N];
    for _ in 0..RUNS {
        let run = run()?;
        harness.wait()?;
        least.iter_mut().zip(run).for_each(|(least, time)| *least = least.min(time.as_secs_f64() * 1e6));
    }
    Ok(least)
}

/// Cost of bare wgpu calls: writing parameters, one pass and, per dispatch, a bind group with as many arrays as that of
/// a row sum. Nothing is allocated.
fn bare(harness: &Harness<'_>) -> Result<Cost> {
    use BindingType::{Read, ReadWrite, Uniform};
    let kernel =
        harness.kernel(&harness.module(BOUND, false)?, "main", &[Uniform, Read, Read, ReadWrite, ReadWrite])?;
    let params = harness.buffer((MANY * PARAMS) as u64)?;
    let group = |_| {
        let arrays = [(); 4].map(|()| harness.words(&[0; 64]));
        let [splits, values, out, part] = arrays;
        let arrays = [splits?, values?, out?, part?];
        let bound: Vec<_> = std::iter::once(&params).chain(&arrays).map(whole).collect();
        harness.bind(&kernel, &bound)
    };
    let groups: Vec<wgpu::BindGroup> = (0..MANY).map(group).collect::<Result<_>>()?;
    let of = |groups: &[wgpu::BindGroup]| {
        let bytes = vec![0; groups.len() * PARAMS];
        let [time] = parts(harness, || {
            let start = Instant::now();
            harness.queue.write_buffer(&params, 0, &bytes);
            harness.submit(|encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&kernel.pipeline);
                for group in groups {
                    pass.set_bind_group(0, group, &[]);
                    pass.dispatch_workgroups(1, 1, 1);
                }
            })?;
            Ok([start.elapsed()])
        })?;
        Ok::<_, anyhow::Error>(time)
    };
    Ok(Cost::of(of(&groups[..1])?, of(&groups)?))
}

/// Cost through the engine: recording row sums, and computing them with a cached plan.
fn engine(device: &Device, harness: &Harness<'_>) -> Result<[Cost; 2]> {
    let rows = |k| RaggedTensor::from_nested([vec![k as f32, 1.0], vec![], vec![2.0]], device);
    let all: Vec<RaggedTensor<f32>> = (0..MANY).map(rows).collect::<ragged::Result<_>>()?;
    let of = |all: &[RaggedTensor<f32>]| {
        parts(harness, || {
            let start = Instant::now();
            let sums = all.iter().map(|x| x.reduce_sum(1)).collect::<ragged::Result<Vec<_>>>()?;
            let recorded = start.elapsed();
            ragged::eval(sums.iter().map(RaggedTensor::erased).collect::<Vec<&Tensor>>())?;
            Ok([recorded, start.elapsed() - recorded])
        })
    };
    let (one, many) = (of(&all[..1])?, of(&all)?);
    Ok([Cost::of(one[0], many[0]), Cost::of(one[1], many[1])])
}

/// The measured costs with their descriptions.
///
/// # Errors
/// wgpu reports an error.
pub fn costs(device: &Device, harness: &Harness<'_>) -> Result<[(&'static str, f64); 6]> {
    let bare = bare(harness)?;
    let [recorded, computed] = engine(device, harness)?;
    Ok([
        ("bare wgpu: parameters, a pass and a submission of one dispatch", bare.one),
        ("bare wgpu: each further dispatch, of 20", bare.further),
        ("the engine: recording one sum of rows", recorded.one),
        ("the engine: computing it with a cached plan", computed.one),
        ("the engine: recording each further one, of 20", recorded.further),
        ("the engine: computing each further one", computed.further),
    ])
}
