//! Peak memory bandwidth of copies, reads and writes.

use anyhow::{Context, Result};
use ragged::wgpu;
use serde::Serialize;

use super::harness::{self, BindingType, Harness, Kernel, grid};
use crate::median::median;

const SOURCE: &str = include_str!("../../shaders/bandwidth.wgsl");

/// Elements per invocation.
const EACH: u64 = 4;

/// Largest window of one dispatch, in bytes: far below a driver's watchdog timeout.
const WINDOW: u64 = 1 << 30;

/// The kernels: name, entry point, and the number of array transfers.
pub const KERNELS: [(&str, &str, u64); 3] =
    [("copy", "copy_all", 2), ("read", "read_all", 1), ("write", "write_all", 1)];

/// Invocations per workgroup.
pub const GROUPS: [u32; 4] = [128, 256, 512, 1024];

/// A variant of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// Index in [`KERNELS`].
    pub kernel: usize,
    pub is_vec4: bool,
    /// Binding of the source.
    pub binding: BindingType,
    pub is_checked: bool,
    pub group: u32,
}

/// The measurement of one variant.
#[derive(Debug, Clone, Serialize)]
pub struct Ceiling {
    /// `copy`, `read` or `write`.
    pub kernel: &'static str,
    /// Bytes of an array.
    pub bytes: u64,
    /// `u32` or `vec4<u32>`.
    pub element: &'static str,
    /// Binding of the source: `read` or `read_write`; `none` where nothing is read.
    pub binding: &'static str,
    /// Whether the kernel has wgpu's checks.
    pub checked: bool,
    /// Invocations per workgroup.
    pub group: u32,
    /// The median of the runs, read plus written.
    pub gb_s: f64,
}

impl Variant {
    /// Every variant that the device can run. Kernels that only write have no variants of the source's binding.
    pub fn all(limits: &wgpu::Limits) -> Vec<Self> {
        let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
        let mut out = Vec::new();
        for kernel in 0..KERNELS.len() {
            for is_vec4 in [false, true] {
                for binding in [BindingType::Read, BindingType::ReadWrite] {
                    for is_checked in [true, false] {
                        let groups = GROUPS.into_iter().filter(|&group| group <= most);
                        out.extend(groups.map(|group| Self { kernel, is_vec4, binding, is_checked, group }));
                    }
                }
            }
        }
        out.retain(|v| KERNELS[v.kernel].0 != "write" || v.binding == BindingType::Read);
        out
    }

    fn element(&self) -> (&'static str, u64) {
        if self.is_vec4 { ("vec4<u32>", 16) } else { ("u32", 4) }
    }

    fn binding_name(&self) -> &'static str {
        if self.binding == BindingType::ReadWrite { "read_write" } else { "read" }
    }

    /// The WGSL text of the module.
    pub fn text(&self) -> String {
        let (element, access) = (self.element().0, self.binding_name());
        let same = if self.is_vec4 { "any(a == b)" } else { "a == b" };
        format!(
            "alias Elem = {element};\nconst GROUP = {}u;\n\
             @group(0) @binding(0) var<uniform> p: vec4<u32>;\n\
             @group(0) @binding(1) var<storage, {access}> source: array<Elem>;\n\
             @group(0) @binding(2) var<storage, read_write> goal: array<Elem>;\n\
             fn same(a: Elem, b: Elem) -> bool {{\n    return {same};\n}}\n{SOURCE}",
            self.group
        )
    }

    fn kernel(&self, harness: &Harness<'_>) -> Result<Kernel> {
        let module = harness.module(&self.text(), self.is_checked)?;
        harness.kernel(&module, KERNELS[self.kernel].1, &[BindingType::Uniform, self.binding, BindingType::ReadWrite])
    }
}

/// A kernel over whole arrays, window by window.
struct Job {
    kernel: Kernel,
    windows: Vec<(wgpu::BindGroup, (u32, u32))>,
}

