//! A program with a wgpu device and kernels of its own, and ragged in the middle: nothing is copied or waited for in between.
//!
//!     cargo run --example own_wgpu

use ragged::{Device, DeviceOptions, RaggedTensor, Tensor, wgpu};

/// The program's first kernel makes numbers; the second takes one number a row.
const KERNELS: &str = "
@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> made: array<f32>;

@compute @workgroup_size(64)
fn squares(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&made)) { made[id.x] = f32(id.x * id.x) + given[0]; }
}

@compute @workgroup_size(64)
fn halves(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&made)) { made[id.x] = 0.5 * given[id.x]; }
}
";

/// Objects of the program, created without ragged.
struct Program {
    device: wgpu::Device,
    queue: wgpu::Queue,
    module: wgpu::ShaderModule,
}

impl Program {
    fn new() -> Option<Self> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default())).ok()?;
        let opened = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()));
        let (device, queue) = opened.ok()?;
        let source = wgpu::ShaderSource::Wgsl(KERNELS.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        Some(Self { device, queue, module })
    }

    fn buffer(&self, numbers: u64) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: numbers * 4,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        })
    }

    /// Submits a kernel; waits for nothing.
    fn run(&self, entry: &str, given: wgpu::BindingResource<'_>, made: &wgpu::Buffer) {
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: None,
            module: &self.module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: given },
                wgpu::BindGroupEntry { binding: 1, resource: made.as_entire_binding() },
            ],
        });
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups((made.size() / 4).div_ceil(64) as u32, 1, 1);
        }
        self.queue.submit([encoder.finish()]);
    }
}

fn main() -> ragged::Result<()> {
    let Some(program) = Program::new() else {
        println!("no GPU adapter: this example shows how to share one");
        return Ok(());
    };
    let device = Device::from_wgpu(&program.device, &program.queue, &DeviceOptions::default())?;

    // The program makes six numbers ...
    let (nothing, squares) = (program.buffer(1), program.buffer(6));
    program.run("squares", nothing.as_entire_binding(), &squares);

    // ... which ragged takes where they are, as three rows; the second is empty ...
    let values = RaggedTensor::<f32>::from_wgpu_buffer(&squares, &[6], &device)?;
    let rows = Tensor::from_row_splits(&values, [0, 2, 2, 6])?;
    println!("rows:   {rows}");
    let before = device.stats();
    let sums = rows.reduce_sum(1)?;

    // ... and the program goes on with the sums, where ragged put them.
    let held = sums.values_buffer()?;
    let halves = program.buffer(3);
    program.run("halves", held.binding(), &halves);
    // From here on the queue keeps the order: the array may be used for something else.
    drop(held);

    let halves = RaggedTensor::<f32>::from_wgpu_buffer(&halves, &[3], &device)?;
    let read = halves.to_vec()?;
    println!("halves of their sums: {read:?}");
    assert_eq!(read, [0.5, 0.0, 27.0]);
    let spent = device.stats() - before;
    println!("submissions {}, waits {}", spent.submissions, spent.waits);
    Ok(())
}
