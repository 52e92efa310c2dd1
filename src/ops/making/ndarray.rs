//! Conversion from and to `ndarray` arrays.

use ndarray::{ArrayD, IxDyn};

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result, here};
use crate::ops::options::PaddedShape;
use crate::tensor::{HostTensor, RaggedTensor};

/// Arrays of the crate ndarray.
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

    /// Reads the tensor into an array, with every row padded or cropped to one length.
    ///
    /// Every dimension is as large as its longest row, and a uniform dimension keeps its size, unless
    /// [`shaped`](crate::opt::shaped) gives the size, as in [`RaggedTensor::to_tensor`]. An empty row is all padding.
    ///
    /// # Errors
    /// A padding that is not one value of the dtype, or that does not broadcast to the inner dimensions; a shape of
    /// another rank or with other inner dimensions; more than 2^32 - 2 values; no host memory for the values; what the
    /// operations that give the tensor report at a read; a lost device.
    ///
    /// # Cost
    /// One map and a read. Waits once for the values, and once more for a size that is not given and that the host does
    /// not know.
    ///
    /// ```
    /// use ndarray::array;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.to_ndarray(-1)?, array![[1, 2], [-1, -1], [3, -1]].into_dyn());
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
