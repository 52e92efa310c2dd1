//! What the function of a training step returns.

use ragged::{Element, RaggedTensor, Tensor};

/// The loss of a batch, and other tensors that the function of a training step computes: metrics.
///
/// A tensor is a loss without metrics; a pair of a tensor and an array of tensors is a loss with metrics, which may have any
/// dtypes and shapes. [`Training::run_with_metrics`](crate::Training::run_with_metrics) returns them.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{Dense, Sgd, Training, Variables, mean_squared_error};
/// let mut v = Variables::new(&Device::cpu(), Seed(7));
/// let x = RaggedTensor::from_nested([[1.0f32], [2.0]], &Device::cpu())?;
/// let mut step = Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| {
///     let y = Dense::new("out", 1).call(v, x)?;
///     Ok((mean_squared_error(&y, x)?, [y.reduce_max(..)?]))
/// })?;
/// let (loss, metrics) = step.run_with_metrics(&mut v, [&x])?;
/// assert_eq!((loss.rank(), metrics.len()), (0, 1));
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The loss: one float.
    pub loss: Tensor,
    /// The other outputs.
    pub metrics: Vec<Tensor>,
}

impl AsRef<Tensor> for Outcome {
    fn as_ref(&self) -> &Tensor {
        &self.loss
    }
}

impl From<Tensor> for Outcome {
    fn from(loss: Tensor) -> Self {
        Self { loss, metrics: Vec::new() }
    }
}

impl<T: Element> From<RaggedTensor<T>> for Outcome {
    fn from(loss: RaggedTensor<T>) -> Self {
        loss.into_erased().into()
    }
}

impl<const M: usize> From<(Tensor, [Tensor; M])> for Outcome {
    fn from((loss, metrics): (Tensor, [Tensor; M])) -> Self {
        Self { loss, metrics: metrics.into() }
    }
}
