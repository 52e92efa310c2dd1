//! Accessors of typed tensors.

use crate::element::Element;
use crate::error::Result;
use crate::tensor::RaggedTensor;

impl<T: Element> RaggedTensor<T> {
    /// Number of dimensions.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.rank(), 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.erased().rank()
    }
    /// Number of row partitions; 0 for a dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.ragged_rank(), 1);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn ragged_rank(&self) -> usize {
        self.erased().ragged_rank()
    }
    /// As [`Tensor::shape`](crate::Tensor::shape).
    pub fn shape(&self) -> Vec<Option<usize>> {
        self.erased().shape()
    }
    /// As [`Tensor::uniform_row_length`](crate::Tensor::uniform_row_length).
    pub fn uniform_row_length(&self) -> Option<usize> {
        self.erased().uniform_row_length()
    }
    /// As [`Tensor::with_values`](crate::Tensor::with_values).
    ///
    /// # Errors
    /// As [`Tensor::with_values`](crate::Tensor::with_values).
    #[track_caller]
    pub fn with_values<U: Element>(&self, values: &RaggedTensor<U>) -> Result<RaggedTensor<U>> {
        self.erased().with_values(values.erased())?.try_into()
    }
    /// As [`Tensor::with_flat_values`](crate::Tensor::with_flat_values).
    ///
    /// # Errors
    /// As [`Tensor::with_flat_values`](crate::Tensor::with_flat_values).
    #[track_caller]
    pub fn with_flat_values<U: Element>(&self, flat_values: &RaggedTensor<U>) -> Result<RaggedTensor<U>> {
        self.erased().with_flat_values(flat_values.erased())?.try_into()
    }
    /// Computes the tensor now, on its device; see [`Tensor::eval`](crate::Tensor::eval).
    ///
    /// # Errors
    /// As [`Tensor::eval`](crate::Tensor::eval).
    #[track_caller]
    pub fn eval(&self) -> Result<()> {
        self.erased().eval()
    }
}
