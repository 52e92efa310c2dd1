//! Items: what datasets consist of, and what parsing gives.
//!
//! An [`Item`] is a tensor, a tuple of items, or a record of named items. Its tensors are in host memory until
//! [`Item::to_device`] uploads them. A row of a tensor in host memory is a reference to it: taking a million rows apart
//! records no operation, and batching them copies each value once.

mod column;
mod fault;
mod fields;
mod reads;
mod stack;
mod value;

use std::fmt;
use std::sync::Arc;

use ragged::{Element, HostTensor, RaggedTensor, Result, SparseTensor, Tensor};

pub(crate) use column::{Column, Values};
pub(crate) use fault::Call;
pub(crate) use fields::Fields;
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
    Record(Fields),
}

impl<T: Element> From<RaggedTensor<T>> for Item {
    fn from(x: RaggedTensor<T>) -> Self {
        x.into_erased().into()
    }
}
impl From<Tensor> for Item {
    fn from(x: Tensor) -> Self {
        Self(Kind::Value(Value::Device(Box::new(x))))
    }
}
impl From<&Tensor> for Item {
    fn from(x: &Tensor) -> Self {
        x.clone().into()
    }
}
impl From<SparseTensor> for Item {
    fn from(x: SparseTensor) -> Self {
        Self(Kind::Value(Value::Sparse(Box::new(x))))
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

    /// A record of named items, which keep their order. Of two items with one name, the last counts.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// let record = Item::record([("word", Item::from(*b"so"))]);
    /// assert_eq!(record.field("word")?.string()?, b"so");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn record<N: Into<Arc<str>>>(fields: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self(Kind::Record(Fields::new(fields.into_iter().map(|(name, item)| (name.into(), item)))))
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
                let names = fields.names().map(|n| &**n).collect::<Vec<_>>().join(", ");
                call.argument(format!("the record has no field {name:?}, but {names}"))
            }),
            _ => Err(call.argument(format!("{} has no field {name:?}", self.kind()))),
        }
    }

    /// The names and items of a record, in order; none of another item.
    ///
    /// ```
    /// use ragged_data::item::Item;
    /// let record = Item::record([("b", Item::from(*b"so")), ("a", Item::from(*b"long"))]);
    /// assert_eq!(record.fields().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "a"]);
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

    pub(super) fn value(&self, call: Call) -> Result<&Value> {
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
            Kind::Record(fields) => fields.iter().for_each(|(_, item)| item.leaves(out)),
        }
    }

    /// The item with all tensors on the device. A column that nothing else refers to is not copied before its upload.
    #[cfg(feature = "dataset")]
    pub(crate) fn into_device(self, call: Call, device: &ragged::Device) -> Result<Self> {
        Ok(Self(match self.0 {
            Kind::Value(Value::Host { column, row: None }) => {
                let column = Arc::try_unwrap(column).unwrap_or_else(|shared| (*shared).clone());
                Kind::Value(Value::Device(Box::new(column.into_tensor(device)?)))
            }
            Kind::Value(value) => Kind::Value(value.to_device(call, device)?),
            Kind::Tuple(items) => {
                Kind::Tuple(items.into_iter().map(|item| item.into_device(call, device)).collect::<Result<_>>()?)
            }
            Kind::Record(fields) => Kind::Record(fields.try_map_into(|item| item.into_device(call, device))?),
        }))
    }

    /// The item with each tensor replaced.
    pub(crate) fn try_map(&self, f: &mut impl FnMut(&Value) -> Result<Value>) -> Result<Self> {
        Ok(Self(match &self.0 {
            Kind::Value(value) => Kind::Value(f(value)?),
            Kind::Tuple(items) => Kind::Tuple(items.iter().map(|item| item.try_map(f)).collect::<Result<_>>()?),
            Kind::Record(fields) => Kind::Record(fields.try_map(|item| item.try_map(f))?),
        }))
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Value(value) => match value.view() {
                Some(view) => write!(f, "{} {}", value.dtype(), stack::text(&view)),
                None => write!(f, "{} on a device", value.dtype()),
            },
            Kind::Tuple(items) => f.debug_list().entries(items).finish(),
            Kind::Record(fields) => f.debug_map().entries(fields.iter()).finish(),
        }
    }
}
