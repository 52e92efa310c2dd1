//! Reads back bytes from device buffers to the host.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use super::{
    buffer::Buffer,
    commands::{Command, ReadRequest},
    context::Runtime,
    free_buffers::{Allocation, Use},
    in_flight::{InFlight, Submitted},
    poller::{Progress, Report},
    pool::Pool,
    shared::{Shared, bug, lock},
    stats::Counters,
};
use crate::{Error, Result, graph::backend::ReadBytes, trace::span};

/// Maximum bytes of a staging buffer with several reads; a larger read has its own buffer.
const PACK: u64 = 64 << 20;

/// Maximum bytes of a staging buffer whose reads are copied out of it. The reads of a larger one refer to its mapped
/// memory, so that the conversion to the result is their only copy.
const COPIED: u64 = 64 << 10;

/// The bytes of one request in a mapped buffer.
#[derive(Debug)]
struct StagedRead {
    request: usize,
    at: usize,
    bytes: usize,
}

/// A staging buffer that the host maps.
#[derive(Debug)]
pub(super) struct StagingBuffer {
    /// `None` once the buffer is unmapped and returned. Discarded on drop otherwise, since the buffer may be mapped.
    allocation: Option<Allocation>,
    bytes: u64,
    reads: Vec<StagedRead>,
    /// Source, offset in the source, offset in this buffer, length.
    copies: Vec<(Buffer, u64, u64, u64)>,
    pool: Arc<Pool>,
}

impl Drop for StagingBuffer {
    fn drop(&mut self) {
        if let Some(allocation) = self.allocation.take() {
            self.pool.discard(allocation);
        }
    }
}

impl StagingBuffer {
    fn empty(pool: &Arc<Pool>) -> Self {
        Self { allocation: None, bytes: 0, reads: Vec::new(), copies: Vec::new(), pool: Arc::clone(pool) }
    }

    /// A staging buffer for `bytes` bytes, which the caller copies in.
    pub(super) fn of(runtime: &Runtime, bytes: usize) -> Result<Self> {
        let mut stage = Self::empty(runtime.pool());
        stage.bytes = bytes as u64;
        stage.reads.push(StagedRead { request: 0, at: 0, bytes });
        stage.allocate(runtime.limits().max_buffer)?;
        Ok(stage)
    }

    fn allocate(&mut self, most: u64) -> Result<()> {
        self.allocation = Some(self.pool.acquire("a read", Use::ReadBack, self.bytes, most)?);
        Ok(())
    }

    pub(super) fn buffer(&self) -> Option<&wgpu::Buffer> {
        self.allocation.as_ref().map(|allocation| &allocation.buffer)
    }

    fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let Some(target) = self.buffer() else { return };
        for (source, from, to, bytes) in &self.copies {
            encoder.copy_buffer_to_buffer(source.as_wgpu(), *from, target, *to, *bytes);
        }
    }

    /// The reads of the mapped buffer. Small reads are copied, so that the buffer returns to the pool at once.
    fn unload(mut self, into: &mut [ReadBytes]) -> Result<()> {
        let Some(allocation) = self.allocation.take() else { return Ok(()) };
        match allocation.buffer.get_mapped_range(..self.bytes) {
            Ok(view) => {
                let mapped = MappedBuffer { view: Some(view), allocation: Some(allocation), pool: self.pool.clone() };
                let mapped = Arc::new(mapped);
                for read in &self.reads {
                    let range = read.at..read.at + read.bytes;
                    into[read.request] = match mapped.as_ref().as_ref().get(range.clone()) {
                        Some(bytes) if self.bytes <= COPIED => bytes.to_vec().into(),
                        Some(_) => ReadBytes::new(mapped.clone(), range),
                        None => ReadBytes::default(),
                    };
                }
                Ok(())
            }
            Err(error) => {
                self.pool.discard(allocation);
                Err(bug("a read", error))
            }
        }
    }
}

