//! Factories for uniform rows, all of one length.

use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::tensor::nrows::UniformRows;
use crate::tensor::partition::{Making, Trust};
use crate::tensor::{IntoValues, RaggedTensor, Tensor};

/// Construction from row encodings: rows of one length.
impl Tensor {
    /// The ragged tensor of `values` whose rows all have one length. TensorFlow:
    /// `tf.RaggedTensor.from_uniform_row_length`.
    ///
    /// The result knows the length: its static shape shows the length, and dimensions of size 1 broadcast. The number
    /// of rows follows from the number of values; rows of length 0 need it ([`with_nrows`](crate::opt::with_nrows)),
    /// and are none without. Any dtype.
    ///
    /// # Errors
    /// A scalar as values; a negative argument; a number of values that is not the number of rows times their length.
    ///
    /// # Cost
    #[doc = cost!(uniform)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let values = RaggedTensor::from_nested([1, 2, 3, 4], &Device::cpu())?;
    /// let x = Tensor::from_uniform_row_length(&values, 2)?;
    /// assert_eq!(x.shape(), [Some(2), Some(2)]);
    /// assert!(Tensor::from_uniform_row_length(&values, 3).is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_uniform_row_length(values: &impl AsRef<Self>, rows: impl Into<UniformRows>) -> Result<Self> {
        let (values, rows) = (values.as_ref(), rows.into());
        let m = Making::new(values.backend(), "from_uniform_row_length", Trust::Check);
        values.divided_evenly(m, rows.length, rows.nrows)
    }

    /// [`Tensor::from_uniform_row_length`] under the name of the unchecked factories. The device-side check compares
    /// two numbers and runs here too.
    ///
    /// # Errors
    /// A scalar as values; a negative argument; a number of values that is not the number of rows times their length.
    ///
    /// # Cost
    #[doc = cost!(uniform unchecked)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let values = RaggedTensor::from_nested([1, 2, 3, 4], &Device::cpu())?;
    /// let x = Tensor::from_uniform_row_length_unchecked(&values, 2)?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [3, 4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_uniform_row_length_unchecked(values: &impl AsRef<Self>, rows: impl Into<UniformRows>) -> Result<Self> {
        let (values, rows) = (values.as_ref(), rows.into());
        let m = Making::new(values.backend(), "from_uniform_row_length_unchecked", Trust::Vouched);
        values.divided_evenly(m, rows.length, rows.nrows)
    }
}

/// Construction from row encodings: rows of one length.
impl<T: Element> RaggedTensor<T> {
    /// The ragged tensor of `values` whose rows all have one length; the values are on the host or a tensor.
    /// TensorFlow: `tf.RaggedTensor.from_uniform_row_length`.
    ///
    /// The result knows the length: its static shape shows the length, and dimensions of size 1 broadcast. The number
    /// of rows follows from the number of values; rows of length 0 need it ([`with_nrows`](crate::opt::with_nrows)),
    /// and are none without.
    ///
    /// # Errors
    /// A scalar as values; a negative argument; a number of values that is not the number of rows times their length;
    /// a tensor as values on another device.
    ///
    /// # Cost
    #[doc = cost!(uniform)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_uniform_row_length([1, 2, 3, 4], 2, &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [3, 4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_uniform_row_length(
        values: impl IntoValues<T>,
        rows: impl Into<UniformRows>,
        device: &Device,
    ) -> Result<Self> {
        let values = values.into_values(device).map_err(|e| e.of("from_uniform_row_length"))?;
        Tensor::from_uniform_row_length(values.erased(), rows)?.try_into()
    }

    /// [`RaggedTensor::from_uniform_row_length`] under the name of the unchecked factories. The device-side check
    /// compares two numbers and runs here too.
    ///
    /// # Errors
    /// A scalar as values; a negative argument; a number of values that is not the number of rows times their length;
    /// a tensor as values on another device.
    ///
    /// # Cost
    #[doc = cost!(uniform unchecked)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_uniform_row_length_unchecked([1, 2, 3, 4], 2, &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [3, 4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_uniform_row_length_unchecked(
        values: impl IntoValues<T>,
        rows: impl Into<UniformRows>,
        device: &Device,
    ) -> Result<Self> {
        let values = values.into_values(device).map_err(|e| e.of("from_uniform_row_length_unchecked"))?;
        Tensor::from_uniform_row_length_unchecked(values.erased(), rows)?.try_into()
    }
}
