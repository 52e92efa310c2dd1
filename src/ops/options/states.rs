//! Initial states of a recurrence, and its direction.

use crate::setters::setters;
use crate::tensor::{Tensor, TensorSet};

/// Initial states of [`Tensor::scan_rows`], with the direction of the scan. Converts from any set of tensors.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::InitialStates;
/// use ragged::{Device, RaggedTensor};
/// let zero = RaggedTensor::from_nested([0.0f32], &Device::cpu())?;
/// assert!(InitialStates::from([&zero]).reversed(true).reversed);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InitialStates {
    /// The states before the first element of each row: one entry per row, or one for all rows.
    pub tensors: Vec<Tensor>,
    /// Whether rows are scanned from their ends.
    pub reversed: bool,
}

setters! {
    impl[] InitialStates {
        reversed: bool;
    }
}

impl<S: TensorSet> From<S> for InitialStates {
    fn from(tensors: S) -> Self {
        Self { tensors: tensors.tensors().into_iter().cloned().collect(), reversed: false }
    }
}

/// Scans every row from its end to its start, from these states on.
///
/// ```
/// use ragged::opt::backwards;
/// use ragged::{Device, RaggedTensor};
/// let device = Device::cpu();
/// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0, 3.0], vec![4.0]], &device)?;
/// let zero = RaggedTensor::from_nested([0.0f32], &device)?;
/// let sums = x.scan_rows(backwards([&zero]), |sum, x| {
///     let sum = (&sum[0] + x)?;
///     Ok((vec![sum.clone()], vec![sum]))
/// })?;
/// assert_eq!(sums.outputs[0].to_string(), "<ragged.RaggedTensor [[6.0, 5.0, 3.0], [4.0]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn backwards(initial: impl Into<InitialStates>) -> InitialStates {
    InitialStates { reversed: true, ..initial.into() }
}
