//! Kernel times, as scopes of wgpu-profiler.

use std::time::Duration;

use wgpu_profiler::{GpuProfiler, GpuProfilerSettings, GpuTimerQueryResult};

use super::{
    commands::{Command, ValidatedCommand},
    context::Runtime,
    shared::bug,
    submit::encode_transfer,
};
use crate::Result;

/// Milliseconds to wait for pending callbacks after their submission has ended.
const WAIT_TIMEOUT_MS: u32 = 5_000;

impl Runtime {
    /// Submits the commands, with one compute pass and one scope per kernel, waits, and returns the scopes in order;
    /// `None` if the device has no timestamps.
    ///
    /// # Errors
    /// As [`Runtime::submit`].
    pub(crate) fn submit_profiled(&self, commands: &[Command]) -> Result<Option<Vec<GpuTimerQueryResult>>> {
        if !self.has_timestamps() {
            self.submit(commands)?;
            self.wait()?;
            return Ok(None);
        }
        self.health().alive()?;
        let validated = self.validate(commands)?;
        if validated.kernels == 0 {
            // The profiler requires at least one scope.
            if !validated.list.is_empty() {
                self.run(&validated, |_| (), |_| ())?;
            }
            self.wait()?;
            return Ok(Some(Vec::new()));
        }
        // The passes have labels, so debug groups are redundant.
        let settings = GpuProfilerSettings { enable_debug_groups: false, ..GpuProfilerSettings::default() };
        let fault = |error: &dyn std::fmt::Display| bug("a profile", error);
        let mut profiler = GpuProfiler::new(self.device(), settings).map_err(|e| fault(&e))?;
        let submitted = self.run_with(&validated, |submitter, encoder| {
            for command in &validated.list {
                let ValidatedCommand::Kernel { label, .. } = command else {
                    encode_transfer(command, encoder);
                    continue;
                };
                let query = profiler.begin_pass_query(*label, encoder);
                let timestamp_writes = query.compute_pass_timestamp_writes();
                let descriptor = wgpu::ComputePassDescriptor { label: Some(label), timestamp_writes };
                self.encode_kernel(submitter, command, &mut encoder.begin_compute_pass(&descriptor), &mut None);
                profiler.end_query(encoder, query);
            }
            profiler.resolve_queries(encoder);
        })?;
        let ended = self.shared().scoped(|| profiler.end_frame());
        ended.map_err(|e| fault(&e))?.map_err(|e| fault(&e))?;
        let period = self.queue().get_timestamp_period();
        self.await_submitted(&submitted)?;
        // The timestamps are mapped by callbacks, which may be pending in another thread although the submission has
        // ended.
        for _ in 0..WAIT_TIMEOUT_MS {
            if let Some(scopes) = profiler.process_finished_frame(period) {
                return Ok(Some(scopes));
            }
            self.health().alive()?;
            std::thread::sleep(Duration::from_millis(1));
            self.shared().poll_once();
        }
        Err(fault(&"the timestamps could not be mapped"))
    }
}
