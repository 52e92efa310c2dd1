//! A minimal harness that runs a template. Modules and pipelines are the runtime's, as those of real kernels: SPIR-V with
//! float controls where the device offers them.

use std::sync::{Arc, Mutex, OnceLock, mpsc};

use bytemuck::Pod;
use wgpu::util::DeviceExt;

use crate::backend::gpu::codegen::{Binding, Declarations, Element, StorageArray, Windowing};
use crate::backend::gpu::runtime::{Access, DeviceOptions, Pipeline, Runtime, RuntimeChecks};

/// The type of buffers of atomic words.
pub const ATOMIC: &str = "atomic<u32>";

/// The byte with which new scratch and output buffers are filled.
const JUNK: u8 = 0xA5;

pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// Compiles the kernels.
    runtime: Arc<Runtime>,
}

/// Whether the runtime compiles a module with injected checks. Kernels must be correct in both modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Checked,
    Unchecked,
}

/// A template with its definitions, its buffers in the order of their bindings, and its parameter words.
pub struct Kernel<'a> {
    gpu: &'a Gpu,
    text: String,
    mode: Mode,
    params: wgpu::Buffer,
    buffers: Vec<wgpu::Buffer>,
}

/// The device, shared by all tests.
pub fn gpu() -> &'static Gpu {
    static GPU: OnceLock<Gpu> = OnceLock::new();
    GPU.get_or_init(|| pollster::block_on(open()))
}

async fn open() -> Gpu {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = instance.request_adapter(&Default::default()).await.expect("these tests need an adapter");
    let limits = adapter.limits();
    eprintln!("{:?}, {} byte bindings", adapter.get_info(), limits.max_storage_buffer_binding_size);
    let wanted = wgpu::Features::SHADER_INT64 | wgpu::Features::SHADER_F64 | wgpu::Features::PASSTHROUGH_SHADERS;
    let (device, queue) = adapter
        .request_device(&wgpu::DeviceDescriptor {
            required_features: adapter.features() & wanted,
            // The limits of the templates: the defaults of WebGPU, except sizes.
            required_limits: wgpu::Limits {
                max_buffer_size: limits.max_buffer_size,
                max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
                ..wgpu::Limits::default()
            },
            ..Default::default()
        })
        .await
        .expect("the adapter gives a device");
    // Unchecked modules are to be unchecked.
    let options = DeviceOptions::default().checked_shaders(false);
    let runtime = Runtime::from_user(device.clone(), queue.clone(), &options).expect("the limits of WebGPU");
    Gpu { device, queue, runtime }
}

/// Concatenates the same text as the generator: parameters, element type, one binding per buffer `(name, type)`, and
/// `definitions`.
pub fn source(template: &str, elem: &str, buffers: &[(&str, &str)], definitions: &str) -> String {
    let array = |&(name, ty): &(&str, &str)| {
        let element = if ty == ATOMIC { Element::ATOMIC } else { Element::new(ty.to_owned(), 4) };
        StorageArray::new(name.to_owned(), element, Binding::Scratch(0))
    };
    let arrays: Vec<StorageArray> = buffers.iter().map(array).collect();
    let windowings = vec![Windowing::Whole; arrays.len()];
    let mut text = format!("{template}\n");
    let declarations =
        Declarations { elem, vectors: 1, arrays: &arrays, windowings: &windowings, stores_after_misses: true };
    declarations.push(&mut text);
    text + definitions
}

/// Parses and validates the text with the capabilities of core WebGPU plus 64-bit numbers, and within the limits of
/// core WebGPU.
fn validate(text: &str) {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(text)));
    Validator::new(ValidationFlags::all(), Capabilities::SHADER_INT64 | Capabilities::FLOAT64)
        .validate(&module)
        .unwrap_or_else(|e| panic!("{}", e.emit_to_string(text)));
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).unwrap();
    let globals = || module.global_variables.iter().map(|(_, global)| global);
    let workgroup = globals().filter(|global| global.space == naga::AddressSpace::WorkGroup);
    let bytes: u32 = workgroup.map(|global| layouter[global.ty].size).sum();
    assert!(bytes <= 16_384, "{bytes} bytes of workgroup memory");
    let storage = globals().filter(|global| matches!(global.space, naga::AddressSpace::Storage { .. }));
    assert!(storage.count() <= 8, "storage buffers");
}

impl Gpu {
    pub fn upload<T: Pod>(&self, data: &[T]) -> wgpu::Buffer {
        let mut bytes = bytemuck::cast_slice(data).to_vec();
        bytes.resize(bytes.len().next_multiple_of(16).max(16), JUNK);
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: &bytes,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        })
    }

    /// A buffer of junk for that many elements.
    pub fn junk<T: Pod>(&self, len: usize) -> wgpu::Buffer {
        self.upload(&vec![JUNK; len * size_of::<T>()])
    }

    pub fn read<T: Pod>(&self, buffer: &wgpu::Buffer, len: usize) -> Vec<T> {
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, None);
        let (sender, receiver) = mpsc::channel();
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., move |done| sender.send(done).unwrap());
        self.queue.submit([encoder.finish()]);
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        receiver.recv().unwrap().unwrap();
        let view = staging.get_mapped_range(..).unwrap();
        bytemuck::pod_collect_to_vec::<u8, T>(&view[..len * size_of::<T>()])
    }

    pub fn kernel(&self, text: &str, mode: Mode, head: [u32; 8], buffers: &[&wgpu::Buffer]) -> Kernel<'_> {
        validate(text);
        let mut words = head.to_vec();
        words.extend([0; 4]);
        let params = self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(&words),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let buffers = buffers.iter().map(|&buffer| buffer.clone()).collect();
        Kernel { gpu: self, text: text.to_owned(), mode, params, buffers }
    }
}

impl Kernel<'_> {
    fn pipeline(&self, entry: &'static str) -> Pipeline {
        let checks = match self.mode {
            Mode::Checked => RuntimeChecks::ALL,
            // SAFETY: the templates bound every index and every loop, which this mode tests.
            Mode::Unchecked => unsafe { RuntimeChecks::ALL.without_loops().without_bounds() },
        };
        let access = vec![Access::ReadWrite; self.buffers.len()];
        self.gpu.runtime.pipeline(entry, &self.text, entry, &access, checks).expect("compiles")
    }

    /// The buffers for a pipeline's layout.
    fn group(&self, pipeline: &Pipeline) -> wgpu::BindGroup {
        let bound: Vec<_> = std::iter::once(&self.params)
            .chain(&self.buffers)
            .zip(0..)
            .map(|(b, binding)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() })
            .collect();
        let layout = &pipeline.layout().bind_group;
        self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &bound })
    }

    /// Dispatches entry points in sequence.
    pub fn run(&self, stages: &[(&'static str, (u32, u32, u32))]) {
        // One at a time: lavapipe runs a dispatch on all cores, and this limits memory.
        static ONE: Mutex<()> = Mutex::new(());
        let _guard = ONE.lock().unwrap_or_else(|e| e.into_inner());
        let device = &self.gpu.device;
        let mut encoder = device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for &(entry, (x, y, z)) in stages {
                let pipeline = self.pipeline(entry);
                pass.set_bind_group(0, &self.group(&pipeline), &[0]);
                pass.set_pipeline(pipeline.as_wgpu());
                pass.dispatch_workgroups(x, y, z);
            }
        }
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    }
}
