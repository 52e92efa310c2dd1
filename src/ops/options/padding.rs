//! Padding of dense tensors, and the shape that they are padded to.

use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::scalar::Scalar;
use crate::integer::Integer;
use crate::record::operand::of_numbers;
use crate::setters::setters;
use crate::tensor::{Fill, Tensor};

/// Padding where a row has no value: one value, or a tensor that broadcasts to the inner dimensions.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Padding<'a> {
    /// 0, false, or the empty string.
    #[default]
    Zero,
    /// One value, which takes the tensor's dtype.
    Value(Fill),
    /// A dense tensor whose shape broadcasts to that of one element of the flat values.
    Tensor(&'a Tensor),
}

/// A padding, with the shape to pad and crop to; see [`shaped`]. Converts from a [`Padding`], or from what that holds: a
/// number, a string, a tensor.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::PaddedShape;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![4]], &Device::cpu())?;
/// let y = x.to_tensor(PaddedShape::from(0).shape(Some(vec![-1, 2])))?;
/// assert_eq!(y.to_vec()?, [1, 2, 4, 0]);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PaddedShape<'a> {
    /// The padding.
    pub padding: Padding<'a>,
    /// The size of each dimension; -1 for that of the longest row. `None` for the sizes of the longest rows.
    pub shape: Option<Vec<i64>>,
}

setters! {
    impl[] PaddedShape<'_> {
        shape: into Option<Vec<i64>>;
    }
}

/// Pads and crops to a shape: one size per dimension, -1 for the size of the longest row.
///
/// ```
/// use ragged::opt::shaped;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &Device::cpu())?;
/// let y = x.to_tensor(shaped(0, [-1, 2]))?;
/// assert_eq!(y.to_string(), "tensor([[1, 2], [0, 0], [4, 0]], shape=(3, 2), dtype=i32)");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn shaped<'a, I: Integer>(padding: impl Into<PaddedShape<'a>>, shape: impl AsRef<[I]>) -> PaddedShape<'a> {
    let shape = shape.as_ref().iter().map(|size| size.saturating_i64()).collect();
    PaddedShape { shape: Some(shape), ..padding.into() }
}

impl<'a, P: Into<Padding<'a>>> From<P> for PaddedShape<'a> {
    fn from(padding: P) -> Self {
        Self { padding: padding.into(), shape: None }
    }
}

/// Padding at the ends of the rows of a dense tensor, and the dimension of these rows; see [`with_ragged_rank`].
/// Converts from a [`Padding`], or from what that holds: a number, a string, a tensor. The rows are then those of
/// dimension 1.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RowPadding<'a> {
    /// The padding.
    pub padding: Padding<'a>,
    /// The dimension of the rows: the ragged rank of the result.
    pub ragged_rank: i64,
}

/// Takes the rows of dimension `ragged_rank`, for `from_tensor_with_padding`.
///
/// ```
/// use ragged::{Device, RaggedTensor, opt};
/// let dense = RaggedTensor::dense([1, 0, 2, 3, 0, 0, 0, 0], &[2, 2, 2], &Device::cpu())?;
/// let x = RaggedTensor::from_tensor_with_padding(&dense, opt::with_ragged_rank(0, 2))?;
/// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1], [2, 3]], [[], []]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn with_ragged_rank<'a>(padding: impl Into<RowPadding<'a>>, ragged_rank: impl Integer) -> RowPadding<'a> {
    RowPadding { ragged_rank: ragged_rank.saturating_i64(), ..padding.into() }
}

impl<'a, P: Into<Padding<'a>>> From<P> for RowPadding<'a> {
    fn from(padding: P) -> Self {
        Self { padding: padding.into(), ragged_rank: 1 }
    }
}

of_numbers!(Padding);
impl From<Scalar> for Padding<'_> {
    fn from(value: Scalar) -> Self {
        Self::Value(value.into())
    }
}
impl From<Fill> for Padding<'_> {
    fn from(value: Fill) -> Self {
        Self::Value(value)
    }
}
impl From<&str> for Padding<'_> {
    fn from(value: &str) -> Self {
        Self::Value(value.into())
    }
}
impl<'a, X: AsRef<Tensor>> From<&'a X> for Padding<'a> {
    fn from(x: &'a X) -> Self {
        Self::Tensor(x.as_ref())
    }
}

impl Padding<'_> {
    /// The padding in this dtype.
    ///
    /// # Errors
    /// A number that the dtype cannot represent; a tensor of another dtype.
    #[track_caller]
    pub(crate) fn of_dtype(self, op: &'static str, dtype: DType) -> Result<Self> {
        match self {
            Self::Zero => Ok(Self::Zero),
            Self::Value(fill) => Ok(Self::Value(fill.of_dtype(op, dtype)?)),
            Self::Tensor(t) if t.dtype() == dtype => Ok(self),
            Self::Tensor(t) => Err(Error::DTypes { op, lhs: dtype, rhs: t.dtype(), location: caller() }),
        }
    }
}
