//! Encodes checked commands into one command buffer and submits it.

use std::{
    collections::VecDeque,
    sync::{Mutex, atomic::Ordering::Relaxed},
};

use super::{
    bind_groups::{BindGroups, Bound},
    commands::{Command, Plan, Step},
    context::Runtime,
    link::lock,
    pool::fresh_id,
    stats::Counters,
};
use crate::{Error, Result, trace::span};

/// State of the encoding thread.
///
/// Its lock is released before a command buffer is submitted: `Queue::submit` runs the program's callbacks, which may
/// call into this crate.
#[derive(Debug, Default)]
pub(super) struct Submitter {
    /// The parameter buffer of the command buffer that is being encoded.
    params: Option<ParamsBuffer>,
    /// Parameter buffers that no unsubmitted command buffer refers to.
    spare_params: Vec<ParamsBuffer>,
    bind_groups: BindGroups,
    last_flush: Option<Submitted>,
    submitted: u64,
}

impl Submitter {
    /// Returns the parameter buffer to the spares once its command buffer is submitted.
    fn put_back(&mut self, params: Option<ParamsBuffer>) {
        self.spare_params.extend(params);
    }

    /// Cleans up after an error: bind groups made meanwhile may be invalid and would fail again, and pending writes of
    /// parameters may be lost.
    fn distrust(&mut self, params: Option<ParamsBuffer>) {
        self.bind_groups = BindGroups::default();
        self.put_back(params.map(|params| ParamsBuffer { written: Vec::new(), ..params }));
    }
}

/// The uniform buffer with the parameters of all kernels of a submission.
///
/// A submitting thread owns one until its command buffer is submitted. Writes run at the start of the next submission,
/// after all submissions that read the buffer have ended. So the next thread can take it at once, and there are as many
/// buffers as threads that submit concurrently. Since the buffer persists, bind groups that name it can be cached, and
/// a program that runs again with the same parameters does not upload them again.
#[derive(Debug)]
struct ParamsBuffer {
    buffer: wgpu::Buffer,
    id: u64,
    capacity: u64,
    /// The bytes that the buffer begins with, as far as known.
    written: Vec<u8>,
}

/// Parameters beyond this many bytes are always written: the host keeps no copy to compare.
const KEPT_PARAMS: usize = 64 << 10;

impl ParamsBuffer {
    /// Whether the buffer begins with these bytes.
    fn holds(&self, params: &[u8]) -> bool {
        self.written.starts_with(params)
    }

    /// Records that these bytes are written at the beginning.
    fn wrote(&mut self, params: &[u8]) {
        if params.len() > KEPT_PARAMS {
            self.written.clear();
            return;
        }
        let common = self.written.len().min(params.len());
        let (over, further) = params.split_at(common);
        self.written[..common].copy_from_slice(over);
        self.written.extend_from_slice(further);
    }
}

/// A submission that was made.
#[derive(Debug, Clone)]
pub(super) struct Submitted {
    pub(super) index: wgpu::SubmissionIndex,
    /// Sequence number, in the order in which submissions were recorded.
    number: u64,
    /// Number of the last submission recorded before this one was submitted.
    after: u64,
}

impl Submitted {
    /// Whether this submission has ended once `other` has. Concurrent submissions may be recorded in any order.
    fn ends_with(&self, other: &Self) -> bool {
        self.number <= other.after || self.number == other.number
    }
}

/// The submissions that may still be running, oldest first.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<VecDeque<Submitted>>);

/// Limit on submissions in flight. Each holds a command buffer and staging memory; a queue without waits would grow
/// without bound.
const MAX_IN_FLIGHT: usize = 64;

impl InFlight {
    fn push(&self, submitted: Submitted) {
        lock(&self.0).push_back(submitted);
    }

    /// Removes the oldest submission if too many are in flight.
    fn overdue(&self) -> Option<Submitted> {
        let mut queue = lock(&self.0);
        if queue.len() < MAX_IN_FLIGHT { None } else { queue.pop_front() }
    }

    /// The latest recorded submission whose number is at most `most`.
    fn last(&self, most: u64) -> Option<Submitted> {
        lock(&self.0).iter().rev().find(|submitted| submitted.number <= most).cloned()
    }

    /// Removes all submissions that have ended once `last` has.
    pub(super) fn ended(&self, last: &Submitted) {
        lock(&self.0).retain(|submitted| !submitted.ends_with(last));
    }
}