/// A mapped staging buffer. Dropping it unmaps the buffer and returns it to the pool.
#[derive(Debug)]
struct MappedBuffer {
    /// `None` only while it is dropped, as is the allocation.
    view: Option<wgpu::BufferView>,
    allocation: Option<Allocation>,
    pool: Arc<Pool>,
}

impl AsRef<[u8]> for MappedBuffer {
    fn as_ref(&self) -> &[u8] {
        self.view.as_deref().unwrap_or_default()
    }
}

impl Drop for MappedBuffer {
    fn drop(&mut self) {
        // Unmapping requires that no view is left.
        self.view = None;
        if let Some(allocation) = self.allocation.take() {
            allocation.buffer.unmap();
            self.pool.release(allocation);
        }
    }
}

/// A submitted read.
#[derive(Debug)]
pub(crate) struct Pending {
    stages: Vec<StagingBuffer>,
    requests: usize,
    progress: Arc<Progress>,
    /// `None` if there is nothing to wait for.
    submitted: Option<Submitted>,
    in_flight: Arc<InFlight>,
    shared: Arc<Shared>,
}

impl Pending {
    /// Requests the mapping of the staging buffers of a submission.
    pub(super) fn new(
        runtime: &Runtime,
        stages: Vec<StagingBuffer>,
        requests: usize,
        submitted: Option<Submitted>,
    ) -> Self {
        let progress = Arc::new(Progress::default());
        lock(&progress.state).left = stages.len();
        let (in_flight, shared) = (Arc::clone(&runtime.in_flight), Arc::clone(runtime.shared()));
        // The callback receives errors; the scope keeps them from the uncaptured error handler.
        let _ = shared.scoped(|| {
            for stage in &stages {
                let mut report = Report { progress: Arc::clone(&progress), ok: false };
                if let Some(buffer) = stage.buffer() {
                    buffer.slice(..stage.bytes).map_async(wgpu::MapMode::Read, move |mapped| {
                        report.ok = mapped.is_ok();
                        drop(report);
                    });
                }
            }
        });
        Self { stages, requests, progress, submitted, in_flight, shared }
    }

    /// Blocks until the bytes have arrived.
    pub(crate) fn wait(self) -> Result<Vec<ReadBytes>> {
        if self.stages.is_empty() {
            // Without bytes to wait for, only a probe detects a loss.
            self.shared.probe()?;
        }
        if let Some(submitted) = self.submitted.as_ref().filter(|_| !self.stages.is_empty()) {
            Counters::add(&self.shared.counters.waits, 1);
            self.shared.wait_for(&submitted.index)?;
            self.in_flight.ended(submitted);
            while self.progress.wait().is_none() {
                self.shared.wait_for(&submitted.index)?;
            }
        }
        self.unload()
    }

    fn unload(self) -> Result<Vec<ReadBytes>> {
        let outcome = Progress::outcome(&lock(&self.progress.state));
        if outcome != Some(true) {
            // The device-lost callback may still be pending, or belong to the program.
            self.shared.probe()?;
            return Err(bug("a read", "the buffer could not be mapped"));
        }
        self.shared.health.alive()?;
        let _span = span!("read", bytes = self.stages.iter().map(|stage| stage.bytes).sum::<u64>());
        let mut results = vec![ReadBytes::default(); self.requests];
        for stage in self.stages {
            stage.unload(&mut results)?;
        }
        let bytes = results.iter().map(|bytes| bytes.len() as u64).sum();
        Counters::add(&self.shared.counters.bytes_read_back, bytes);
        Ok(results)
    }
}

/// Future of a read's bytes, for any executor: see [`Runtime::finish_read`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub(crate) struct ReadFuture(Option<Pending>);

impl Future for ReadFuture {
    type Output = Result<Vec<ReadBytes>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(pending) = &self.0 {
            let mut state = lock(&pending.progress.state);
            if Progress::outcome(&state).is_none() {
                state.waker = Some(context.waker().clone());
                return Poll::Pending;
            }
        }
        Poll::Ready(match self.0.take() {
            Some(pending) => {
                if let Some(submitted) = &pending.submitted {
                    pending.in_flight.ended(submitted);
                }
                pending.unload()
            }
            None => Err(bug("a read", "the future was polled after it was ready")),
        })
    }
}

