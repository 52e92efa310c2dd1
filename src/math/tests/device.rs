//! Compares every function as a shader, on an adapter of this machine, with the native function: bit for bit.

use std::fmt::Write;
use std::sync::Arc;

use super::super::{MathFn, f32_binary, f32_unary, f64_binary, f64_unary, wgsl_depends, wgsl_name, wgsl_source};
use super::{edges_f32, pairs_f32, pairs_f64, singles_f64};
use crate::DType;
use crate::backend::gpu::runtime::{
    Access, Command, DeviceOptions, Dispatch, ReadRequest, Runtime, RuntimeChecks, adapters,
};

/// A WGSL module that applies a function to two arrays of bits.
fn module(f: MathFn, dtype: DType) -> String {
    let word = if dtype == DType::F32 { "u32" } else { "u64" };
    let float = dtype.name();
    let mut text = format!(
        "@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> xs: array<{word}>;
@group(0) @binding(2) var<storage, read> ys: array<{word}>;
@group(0) @binding(3) var<storage, read_write> out: array<{word}>;
fn rg_zero() -> u32 {{
    return params.x;
}}
"
    );
    for &g in wgsl_depends(f, dtype) {
        text += wgsl_source(g, dtype);
    }
    text += wgsl_source(f, dtype);
    let second = if f.is_binary() { format!(", bitcast<{float}>(ys[i])") } else { String::new() };
    write!(
        text,
        "@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) k: u32,
) {{
    let i = (wid.x + wid.y * grid.x) * 64u + k;
    if (i < params.y) {{
        out[i] = bitcast<{word}>({}(bitcast<{float}>(xs[i]){second}));
    }}
}}
",
        wgsl_name(f, dtype)
    )
    .expect("a string takes text");
    text
}

pub(super) fn device() -> Arc<Runtime> {
    let adapters = adapters();
    let adapter = adapters.first().expect("these tests need an adapter, if only a software one");
    Runtime::open(adapter, &DeviceOptions::default()).expect("opens")
}

/// Runs the shader on these bits and returns the bits of the results.
pub(super) fn run(device: &Runtime, source: &str, count: usize, x: &[u8], y: &[u8]) -> Vec<u8> {
    run_with(device, source, (count, &[]), x, y)
}

/// As [`run`], with further parameter words.
pub(super) fn run_with(device: &Runtime, source: &str, (count, words): (usize, &[u32]), x: &[u8], y: &[u8]) -> Vec<u8> {
    let access = [Access::Read, Access::Read, Access::ReadWrite];
    let pipeline = device.pipeline("function", source, "main", &access, RuntimeChecks::ALL).expect("compiles");
    let [x, y] = [x, y].map(|bytes| device.upload(bytes).expect("uploaded"));
    let bytes = x.bytes();
    let out = device.buffer("a test", bytes).expect("allocated");
    let command = Command::Dispatch(Dispatch {
        pipeline,
        buffers: vec![x.into(), y.into(), out.clone().into()],
        params: [&[0, count as u32, 0, 0], words].concat().into(),
        workgroups: count.div_ceil(64) as u32,
        depth: 1,
        label: "function".into(),
    });
    let read = ReadRequest { buffer: out, offset: 0, bytes };
    device.submit_and_read(&[command], &[read]).expect("runs")[0].to_vec()
}

/// Validates all modules of a dtype without a device.
fn validate(dtype: DType) {
    for f in MathFn::ALL {
        let text = module(f, dtype);
        let parsed = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
        let capabilities = if dtype == DType::F32 {
            naga::valid::Capabilities::empty()
        } else {
            naga::valid::Capabilities::FLOAT64 | naga::valid::Capabilities::SHADER_INT64
        };
        let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
        validator.validate(&parsed).unwrap_or_else(|e| panic!("{f:?} of {dtype}: {e:?}"));
    }
}

#[test]
fn modules_are_valid() {
    validate(DType::F32);
    validate(DType::F64);
}

#[test]
fn f32_shaders_give_the_native_bits() {
    let device = device();
    let singles: Vec<f32> = (0..=u32::MAX).step_by(4099).chain(edges_f32()).map(f32::from_bits).collect();
    let (xs, ys): (Vec<f32>, Vec<f32>) = pairs_f32(1_000_000).into_iter().unzip();
    let mut bad = Vec::new();
    for f in MathFn::ALL {
        let (x, y) = if f.is_binary() { (&xs, &ys) } else { (&singles, &singles) };
        let (x_bytes, y_bytes) = (bytemuck::cast_slice(x), bytemuck::cast_slice(y));
        let found = run(&device, &module(f, DType::F32), x.len(), x_bytes, y_bytes);
        let found = found.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().expect("four bytes")));
        let mut wrong = found.zip(x.iter().zip(y)).filter_map(|(found, (&x, &y))| {
            let native = if f.is_binary() { f32_binary(f)(x, y) } else { f32_unary(f)(x) };
            (found.to_bits() != native.to_bits() && !(found.is_nan() && native.is_nan()))
                .then_some((x, y, found, native))
        });
        if let Some(first) = wrong.next() {
            bad.push((f, first, wrong.count() + 1));
        }
    }
    assert!(bad.is_empty(), "function, (x, y, device, native), how many: {bad:?}");
}

#[test]
fn f64_shaders_give_the_native_bits() {
    let device = device();
    assert!(device.has_int64() && device.has_f64(), "this test needs doubles");
    let singles = singles_f64(1_000_000);
    let (xs, ys): (Vec<f64>, Vec<f64>) = pairs_f64(1_000_000).into_iter().unzip();
    let mut bad = Vec::new();
    for f in MathFn::ALL {
        let (x, y) = if f.is_binary() { (&xs, &ys) } else { (&singles, &singles) };
        let (x_bytes, y_bytes) = (bytemuck::cast_slice(x), bytemuck::cast_slice(y));
        let found = run(&device, &module(f, DType::F64), x.len(), x_bytes, y_bytes);
        let found = found.chunks_exact(8).map(|b| f64::from_ne_bytes(b.try_into().expect("eight bytes")));
        let mut wrong = found.zip(x.iter().zip(y)).filter_map(|(found, (&x, &y))| {
            let native = if f.is_binary() { f64_binary(f)(x, y) } else { f64_unary(f)(x) };
            (found.to_bits() != native.to_bits() && !(found.is_nan() && native.is_nan()))
                .then_some((x, y, found, native))
        });
        if let Some(first) = wrong.next() {
            bad.push((f, first, wrong.count() + 1));
        }
    }
    assert!(bad.is_empty(), "function, (x, y, device, native), how many: {bad:?}");
}
