//! Whether an adapter's `fma` rounds once: graphics interfaces allow a product and a sum, each rounded.

use std::sync::{Arc, Mutex, OnceLock};

use super::adapters::AdapterSummary;
use super::shared::{Shared, lock};

/// The sum of the products of 16 pairs, as kernels add them.
const PROBE: &str = "@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> found: array<f32>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) k: u32) {
    var sum = given[k * 33u];
    for (var l = 1u; l < 33u; l += 2u) {
        sum = fma(given[k * 33u + l], given[k * 33u + l + 1u], sum);
    }
    found[k] = sum;
}";

/// Number of sums, and numbers of each: where it begins, then the factors.
const SUMS: usize = 8;
const NUMBERS: usize = 33;

/// Whether the fused multiply-adds of the adapter round once. Each adapter is asked once per process; one that fails to
/// answer counts as one that does not.
pub(super) fn are_fused(shared: &Shared, adapter: &AdapterSummary) -> bool {
    static KNOWN: Mutex<Vec<(AdapterSummary, bool)>> = Mutex::new(Vec::new());
    let known = |adapter| lock(&KNOWN).iter().find(|(of, _)| of == adapter).map(|(_, fused)| *fused);
    known(adapter).unwrap_or_else(|| {
        let fused = measured(shared).is_some_and(|found| found == sums(f32::mul_add));
        lock(&KNOWN).push((adapter.clone(), fused));
        fused
    })
}

/// The operands: numbers whose products have small rounding errors, which later terms cancel to. Where products round,
/// no sum is equal.
fn operands() -> Vec<f32> {
    let number = |k: usize| match k % NUMBERS {
        0 => 0.0,
        l => {
            let v = 1.0 + f32::EPSILON * (1 + k * 1021 % 2048) as f32;
            if l % 4 == 1 { -v } else { v }
        }
    };
    (0..SUMS * NUMBERS).map(number).collect()
}

/// The sums on the host.
fn sums(add: fn(f32, f32, f32) -> f32) -> Vec<u32> {
    let of = |sum: &[f32]| sum[1..].chunks(2).fold(sum[0], |sum, pair| add(pair[0], pair[1], sum)).to_bits();
    operands().chunks(NUMBERS).map(of).collect()
}

fn entry(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }
}

/// The sums on the device. Uses none of the runtime's pools and counters.
fn measured(shared: &Shared) -> Option<Vec<u32>> {
    let device = &shared.device;
    let given = operands();
    let bytes: &[u8] = bytemuck::cast_slice(&given);
    let run = || {
        let buffer = |size: usize, usage, mapped_at_creation| {
            let size = size as u64;
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation })
        };
        let (storage, copied) = (wgpu::BufferUsages::STORAGE, wgpu::BufferUsages::COPY_SRC);
        let from = buffer(bytes.len(), storage, true);
        // A lost device maps nothing.
        from.get_mapped_range_mut(..).ok()?.copy_from_slice(bytes);
        from.unmap();
        let found = buffer(SUMS * 4, storage | copied, false);
        let read = buffer(SUMS * 4, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ, false);
        let source = wgpu::ShaderSource::Wgsl(PROBE.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("fused products"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[entry(0, &from), entry(1, &found)],
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bind_group, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
        encoder.copy_buffer_to_buffer(&found, 0, &read, 0, (SUMS * 4) as u64);
        shared.queue.submit([encoder.finish()]);
        Some(read)
    };
    let read = shared.scoped(run).ok()??;
    let is_mapped = Arc::new(OnceLock::new());
    let outcome = Arc::clone(&is_mapped);
    shared.scoped(|| read.map_async(wgpu::MapMode::Read, .., move |mapped| _ = outcome.set(mapped.is_ok()))).ok()?;
    shared.wait_idle();
    let bytes = read.get_mapped_range(..).ok().filter(|_| is_mapped.get() == Some(&true))?;
    Some(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operands_tell() {
        let (fused, split) = (sums(f32::mul_add), sums(|a, b, sum| a * b + sum));
        assert!(fused.iter().zip(&split).all(|(fused, split)| fused != split), "{fused:x?} {split:x?}");
    }
}
