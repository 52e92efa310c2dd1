//! Operands of a matrix product, transposed or not.

use crate::element::{Arithmetic, Element};
use crate::error::Result;
use crate::setters::setters;
use crate::tensor::{RaggedTensor, Tensor};

/// A matrix or batch of matrices, read with its two innermost dimensions exchanged; see [`Tensor::t`].
#[derive(Debug)]
pub struct Transposed<'a, X>(&'a X);

impl<X> Clone for Transposed<'_, X> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<X> Copy for Transposed<'_, X> {}

/// Operand of a matrix product: a tensor, or the transposed view of one.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::Factor;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0]], &Device::cpu())?;
/// let is_transposed = true;
/// let y = x.matmul(Factor::from(&x).transposed(is_transposed))?;
/// assert_eq!(y.to_vec()?, x.matmul(x.t())?.to_vec()?);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Factor<'a> {
    /// The tensor.
    pub tensor: &'a Tensor,
    /// Whether its two innermost dimensions are exchanged.
    pub transposed: bool,
}

setters! {
    impl[] Factor<'_> {
        transposed: bool;
    }
}

impl<'a, X: AsRef<Tensor>> From<&'a X> for Factor<'a> {
    fn from(tensor: &'a X) -> Self {
        Self { tensor: tensor.as_ref(), transposed: false }
    }
}
impl<'a, X: AsRef<Tensor>> From<Transposed<'a, X>> for Factor<'a> {
    fn from(view: Transposed<'a, X>) -> Self {
        Self { tensor: view.0.as_ref(), transposed: true }
    }
}

/// Transposed operands of matrix products.
impl Tensor {
    /// View of the tensor with its two innermost dimensions exchanged, as an operand of [`Tensor::matmul`].
    ///
    /// Nothing is copied. [`Tensor::transpose`] makes a tensor of exchanged dimensions.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0]], &Device::cpu())?;
    /// assert_eq!(x.matmul(x.t())?.to_vec()?, [5.0, 11.0, 11.0, 25.0]);
    /// assert_eq!(x.t().matmul(&x)?.to_vec()?, [10.0, 14.0, 14.0, 20.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn t(&self) -> Transposed<'_, Self> {
        Transposed(self)
    }
}

/// Transposed operands of matrix products.
impl<T: Element> RaggedTensor<T> {
    /// View of the tensor with its two innermost dimensions exchanged, as an operand of [`matmul`](Self::matmul).
    ///
    /// Nothing is copied. [`transpose`](Self::transpose) makes a tensor of exchanged dimensions.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0]], &Device::cpu())?;
    /// assert_eq!(x.matmul(x.t())?.to_vec()?, [5.0, 11.0, 11.0, 25.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn t(&self) -> Transposed<'_, Self> {
        Transposed(self)
    }
}

/// Matrix products.
impl Transposed<'_, Tensor> {
    /// The matrix product of the transposed tensor and another, by the rules of [`Tensor::matmul`].
    ///
    /// # Errors
    /// Different dtypes or devices; bools or strings; ranks below 2, or ranks and batches that differ except as there;
    /// matrices whose numbers of terms differ, at the read where only the device knows the sizes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0]], &Device::cpu())?;
    /// assert_eq!(x.erased().t().matmul(&x)?.to_string(), x.t().matmul(&x)?.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn matmul<'b>(self, other: impl Into<Factor<'b>>) -> Result<Tensor> {
        Factor::from(self).matmul(other.into())
    }
}

/// Matrix products.
impl<T: Arithmetic> Transposed<'_, RaggedTensor<T>> {
    /// The matrix product of the transposed tensor and another, by the rules of [`RaggedTensor::matmul`].
    ///
    /// # Errors
    /// Different dtypes or devices; ranks below 2, or ranks and batches that differ except as there; matrices whose
    /// numbers of terms differ, at the read where only the device knows the sizes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0]], &Device::cpu())?;
    /// assert_eq!(x.t().matmul(&x)?.to_vec()?, [10.0, 14.0, 14.0, 20.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn matmul<'b>(self, other: impl Into<Factor<'b>>) -> Result<RaggedTensor<T>> {
        Factor::from(self).matmul(other.into())?.try_into()
    }
}
