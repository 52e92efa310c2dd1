//! Conversion from and to `ndarray` arrays.

use ndarray::{ArrayBase, ArrayD, Axis, Data, Ix1, Ix2, Ix3, Ix4, IxDyn};

use crate::device::Device;
use crate::element::{Element, Number};
use crate::error::{Error, Result, here};
use crate::ops::options::PaddedShape;
use crate::tensor::{HostTensor, IntoNested, RaggedTensor};

/// Arrays as lists: the first dimension is a list, the others are uniform.
macro_rules! list {
    ($($dims:ident $rank:literal)+) => {$(
        impl<T: Number + Element<Host = T>, S: Data<Elem = T>> IntoNested<T> for ArrayBase<S, $dims> {
            const DEPTH: usize = $rank;
            const HAS_INNER: bool = $rank > 1;
            fn uniform() -> Option<Vec<usize>> {
                None
            }
            fn inner_shape() -> Vec<usize> {
                vec![0; $rank - 1]
            }
            fn find_inner(&self, found: &mut Option<Vec<usize>>) -> std::result::Result<(), Vec<usize>> {
                let own = &self.shape()[1..];
                let first = found.get_or_insert_with(|| own.to_vec());
                if first[..] == *own { Ok(()) } else { Err(own.to_vec()) }
            }
            fn flatten(&self, _: &mut [Vec<u64>], values: &mut Vec<T>) {
                match self.as_slice() {
                    Some(own) => values.extend_from_slice(own),
                    None => values.extend(self.iter().copied()),
                }
            }
            fn size(&self) -> usize {
                self.len_of(Axis(0))
            }
            fn measure(&self) -> (u64, u64) {
                (self.len() as u64, 0)
            }
        }

        impl<T: Number + Element<Host = T>, S: Data<Elem = T>> IntoNested<T> for &ArrayBase<S, $dims> {
            const DEPTH: usize = $rank;
            const HAS_INNER: bool = $rank > 1;
            fn uniform() -> Option<Vec<usize>> {
                None
            }
            fn inner_shape() -> Vec<usize> {
                ArrayBase::<S, $dims>::inner_shape()
            }
            fn find_inner(&self, found: &mut Option<Vec<usize>>) -> std::result::Result<(), Vec<usize>> {
                (**self).find_inner(found)
            }
            fn flatten(&self, splits: &mut [Vec<u64>], values: &mut Vec<T>) {
                (**self).flatten(splits, values);
            }
            fn size(&self) -> usize {
                (**self).size()
            }
            fn measure(&self) -> (u64, u64) {
                (**self).measure()
            }
        }
    )+};
}
list!(Ix1 1 Ix2 2 Ix3 3 Ix4 4);

/// Arrays of the crate ndarray.
impl<T: Element> RaggedTensor<T> {
    /// The dense tensor of an array's values, in any memory order. [`RaggedTensor::from_tensor`] makes the result
    /// ragged. [`RaggedTensor::from_nested`] takes rows that are arrays.
    ///
    /// The dtype is that of the array. Dimensions of size 0 stay.
    ///
    /// # Errors
    /// An array larger than the device can hold.
    ///
    /// # Cost
    /// One pass over the array on the host, and one upload. Never waits.
    ///
    /// ```
    /// use ndarray::array;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::<i32>::from_ndarray(&array![[1, 2], [3, 4]].into_dyn(), &Device::cpu())?;
    /// assert_eq!(x.shape(), [Some(2), Some(2)]);
    ///
    /// let points = vec![array![[1, 2], [3, 4]], array![[5, 6]]];
    /// let points = RaggedTensor::from_nested(&points, &Device::cpu())?;
    /// assert_eq!(points.to_string(), "<ragged.RaggedTensor [[[1, 2], [3, 4]], [[5, 6]]]>");
    /// assert_eq!(points.shape(), [Some(2), None, Some(2)]);
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
