//! Accessors of typed tensors.

use crate::element::Element;
use crate::error::Result;
use crate::tensor::RaggedTensor;

impl<T: Element> RaggedTensor<T> {
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
}
