//! Conversion from and to `ndarray` arrays.

use ndarray::{ArrayD, IxDyn};

use super::options::PaddedShape;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result, here};
use crate::tensor::{HostTensor, RaggedTensor};

impl<T: Element> RaggedTensor<T> {
    /// The dense tensor of an array's values, in any memory order. [`RaggedTensor::from_tensor`] makes the result
    /// ragged.
    ///
    /// # Errors
    /// An array larger than the device can hold.
    ///
    /// ```
    /// use ndarray::array;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::<i32>::from_ndarray(&array![[1, 2], [3, 4]].into_dyn(), &Device::cpu())?;
    /// assert_eq!(x.shape(), [Some(2), Some(2)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_ndarray(array: &ArrayD<T::Host>, device: &Device) -> Result<Self> {
        let values = T::wrap(array.iter().cloned().collect());
        HostTensor::dense(array.shape(), values).to_device(device)?.try_into()
    }

    /// Reads the tensor into an array. Rows are padded or cropped as by [`RaggedTensor::to_tensor`]. Waits once for the
    /// values, and once more where `to_tensor` waits.
    ///
    /// # Errors
    /// As [`Tensor::to_tensor`](crate::Tensor::to_tensor) and [`Tensor::to_host`](crate::Tensor::to_host).
    ///
    /// ```
    /// use ndarray::array;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.to_ndarray(-1)?, array![[1, 2], [3, -1]].into_dyn());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_ndarray<'a>(&self, padding: impl Into<PaddedShape<'a>>) -> Result<ArrayD<T::Host>> {
        const OP: &str = "to_ndarray";
        let host = self.to_tensor(padding).map_err(|e| e.of(OP))?.erased().to_host()?;
        let values = T::unwrap(host.values).expect("bug: a tensor of another dtype than its type says");
        ArrayD::from_shape_vec(IxDyn(&host.inner_shape), values)
            .map_err(|e| Error::argument(OP, e.to_string()))
            .map_err(here())
    }
}
