//! Device time of submissions, by timestamp queries.

use super::{
    commands::Command,
    context::Runtime,
    readback::{Pending, StagingBuffer},
    shared::bug,
};
use crate::Result;

use std::time::{Duration, Instant};

/// Two timestamps of eight bytes.
const BYTES: usize = 16;

impl Runtime {
    /// Submits the commands and waits for them. The device time that they take; on a device without timestamps, the time
    /// until they are done.
    ///
    /// # Errors
    /// As [`Runtime::submit`].
    pub(crate) fn time(&self, commands: &[Command]) -> Result<Duration> {
        if commands.is_empty() {
            return Ok(Duration::ZERO);
        }
        let start = Instant::now();
        let ms = self.submit_timed(commands)?;
        self.wait()?;
        Ok(ms.map_or_else(|| start.elapsed(), |ms| Duration::from_secs_f64(ms / 1e3)))
    }

    /// Submits the commands, waits for them, and returns the milliseconds of device time from the start of the first to
    /// the end of the last. On a device without timestamps, submits the commands and returns `None`.
    ///
    /// # Errors
    /// As [`Runtime::submit`].
    pub(crate) fn submit_timed(&self, commands: &[Command]) -> Result<Option<f64>> {
        if !self.has_timestamps() {
            self.submit(commands)?;
            return Ok(None);
        }
        self.health().alive()?;
        let validated = self.validate(commands)?;
        let (device, shared) = (self.device(), self.shared());
        let made = shared.scoped(|| {
            let stamps = device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            });
            let resolved = device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: BYTES as u64,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            (stamps, resolved)
        });
        let (stamps, resolved) = made.map_err(|error| bug("timestamps", error))?;
        let stage = StagingBuffer::of(self, BYTES)?;
        // Timestamps of empty compute passes at both ends include copies and fills, and need `TIMESTAMP_QUERY` only. A
        // timestamp is written when all earlier commands have ended.
        let stamp = |encoder: &mut wgpu::CommandEncoder, start: Option<u32>, end: Option<u32>| {
            let timestamp_writes = Some(wgpu::ComputePassTimestampWrites {
                query_set: &stamps,
                beginning_of_pass_write_index: start,
                end_of_pass_write_index: end,
            });
            drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes }));
        };
        let submitted = self.run(
            &validated,
            |encoder| stamp(encoder, Some(0), None),
            |encoder| {
                stamp(encoder, None, Some(1));
                encoder.resolve_query_set(&stamps, 0..2, &resolved, 0);
                if let Some(target) = stage.buffer() {
                    encoder.copy_buffer_to_buffer(&resolved, 0, target, 0, BYTES as u64);
                }
            },
        )?;
        let bytes = Pending::new(self, vec![stage], 1, Some(submitted)).wait()?;
        let ticks = bytes.first().and_then(|bytes| {
            let (start, rest) = bytes.split_first_chunk()?;
            let (end, _) = rest.split_first_chunk()?;
            Some(u64::from_le_bytes(*end).saturating_sub(u64::from_le_bytes(*start)))
        });
        Ok(ticks.map(|ticks| ticks as f64 * f64::from(self.queue().get_timestamp_period()) / 1e6))
    }
}
