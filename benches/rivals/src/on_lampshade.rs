//! `lampshade`: operations on flat arrays of unsigned numbers, on a separate wgpu device.

use anyhow::{Context as _, Result, ensure};
use lampshade::{Compactor, Context, MaskGenerator, Reducer, Scanner, Sorter, U32Predicate, U32Reduction};
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{Buffer, BufferUsages};

use crate::{Contender, Read};
use std::cell::RefCell;

const PEER: &str = "lampshade";

/// The library with its device.
pub struct Library {
    context: Context,
    reducer: RefCell<Reducer>,
    scanner: RefCell<Scanner>,
    compactor: RefCell<Compactor>,
    sorter: RefCell<Sorter>,
    mask: MaskGenerator,
}

/// Buffers on its device.
pub struct Uploaded {
    len: u32,
    input: Buffer,
    output: Buffer,
    mask: Buffer,
    count: Buffer,
}

impl Library {
    /// # Errors
    /// There is no adapter, or the library chooses another one than `adapter`.
    pub fn new(adapter: &str) -> Result<Self> {
        let context = pollster::block_on(Context::init()).context("lampshade")?;
        let own = &context.adapter_info.name;
        ensure!(own == adapter, "lampshade runs on {own}, massively on {adapter}: hide one with VK_DRIVER_FILES");
        Ok(Self {
            reducer: RefCell::new(Reducer::from_context(&context)),
            scanner: RefCell::new(Scanner::from_context(&context)),
            compactor: RefCell::new(Compactor::from_context(&context)),
            sorter: RefCell::new(Sorter::from_context(&context)),
            mask: MaskGenerator::from_context(&context),
            context,
        })
    }

    /// # Errors
    /// Too many for a mask.
    pub fn upload(&self, words: &[u32]) -> Result<Uploaded> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let device = &self.context.device;
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let new = |size| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let len = words.len() as u32;
        let uploaded = Uploaded {
            len,
            input: device.create_buffer_init(&BufferInitDescriptor { label: None, contents: &bytes, usage }),
            output: new(bytes.len() as u64),
            mask: new(MaskGenerator::mask_buffer_size(len)?),
            count: new(4),
        };
        self.wait()?;
        Ok(uploaded)
    }

    fn wait(&self) -> Result<()> {
        self.context.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(())
    }

    /// The first `len` numbers of a buffer.
    fn read(&self, buffer: &Buffer, len: u32) -> Result<Vec<u32>> {
        let (device, size) = (&self.context.device, u64::from(len) * 4);
        let staging = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, size);
        self.context.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(wgpu::MapMode::Read, |_| {});
        self.wait()?;
        let mapped = staging.get_mapped_range(..)?;
        Ok(mapped.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }
}

/// The operations, each in one submission if the library supports it.
pub fn flat<'a>(library: &'a Library, on: &'a Uploaded) -> Vec<Contender<'a>> {
    let contender = |op, run: Box<dyn Fn() -> Result<()> + 'a>, len: Box<dyn Fn() -> Result<u32> + 'a>| {
        let len = std::rc::Rc::new(len);
        let run = move || -> Result<Read<'a>> {
            run()?;
            library.wait()?;
            let len = len.clone();
            Ok(Box::new(move || Ok(library.read(&on.output, len()?)?.into_iter().map(|v| v as f32).collect())))
        };
        Contender { peer: PEER, op, run: Box::new(run) }
    };
    let all = || -> Box<dyn Fn() -> Result<u32> + 'a> { Box::new(move || Ok(on.len)) };
    vec![
        contender(
            "flat_sum",
            Box::new(move || {
                let mut reducer = library.reducer.borrow_mut();
                Ok(reducer.reduce_gpu_to_gpu(&on.input, &on.output, on.len, U32Reduction::Sum)?)
            }),
            Box::new(move || Ok(1)),
        ),
        contender(
            "flat_scan",
            Box::new(move || {
                Ok(library.scanner.borrow_mut().scan_exclusive_gpu_to_gpu(&on.input, &on.output, on.len)?)
            }),
            all(),
        ),
        contender(
            "flat_select",
            Box::new(move || {
                library.mask.mask_gpu_to_gpu(&on.input, &on.mask, on.len, U32Predicate::GreaterThan(511))?;
                let mut compactor = library.compactor.borrow_mut();
                Ok(compactor.compact_gpu_to_gpu(&on.input, &on.mask, &on.output, &on.count, on.len)?)
            }),
            Box::new(move || Ok(library.read(&on.count, 1)?[0])),
        ),
        contender(
            "flat_sort",
            Box::new(move || Ok(library.sorter.borrow_mut().sort_gpu_to_gpu(&on.input, &on.output, on.len)?)),
            all(),
        ),
    ]
}
