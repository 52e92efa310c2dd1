//! Accessors of typed tensors.

use crate::element::Element;
use crate::error::Result;
use crate::tensor::RaggedTensor;

/// Parts of a tensor.
impl<T: Element> RaggedTensor<T> {
    /// Row length of the outermost dimension, if its partition is uniform.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_uniform_row_length([1, 2, 3, 4], 2, &Device::cpu())?;
    /// assert_eq!(x.uniform_row_length(), Some(2));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.RaggedTensor.uniform_row_length`.
    pub fn uniform_row_length(&self) -> Option<usize> {
        self.erased().uniform_row_length()
    }
    /// Replaces the values of the rows: the outermost partition over `values`.
    ///
    /// The new values may have any type, partitions and inner dimensions.
    ///
    /// # Errors
    /// A dense tensor; scalar values; another device; another number of values, at the read where only the device knows
    /// it.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?;
    /// let values = RaggedTensor::from_nested([0.5, 1.5, 2.5], &device)?;
    /// assert_eq!(x.with_values(&values)?.to_string(), "<ragged.RaggedTensor [[0.5, 1.5], [], [2.5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.RaggedTensor.with_values`.
    #[track_caller]
    pub fn with_values<U: Element>(&self, values: &RaggedTensor<U>) -> Result<RaggedTensor<U>> {
        self.erased().with_values(values.erased())?.try_into()
    }
    /// Replaces the flat values: all partitions over `flat_values`.
    ///
    /// The new values may have any type and inner dimensions.
    ///
    /// # Errors
    /// Scalar values; another device; another number of values, at the read where only the device knows it.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &device)?;
    /// let values = RaggedTensor::from_nested([0.5, 1.5, 2.5], &device)?;
    /// assert_eq!(x.with_flat_values(&values)?.to_string(), "<ragged.RaggedTensor [[[0.5, 1.5], []], [[2.5]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.RaggedTensor.with_flat_values`.
    #[track_caller]
    pub fn with_flat_values<U: Element>(&self, flat_values: &RaggedTensor<U>) -> Result<RaggedTensor<U>> {
        self.erased().with_flat_values(flat_values.erased())?.try_into()
    }
}
