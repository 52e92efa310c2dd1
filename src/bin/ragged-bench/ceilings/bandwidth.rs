//! Peak memory bandwidth: copies, reads and writes by kernels that do nothing else.

use anyhow::{Context, Result};
use ragged::wgpu;
use serde::Serialize;

use super::rig::{self, Bound, Kernel, Rig, grid};
use crate::median::median;

const SOURCE: &str = include_str!("../../../../shaders/bench/bandwidth.wgsl");

/// Elements per invocation.
const EACH: u64 = 4;

/// Largest window of one dispatch, in bytes: far below a driver's watchdog timeout.
const WINDOW: u64 = 1 << 30;

/// The kernels: name, entry point, and the number of times that an array is moved.
pub const KERNELS: [(&str, &str, u64); 3] =
    [("copy", "copy_all", 2), ("read", "read_all", 1), ("write", "write_all", 1)];

/// Invocations per workgroup.
pub const GROUPS: [u32; 4] = [128, 256, 512, 1024];

/// One way to move memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// Index in [`KERNELS`].
    pub kernel: usize,
    pub is_vec4: bool,
    /// Binding of the source.
    pub binding: Bound,
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
    /// Whether wgpu added its checks.
    pub checked: bool,
    /// Invocations per workgroup.
    pub group: u32,
    /// The median of the runs, read plus written.
    pub gb_s: f64,
}

impl Variant {
    /// Every variant that the device can run. Where nothing is read, the source's binding makes no difference.
    pub fn all(limits: &wgpu::Limits) -> Vec<Self> {
        let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
        let mut out = Vec::new();
        for kernel in 0..KERNELS.len() {
            for is_vec4 in [false, true] {
                for binding in [Bound::Read, Bound::ReadWrite] {
                    for is_checked in [true, false] {
                        let groups = GROUPS.into_iter().filter(|&group| group <= most);
                        out.extend(groups.map(|group| Self { kernel, is_vec4, binding, is_checked, group }));
                    }
                }
            }
        }
        out.retain(|v| KERNELS[v.kernel].0 != "write" || v.binding == Bound::Read);
        out
    }

    fn element(&self) -> (&'static str, u64) {
        if self.is_vec4 { ("vec4<u32>", 16) } else { ("u32", 4) }
    }

    fn binding_name(&self) -> &'static str {
        if self.binding == Bound::ReadWrite { "read_write" } else { "read" }
    }

    /// The text of the whole module.
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

    fn kernel(&self, rig: &Rig<'_>) -> Result<Kernel> {
        let module = rig.module(&self.text(), self.is_checked)?;
        rig.kernel(&module, KERNELS[self.kernel].1, &[Bound::Uniform, self.binding, Bound::ReadWrite])
    }
}

/// A kernel over whole arrays, in windows that can be bound.
struct Job {
    kernel: Kernel,
    windows: Vec<(wgpu::BindGroup, (u32, u32))>,
}

impl Job {
    /// Moves `arrays`, of `bytes` bytes each; `word` is the word to write, or to search for.
    fn new(rig: &Rig<'_>, variant: Variant, arrays: &[wgpu::Buffer; 2], bytes: u64, word: u32) -> Result<Self> {
        let kernel = variant.kernel(rig)?;
        let limits = rig.device.limits();
        let most = (limits.max_storage_buffer_binding_size & !((1 << 20) - 1)).clamp(1 << 20, WINDOW);
        let mut windows = Vec::new();
        let mut offset = 0;
        while offset < bytes {
            let len = most.min(bytes - offset);
            let elements = len / variant.element().1;
            let p = rig.words(&[elements as u32, word, 0, 0])?;
            let [source, goal] = arrays.each_ref().map(|buffer| {
                let size = std::num::NonZero::new(len);
                wgpu::BufferBinding { buffer, offset, size }
            });
            let group = rig.bind(&kernel, &[rig::whole(&p), source, goal])?;
            windows.push((group, grid(rig.device, elements.div_ceil(EACH * u64::from(variant.group)))));
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
/// The device has no room for two such arrays.
pub fn measure(rig: &Rig<'_>, bytes: u64, runs: u32, step: impl Fn()) -> Result<Vec<Ceiling>> {
    let arrays = [rig.buffer(bytes)?, rig.buffer(bytes)?];
    // Clears the arrays now, as wgpu would before their first use.
    rig.submit(|encoder| arrays.iter().for_each(|array| encoder.clear_buffer(array, 0, None)))?;
    let mut out = Vec::new();
    for variant in Variant::all(&rig.device.limits()) {
        let (name, _, moves) = KERNELS[variant.kernel];
        let context = || format!("{name} of {bytes} bytes, {variant:?}");
        // A word other than 0, so that `read_all` writes nothing.
        let job = Job::new(rig, variant, &arrays, bytes, 1).with_context(context)?;
        if out.is_empty() {
            rig.warm_up(|pass| job.record(pass))?;
        }
        let times = rig.time(1, |pass| job.record(pass)).and_then(|_| rig.time(runs, |pass| job.record(pass)));
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
pub fn variants(rig: &Rig<'_>) -> u64 {
    Variant::all(&rig.device.limits()).len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragged::Device;

    /// Runs a kernel over arrays of 3 MiB, with one nonzero word in `source`, close to the end. Returns `goal` and its
    /// sum.
    fn ran(rig: &Rig<'_>, variant: Variant, word: u32) -> Result<(Vec<u64>, u64)> {
        const BYTES: u64 = 3 << 20;
        let mut words = vec![0; BYTES as usize / 4];
        let at = words.len() - 3;
        words[at] = 0x00ab_cdef;
        let arrays = [rig.words(&words)?, rig.buffer(BYTES)?];
        let job = Job::new(rig, variant, &arrays, BYTES, word)?;
        rig.submit(|encoder| job.record(&mut encoder.begin_compute_pass(&Default::default())))?;
        let goal = rig.read(&arrays[1], BYTES)?;
        let sum = goal.iter().fold(0u64, |sum, &w| sum.wrapping_add(w));
        Ok((goal, sum))
    }

    #[test]
    fn every_word_is_moved() -> Result<()> {
        if Device::names().len() == 1 && std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|v| v == "1") {
            return Ok(());
        }
        let device = Device::gpu()?;
        let rig = Rig::new(&device).context("a GPU")?;
        for variant in Variant::all(&rig.device.limits()) {
            let looked_for = 0x00ab_cdef;
            let (goal, sum) = ran(&rig, variant, looked_for)?;
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
