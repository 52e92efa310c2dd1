//! A program with its own wgpu device, and its buffers.

use std::sync::{Mutex, MutexGuard};

use ragged::{Device, DeviceOptions, Error, Result, Tensor, wgpu};

use crate::common;

/// A program with its own wgpu device.
pub struct Program {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
pub fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub const USED: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

impl Program {
    /// A program with WebGPU's minimum limits and no features; `None` where no adapter is expected.
    pub fn plain() -> Option<Self> {
        Self::with(wgpu::Features::empty(), &wgpu::Limits::defaults())
    }

    pub fn with(features: wgpu::Features, limits: &wgpu::Limits) -> Option<Self> {
        if common::gpus().is_empty() {
            return None;
        }
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let options = wgpu::RequestAdapterOptions::default();
        let adapter = pollster::block_on(instance.request_adapter(&options)).expect("an adapter");
        Some(Self::on(&adapter, features, limits))
    }

    pub fn on(adapter: &wgpu::Adapter, features: wgpu::Features, limits: &wgpu::Limits) -> Self {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("the program's"),
            required_features: features & adapter.features(),
            required_limits: limits.clone(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).expect("opens");
        Self { device, queue }
    }

    pub fn ragged(&self) -> Device {
        Device::from_wgpu(&self.device, &self.queue, &DeviceOptions::default()).expect("enough for this crate")
    }
}

/// An engine device over a program's wgpu device, and one whose wgpu device the program uses.
pub fn programs_and_ours() -> Vec<(String, Device)> {
    let mut all = common::gpus();
    all.truncate(1);
    all.extend(Program::plain().map(|program| ("a program's".to_owned(), program.ragged())));
    all
}

pub fn buffer(device: &wgpu::Device, usage: wgpu::BufferUsages, size: u64) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

pub fn filled<T: bytemuck::Pod>((device, queue): (&wgpu::Device, &wgpu::Queue), values: &[T]) -> wgpu::Buffer {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    let out = buffer(device, USED, bytes.len().next_multiple_of(4) as u64);
    let mut padded = bytes.to_vec();
    padded.resize(out.size() as usize, 0xff);
    queue.write_buffer(&out, 0, &padded);
    out
}

/// The contents of a buffer after all submitted work.
pub fn contents(device: &wgpu::Device, queue: &wgpu::Queue, from: &wgpu::Buffer, bytes: u64) -> Vec<u8> {
    let read = buffer(device, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST, bytes);
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(from, 0, &read, 0, bytes);
    queue.submit([encoder.finish()]);
    read.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("waits");
    read.get_mapped_range(..).expect("mapped").to_vec()
}

pub fn refused(what: &str, outcome: Result<Tensor>, words: &str) {
    match outcome {
        Err(Error::Argument { op: "from_wgpu_buffer", what: said, .. }) if said.contains(words) => {}
        other => panic!("{what}: {other:?}"),
    }
}
