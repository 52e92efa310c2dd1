//! Tensors with one element per record.

use super::StructuredTensor;
use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::Tensor;

/// Records of one value.
impl StructuredTensor {
    /// A tensor of zeros (false, empty strings) with one element per record.
    ///
    /// It has the shape of the records, ragged where they are, and any dtype. TensorFlow: `tf.zeros_like`, which gives
    /// f32.
    ///
    /// # Errors
    /// A dtype that the device lacks.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedShape, StructuredTensor};
    /// let shape = RaggedShape::from_lengths(&[2.into(), [1, 2].into()], &Device::cpu())?;
    /// let records = StructuredTensor::from_shape(&shape)?;
    /// assert_eq!(records.zeros_like(DType::F32)?.to_string(), "<ragged.RaggedTensor [[0.0], [0.0, 0.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn zeros_like(&self, dtype: DType) -> Result<Tensor> {
        Tensor::zeros(&self.shape, dtype)
    }

    /// A tensor of ones (true) with one element per record.
    ///
    /// It has the shape of the records, ragged where they are, and any dtype but strings. TensorFlow: `tf.ones_like`,
    /// which gives f32.
    ///
    /// # Errors
    /// Strings; a dtype that the device lacks.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedShape, StructuredTensor};
    /// let shape = RaggedShape::from_lengths(&[2.into(), [1, 2].into()], &Device::cpu())?;
    /// let records = StructuredTensor::from_shape(&shape)?;
    /// assert_eq!(records.ones_like(DType::I32)?.to_string(), "<ragged.RaggedTensor [[1], [1, 1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn ones_like(&self, dtype: DType) -> Result<Tensor> {
        Tensor::ones(&self.shape, dtype)
    }
}
