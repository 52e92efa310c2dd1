//! Values to search for, and the side of equal ones.

use crate::setters::setters;
use crate::tensor::Tensor;

/// Values of a [`searchsorted`](Tensor::searchsorted), with the side of equal values. Converts from a tensor: the left
/// side.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::Sought;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([1, 3, 3], &Device::cpu())?;
/// assert_eq!(x.searchsorted(Sought::from(&x).right(true))?.to_vec()?, [1, 3, 3]);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Sought<'a> {
    /// The values.
    pub values: &'a Tensor,
    /// Whether a value comes after those that are equal to it.
    pub right: bool,
}

setters! {
    impl[] Sought<'_> {
        right: bool;
    }
}

impl<'a, X: AsRef<Tensor>> From<&'a X> for Sought<'a> {
    fn from(values: &'a X) -> Self {
        Self { values: values.as_ref(), right: false }
    }
}

/// Searches for the position after equal values, instead of before them.
///
/// ```
/// use ragged::opt::right_of;
/// use ragged::{Device, RaggedTensor};
/// let device = Device::cpu();
/// let x = RaggedTensor::from_nested([vec![1, 3, 3], vec![4]], &device)?;
/// let v = RaggedTensor::from_nested([vec![3], vec![4]], &device)?;
/// assert_eq!(x.searchsorted(&v)?.to_vec()?, [1, 0]);
/// assert_eq!(x.searchsorted(right_of(&v))?.to_vec()?, [3, 1]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn right_of<S: SearchValues>(values: S) -> S::Sought {
    values.right()
}

/// Values that [`right_of`] takes: tensors, and rows of [`Tensor::map_rows`].
pub trait SearchValues {
    /// The values with a side.
    type Sought;
    /// The values, searched for at the position after equal ones.
    fn right(self) -> Self::Sought;
}

impl<'a, X: AsRef<Tensor>> SearchValues for &'a X {
    type Sought = Sought<'a>;
    fn right(self) -> Sought<'a> {
        Sought { values: self.as_ref(), right: true }
    }
}
