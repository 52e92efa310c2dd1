//! Several tensors as one argument: lists of one type, tuples of different types.

use super::{HostTensor, RaggedTensor, Tensor};
use crate::element::Element;

/// Several tensors, as argument of [`eval`](crate::eval), [`explain`](crate::explain) and [`to_host`](crate::to_host):
/// a slice, an array or a vector of tensors or references, or a tuple of references to tensors of different types.
///
/// A struct of your own that holds tensors is a set of tensors too: it is then computed and read as a whole, in one
/// submission and with one wait, and its rows are mapped together by [`Tensor::map_rows_of`]. Tensors that share their
/// outermost rows are better the fields of a [`StructuredTensor`](crate::StructuredTensor), which is sliced, gathered
/// and concatenated as a whole.
///
/// ```
/// use ragged::arguments::TensorSet;
/// use ragged::{Device, HostValues, RaggedTensor, Result, Tensor, eval, to_host};
/// struct Batch {
///     tokens: RaggedTensor<i32>,
///     weights: RaggedTensor<f32>,
/// }
/// impl TensorSet for Batch {
///     fn tensors(&self) -> Vec<&Tensor> {
///         vec![self.tokens.erased(), self.weights.erased()]
///     }
/// }
/// impl Batch {
///     fn concat(all: &[&Batch]) -> Result<Batch> {
///         let tokens: Vec<_> = all.iter().map(|batch| &batch.tokens).collect();
///         let weights: Vec<_> = all.iter().map(|batch| &batch.weights).collect();
///         Ok(Batch { tokens: RaggedTensor::concat(&tokens, 0)?, weights: RaggedTensor::concat(&weights, 0)? })
///     }
/// }
///
/// let device = Device::cpu();
/// let tokens = RaggedTensor::from_nested([vec![3, 4], vec![5]], &device)?;
/// let batch = Batch { tokens, weights: RaggedTensor::from_nested([0.5, 2.0], &device)? };
/// let twice = Batch::concat(&[&batch, &batch])?;
/// eval(&twice)?;
/// assert_eq!(to_host(&twice)?[1].values, HostValues::F32(vec![0.5, 2.0, 0.5, 2.0]));
/// let weighted = Tensor::map_rows_of(&batch.tensors(), |rows| rows[0].cast(ragged::DType::F32)?.multiply(&rows[1]))?;
/// assert_eq!(weighted.to_string(), "<ragged.RaggedTensor [[1.5, 2.0], [10.0]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// TensorFlow: `tf.experimental.ExtensionType`.
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
