//! What the factories take as values: lists on the host, or tensors.

use super::{HostTensor, RaggedTensor};
use crate::device::Device;
use crate::element::{Element, Number, Str};
use crate::error::Result;

/// Values for a factory: a list of numbers or byte strings on the host, or a tensor, ragged or dense, whose rows (of
/// its outermost dimension) are divided.
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
    /// The values as a tensor on that device.
    ///
    /// # Errors
    /// More than the device can hold; a tensor on another device.
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>>;
}

/// A rank-1 tensor of these values.
pub(crate) fn vector<T: Element>(values: Vec<T::Host>, device: &Device) -> Result<RaggedTensor<T>> {
    HostTensor::dense(&[values.len()], T::wrap(values)).to_device(device)?.try_into()
}

impl<T: Number + Element<Host = T>> IntoValues<T> for Vec<T> {
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        vector(self, device)
    }
}
impl<T: Number + Element<Host = T>> IntoValues<T> for &Vec<T> {
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        vector(self.clone(), device)
    }
}
impl<T: Number + Element<Host = T>> IntoValues<T> for &[T] {
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        vector(self.to_vec(), device)
    }
}
impl<T: Number + Element<Host = T>, const N: usize> IntoValues<T> for [T; N] {
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        vector(self.to_vec(), device)
    }
}
impl<T: Number + Element<Host = T>, const N: usize> IntoValues<T> for &[T; N] {
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        vector(self.to_vec(), device)
    }
}

macro_rules! strings {
    ($($text:ty),*) => {$(
        impl IntoValues<Str> for Vec<$text> {
            fn into_values(self, device: &Device) -> Result<RaggedTensor<Str>> {
                self.as_slice().into_values(device)
            }
        }
        impl IntoValues<Str> for &[$text] {
            fn into_values(self, device: &Device) -> Result<RaggedTensor<Str>> {
                vector(self.iter().map(|s| AsRef::<[u8]>::as_ref(s).to_vec()).collect(), device)
            }
        }
        impl<const N: usize> IntoValues<Str> for [$text; N] {
            fn into_values(self, device: &Device) -> Result<RaggedTensor<Str>> {
                self.as_slice().into_values(device)
            }
        }
        impl<const N: usize> IntoValues<Str> for &[$text; N] {
            fn into_values(self, device: &Device) -> Result<RaggedTensor<Str>> {
                self.as_slice().into_values(device)
            }
        }
    )*};
}
strings!(&str, String, Vec<u8>, &[u8]);

impl<T: Element> IntoValues<T> for RaggedTensor<T> {
    fn into_values(self, device: &Device) -> Result<Self> {
        Device::check_same("a factory", self.erased().backend(), device.backend())?;
        Ok(self)
    }
}
impl<T: Element> IntoValues<T> for &RaggedTensor<T> {
    fn into_values(self, device: &Device) -> Result<RaggedTensor<T>> {
        self.clone().into_values(device)
    }
}
