//! Items: what datasets consist of, and what parsing gives.
//!
//! An [`Item`] is a tensor, a tuple of items, or a record of named items. Its tensors are in host memory until
//! [`Item::to_device`] uploads them. A row of a tensor in host memory is a reference to it: taking a million rows apart
//! records no operation, and batching them copies each value once.

mod column;
mod fault;
mod stack;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ragged::{DType, Device, Element, HostTensor, RaggedTensor, Result, SparseTensor, Tensor};

pub(crate) use column::{Column, Values};
pub(crate) use fault::Call;
#[cfg(feature = "dataset")]
pub(crate) use stack::{Stack, View, pad, stack};
#[cfg(feature = "tf")]
pub(crate) use value::SparseColumn;
pub(crate) use value::Value;

/// A tensor, a tuple of items, or a record of named items.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// use ragged_data::item::Item;
/// let device = Device::cpu();
/// let words = RaggedTensor::from_nested([vec!["a", "b"], vec![]], &device)?;
/// let label = RaggedTensor::from_nested([1, 0], &device)?;
/// let item = Item::record([("words", Item::from(words)), ("label", label.into())]);
/// assert_eq!(item.field("label")?.tensor(&device)?.to_string(), "tensor([1, 0], shape=(2,), dtype=i32)");
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Clone)]
pub struct Item(pub(crate) Kind);

#[derive(Clone)]
pub(crate) enum Kind {
    Value(Value),
    Tuple(Vec<Item>),
    Record(BTreeMap<Arc<str>, Item>),
}

impl<T: Element> From<RaggedTensor<T>> for Item {
    fn from(x: RaggedTensor<T>) -> Self {
        x.into_erased().into()
    }
}
impl From<Tensor> for Item {
    fn from(x: Tensor) -> Self {
        Self(Kind::Value(Value::Device(x)))
    }
}
impl From<&Tensor> for Item {
    fn from(x: &Tensor) -> Self {
        x.clone().into()
    }
}
impl From<SparseTensor> for Item {
    fn from(x: SparseTensor) -> Self {
        Self(Kind::Value(Value::Sparse(x)))
    }
}

/// Construction.
impl Item {
    /// A tuple of items.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// let pair = Item::tuple([Item::from(*b"a word"), Item::from(*b"another")]);
    /// assert_eq!(pair.get(1)?.string()?, b"another");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn tuple(items: impl IntoIterator<Item = Self>) -> Self {
        Self(Kind::Tuple(items.into_iter().collect()))
    }

    /// A record of named items. Of two items with one name, the last counts.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// let record = Item::record([("word", Item::from(*b"so"))]);
    /// assert_eq!(record.field("word")?.string()?, b"so");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn record<N: Into<Arc<str>>>(fields: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self(Kind::Record(fields.into_iter().map(|(name, item)| (name.into(), item)).collect()))
    }

    /// A tensor in host memory, of any dtype. Its splits are validated.
    ///
    /// # Errors
    /// Splits that are none, or that do not fit the values; more than 2^32 - 2 values.
    ///
    /// # Cost
    /// None besides the validation; strings are joined.
    ///
    /// ```
    /// use ragged::{HostTensor, HostValues};
    /// use ragged_data::item::Item;
    /// let item = Item::from_host(HostTensor::from_row_splits(vec![0, 2, 3], HostValues::I32(vec![1, 2, 3])))?;
    /// assert_eq!(item.len()?, 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_host(host: HostTensor) -> Result<Self> {
        Ok(Self(Kind::Value(Value::column(column::checked(Call::here("Item::from_host"), host)?))))
    }

    pub(crate) fn of(value: Value) -> Self {
        Self(Kind::Value(value))
    }
}

