//! Kernels of the program between kernels of the engine.

use ragged::{RaggedTensor, Tensor, wgpu};

use crate::program::{USED, buffer, exclusive, programs_and_ours};

/// The program's kernel: `out[i] = factor * in[i]` for the bound buffers.
const SCALE: &str = "
@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> made: array<f32>;
@compute @workgroup_size(64)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&given)) { made[id.x] = 3.0 * given[id.x]; }
}
";

/// Submits the kernel without waiting.
fn scale(device: &wgpu::Device, queue: &wgpu::Queue, given: wgpu::BindingResource<'_>, made: &wgpu::Buffer) {
    let source = wgpu::ShaderSource::Wgsl(SCALE.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: given },
            wgpu::BindGroupEntry { binding: 1, resource: made.as_entire_binding() },
        ],
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(made.size().div_ceil(256) as u32, 1, 1);
    }
    queue.submit([encoder.finish()]);
}

#[test]
fn program_and_engine_compute_on_each_others_arrays() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let (device, queue) = mine.as_wgpu().expect("a GPU");
        let before = mine.stats();
        let host: Vec<f32> = (0..5000).map(|i| i as f32).collect();
        let x = RaggedTensor::from_row_lengths(&host, [2000, 0, 3000], &mine).expect("uploads");
        // Kernels of the engine, the program and the engine, without waits in between.
        let doubled = (&x * 2.0).expect("recorded");
        let held = doubled.values_buffer().expect("computed");
        let made = buffer(device, USED, held.size());
        scale(device, queue, held.binding(), &made);
        drop((held, doubled));
        let y = RaggedTensor::<f32>::from_wgpu_buffer(&made, &[5000], &mine).expect("adopted");
        let y: RaggedTensor<f32> =
            Tensor::from_row_partitions(&y, x.partitions()).and_then(TryInto::try_into).expect("as many");
        let got = (&y + &x).expect("recorded").to_vec().expect("reads");
        let spent = mine.stats() - before;
        assert_eq!(got, host.iter().map(|v| v * 2.0 * 3.0 + v).collect::<Vec<_>>(), "{label}");
        assert_eq!((spent.waits, spent.submissions), (1, 2), "{label}: {spent:?}");
    }
}