impl Job {
    /// A kernel over `arrays` of `bytes` bytes each. `word` is the word to write, or to search for.
    fn new(harness: &Harness<'_>, variant: Variant, arrays: &[wgpu::Buffer; 2], bytes: u64, word: u32) -> Result<Self> {
        let kernel = variant.kernel(harness)?;
        let limits = harness.device.limits();
        let most = (limits.max_storage_buffer_binding_size & !((1 << 20) - 1)).clamp(1 << 20, WINDOW);
        let mut windows = Vec::new();
        let mut offset = 0;
        while offset < bytes {
            let len = most.min(bytes - offset);
            let elements = len / variant.element().1;
            let p = harness.words(&[elements as u32, word, 0, 0])?;
            let [source, goal] = arrays.each_ref().map(|buffer| {
                let size = std::num::NonZero::new(len);
                wgpu::BufferBinding { buffer, offset, size }
            });
            let group = harness.bind(&kernel, &[harness::whole(&p), source, goal])?;
            windows.push((group, grid(harness.device, elements.div_ceil(EACH * u64::from(variant.group)))));
            offset += len;
        }
        Ok(Self { kernel, windows })
    }

    fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.kernel.pipeline);
        for (group, (x, y)) in &self.windows {
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(*x, *y, 1);
        }
    }
}

/// Measures every variant on arrays of that many bytes, a multiple of 1 MiB.
///
/// # Errors
/// The device has no memory for two such arrays.
pub fn measure(harness: &Harness<'_>, bytes: u64, runs: u32, step: impl Fn()) -> Result<Vec<Ceiling>> {
    let arrays = [harness.buffer(bytes)?, harness.buffer(bytes)?];
    // Clears the arrays, which wgpu would otherwise do at their first use.
    harness.submit(|encoder| arrays.iter().for_each(|array| encoder.clear_buffer(array, 0, None)))?;
    let mut out = Vec::new();
    for variant in Variant::all(&harness.device.limits()) {
        let (name, _, moves) = KERNELS[variant.kernel];
        let context = || format!("{name} of {bytes} bytes, {variant:?}");
        // A word other than 0, so that `read_all` writes nothing.
        let job = Job::new(harness, variant, &arrays, bytes, 1).with_context(context)?;
        if out.is_empty() {
            harness.warm_up(|pass| job.record(pass))?;
        }
        let times = harness.time(1, |pass| job.record(pass)).and_then(|_| harness.time(runs, |pass| job.record(pass)));
        let seconds = median(times.with_context(context)?);
        out.push(Ceiling {
            kernel: name,
            bytes,
            element: variant.element().0,
            binding: if name == "write" { "none" } else { variant.binding_name() },
            checked: variant.is_checked,
            group: variant.group,
            gb_s: (bytes * moves) as f64 / seconds / 1e9,
        });
        step();
    }
    Ok(out)
}

/// Number of variants that [`measure`] runs.
pub fn variants(harness: &Harness<'_>) -> u64 {
    Variant::all(&harness.device.limits()).len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragged::Device;

    /// Runs a kernel over arrays of 3 MiB, with one nonzero word in `source`, close to the end. Returns `goal` and its
    /// sum.
    fn ran(harness: &Harness<'_>, variant: Variant, word: u32) -> Result<(Vec<u64>, u64)> {
        const BYTES: u64 = 3 << 20;
        let mut words = vec![0; BYTES as usize / 4];
        let at = words.len() - 3;
        words[at] = 0x00ab_cdef;
        let arrays = [harness.words(&words)?, harness.buffer(BYTES)?];
        let job = Job::new(harness, variant, &arrays, BYTES, word)?;
        harness.submit(|encoder| job.record(&mut encoder.begin_compute_pass(&Default::default())))?;
        let goal = harness.read(&arrays[1], BYTES)?;
        let sum = goal.iter().fold(0u64, |sum, &w| sum.wrapping_add(w));
        Ok((goal, sum))
    }

    #[test]
    fn every_word_is_moved() -> Result<()> {
        if Device::names().len() == 1 && std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|v| v == "1") {
            return Ok(());
        }
        let device = Device::gpu()?;
        let harness = Harness::new(&device).context("a GPU")?;
        for variant in Variant::all(&harness.device.limits()) {
            let looked_for = 0x00ab_cdef;
            let (goal, sum) = ran(&harness, variant, looked_for)?;
            match KERNELS[variant.kernel].0 {
                "copy" => {
                    assert_eq!(sum, u64::from(looked_for) << 32, "{variant:?}");
                    assert_ne!(goal[goal.len() - 2], 0, "{variant:?}");
                }
                // The invocation that has seen the word reports it; it is the second of its vector.
                "read" => {
                    let shift = if variant.is_vec4 { 32 } else { 0 };
                    assert_eq!(goal[0], u64::from(looked_for) << shift, "{variant:?}");
                }
                _ => assert!(goal.iter().all(|&w| w == u64::from(looked_for) * 0x1_0000_0001), "{variant:?}"),
            }
        }
        Ok(())
    }
}
