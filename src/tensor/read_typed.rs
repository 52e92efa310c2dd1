//! Reads of typed tensors as values of their element type.

use std::future::Future;

use super::{FromNested, HostTensor, RaggedTensor};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result, here};

/// Reads, and copies on other devices.
impl<T: Element> RaggedTensor<T> {
    /// Copies the tensor to another device, through host memory; a tensor on the same device is returned unchanged.
    ///
    /// Shape, partitions and dtype stay; every value keeps its bits.
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available; more than the other device can
    /// hold, or a dtype that it lacks.
    ///
    /// # Cost
    /// One read of the whole tensor with one wait, and an upload; nothing on the same device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let there: RaggedTensor<i32> = x.to_device(&Device::best()?)?;
    /// assert_eq!(there.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Result<Self> {
        self.erased().to_device(device)?.try_into()
    }

    /// Copies the tensor to another device without blocking on its own; see
    /// [`Tensor::to_host_async`](crate::Tensor::to_host_async).
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available; more than the other device can
    /// hold, or a dtype that it lacks.
    ///
    /// # Cost
    /// One read of the whole tensor, and an upload; nothing on the same device. The future is ready once the read is.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
    /// let there = pollster::block_on(x.to_device_async(&Device::best()?))?;
    /// assert_eq!(there.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_device_async(&self, device: &Device) -> impl Future<Output = Result<Self>> + Send + use<T> {
        let (there, here) = (self.erased().to_device_async(device), here());
        async move { Self::try_from(there.await?).map_err(here) }
    }

    /// Reads the flat values, row-major. Waits once for pending work.
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available, or than the device's budget.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T::Host>> {
        Ok(Self::flat(self.to_host()?))
    }

    /// Reads the only element of a tensor that has one: a scalar, or a tensor of one element.
    ///
    /// # Errors
    /// No elements, or several; the first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1i32, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.reduce_sum(..)?.item()?, 6);
    /// assert!(x.item().is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// NumPy: `ndarray.item`.
    #[track_caller]
    pub fn item(&self) -> Result<T::Host> {
        let mut all = self.to_vec()?;
        match (all.pop(), all.len()) {
            (Some(only), 0) => Ok(only),
            (None, _) => Err(Error::argument("item", "the tensor has no elements")),
            (Some(_), others) => {
                Err(Error::argument("item", format!("the tensor has {} elements; to_vec reads all", others + 1)))
            }
        }
    }

    /// Reads the flat values, row-major, without blocking.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`](crate::Tensor::to_host_async).
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available, or than the device's budget.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let doubled = (&x * 2)?.to_vec_async();
    /// assert_eq!(pollster::block_on(doubled)?, [2, 4, 6]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_vec_async(&self) -> impl Future<Output = Result<Vec<T::Host>>> + Send + use<T> {
        let read = self.to_host_async();
        async move { Ok(Self::flat(read.await?)) }
    }

    /// Reads the tensor as nested lists of the element type, without blocking.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`](crate::Tensor::to_host_async).
    ///
    /// # Errors
    /// Lists of another depth or shape than the tensor's; the first failed device-side check; a lost device; more
    /// memory than is available, or than the device's budget.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let rows: Vec<Vec<i32>> = pollster::block_on(x.to_nested_vec_async())?;
    /// assert_eq!(rows, [vec![1, 2], vec![], vec![3]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_nested_vec_async<N: FromNested<T>>(&self) -> impl Future<Output = Result<N>> + Send + use<T, N> {
        let nests = Self::nests::<N>(self);
        let (tensor, read, here) = (self.clone(), self.to_host_async(), here());
        async move {
            nests?;
            tensor.nested_vec_from(&read.await?).map_err(here)
        }
    }

    /// The flat values of a tensor in host memory.
    pub(super) fn flat(host: HostTensor) -> Vec<T::Host> {
        T::unwrap(host.values).expect("bug: a tensor of another dtype than its type says")
    }
}
