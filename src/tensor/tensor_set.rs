//! Several tensors as one argument: lists of one type, tuples of different types.

use super::{HostTensor, RaggedTensor, Tensor};
use crate::element::Element;

/// Several tensors, as argument of [`eval`](crate::eval), [`explain`](crate::explain) and [`to_host`](crate::to_host): a
/// slice, an array or a vector of tensors or references, or a tuple of references to tensors of different types.
pub trait TensorSet {
    /// The tensors, in order.
    fn tensors(&self) -> Vec<&Tensor>;
}

impl<S: TensorSet + ?Sized> TensorSet for &S {
    fn tensors(&self) -> Vec<&Tensor> {
        (*self).tensors()
    }
}
impl TensorSet for Tensor {
    fn tensors(&self) -> Vec<&Tensor> {
        vec![self]
    }
}
impl<T: Element> TensorSet for RaggedTensor<T> {
    fn tensors(&self) -> Vec<&Tensor> {
        vec![self.erased()]
    }
}
impl<X: AsRef<Tensor>> TensorSet for [X] {
    fn tensors(&self) -> Vec<&Tensor> {
        self.iter().map(AsRef::as_ref).collect()
    }
}
impl<X: AsRef<Tensor>> TensorSet for Vec<X> {
    fn tensors(&self) -> Vec<&Tensor> {
        self.as_slice().tensors()
    }
}
impl<X: AsRef<Tensor>, const N: usize> TensorSet for [X; N] {
    fn tensors(&self) -> Vec<&Tensor> {
        self.as_slice().tensors()
    }
}

/// A tuple of references to typed tensors, as argument of [`to_vecs`](crate::to_vecs).
pub trait ReadTogether: TensorSet {
    /// The flat values of each tensor.
    type Vecs;
    /// The flat values of the tensors that were read.
    #[doc(hidden)]
    fn vecs(hosts: Vec<HostTensor>) -> Self::Vecs;
}

macro_rules! tuples {
    ($(($($k:tt $x:ident)+))+) => {$(
        impl<$($x: AsRef<Tensor>),+> TensorSet for ($($x,)+) {
            fn tensors(&self) -> Vec<&Tensor> {
                vec![$(self.$k.as_ref()),+]
            }
        }
        impl<$($x: Element),+> ReadTogether for ($(&RaggedTensor<$x>,)+) {
            type Vecs = ($(Vec<$x::Host>,)+);
            fn vecs(hosts: Vec<HostTensor>) -> Self::Vecs {
                let mut hosts = hosts.into_iter();
                ($(hosts.next().map_or_else(Vec::new, RaggedTensor::<$x>::flat),)+)
            }
        }
    )+};
}
tuples! {
    (0 A) (0 A 1 B) (0 A 1 B 2 C) (0 A 1 B 2 C 3 D) (0 A 1 B 2 C 3 D 4 E) (0 A 1 B 2 C 3 D 4 E 5 F)
    (0 A 1 B 2 C 3 D 4 E 5 F 6 G) (0 A 1 B 2 C 3 D 4 E 5 F 6 G 7 H)
}
