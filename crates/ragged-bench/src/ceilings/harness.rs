//! Benchmark harness: runs and times WGSL kernels on the engine's wgpu device.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use ragged::{Device, wgpu};

/// The wgpu objects of a device, shared by all measurements.
pub struct Harness<'a> {
    pub device: &'a wgpu::Device,
    pub queue: &'a wgpu::Queue,
    /// Whether kernels are timed by the device's clock. The host's clock includes the launch cost.
    pub has_clock: bool,
}

/// A kernel and its bind group layout.
pub struct Kernel {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
}

/// Binding type of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingType {
    Uniform,
    Read,
    ReadWrite,
}

/// Time that the clocks of a GPU take to ramp up.
const WARM_UP: Duration = Duration::from_millis(200);

impl<'a> Harness<'a> {
    /// `None` for the CPU backend.
    pub fn new(device: &'a Device) -> Option<Self> {
        let (device, queue) = device.as_wgpu()?;
        let has_clock = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        Some(Self { device, queue, has_clock })
    }

    /// Runs `f` in error scopes, and returns its value.
    ///
    /// # Errors
    /// The first error that wgpu reports during `f`.
    pub fn scoped<T>(&self, f: impl FnOnce() -> T) -> Result<T> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = f();
        let [validation, memory] = [validation, memory].map(|scope| pollster::block_on(scope.pop()));
        memory.or(validation).map_or(Ok(value), |e| Err(anyhow!(e.to_string())))
    }

    /// A buffer that kernels, copies and indirect dispatches can use.
    ///
    /// # Errors
    /// The device has no memory left.
    pub fn buffer(&self, bytes: u64) -> Result<wgpu::Buffer> {
        use wgpu::BufferUsages as U;
        let usage = U::STORAGE | U::UNIFORM | U::INDIRECT | U::COPY_SRC | U::COPY_DST;
        self.buffer_for(bytes, usage)
    }

    fn buffer_for(&self, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        let descriptor = wgpu::BufferDescriptor { label: Some("ceilings"), size, usage, mapped_at_creation: false };
        self.scoped(|| self.device.create_buffer(&descriptor)).with_context(|| format!("a buffer of {size} bytes"))
    }

    /// A buffer with the given words.
    ///
    /// # Errors
    /// As [`Harness::buffer`].
    pub fn words(&self, words: &[u32]) -> Result<wgpu::Buffer> {
        let buffer = self.buffer(words.len() as u64 * 4)?;
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.queue.write_buffer(&buffer, 0, &bytes);
        Ok(buffer)
    }

    /// A module, with wgpu's bounds checks and loop bounds or without.
    ///
    /// # Errors
    /// The text does not compile.
    pub fn module(&self, text: &str, is_checked: bool) -> Result<wgpu::ShaderModule> {
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: Some("ceilings"), source };
        self.scoped(|| match is_checked {
            true => self.device.create_shader_module(descriptor),
            // SAFETY: the texts are `bandwidth`, `step` and `bound` of `shaders/`. Their loops have four
            // iterations, they contain no division, and they compare each index with the given number of elements,
            // which is that of the bound arrays.
            false => unsafe {
                self.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
            },
        })
    }

    /// The kernel `entry` of a module, with buffers of these binding types.
    ///
    /// # Errors
    /// The kernel does not compile.
    pub fn kernel(&self, module: &wgpu::ShaderModule, entry: &str, bounds: &[BindingType]) -> Result<Kernel> {
        let entries: Vec<_> = (0..)
            .zip(bounds)
            .map(|(binding, bound)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: match bound {
                        BindingType::Uniform => wgpu::BufferBindingType::Uniform,
                        BindingType::Read => wgpu::BufferBindingType::Storage { read_only: true },
                        BindingType::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
                    },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        self.scoped(|| {
            let layout = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
            let layout = self.device.create_bind_group_layout(&layout);
            let pipeline_layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: Some(&pipeline_layout),
                module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            Kernel { pipeline, layout }
        })
    }

    /// Binds the buffers for a kernel.
    ///
    /// # Errors
    /// More buffers than the device can bind.
    pub fn bind(&self, kernel: &Kernel, buffers: &[wgpu::BufferBinding<'_>]) -> Result<wgpu::BindGroup> {
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(b.clone()) })
            .collect();
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &kernel.layout, entries: &entries };
        self.scoped(|| self.device.create_bind_group(&descriptor))
    }

    /// Waits until the device is idle.
    ///
    /// # Errors
    /// The device is lost.
    pub fn wait(&self) -> Result<()> {
        self.device.poll(wgpu::PollType::wait_indefinitely()).map(drop).context("waiting for the device")
    }

    /// Submits the commands that `record` records.
    ///
    /// # Errors
    /// wgpu refuses them.
    pub fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<()> {
        self.scoped(|| {
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            record(&mut encoder);
            self.queue.submit([encoder.finish()]);
        })
    }

    /// Runs a pass until the device's clocks have ramped up, at least once.
    ///
    /// # Errors
    /// As [`Harness::submit`].
    pub fn warm_up(&self, record: impl Fn(&mut wgpu::ComputePass<'_>)) -> Result<()> {
        let start = Instant::now();
        loop {
            self.submit(|encoder| record(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default())))?;
            self.wait()?;
            if start.elapsed() >= WARM_UP {
                return Ok(());
            }
        }
    }

    /// Seconds per pass, for each of `runs` runs, by the device's clock where it has one.
    ///
    /// # Errors
    /// As [`Harness::submit`].
    pub fn time(&self, runs: u32, record: impl Fn(&mut wgpu::ComputePass<'_>)) -> Result<Vec<f64>> {
        if !self.has_clock {
            let run = |_| {
                let start = Instant::now();
                self.submit(|encoder| record(&mut encoder.begin_compute_pass(&Default::default())))?;
                self.wait()?;
                Ok(start.elapsed().as_secs_f64())
            };
            return (0..runs).map(run).collect();
        }
        let (count, bytes) = (2 * runs, u64::from(runs) * 16);
        let stamps = self.scoped(|| {
            let ty = wgpu::QueryType::Timestamp;
            self.device.create_query_set(&wgpu::QuerySetDescriptor { label: None, ty, count })
        })?;
        use wgpu::BufferUsages as U;
        let resolved = self.buffer_for(bytes, U::QUERY_RESOLVE | U::COPY_SRC)?;
        let target = self.buffer_for(bytes, U::COPY_DST | U::MAP_READ)?;
        self.submit(|encoder| {
            for run in 0..runs {
                let timestamp_writes = Some(wgpu::ComputePassTimestampWrites {
                    query_set: &stamps,
                    beginning_of_pass_write_index: Some(2 * run),
                    end_of_pass_write_index: Some(2 * run + 1),
                });
                record(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes }));
            }
            encoder.resolve_query_set(&stamps, 0..count, &resolved, 0);
            encoder.copy_buffer_to_buffer(&resolved, 0, &target, 0, bytes);
        })?;
        let ticks = self.mapped(&target)?;
        let second = f64::from(self.queue.get_timestamp_period()) / 1e9;
        Ok(ticks.chunks_exact(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64 * second).collect())
    }

    /// The contents of a buffer for reading, as numbers of eight bytes.
    ///
    /// # Errors
    /// The device is lost.
    fn mapped(&self, buffer: &wgpu::Buffer) -> Result<Vec<u64>> {
        let (sender, receiver) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |outcome| {
            // If the receiver is gone, an error has been reported.
            let _ = sender.send(outcome);
        });
        self.wait()?;
        receiver.recv().context("no answer")?.context("a mapping")?;
        let view = buffer.get_mapped_range(..).context("a mapping")?;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
        Ok(view.chunks_exact(8).map(number).collect())
    }

    /// The first bytes of a buffer, as numbers of eight bytes.
    ///
    /// # Errors
    /// As [`Harness::buffer`] and [`Harness::submit`].
    pub fn read(&self, buffer: &wgpu::Buffer, bytes: u64) -> Result<Vec<u64>> {
        use wgpu::BufferUsages as U;
        let target = self.buffer_for(bytes, U::COPY_DST | U::MAP_READ)?;
        self.submit(|encoder| encoder.copy_buffer_to_buffer(buffer, 0, &target, 0, bytes))?;
        self.mapped(&target)
    }
}

/// The binding of a whole buffer.
pub fn whole(buffer: &wgpu::Buffer) -> wgpu::BufferBinding<'_> {
    wgpu::BufferBinding { buffer, offset: 0, size: None }
}

/// Distributes workgroups over two grid dimensions.
pub fn grid(device: &wgpu::Device, groups: u64) -> (u32, u32) {
    let most = u64::from(device.limits().max_compute_workgroups_per_dimension);
    let x = groups.min(most).max(1);
    (x as u32, groups.div_ceil(x) as u32)
}
