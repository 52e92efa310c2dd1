//! Axis, keys and order of a sort.

use crate::integer::Integer;
use crate::setters::setters;
use crate::tensor::Tensor;

/// Axis of a sort, with its order. Converts from any integer: ascending along that axis.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{SortAxis, descending};
/// assert_eq!(SortAxis::from(1).descending(true), descending(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SortAxis {
    /// The axis; a negative one counts from the back.
    pub axis: i64,
    /// Whether the greatest value comes first.
    pub descending: bool,
}

setters! {
    impl[] SortAxis {
        descending: bool;
    }
}

impl<I: Integer> From<I> for SortAxis {
    fn from(axis: I) -> Self {
        Self { axis: axis.saturating_i64(), descending: false }
    }
}

/// Sorts in descending order: along an axis, or by a key of [`Tensor::sort_by`].
///
/// ```
/// use ragged::opt::descending;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1, 3, 2], vec![4, 5]], &Device::cpu())?;
/// assert_eq!(x.argsort(descending(1))?.to_vec()?, [1, 2, 0, 1, 0]);
/// assert_eq!(x.sort_by(descending(&x))?.to_vec()?, [3, 2, 1, 5, 4]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn descending<B: SortBy>(by: B) -> B::Order {
    by.descending()
}

/// What [`descending`] takes: axes, tensors, and rows of [`Tensor::map_rows`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an axis nor a key of a sort",
    label = "expected an axis, or a reference to a tensor or row",
    note = "`x.sort(descending(1))` sorts along an axis, `x.sort_by(descending(&keys))` by keys"
)]
pub trait SortBy {
    /// The axis or keys with an order.
    type Order;
    /// In descending order.
    fn descending(self) -> Self::Order;
}

// An implementation for each type: one for every integer would exclude that for references.
macro_rules! of_axes {
    ($($integer:ty)+) => {$(
        impl SortBy for $integer {
            type Order = SortAxis;
            fn descending(self) -> SortAxis {
                SortAxis { axis: self.saturating_i64(), descending: true }
            }
        }
    )+};
}
of_axes!(i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize);
impl SortBy for SortAxis {
    type Order = Self;
    fn descending(self) -> Self {
        Self { descending: true, ..self }
    }
}
impl<'a, X: AsRef<Tensor>> SortBy for &'a X {
    type Order = SortKeys<'a>;
    fn descending(self) -> SortKeys<'a> {
        SortKeys::one(self.as_ref(), true)
    }
}

/// Keys of a [`Tensor::sort_by`], the most significant first, each with its order. Converts from a tensor (ascending),
/// and from tuples, arrays and vectors of keys.
///
/// ```
/// use ragged::opt::{SortKeys, descending};
/// use ragged::{Device, RaggedTensor};
/// let device = Device::cpu();
/// let year = RaggedTensor::from_nested([1999, 2003, 1999], &device)?;
/// let name = RaggedTensor::from_nested(["b", "a", "c"], &device)?;
/// let keys: SortKeys<'_> = (&year, descending(&name)).into();
/// assert_eq!(name.sort_by(keys)?.to_string(), "tensor([b'c', b'b', b'a'], shape=(3,), dtype=str)");
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SortKeys<'a, X = Tensor> {
    keys: Vec<(&'a X, bool)>,
}

impl<'a, X> SortKeys<'a, X> {
    /// One key, and whether its greatest value comes first.
    pub(in crate::ops) fn one(key: &'a X, is_descending: bool) -> Self {
        Self { keys: vec![(key, is_descending)] }
    }

    /// The keys, each with whether its greatest value comes first.
    pub(in crate::ops) fn keys(&self) -> &[(&'a X, bool)] {
        &self.keys
    }

    fn of_all(all: impl IntoIterator<Item = Self>) -> Self {
        Self { keys: all.into_iter().flat_map(|keys| keys.keys).collect() }
    }
}

impl<'a, X: AsRef<Tensor>> From<&'a X> for SortKeys<'a> {
    fn from(key: &'a X) -> Self {
        Self::one(key.as_ref(), false)
    }
}
impl<'a, X, K: Into<SortKeys<'a, X>>> From<Vec<K>> for SortKeys<'a, X> {
    fn from(keys: Vec<K>) -> Self {
        Self::of_all(keys.into_iter().map(Into::into))
    }
}
impl<'a, X, K: Into<SortKeys<'a, X>>, const N: usize> From<[K; N]> for SortKeys<'a, X> {
    fn from(keys: [K; N]) -> Self {
        Self::of_all(keys.into_iter().map(Into::into))
    }
}

macro_rules! tuples {
    ($(($($key:ident),+)),+) => {$(
        impl<'a, X, $($key: Into<SortKeys<'a, X>>),+> From<($($key,)+)> for SortKeys<'a, X> {
            #[allow(non_snake_case, reason = "a type parameter names its value too")]
            fn from(($($key,)+): ($($key,)+)) -> Self {
                Self::of_all([$($key.into()),+])
            }
        }
    )+};
}
tuples!((A, B), (A, B, C), (A, B, C, D));
