//! Profiling: the time of each kernel of an evaluation.

use super::both::methods_of_both;
use wgpu_profiler::GpuTimerQueryResult;

use crate::backend::gpu::GpuBackend;
use crate::error::{Result, here};

methods_of_both! {
    /// Evaluation, timed.
    impl;

    /// Computes the tensor now, waits for it, and returns a scope of [`wgpu_profiler`] per kernel, in execution order:
    /// the label, and the start and end time by the device's clock, in seconds. None where the device has no timestamps
    /// (the CPU backend, some adapters). Requires the feature `wgpu-profiler`.
    ///
    /// A label names the primitive and the operations of the kernel. Each kernel runs in its own pass, so that the sum
    /// of all times exceeds the time of [`eval_timed`](Self::eval_timed). Arrays that are already
    /// computed have no kernels. The scopes can be passed to [`wgpu_profiler::chrometrace::write_chrometrace`].
    ///
    /// # Errors
    /// A request that the device rejects; a lost device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::best()?)?;
    /// for kernel in x.cumsum(1)?.eval_profiled()?.unwrap_or_default() {
    ///     let ms = kernel.time.map_or(0.0, |t| (t.end - t.start) * 1e3);
    ///     println!("{ms:8.3} ms  {}", kernel.label);
    /// }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn eval_profiled(&self) -> Result<Option<Vec<GpuTimerQueryResult>>> {
        let nodes = self.nodes()?;
        match self.backend().as_any().downcast_ref::<GpuBackend>() {
            Some(gpu) => gpu.evaluate_profiled(&nodes).map_err(here()),
            None => self.backend().evaluate(&nodes).map(|()| None).map_err(here()),
        }
    }
}
