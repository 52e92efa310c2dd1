//! Encodes validated commands into one command buffer and submits it.

use std::sync::atomic::Ordering::Relaxed;

use super::{
    bind_groups::BoundBuffer,
    commands::{Command, ValidatedCommand, ValidatedCommands},
    context::Runtime,
    in_flight::Submitted,
    shared::lock,
    stats::Counters,
    submitter::{ParamsBuffer, Submitter},
};
use crate::{Error, Result, trace::span};

impl Runtime {
    /// Encodes the commands and submits them. Blocks only if 64 submissions are in flight, until the oldest has
    /// finished.
    ///
    /// # Errors
    /// [`Error::Limit`] if a grid or the parameters exceed the device's limits; [`Error::Gpu`] for an invalid command
    /// (a bug of the layers above); [`Error::DeviceLost`]. After an error none of the commands runs.
    pub(crate) fn submit(&self, commands: &[Command]) -> Result<()> {
        self.health().alive()?;
        let validated = self.validate(commands)?;
        if !validated.list.is_empty() {
            self.run(&validated, |_| (), |_| ())?;
            // wgpu drops the submission to a destroyed device without an error, and reports the loss in a poll.
            self.shared().poll_once();
        }
        self.health().alive()
    }

    /// Blocks until all submitted work has finished; counted as a wait unless nothing is in flight. Detects a loss even
    /// then.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub(crate) fn wait(&self) -> Result<()> {
        // One wait, unless several threads submit concurrently.
        let mut most = u64::MAX;
        while let Some(last) = self.in_flight.last(most) {
            most = last.number;
            self.await_submitted(&last)?;
        }
        self.shared().probe()
    }

    /// Blocks until a submission has finished; counted as a wait.
    pub(super) fn await_submitted(&self, submitted: &Submitted) -> Result<()> {
        Counters::add(&self.shared().counters.waits, 1);
        self.shared().wait_for(&submitted.index)?;
        self.in_flight.ended(submitted);
        Ok(())
    }

    /// Submits validated commands as one command buffer; `head` encodes before it, `tail` after it.
    pub(super) fn run(
        &self,
        validated: &ValidatedCommands<'_>,
        head: impl FnOnce(&mut wgpu::CommandEncoder),
        tail: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<Submitted> {
        self.run_with(validated, |submitter, encoder| {
            head(encoder);
            self.encode(submitter, validated, encoder);
            tail(encoder);
        })
    }

    /// Submits validated commands as one command buffer, encoded by `encode`.
    pub(super) fn run_with(
        &self,
        validated: &ValidatedCommands<'_>,
        encode: impl FnOnce(&mut Submitter, &mut wgpu::CommandEncoder),
    ) -> Result<Submitted> {
        let _span = span!("submit", dispatches = validated.kernels);
        // Before the lock is taken, so that other threads may submit meanwhile.
        self.throttle()?;
        let (commands, params, after) = self.encoded(validated, encode)?;
        let shared = self.shared();
        let outcome = shared.scoped(|| shared.queue.submit([commands]));
        let mut submitter = lock(&self.submitter);
        let index = match outcome {
            Ok(index) => index,
            Err(error) => {
                submitter.reset_after_error(params);
                return Err(self.not_submitted(&error));
            }
        };
        submitter.put_back(params);
        // On a lost device wgpu drops submissions without an error.
        shared.health.alive()?;
        Counters::add(&shared.counters.dispatches, validated.kernels);
        Ok(self.submitted(&mut submitter, index, after))
    }

    /// Encodes validated commands with `encode`. Returns the command buffer, its parameter buffer, and the number of
    /// the last submission so far.
    fn encoded(
        &self,
        validated: &ValidatedCommands<'_>,
        encode: impl FnOnce(&mut Submitter, &mut wgpu::CommandEncoder),
    ) -> Result<(wgpu::CommandBuffer, Option<ParamsBuffer>, u64)> {
        let shared = self.shared();
        let mut submitter = lock(&self.submitter);
        let submitter = &mut *submitter;
        submitter.bind_groups.forget(&self.pool().take_destroyed());
        self.reserve_params(submitter, validated.params.len() as u64)?;
        let outcome = shared.scoped(|| {
            let descriptor = wgpu::CommandEncoderDescriptor { label: Some("ragged") };
            let mut encoder = shared.device.create_command_encoder(&descriptor);
            if let Some(params) = submitter.params.as_mut().filter(|params| !params.holds(&validated.params)) {
                // The write runs at the start of the next submission of any thread. No other unsubmitted command buffer
                // uses this buffer.
                shared.queue.write_buffer(&params.buffer, 0, &validated.params);
                params.wrote(&validated.params);
            }
            encode(submitter, &mut encoder);
            encoder.finish()
        });
        let params = submitter.params.take();
        match outcome {
            Ok(commands) => Ok((commands, params, submitter.submitted)),
            Err(error) => {
                submitter.reset_after_error(params);
                Err(self.not_submitted(&error))
            }
        }
    }

    fn submitted(&self, submitter: &mut Submitter, index: wgpu::SubmissionIndex, after: u64) -> Submitted {
        Counters::add(&self.shared().counters.submissions, 1);
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
            wgpu::Error::OutOfMemory { .. } => {
                "out of device memory; drop tensors, or process fewer rows at a time".into()
            }
            other => other.to_string(),
        };
        Error::Gpu { label: "a submission".into(), message, location: crate::error::caller() }
    }

    fn throttle(&self) -> Result<()> {
        if let Some(oldest) = self.in_flight.overdue() {
            Counters::add(&self.shared().counters.throttles, 1);
            self.shared().wait_for(&oldest.index)?;
        }
        Ok(())
    }

    /// Submits pending uploads, so that their staging memory is freed. At most two such submissions are in flight.
    pub(super) fn flush_uploads(&self) -> Result<()> {
        let before = {
            let after = lock(&self.submitter).submitted;
            let outcome = self.shared().scoped(|| self.shared().queue.submit([]));
            let index = outcome.map_err(|error| self.not_submitted(&error))?;
            self.health().alive()?;
            let mut submitter = lock(&self.submitter);
            let submitted = self.submitted(&mut submitter, index, after);
            submitter.last_flush.replace(submitted)
        };
        if let Some(before) = before {
            Counters::add(&self.shared().counters.throttles, 1);
            self.shared().wait_for(&before.index)?;
            self.in_flight.ended(&before);
        }
        Ok(())
    }

    /// Reserves a parameter buffer for the command buffer to be encoded.
    fn reserve_params(&self, submitter: &mut Submitter, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // The most recently returned buffer: a single thread hits its cached bind groups.
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
        let made = self.shared().scoped(|| self.device().create_buffer(&descriptor));
        let buffer = made.map_err(|error| self.not_submitted(&error))?;
        submitter.params = Some(ParamsBuffer::new(buffer, capacity));
        Ok(())
    }

    fn encode(&self, submitter: &mut Submitter, validated: &ValidatedCommands<'_>, encoder: &mut wgpu::CommandEncoder) {
        let mut commands = validated.list.iter().peekable();
        while let Some(command) = commands.next() {
            match command {
                ValidatedCommand::Clear { .. } | ValidatedCommand::Copy { .. } => encode_transfer(command, encoder),
                ValidatedCommand::Kernel { .. } => {
                    // Consecutive kernels share a compute pass. Measured: a pass costs five times as much as a
                    // dispatch.
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                    let mut set = None;
                    self.encode_kernel(submitter, command, &mut pass, &mut set);
                    while let Some(next) = commands.next_if(|next| matches!(next, ValidatedCommand::Kernel { .. })) {
                        self.encode_kernel(submitter, next, &mut pass, &mut set);
                    }
                }
            }
        }
    }

    pub(super) fn encode_kernel<'a>(
        &self,
        submitter: &mut Submitter,
        command: &'a ValidatedCommand<'_>,
        pass: &mut wgpu::ComputePass<'_>,
        set: &mut Option<&'a wgpu::ComputePipeline>,
    ) {
        let ValidatedCommand::Kernel { pipeline, buffers, params_at, params_bytes, grid, .. } = command else { return };
        let Some(params) = &submitter.params else { return };
        let params = BoundBuffer { id: params.id, buffer: &params.buffer, range: (0, None) };
        let storage = buffers.iter().map(|slice| {
            let buffer = slice.buffer();
            BoundBuffer { id: buffer.id(), buffer: buffer.as_wgpu(), range: slice.range() }
        });
        let group = submitter.bind_groups.get(self.shared(), pipeline.layout(), params, *params_bytes, storage);
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

/// Encodes a command other than a kernel.
pub(super) fn encode_transfer(command: &ValidatedCommand<'_>, encoder: &mut wgpu::CommandEncoder) {
    match command {
        ValidatedCommand::Clear { buffer } => encoder.clear_buffer(buffer.as_wgpu(), 0, None),
        ValidatedCommand::Copy { from, from_offset, to, to_offset, bytes } => {
            encoder.copy_buffer_to_buffer(from.as_wgpu(), *from_offset, to.as_wgpu(), *to_offset, *bytes);
        }
        ValidatedCommand::Kernel { .. } => {}
    }
}