impl Runtime {
    /// Encodes the commands and submits them. Blocks only if 64 submissions are in flight, until the oldest has
    /// finished.
    ///
    /// # Errors
    /// [`Error::Limit`] if a grid or the parameters exceed the device's limits; [`Error::Gpu`] for an invalid command
    /// (a fault of the layers above); [`Error::DeviceLost`]. After an error none of the commands runs.
    pub(crate) fn submit(&self, commands: &[Command]) -> Result<()> {
        self.health().alive()?;
        let plan = self.plan(commands)?;
        if !plan.steps.is_empty() {
            self.run(&plan, |_| (), |_| ())?;
        }
        Ok(())
    }

    /// Blocks until all submitted work has finished; counted as a wait unless nothing is in flight.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub(crate) fn wait(&self) -> Result<()> {
        // One wait, unless several threads were submitting concurrently.
        let mut most = u64::MAX;
        while let Some(last) = self.in_flight.last(most) {
            most = last.number;
            self.await_submitted(&last)?;
        }
        self.health().alive()
    }

    /// Blocks until a submission has finished; counted as a wait.
    pub(super) fn await_submitted(&self, submitted: &Submitted) -> Result<()> {
        Counters::add(&self.link().counters.waits, 1);
        self.link().wait_for(&submitted.index)?;
        self.in_flight.ended(submitted);
        Ok(())
    }

    /// Submits a plan as one command buffer; `head` encodes before it, `tail` after it.
    pub(super) fn run(
        &self,
        plan: &Plan<'_>,
        head: impl FnOnce(&mut wgpu::CommandEncoder),
        tail: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<Submitted> {
        self.run_with(plan, |submitter, encoder| {
            head(encoder);
            self.encode(submitter, plan, encoder);
            tail(encoder);
        })
    }

    /// Submits a plan as one command buffer, encoded by `encode`.
    pub(super) fn run_with(
        &self,
        plan: &Plan<'_>,
        encode: impl FnOnce(&mut Submitter, &mut wgpu::CommandEncoder),
    ) -> Result<Submitted> {
        let _span = span!("submit", dispatches = plan.kernels);
        // Before the lock is taken, so that other threads may submit meanwhile.
        self.throttle()?;
        let (commands, params, after) = self.encoded(plan, encode)?;
        let link = self.link();
        let outcome = link.scoped(|| link.queue.submit([commands]));
        let mut submitter = lock(&self.submitter);
        let index = match outcome {
            Ok(index) => index,
            Err(error) => {
                submitter.distrust(params);
                return Err(self.not_submitted(&error));
            }
        };
        submitter.put_back(params);
        // On a lost device wgpu drops submissions without an error.
        link.health.alive()?;
        Counters::add(&link.counters.dispatches, plan.kernels);
        Ok(self.submitted(&mut submitter, index, after))
    }

    /// Encodes a plan with `encode`. Returns the command buffer, its parameter buffer, and the number of the last
    /// submission so far.
    fn encoded(
        &self,
        plan: &Plan<'_>,
        encode: impl FnOnce(&mut Submitter, &mut wgpu::CommandEncoder),
    ) -> Result<(wgpu::CommandBuffer, Option<ParamsBuffer>, u64)> {
        let link = self.link();
        let mut submitter = lock(&self.submitter);
        let submitter = &mut *submitter;
        submitter.bind_groups.forget(&self.pool().take_destroyed());
        self.reserve_params(submitter, plan.params.len() as u64)?;
        let outcome = link.scoped(|| {
            let descriptor = wgpu::CommandEncoderDescriptor { label: Some("ragged") };
            let mut encoder = link.device.create_command_encoder(&descriptor);
            if let Some(params) = submitter.params.as_mut().filter(|params| !params.holds(&plan.params)) {
                // The write runs at the start of the next submission, whichever thread makes it: no other unsubmitted
                // command buffer names this buffer.
                link.queue.write_buffer(&params.buffer, 0, &plan.params);
                params.wrote(&plan.params);
            }
            encode(submitter, &mut encoder);
            encoder.finish()
        });
        let params = submitter.params.take();
        match outcome {
            Ok(commands) => Ok((commands, params, submitter.submitted)),
            Err(error) => {
                submitter.distrust(params);
                Err(self.not_submitted(&error))
            }
        }
    }

    fn submitted(&self, submitter: &mut Submitter, index: wgpu::SubmissionIndex, after: u64) -> Submitted {
        Counters::add(&self.link().counters.submissions, 1);
        self.upload_backlog.store(0, Relaxed);
        submitter.submitted += 1;
        let submitted = Submitted { index, number: submitter.submitted, after };
        self.in_flight.push(submitted.clone());
        submitted
    }

    fn not_submitted(&self, error: &wgpu::Error) -> Error {
        if let Err(lost) = self.health().alive() {
            return lost;
        }
        let message = match error {
            wgpu::Error::OutOfMemory { .. } => "out of device memory".into(),
            other => other.to_string(),
        };
        Error::Gpu { label: "a submission".into(), message }
    }

    fn throttle(&self) -> Result<()> {
        if let Some(oldest) = self.in_flight.overdue() {
            Counters::add(&self.link().counters.throttles, 1);
            self.link().wait_for(&oldest.index)?;
        }
        Ok(())
    }

    /// Submits staged uploads, so that their staging memory is freed. At most two such batches are in flight.
    pub(super) fn flush_uploads(&self) -> Result<()> {
        let before = {
            let after = lock(&self.submitter).submitted;
            let outcome = self.link().scoped(|| self.link().queue.submit([]));
            let index = outcome.map_err(|error| self.not_submitted(&error))?;
            self.health().alive()?;
            let mut submitter = lock(&self.submitter);
            let submitted = self.submitted(&mut submitter, index, after);
            submitter.last_flush.replace(submitted)
        };
        if let Some(before) = before {
            Counters::add(&self.link().counters.throttles, 1);
            self.link().wait_for(&before.index)?;
            self.in_flight.ended(&before);
        }
        Ok(())
    }

    /// Reserves space for parameters that are about to be encoded.
    fn reserve_params(&self, submitter: &mut Submitter, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // The buffer returned last: a single thread finds its cached bind groups again.
        if let Some(spare) = submitter.spare_params.pop() {
            if spare.capacity >= bytes {
                submitter.params = Some(spare);
                return Ok(());
            }
            submitter.bind_groups.forget(&[spare.id]);
        }
        let capacity = bytes.next_power_of_two().max(64 << 10);
        let descriptor = wgpu::BufferDescriptor {
            label: Some("ragged parameters"),
            size: capacity,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        let made = self.link().scoped(|| self.device().create_buffer(&descriptor));
        let buffer = made.map_err(|error| self.not_submitted(&error))?;
        submitter.params = Some(ParamsBuffer { buffer, id: fresh_id(), capacity, written: Vec::new() });
        Ok(())
    }

    fn encode(&self, submitter: &mut Submitter, plan: &Plan<'_>, encoder: &mut wgpu::CommandEncoder) {
        let mut steps = plan.steps.iter().peekable();
        while let Some(step) = steps.next() {
            match step {
                Step::Clear { .. } | Step::Copy { .. } => encode_transfer(step, encoder),
                Step::Kernel { .. } => {
                    // A pass costs five times as much as a dispatch within it.
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                    let mut set = None;
                    self.encode_kernel(submitter, step, &mut pass, &mut set);
                    while let Some(next) = steps.next_if(|next| matches!(next, Step::Kernel { .. })) {
                        self.encode_kernel(submitter, next, &mut pass, &mut set);
                    }
                }
            }
        }
    }

    pub(super) fn encode_kernel<'a>(
        &self,
        submitter: &mut Submitter,
        step: &'a Step<'_>,
        pass: &mut wgpu::ComputePass<'_>,
        set: &mut Option<&'a wgpu::ComputePipeline>,
    ) {
        let Step::Kernel { pipeline, buffers, params_at, params_bytes, grid, .. } = step else { return };
        let Some(params) = &submitter.params else { return };
        let params = Bound { id: params.id, buffer: &params.buffer, range: (0, None) };
        let storage = buffers.iter().map(|slice| {
            let buffer = slice.buffer();
            Bound { id: buffer.id(), buffer: buffer.as_wgpu(), range: slice.range() }
        });
        let group = submitter.bind_groups.get(self.link(), pipeline.layout(), params, *params_bytes, storage);
        if *set != Some(pipeline.as_wgpu()) {
            pass.set_pipeline(pipeline.as_wgpu());
            *set = Some(pipeline.as_wgpu());
        }
        pass.set_bind_group(0, &group, &[*params_at]);
        pass.dispatch_workgroups(grid.0, grid.1, grid.2);
    }

    /// Number of cached bind groups.
    #[cfg(test)]
    pub(super) fn cached_bind_groups(&self) -> usize {
        lock(&self.submitter).bind_groups.len()
    }
}

/// Encodes a step other than a kernel.
pub(super) fn encode_transfer(step: &Step<'_>, encoder: &mut wgpu::CommandEncoder) {
    match step {
        Step::Clear { buffer } => encoder.clear_buffer(buffer.as_wgpu(), 0, None),
        Step::Copy { from, from_offset, to, to_offset, bytes } => {
            encoder.copy_buffer_to_buffer(from.as_wgpu(), *from_offset, to.as_wgpu(), *to_offset, *bytes);
        }
        Step::Kernel { .. } => {}
    }
}