impl Runtime {
    /// Encodes the commands and the copies for the reads into one submission, waits for it once, and returns the bytes
    /// of each request.
    ///
    /// # Errors
    /// As [`Runtime::submit`]; also [`Error::Gpu`] for a request out of bounds of its buffer (a bug of the layers
    /// above).
    pub(crate) fn submit_and_read(&self, commands: &[Command], reads: &[ReadRequest]) -> Result<Vec<ReadBytes>> {
        self.start_read(commands, reads)?.wait()
    }

    /// Encodes the commands and the copies for the reads into one submission and submits it.
    ///
    /// # Errors
    /// As [`Runtime::submit_and_read`]. Nothing is submitted then.
    pub(crate) fn start_read(&self, commands: &[Command], reads: &[ReadRequest]) -> Result<Pending> {
        self.health().alive()?;
        let validated = self.validate(commands)?;
        let stages = self.stage_reads(reads)?;
        let submitted = if validated.list.is_empty() && stages.is_empty() {
            None
        } else {
            Some(self.run(&validated, |_| (), |encoder| stages.iter().for_each(|stage| stage.encode(encoder)))?)
        };
        Ok(Pending::new(self, stages, reads.len(), submitted))
    }

    /// Future of the bytes of a started read, for any executor. One thread of the runtime polls the device for all
    /// reads.
    pub(crate) fn finish_read(&self, pending: Pending) -> ReadFuture {
        if let Pending { submitted: Some(submitted), progress, shared, .. } = &pending {
            self.poller.watch(shared, submitted, progress);
        }
        ReadFuture(Some(pending))
    }

    /// Packs requests into as few buffers as possible.
    fn stage_reads(&self, reads: &[ReadRequest]) -> Result<Vec<StagingBuffer>> {
        let most = self.limits().max_buffer;
        let mut stages: Vec<StagingBuffer> = Vec::new();
        for (request, read) in reads.iter().enumerate() {
            self.check_owner("a read", &read.buffer)?;
            let end = read.offset.checked_add(read.bytes).filter(|end| *end <= read.buffer.bytes());
            let Some(end) = end else {
                let (from, bytes, size) = (read.offset, read.bytes, read.buffer.bytes());
                return Err(bug("a read", format_args!("{bytes} bytes from byte {from}, in a buffer of {size} bytes")));
            };
            if read.bytes == 0 {
                continue;
            }
            if !read.buffer.as_wgpu().usage().contains(wgpu::BufferUsages::COPY_SRC) {
                let what = format!(
                    "the tensor's wgpu buffer has usage {:?}, but must have COPY_SRC; create it with COPY_SRC, or compute \
                     with it and read the result",
                    read.buffer.as_wgpu().usage()
                );
                return Err(Error::Argument { op: "a read", what, location: crate::error::caller() });
            }
            // Copies consist of whole words. Allocations are multiples of 16 bytes, so the rounded range is in bounds.
            let from = read.offset & !3;
            let bytes = end.next_multiple_of(4) - from;
            let room = most.min(PACK);
            // Reads start at multiples of eight in a staging buffer.
            if stages.last().is_none_or(|stage| stage.bytes.next_multiple_of(8) + bytes > room) {
                stages.push(StagingBuffer::empty(self.pool()));
            }
            if let Some(stage) = stages.last_mut() {
                let at = stage.bytes.next_multiple_of(8);
                stage.copies.push((read.buffer.clone(), from, at, bytes));
                let skip = read.offset - from;
                let too_large = |_| bug("a read", "more bytes than the host can address");
                stage.reads.push(StagedRead {
                    request,
                    at: usize::try_from(at + skip).map_err(too_large)?,
                    bytes: usize::try_from(read.bytes).map_err(too_large)?,
                });
                stage.bytes = at + bytes;
            }
        }
        stages.iter_mut().try_for_each(|stage| stage.allocate(most))?;
        Ok(stages)
    }
}