/// One string of these bytes: a scalar.
impl<const N: usize> From<[u8; N]> for Item {
    fn from(bytes: [u8; N]) -> Self {
        let values = Values::Strings { splits: vec![0, N as u32], bytes: bytes.to_vec() };
        Self::of(Value::column(Column { splits: Vec::new(), uniform: Vec::new(), inner: Vec::new(), values }))
    }
}

/// Parts.
impl Item {
    /// The item of a record with that name.
    ///
    /// # Errors
    /// An item that is no record; a name that it lacks.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// let record = Item::record([("word", Item::from(*b"so"))]);
    /// assert!(record.field("words").unwrap_err().to_string().contains("no field \"words\", but word"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn field(&self, name: &str) -> Result<&Self> {
        let call = Call::here("Item::field");
        match &self.0 {
            Kind::Record(fields) => fields.get(name).ok_or_else(|| {
                let names = fields.keys().map(|n| &**n).collect::<Vec<_>>().join(", ");
                call.argument(format!("the record has no field {name:?}, but {names}"))
            }),
            _ => Err(call.argument(format!("{} has no field {name:?}", self.kind()))),
        }
    }

    /// The names and items of a record; none of another item.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// let record = Item::record([("b", Item::from(*b"so")), ("a", Item::from(*b"long"))]);
    /// assert_eq!(record.fields().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b"]);
    /// ```
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Self)> {
        let fields = match &self.0 {
            Kind::Record(fields) => Some(fields.iter().map(|(name, item)| (&**name, item))),
            _ => None,
        };
        fields.into_iter().flatten()
    }

    /// An item of a tuple.
    ///
    /// # Errors
    /// An item that is no tuple, or has no such position.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// assert!(Item::tuple([Item::from(*b"so")]).get(1).is_err());
    /// ```
    #[track_caller]
    pub fn get(&self, position: usize) -> Result<&Self> {
        let call = Call::here("Item::get");
        match &self.0 {
            Kind::Tuple(items) => items.get(position).ok_or_else(|| {
                call.argument(format!("position {position} is out of range for a tuple of {}", items.len()))
            }),
            _ => Err(call.argument(format!("{} is no tuple", self.kind()))),
        }
    }

    fn value(&self, call: Call) -> Result<&Value> {
        match &self.0 {
            Kind::Value(value) => Ok(value),
            _ => Err(call.argument(format!("{} is no tensor: take a part of it first", self.kind()))),
        }
    }

    fn kind(&self) -> &'static str {
        match &self.0 {
            Kind::Value(_) => "a tensor",
            Kind::Tuple(_) => "a tuple",
            Kind::Record(_) => "a record",
        }
    }

    /// All tensors of the item.
    pub(crate) fn leaves<'a>(&'a self, out: &mut Vec<&'a Value>) {
        match &self.0 {
            Kind::Value(value) => out.push(value),
            Kind::Tuple(items) => items.iter().for_each(|item| item.leaves(out)),
            Kind::Record(fields) => fields.values().for_each(|item| item.leaves(out)),
        }
    }

    /// The item with each tensor replaced.
    pub(crate) fn try_map(&self, f: &mut impl FnMut(&Value) -> Result<Value>) -> Result<Self> {
        Ok(Self(match &self.0 {
            Kind::Value(value) => Kind::Value(f(value)?),
            Kind::Tuple(items) => Kind::Tuple(items.iter().map(|item| item.try_map(f)).collect::<Result<_>>()?),
            Kind::Record(fields) => {
                let mapped = fields.iter().map(|(name, item)| Ok((name.clone(), item.try_map(f)?)));
                Kind::Record(mapped.collect::<Result<_>>()?)
            }
        }))
    }
}

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

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Value(value) => match value.view() {
                Some(view) => write!(f, "{} {}", value.dtype(), stack::text(&view)),
                None => write!(f, "{} on a device", value.dtype()),
            },
            Kind::Tuple(items) => f.debug_list().entries(items).finish(),
            Kind::Record(fields) => f.debug_map().entries(fields).finish(),
        }
    }
}
