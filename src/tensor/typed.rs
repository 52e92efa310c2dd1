//! Tensors whose element type is known at compile time.

use std::marker::PhantomData;

use super::Tensor;
use crate::element::Element;
use crate::error::{Error, Result, caller};

/// A ragged tensor of elements of type `T`: flat values under row partitions, on a [`Device`](crate::Device). A tensor
/// is immutable and cheap to clone. Operations record; reads compute.
pub struct RaggedTensor<T: Element> {
    erased: Tensor,
    element: PhantomData<fn() -> T>,
}

impl<T: Element> Clone for RaggedTensor<T> {
    fn clone(&self) -> Self {
        Self { erased: self.erased.clone(), element: PhantomData }
    }
}

impl<T: Element> TryFrom<Tensor> for RaggedTensor<T> {
    type Error = Error;

    /// # Errors
    /// The tensor's dtype is not `T`'s.
    #[track_caller]
    fn try_from(erased: Tensor) -> Result<Self> {
        if erased.dtype() != T::DTYPE {
            return Err(Error::DTypes {
                op: "RaggedTensor::try_from",
                lhs: T::DTYPE,
                rhs: erased.dtype(),
                location: caller(),
            });
        }
        Ok(Self { erased, element: PhantomData })
    }
}

impl<T: Element> AsRef<Tensor> for RaggedTensor<T> {
    fn as_ref(&self) -> &Tensor {
        &self.erased
    }
}

impl AsRef<Tensor> for Tensor {
    fn as_ref(&self) -> &Tensor {
        self
    }
}

/// The dynamically typed tensor, as [`RaggedTensor::into_erased`] gives it.
impl<T: Element> From<RaggedTensor<T>> for Tensor {
    fn from(tensor: RaggedTensor<T>) -> Self {
        tensor.erased
    }
}

/// Tensors without an element type.
impl<T: Element> RaggedTensor<T> {
    /// The dynamically typed tensor.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.erased().dtype(), DType::I32);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn erased(&self) -> &Tensor {
        &self.erased
    }
    /// The dynamically typed tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let x: Tensor = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?.into_erased();
    /// let back = RaggedTensor::<i32>::try_from(x)?;
    /// assert_eq!(back.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn into_erased(self) -> Tensor {
        self.erased
    }
}
