//! What items hold: values in host memory, and tensors on devices.

use ragged::{DType, Device, Element, Result, SparseTensor, Tensor};

use super::{Call, Item, Value};

/// Values.
impl Item {
    /// The dense or ragged tensor on the device: uploaded from host memory, copied from another device, or shared.
    ///
    /// # Errors
    /// A tuple, a record, or a sparse tensor; more than the device can hold; a dtype that it lacks.
    ///
    /// # Cost
    /// An upload per array of a tensor in host memory.
    ///
    /// ```
    /// use ragged::Device;
    /// use ragged_data::item::Item;
    /// assert_eq!(Item::from(*b"so").tensor(&Device::cpu())?.to_string(), "tensor(b'so', shape=(), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn tensor(&self, device: &Device) -> Result<Tensor> {
        let call = Call::here("Item::tensor");
        ragged::operation::named(call.op, || self.value(call)?.tensor(call, device))
    }

    /// The sparse tensor on the device, such as that of a `VarLenFeature`.
    ///
    /// # Errors
    /// A tuple, a record, or a tensor that is not sparse; more than the device can hold.
    ///
    /// ```
    /// use ragged::Device;
    /// use ragged_data::item::Item;
    /// assert!(Item::from(*b"so").sparse(&Device::cpu()).is_err());
    /// ```
    #[track_caller]
    pub fn sparse(&self, device: &Device) -> Result<SparseTensor> {
        let call = Call::here("Item::sparse");
        ragged::operation::named(call.op, || self.value(call)?.sparse(call, device))
    }

    /// The item with all tensors on the device.
    ///
    /// # Errors
    /// More than the device can hold; a dtype that it lacks.
    ///
    /// # Cost
    /// An upload per array in host memory. Does not wait for the device.
    ///
    /// ```
    /// use ragged::Device;
    /// use ragged_data::item::Item;
    /// let item = Item::tuple([Item::from(*b"so")]).to_device(&Device::cpu())?;
    /// assert!(item.get(0)?.string().is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Result<Self> {
        let call = Call::here("Item::to_device");
        ragged::operation::named(call.op, || self.try_map(&mut |value| value.to_device(call, device)))
    }

    /// The dtype of a tensor.
    ///
    /// # Errors
    /// A tuple or a record.
    ///
    /// ```
    /// use ragged::DType;
    /// use ragged_data::item::Item;
    /// assert_eq!(Item::from(*b"so").dtype()?, DType::Str);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn dtype(&self) -> Result<DType> {
        Ok(self.value(Call::here("Item::dtype"))?.dtype())
    }

    /// The size of the outermost dimension of a tensor in host memory.
    ///
    /// # Errors
    /// A tuple, a record, a scalar, or a tensor on a device.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// assert!(Item::from(*b"so").len().is_err());
    /// ```
    #[track_caller]
    pub fn len(&self) -> Result<usize> {
        let call = Call::here("Item::len");
        let view = self.value(call)?.view().ok_or_else(|| call.argument(ON_A_DEVICE))?;
        view.len().ok_or_else(|| call.argument("a scalar has no rows"))
    }

    /// Whether the outermost dimension of a tensor in host memory is empty.
    ///
    /// # Errors
    /// A tuple, a record, a scalar, or a tensor on a device.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// assert!(Item::from(*b"so").is_empty().is_err());
    /// ```
    #[track_caller]
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The flat values of a tensor of numbers in host memory, borrowed.
    ///
    /// # Errors
    /// A tuple, a record, a tensor on a device, or values of another type.
    ///
    /// ```
    /// use ragged::{HostTensor, HostValues};
    /// use ragged_data::item::Item;
    /// let item = Item::from_host(HostTensor::from_row_splits(vec![0, 2, 3], HostValues::I32(vec![1, 2, 3])))?;
    /// assert_eq!(item.values::<i32>()?, [1, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn values<T: Element>(&self) -> Result<&[T::Host]> {
        let call = Call::here("Item::values");
        let value = self.value(call)?;
        if value.dtype() != T::DTYPE {
            return Err(call.dtypes(T::DTYPE, value.dtype()));
        }
        let Some((values, at)) = value.numbers() else {
            return Err(call.argument(format!("{ON_A_DEVICE}, or strings")));
        };
        T::values(values).and_then(|all| all.get(at)).ok_or_else(|| call.dtypes(T::DTYPE, value.dtype()))
    }

    /// The flat strings of a tensor of strings in host memory, borrowed.
    ///
    /// # Errors
    /// A tuple, a record, a tensor on a device, or numbers.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// assert_eq!(Item::from(*b"so").strings()?.collect::<Vec<_>>(), [b"so"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn strings(&self) -> Result<impl ExactSizeIterator<Item = &[u8]>> {
        let call = Call::here("Item::strings");
        self.value(call)?.strings().ok_or_else(|| call.argument(format!("{ON_A_DEVICE}, or numbers")))
    }

    /// The bytes of one string in host memory.
    ///
    /// # Errors
    /// Anything but one string in host memory.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// assert_eq!(Item::from(*b"so").string()?, b"so");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn string(&self) -> Result<&[u8]> {
        let call = Call::here("Item::string");
        let mut all = self.strings().map_err(|_| call.argument("it is no string in host memory"))?;
        match (all.next(), all.len()) {
            (Some(one), 0) => Ok(one),
            (_, rest) => Err(call.argument(format!("one string is required, but there are {}", rest + 1))),
        }
    }

    /// Bytes of the values and row splits of all tensors; of those on a device as far as the host knows their sizes.
    ///
    /// ```
    /// use ragged::{HostTensor, HostValues};
    /// use ragged_data::item::Item;
    /// let item = Item::from_host(HostTensor::dense(&[3], HostValues::I32(vec![1, 2, 3])))?;
    /// assert_eq!(item.bytes(), 12);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn bytes(&self) -> u64 {
        let mut leaves = Vec::new();
        self.leaves(&mut leaves);
        leaves.into_iter().map(Value::bytes).sum()
    }
}

const ON_A_DEVICE: &str = "its values are not in host memory";
