//! Evaluation without a read, and what an evaluation would run.

use super::both::methods_of_both;
use crate::error::{Result, here};
use crate::explain::Explain;

methods_of_both! {
    /// Evaluation and checks.
    impl;

    /// Computes the tensor now, on its device, without waiting for the result. Waits only for sizes whose upper bounds
    /// would take much memory: see [`Tuning::stage_bytes`](crate::Tuning::stage_bytes).
    ///
    /// # Errors
    /// A request that the device rejects. Device-side checks are reported by reads; by the evaluation only where the
    /// CPU cannot compute the result of which a check fails.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.into_erased();
    /// let doubled = x.multiply(2)?;
    /// doubled.eval()?;
    /// assert_eq!(doubled.to_string(), "<ragged.RaggedTensor [[2, 4], [], [6]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn eval(&self) -> Result<()> {
        self.backend().evaluate(&self.nodes()?).map_err(here())
    }

    /// Computes the tensor now and waits for it. Returns the milliseconds between the start of its first kernel and the
    /// end of its last by the device's clock; none where it has no timestamps (the CPU backend, some adapters). A
    /// tensor that is already computed takes no time.
    ///
    /// # Errors
    /// A request that the device rejects; a lost device.
    ///
    /// # Example
    /// ```
    /// use ragged::{Device, RaggedTensor};
    ///
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![3.0]], &Device::best()?)?;
    /// if let Some(ms) = x.softmax(1)?.eval_timed()? {
    ///     println!("{ms:.3} ms on the device");
    /// }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn eval_timed(&self) -> Result<Option<f64>> {
        self.backend().evaluate_timed(&self.nodes()?).map_err(here())
    }

    /// The kernels that a read of the tensor would run, with the bytes that they move and the fusion barriers between
    /// them; runs nothing. Prints as a table.
    ///
    /// # Errors
    /// A step that the device cannot run.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.into_erased();
    /// let explained = x.multiply(2)?.reduce_sum(1)?.explain()?;
    /// assert_eq!(explained.kernels.len(), 1);
    /// println!("{explained}");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn explain(&self) -> Result<Explain> {
        Explain::new(self.backend(), &self.nodes()?)
    }

    /// Computes the tensor as [`eval`](Self::eval) does, one kernel at a time, and returns what
    /// [`explain`](Self::explain) does with the time of each kernel.
    ///
    /// The sizes are those of this run. Times include neither planning nor the compilation of kernels; on a device
    /// without timestamps they include the submission and the wait. Kernels that compute sizes which are read in
    /// advance come first. A tensor that is already computed has no kernels. See
    /// [`explain_timed`](crate::explain_timed) for several tensors.
    ///
    /// # Errors
    /// A step that the device cannot run; a request that it rejects; a lost device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let sums = x.reduce_sum(1)?;
    /// let explained = sums.explain_timed()?;
    /// assert!(explained.kernels[0].time.is_some());
    /// println!("{explained}");
    /// assert!(sums.explain_timed()?.kernels.is_empty(), "computed by now");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn explain_timed(&self) -> Result<Explain> {
        Explain::timed(self.backend(), &self.nodes()?).map_err(here())
    }
}
