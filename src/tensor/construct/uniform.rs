//! Factories for uniform rows, all of one length.

use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::tensor::partition::{Making, Trust};
use crate::tensor::{IntoValues, RaggedTensor, Tensor};

impl Tensor {
    /// The ragged tensor of `values` whose row lengths are all `uniform_row_length`. TensorFlow:
    /// `tf.RaggedTensor.from_uniform_row_length`.
    ///
    /// The result knows the length: its static shape shows the length, and dimensions of size 1 broadcast. Without
    /// `nrows` the result has `values / uniform_row_length` rows, and none where that length is 0. No pass, no wait.
    ///
    /// # Errors
    /// A scalar as values; a negative argument; a number of values that is not `nrows * uniform_row_length`.
    ///
    /// ```
    /// use ragged::{Device, HostTensor, HostValues, Tensor};
    /// let values = HostTensor::dense(&[4], HostValues::I32(vec![1, 2, 3, 4])).to_device(&Device::cpu())?;
    /// let x = Tensor::from_uniform_row_length(&values, 2, None)?;
    /// assert_eq!(x.shape(), [Some(2), Some(2)]);
    /// assert!(Tensor::from_uniform_row_length(&values, 3, None).is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_uniform_row_length(values: &Self, uniform_row_length: i64, nrows: Option<i64>) -> Result<Self> {
        let m = Making::new(values.backend(), "from_uniform_row_length", Trust::Check);
        values.divided_evenly(m, uniform_row_length, nrows)
    }

    /// [`Tensor::from_uniform_row_length`] under the name of the unchecked factories. The device-side check compares
    /// two numbers and runs here too.
    ///
    /// # Errors
    /// As [`Tensor::from_uniform_row_length`].
    #[track_caller]
    pub fn from_uniform_row_length_unchecked(values: &Self, len: i64, nrows: Option<i64>) -> Result<Self> {
        let m = Making::new(values.backend(), "from_uniform_row_length", Trust::Vouched);
        values.divided_evenly(m, len, nrows)
    }
}

impl<T: Element> RaggedTensor<T> {
    /// As [`Tensor::from_uniform_row_length`], with values from the host or a tensor.
    ///
    /// # Errors
    /// As [`Tensor::from_uniform_row_length`]; a tensor as values on another device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_uniform_row_length([1, 2, 3, 4], 2, None, &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [3, 4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_uniform_row_length(
        values: impl IntoValues<T>,
        uniform_row_length: i64,
        nrows: Option<i64>,
        device: &Device,
    ) -> Result<Self> {
        Tensor::from_uniform_row_length(values.into_values(device)?.erased(), uniform_row_length, nrows)?.try_into()
    }

    /// As [`Tensor::from_uniform_row_length_unchecked`].
    ///
    /// # Errors
    /// As [`Tensor::from_uniform_row_length_unchecked`]; a tensor as values on another device.
    #[track_caller]
    pub fn from_uniform_row_length_unchecked(
        values: impl IntoValues<T>,
        uniform_row_length: i64,
        nrows: Option<i64>,
        device: &Device,
    ) -> Result<Self> {
        let values = values.into_values(device)?;
        Tensor::from_uniform_row_length_unchecked(values.erased(), uniform_row_length, nrows)?.try_into()
    }
}
