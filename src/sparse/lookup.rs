//! Sparse matrices as ids and weights of embedding look-ups.

use super::SparseTensor;
use crate::error::Result;
use crate::ops::{AsRows, LookupRows};
use crate::tensor::Tensor;

impl AsRows for SparseTensor {
    #[track_caller]
    fn rows(&self, op: &'static str) -> Result<Tensor> {
        self.values_in_rows(self.recorder(op))
    }
}

impl<'a> From<&'a SparseTensor> for LookupRows<'a> {
    fn from(x: &'a SparseTensor) -> Self {
        Self::of(x)
    }
}
