//! Results of operations with the element types that the declaration names.

use crate::element::Element;
use crate::error::{Result, here};
use crate::tensor::{RaggedTensor, Tensor};

/// A result of an operation on [`Tensor`], as the result of type `R` of the same operation on [`RaggedTensor`].
pub trait Typed<R> {
    /// # Errors
    /// Another dtype than that of `R`.
    #[track_caller]
    fn typed(self) -> Result<R>;
}

impl Typed<Self> for Tensor {
    fn typed(self) -> Result<Self> {
        Ok(self)
    }
}

impl<T: Element> Typed<RaggedTensor<T>> for Tensor {
    #[track_caller]
    fn typed(self) -> Result<RaggedTensor<T>> {
        RaggedTensor::try_from(self)
    }
}

impl<A, B> Typed<(A, B)> for (Tensor, Tensor)
where
    Tensor: Typed<A> + Typed<B>,
{
    #[track_caller]
    fn typed(self) -> Result<(A, B)> {
        Ok((self.0.typed()?, self.1.typed()?))
    }
}

impl<A> Typed<Vec<A>> for Vec<Tensor>
where
    Tensor: Typed<A>,
{
    #[track_caller]
    fn typed(self) -> Result<Vec<A>> {
        self.into_iter().map(Typed::typed).collect::<Result<_>>().map_err(here())
    }
}
