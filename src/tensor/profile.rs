//! How long each kernel of an evaluation takes.

use wgpu_profiler::GpuTimerQueryResult;

use super::Tensor;
use crate::backend::gpu::GpuBackend;
use crate::error::Result;

impl Tensor {
    /// Computes the tensor now, waits for it, and returns a scope of [`wgpu_profiler`] for each kernel, in the order in
    /// which they ran: its label, and when it began and ended by the device's own clock, in seconds. None where the
    /// device has no timestamps (the CPU backend, some adapters). With the feature `wgpu-profiler`.
    ///
    /// A label is the primitive with the operations in the kernel. Kernels run in a pass each, so that all of them
    /// together take longer than [`Tensor::eval_timed`] says; what is computed already has no kernels. The scopes can
    /// be given to [`wgpu_profiler::chrometrace::write_chrometrace`].
    ///
    /// # Errors
    /// As [`Tensor::eval`]; a lost device.
    ///
    /// ```
    /// # use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::best()?)?;
    /// for kernel in x.cumsum(1, false, false)?.eval_profiled()?.unwrap_or_default() {
    ///     let ms = kernel.time.map_or(0.0, |t| (t.end - t.start) * 1e3);
    ///     println!("{ms:8.3} ms  {}", kernel.label);
    /// }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn eval_profiled(&self) -> Result<Option<Vec<GpuTimerQueryResult>>> {
        let nodes = self.nodes()?;
        match self.backend().as_any().downcast_ref::<GpuBackend>() {
            Some(gpu) => gpu.evaluate_profiled(&nodes),
            None => self.backend().evaluate(&nodes).map(|()| None),
        }
    }
}
