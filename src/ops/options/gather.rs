//! Indices of a gather, with the axis that they index.

use crate::integer::Integer;
use crate::setters::setters;
use crate::tensor::Tensor;

/// An argument together with the axis that it applies to; see [`along`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Along<X> {
    /// The argument.
    pub of: X,
    /// The axis; a negative one counts from the back.
    pub axis: i64,
}

/// An argument together with its number of batch dimensions; see [`batched`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Batched<X> {
    /// The argument.
    pub of: X,
    /// The number of batch dimensions.
    pub dims: i64,
}

/// Applies the argument along `axis`: indices of a gather, the depth of a one-hot encoding.
///
/// ```
/// use ragged::opt::along;
/// use ragged::{Device, RaggedTensor};
/// let device = Device::cpu();
/// let x = RaggedTensor::from_nested([[1, 2, 3], [4, 5, 6]], &device)?;
/// let columns = RaggedTensor::from_nested([2, 0], &device)?;
/// assert_eq!(x.gather(along(&columns, 1))?.to_vec()?, [3, 1, 6, 4]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn along<X>(of: X, axis: impl Integer) -> Along<X> {
    Along { of, axis: axis.saturating_i64() }
}

/// Reads the first `dims` dimensions of the argument as batch dimensions: each batch has indices of its own. A negative
/// number counts from the rank of the indices.
///
/// ```
/// use ragged::opt::batched;
/// use ragged::{Device, RaggedTensor};
/// let device = Device::cpu();
/// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![4]], &device)?;
/// let own = RaggedTensor::from_nested([vec![2, 0], vec![0]], &device)?;
/// assert_eq!(x.gather(batched(&own, 1))?.to_vec()?, [3, 1, 4]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn batched<X>(of: X, dims: impl Integer) -> Batched<X> {
    Batched { of, dims: dims.saturating_i64() }
}

/// Indices of a gather: a tensor, along the outermost axis unless [`along`] or [`batched`] says otherwise.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::GatherIndices;
/// use ragged::{Device, RaggedTensor};
/// let device = Device::cpu();
/// let x = RaggedTensor::from_nested([[1, 2, 3], [4, 5, 6]], &device)?;
/// let columns = RaggedTensor::from_nested([2, 0], &device)?;
/// let (axis, batch_dims) = (Some(1), 0);
/// let y = x.gather(GatherIndices::from(&columns).axis(axis).batch_dims(batch_dims))?;
/// assert_eq!(y.to_vec()?, [3, 1, 6, 4]);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct GatherIndices<'a> {
    /// The indices.
    pub indices: &'a Tensor,
    /// The axis, if it is not the number of batch dimensions.
    pub axis: Option<i64>,
    /// The number of batch dimensions.
    pub batch_dims: i64,
}

setters! {
    impl[] GatherIndices<'_> {
        axis: into Option<i64>;
        batch_dims: integer i64;
    }
}

impl<'a, X: AsRef<Tensor>> From<&'a X> for GatherIndices<'a> {
    fn from(indices: &'a X) -> Self {
        Self { indices: indices.as_ref(), axis: None, batch_dims: 0 }
    }
}
impl<'a, X: Into<GatherIndices<'a>>> From<Along<X>> for GatherIndices<'a> {
    fn from(along: Along<X>) -> Self {
        Self { axis: Some(along.axis), ..along.of.into() }
    }
}
impl<'a, X: Into<GatherIndices<'a>>> From<Batched<X>> for GatherIndices<'a> {
    fn from(batched: Batched<X>) -> Self {
        Self { batch_dims: batched.dims, ..batched.of.into() }
    }
}

/// Depth of a one-hot encoding: an integer, for a new innermost dimension, or [`along`]`(depth, axis)` for another dimension.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{Depth, along};
/// assert_eq!(Depth::from(10).axis(0), along(10, 0).into());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Depth {
    /// The number of classes.
    pub depth: i64,
    /// The new dimension; a negative one counts from the back.
    pub axis: i64,
}

setters! {
    impl[] Depth {
        axis: integer i64;
    }
}

impl<I: Integer> From<Along<I>> for Depth {
    fn from(along: Along<I>) -> Self {
        Self { depth: along.of.saturating_i64(), axis: along.axis }
    }
}
impl<I: Integer> From<I> for Depth {
    fn from(depth: I) -> Self {
        Self { depth: depth.saturating_i64(), axis: -1 }
    }
}
