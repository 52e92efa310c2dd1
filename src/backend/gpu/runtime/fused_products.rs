//! How an adapter can round a product and a sum of `f32` once: graphics interfaces allow `fma` to round twice.

use std::sync::{Arc, Mutex, OnceLock};

use super::adapters::AdapterSummary;
use super::context::Runtime;
use super::fused::Fused;
use super::pipeline::Access;
use super::shared::lock;

/// The sum of the products of 16 pairs, as kernels add them.
const PROBE: &str = "@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> given: array<f32>;
@group(0) @binding(2) var<storage, read_write> found: array<f32>;
fn rg_zero() -> u32 {
    return params.x;
}
@compute @workgroup_size(10)
fn main(@builtin(local_invocation_index) k: u32) {
    var sum = given[k * 33u];
    for (var l = 1u; l < 33u; l += 2u) {
        sum = FUSED(given[k * 33u + l], given[k * 33u + l + 1u], sum);
    }
    found[k] = sum;
}
";

const BY_DOUBLES: &str = include_str!("../../../../shaders/lib/fma_doubles.wgsl");

/// Number of sums, and numbers of each: where it begins, then the factors.
const SUMS: usize = 10;
const NUMBERS: usize = 33;

impl Runtime {
    /// The fastest fused multiply-adds of the adapter that are right. Each adapter is asked once per process. If it fails to
    /// answer, its device uses integers.
    pub(super) fn fastest_fused(&self, no_fma: bool) -> Fused {
        static KNOWN: Mutex<Vec<(AdapterSummary, Fused, bool)>> = Mutex::new(Vec::new());
        let adapter = self.info();
        let is_right = |form: Fused, text: &str| {
            let known = lock(&KNOWN).iter().find(|(of, by, _)| of == adapter && *by == form).map(|(.., right)| *right);
            known.unwrap_or_else(|| {
                let Some(found) = measured(self, text) else { return false };
                let right = found == sums(f32::mul_add);
                lock(&KNOWN).push((adapter.clone(), form, right));
                right
            })
        };
        if !no_fma && is_right(Fused::Native, &PROBE.replace("FUSED", "fma")) {
            return Fused::Native;
        }
        let has_doubles = self.has_f64() && self.has_int64();
        match has_doubles && is_right(Fused::Doubles, &format!("{}{BY_DOUBLES}", PROBE.replace("FUSED", "fma_f32"))) {
            true => Fused::Doubles,
            false => Fused::Words,
        }
    }
}

/// The operands: numbers whose products have small rounding errors, which later terms cancel to; a product beyond the
/// range, and a tie that a small addend decides, with terms of 0. Where products round, no sum is equal. None is subnormal:
/// devices may flush those.
fn operands() -> Vec<f32> {
    let number = |k: usize| match k % NUMBERS {
        0 => 0.0,
        l => {
            let v = 1.0 + f32::EPSILON * (1 + k * 1021 % 2048) as f32;
            if l % 4 == 1 { -v } else { v }
        }
    };
    let mut out: Vec<f32> = (0..(SUMS - 2) * NUMBERS).map(number).collect();
    let (large, near_one) = (2f32.powi(127), 1.0 + 2f32.powi(-12));
    for sum in [[-large, large, 2.0], [2f32.powi(-80), near_one, near_one]] {
        out.extend(sum.into_iter().chain([0.0; NUMBERS - 3]));
    }
    out
}

/// The sums on the host.
fn sums(add: fn(f32, f32, f32) -> f32) -> Vec<u32> {
    let of = |sum: &[f32]| sum[1..].chunks(2).fold(sum[0], |sum, pair| add(pair[0], pair[1], sum)).to_bits();
    operands().chunks(NUMBERS).map(of).collect()
}

fn entry(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }
}

/// The sums on the device, compiled as kernels are. Uses none of the runtime's pools and counters.
fn measured(runtime: &Runtime, text: &str) -> Option<Vec<u32>> {
    let (pipeline, layout) = runtime.uncounted_pipeline("fused products", text, &[Access::Read, Access::ReadWrite])?;
    let (device, shared) = (runtime.device(), runtime.shared());
    let given = operands();
    let run = || {
        let buffer = |size: usize, usage, mapped_at_creation| {
            let size = size as u64;
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation })
        };
        let filled = |bytes: &[u8], usage| {
            let buffer = buffer(bytes.len(), usage, true);
            // A lost device maps nothing.
            buffer.get_mapped_range_mut(..).ok()?.copy_from_slice(bytes);
            buffer.unmap();
            Some(buffer)
        };
        let params = filled(&[0; 16], wgpu::BufferUsages::UNIFORM)?;
        let from = filled(bytemuck::cast_slice(&given), wgpu::BufferUsages::STORAGE)?;
        let found = buffer(SUMS * 4, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC, false);
        let read = buffer(SUMS * 4, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ, false);
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout.bind_group,
            entries: &[entry(0, &params), entry(1, &from), entry(2, &found)],
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bind_group, &[0]);
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
    let bytes = Some(&read).filter(|_| is_mapped.get() == Some(&true))?.get_mapped_range(..).ok()?;
    Some(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operands_tell() {
        let (fused, split) = (sums(f32::mul_add), sums(|a, b, sum| a * b + sum));
        assert!(fused.iter().zip(&split).all(|(fused, split)| fused != split), "{fused:x?} {split:x?}");
        // A sum in doubles that is rounded twice.
        let doubles = sums(|a, b, sum| (f64::from(a) * f64::from(b) + f64::from(sum)) as f32);
        assert_ne!(fused, doubles);
    }
}
