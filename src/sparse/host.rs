//! Sparse tensors in host memory.

use std::future::Future;

use super::SparseTensor;
use crate::device::Device;
use crate::error::{Result, here};
use crate::graph::recorder::Recorder;
use crate::tensor::{HostTensor, HostValues, Tensor, to_host, to_host_async};

/// A sparse tensor in host memory: value `i` is at the coordinates `indices[rank * i..][..rank]`.
///
/// ```
/// use ragged::{Device, HostSparseTensor, HostValues};
/// let host = HostSparseTensor { indices: vec![0, 0, 1, 2], values: HostValues::I32(vec![1, 2]), dense_shape: vec![2, 3] };
/// assert_eq!(host.to_device(&Device::cpu())?.to_dense(0)?.to_nested()?.to_string(), "[[1, 0, 0], [0, 0, 2]]");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// TensorFlow: `tf.compat.v1.SparseTensorValue`.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSparseTensor {
    /// The coordinates of the entries: one integer per dimension, entry by entry.
    pub indices: Vec<i64>,
    /// The value of each entry.
    pub values: HostValues,
    /// The shape of the equivalent dense tensor.
    pub dense_shape: Vec<u64>,
}

/// Entries, and their upload.
impl HostSparseTensor {
    /// The coordinates of each entry, in the order of the values: a slice with an index per dimension.
    ///
    /// An entry whose coordinates are missing in `indices` has an empty slice. Copies nothing.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 0], [1, 2]], [1, 2], [3, 4], &Device::cpu())?.to_host()?;
    /// assert_eq!(x.coordinates().collect::<Vec<_>>(), [[0, 0], [1, 2]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn coordinates(&self) -> impl ExactSizeIterator<Item = &[i64]> {
        let rank = self.dense_shape.len();
        // An entry of a scalar has no coordinates. Coordinates that are missing are none.
        (0..self.values.len()).map(move |i| self.indices.get(rank * i..rank * (i + 1)).unwrap_or_default())
    }

    /// Uploads the tensor to a device.
    ///
    /// Entries may have any order, and several may have equal coordinates. The dtype is that of the values.
    ///
    /// # Errors
    /// Other than one coordinate per dimension of each entry; a size of 2^63 or more; more than the device can hold; a
    /// dtype that it lacks. At the read of what an operation gives: coordinates outside of the dense shape.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 0], [1, 2]], [1, 2], [3, 4], &Device::cpu())?;
    /// assert_eq!(x.to_host()?.to_device(&Device::cpu())?.to_string(), x.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Result<SparseTensor> {
        let rec = Recorder::new(device.backend(), "to_device");
        let (n, rank, given) = (self.values.len(), self.dense_shape.len(), self.indices.len());
        if n.checked_mul(rank) != Some(given) {
            let what = format!("{n} values of {rank} dimensions need {rank} coordinates each, but there are {given}");
            return Err(rec.argument(what));
        }
        let indices = HostTensor::dense(&[n, rank], HostValues::I64(self.indices.clone())).to_device(device)?;
        let values = HostTensor::dense(&[n], self.values.clone()).to_device(device)?;
        SparseTensor::assembled(rec, &indices, &values, &self.dense_shape)
    }

    /// The host form of the coordinates and the values, which were read.
    fn of(dense_shape: Vec<u64>, read: Vec<HostTensor>) -> Self {
        let mut read = read.into_iter().map(|host| host.values);
        let indices = match read.next() {
            Some(HostValues::I64(indices)) => indices,
            _ => Vec::new(),
        };
        Self { indices, values: read.next().unwrap_or(HostValues::I64(Vec::new())), dense_shape }
    }
}

/// Reads, and copies on other devices.
impl SparseTensor {
    /// Reads the coordinates and the values into host memory.
    ///
    /// Entries keep their order. Evaluates pending work in one submission, and waits once, as
    /// [`to_host`](crate::to_host).
    ///
    /// # Errors
    /// Coordinates outside of the dense shape, and other device-side checks that the entries depend on: the first that
    /// fails; a lost device; more memory than is available.
    ///
    /// ```
    /// use ragged::{Device, HostValues, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 0], [1, 2]], [1, 2], [3, 4], &Device::cpu())?;
    /// let host = x.to_host()?;
    /// assert_eq!((host.indices, host.values), (vec![0, 0, 1, 2], HostValues::I32(vec![1, 2])));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_host(&self) -> Result<HostSparseTensor> {
        let read = to_host(self.parts(self.recorder("to_host"))?)?;
        Ok(HostSparseTensor::of(self.dense_shape.clone(), read))
    }

    /// Reads the coordinates and the values into host memory without blocking: [`SparseTensor::to_host`] as a future.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`].
    ///
    /// # Errors
    /// Coordinates outside of the dense shape, and other device-side checks that the entries depend on: the first that
    /// fails; a lost device; more memory than is available.
    ///
    /// ```
    /// use ragged::{Device, HostValues, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 0], [1, 2]], [1, 2], [3, 4], &Device::cpu())?;
    /// assert_eq!(pollster::block_on(x.to_host_async())?.values, HostValues::I32(vec![1, 2]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_host_async(&self) -> impl Future<Output = Result<HostSparseTensor>> + Send + use<> {
        let read = self.parts(self.recorder("to_host")).map(to_host_async);
        let (dense_shape, here) = (self.dense_shape.clone(), here());
        async move { Ok(HostSparseTensor::of(dense_shape, read?.await.map_err(here)?)) }
    }

    /// Copies the tensor to another device, through host memory; on its own device, the tensor itself.
    ///
    /// # Errors
    /// What the operations that give the tensor report at a read; more than the other device can hold; values of a
    /// dtype that it does not have; values that [`grad`](crate::grad) differentiates, on another device.
    ///
    /// # Cost
    /// A read of coordinates and values, with one wait, and their upload.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 0], [1, 2]], [1, 2], [3, 4], &Device::cpu())?;
    /// assert_eq!(x.to_device(&Device::cpu())?.to_string(), x.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Result<Self> {
        if *device == self.device() {
            return Ok(self.clone());
        }
        self.values.check_constant()?;
        Ok(Self { order: self.order, ..self.to_host()?.to_device(device)? })
    }

    /// The coordinates and the values, on the conditions of the tensor.
    #[track_caller]
    fn parts(&self, rec: Recorder<'_>) -> Result<[Tensor; 2]> {
        Ok([self.indices.clone(), self.values.on_condition(rec.op, &self.conditions)?])
    }
}
