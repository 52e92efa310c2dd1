//! The `values` argument of the factories: lists on the host, or tensors.

use super::{RaggedTensor, Tensor, Values, upload};
use crate::device::Device;
use crate::element::{Element, Number, Str};
use crate::error::Result;
use crate::graph::extent::Extent;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;

const OP: &str = "into_values";

/// Values for a factory: a list of numbers or byte strings on the host, or a tensor, ragged or dense, whose rows (of
/// its outermost dimension) are partitioned.
///
/// ```
/// use ragged::{Device, RaggedTensor, Str};
/// let device = Device::cpu();
/// let numbers = RaggedTensor::from_row_splits(&[3, 1, 4], &[0, 2, 3], &device)?;
/// let words = RaggedTensor::<Str>::from_row_splits(["a", "b", "c"], &[0, 2, 3], &device)?;
/// let deeper = RaggedTensor::from_row_splits(&numbers, &[0, 2], &device)?;
/// assert_eq!((numbers.erased().ragged_rank(), deeper.erased().ragged_rank()), (1, 2));
/// # let _ = words;
/// # Ok::<(), ragged::Error>(())
/// ```
pub trait IntoValues<T: Element> {
    /// Converts the values to a tensor on a device.
    ///
    /// # Errors
    /// More than the device can hold; a tensor on another device.
    #[track_caller]
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>>;
}

/// A rank-1 tensor of these values.
#[track_caller]
pub(super) fn vector<T: Element>(device: &Device, values: Values, len: usize) -> Result<RaggedTensor<T>> {
    let outer = values.rows(0, Extent::known_u64(OP, len as u64)?.capacity());
    Tensor::new(device.backend(), Vec::new(), Some(outer), [], values)?.try_into()
}

impl<T: Number + Element<Host = T>> IntoValues<T> for &[T] {
    #[track_caller]
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        vector(device, upload::numbers(OP, device, T::DTYPE, bytemuck::cast_slice(self))?, self.len())
    }
}

impl<T: Number + Element<Host = T>> IntoValues<T> for Vec<T> {
    #[track_caller]
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        self.as_slice().into_values(device)
    }
}
impl<T: Number + Element<Host = T>> IntoValues<T> for &Vec<T> {
    #[track_caller]
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        self.as_slice().into_values(device)
    }
}
impl<T: Number + Element<Host = T>, const N: usize> IntoValues<T> for [T; N] {
    #[track_caller]
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        self.as_slice().into_values(device)
    }
}
impl<T: Number + Element<Host = T>, const N: usize> IntoValues<T> for &[T; N] {
    #[track_caller]
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        self.as_slice().into_values(device)
    }
}

macro_rules! strings {
    ($($text:ty),*) => {$(
        impl IntoValues<Str> for &[$text] {
            #[track_caller]
            fn into_values(self, device: &Device) -> Result<RaggedTensor<Str>> {
                let all = self.iter().map(|s| AsRef::<[u8]>::as_ref(s));
                vector(device, upload::strings(OP, device, all)?, self.len())
            }
        }
        impl IntoValues<Str> for Vec<$text> {
            #[track_caller]
            fn into_values(self, device: &Device) -> Result<RaggedTensor<Str>> {
                self.as_slice().into_values(device)
            }
        }
        impl IntoValues<Str> for &Vec<$text> {
            #[track_caller]
            fn into_values(self, device: &Device) -> Result<RaggedTensor<Str>> {
                self.as_slice().into_values(device)
            }
        }
        impl<const N: usize> IntoValues<Str> for [$text; N] {
            #[track_caller]
            fn into_values(self, device: &Device) -> Result<RaggedTensor<Str>> {
                self.as_slice().into_values(device)
            }
        }
        impl<const N: usize> IntoValues<Str> for &[$text; N] {
            #[track_caller]
            fn into_values(self, device: &Device) -> Result<RaggedTensor<Str>> {
                self.as_slice().into_values(device)
            }
        }
    )*};
}
strings!(&str, String, Vec<u8>, &[u8]);

impl<T: Element> IntoValues<T> for RaggedTensor<T> {
    #[track_caller]
    fn into_values(self, device: &Device) -> Result<Self> {
        Device::check_same(OP, self.erased().backend(), device.backend())?;
        Ok(self)
    }
}
impl<T: Element> IntoValues<T> for &RaggedTensor<T> {
    #[track_caller]
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        self.clone().into_values(device)
    }
}

/// Dense tensors.
impl<T: Element> RaggedTensor<T> {
    /// A dense tensor of the given shape whose elements are `values`, row-major. One size may be -1: it follows from
    /// the number of values, as in [`Tensor::reshape`].
    ///
    /// The dtype is that of the values. A size of 0 gives a tensor without elements.
    ///
    /// # Errors
    /// A shape whose number of elements is not the number of values; more than the device can hold.
    ///
    /// # Cost
    /// One upload of the values; none of a tensor. Never waits, unless only the device knows the number of values and a
    /// size behind the first is -1.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Str};
    /// let device = Device::cpu();
    /// let table = RaggedTensor::dense(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2], &device)?;
    /// assert_eq!(table.shape(), [Some(3), Some(2)]);
    /// let row_vector = RaggedTensor::dense([1.0f32, 2.0], &[1, -1], &device)?;
    /// assert_eq!(row_vector.shape(), [Some(1), Some(2)]);
    /// let text = RaggedTensor::<Str>::dense(&["one text"], &[1], &device)?;
    /// assert_eq!(text.to_vec()?, [b"one text"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn dense<I: Integer>(values: impl IntoValues<T>, shape: &[I], device: &Device) -> Result<Self> {
        const OP: &str = "dense";
        let values = values.into_values(device).map_err(|e| e.of(OP))?;
        if let ([len], [Some(own)]) = (shape, values.shape().as_slice())
            && usize::try_from(len.saturating_i64()) == Ok(*own)
        {
            return Ok(values);
        }
        values.reshape(shape).map_err(|e| e.of(OP))
    }
}
