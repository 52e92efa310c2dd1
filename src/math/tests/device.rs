//! Compares every function as a shader, on an adapter of this machine, with the native function: bit for bit.

use std::fmt::Write;

use wgpu::util::DeviceExt;

use super::super::{MathFn, f32_binary, f32_unary, f64_binary, f64_unary, wgsl_depends, wgsl_name, wgsl_source};
use super::{edges_f32, pairs_f32, pairs_f64, singles_f64};
use crate::DType;

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
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = id.x + id.y * 65536u;
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

fn device() -> (wgpu::Device, wgpu::Queue) {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    pollster::block_on(async {
        let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None)
            .await
            .expect("these tests need an adapter, if only a software one");
        let features = adapter.features() & (wgpu::Features::SHADER_INT64 | wgpu::Features::SHADER_F64);
        let descriptor = wgpu::DeviceDescriptor { required_features: features, ..Default::default() };
        adapter.request_device(&descriptor).await.expect("a device of the adapter")
    })
}

/// Runs the shader on these bits and returns the bits of the results.
fn run(device: &wgpu::Device, queue: &wgpu::Queue, source: &str, count: usize, x: &[u8], y: &[u8]) -> Vec<u8> {
    let buffer = |contents: &[u8], usage| {
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    };
    let plain = |size: usize, usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: size as u64,
            usage,
            mapped_at_creation: false,
        })
    };
    let params = buffer(bytemuck::cast_slice(&[0u32, count as u32, 0, 0]), wgpu::BufferUsages::UNIFORM);
    let (x, y) = (buffer(x, wgpu::BufferUsages::STORAGE), buffer(y, wgpu::BufferUsages::STORAGE));
    let out = plain(x.size() as usize, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
    let staging = plain(x.size() as usize, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[
            entry(0, wgpu::BufferBindingType::Uniform),
            entry(1, storage(true)),
            entry(2, storage(true)),
            entry(3, storage(false)),
        ],
    });
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        ..Default::default()
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let buffers = [&params, &x, &y, &out];
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() })
        .collect();
    let group =
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(1024, count.div_ceil(65536) as u32, 1);
    }
    encoder.copy_buffer_to_buffer(&out, 0, &staging, 0, None);
    queue.submit([encoder.finish()]);
    staging.map_async(wgpu::MapMode::Read, .., |r| r.expect("the results are mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("the device finishes");
    staging.get_mapped_range(..).expect("the results are mapped").to_vec()
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
    let (device, queue) = device();
    let singles: Vec<f32> = (0..=u32::MAX).step_by(4099).chain(edges_f32()).map(f32::from_bits).collect();
    let (xs, ys): (Vec<f32>, Vec<f32>) = pairs_f32(1_000_000).into_iter().unzip();
    let mut bad = Vec::new();
    for f in MathFn::ALL {
        let (x, y) = if f.is_binary() { (&xs, &ys) } else { (&singles, &singles) };
        let (x_bytes, y_bytes) = (bytemuck::cast_slice(x), bytemuck::cast_slice(y));
        let found = run(&device, &queue, &module(f, DType::F32), x.len(), x_bytes, y_bytes);
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
    let (device, queue) = device();
    assert!(
        device.features().contains(wgpu::Features::SHADER_INT64 | wgpu::Features::SHADER_F64),
        "this test needs doubles"
    );
    let singles = singles_f64(1_000_000);
    let (xs, ys): (Vec<f64>, Vec<f64>) = pairs_f64(1_000_000).into_iter().unzip();
    let mut bad = Vec::new();
    for f in MathFn::ALL {
        let (x, y) = if f.is_binary() { (&xs, &ys) } else { (&singles, &singles) };
        let (x_bytes, y_bytes) = (bytemuck::cast_slice(x), bytemuck::cast_slice(y));
        let found = run(&device, &queue, &module(f, DType::F64), x.len(), x_bytes, y_bytes);
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
