//! Values of fields: tensors or nested records.

use std::fmt;

use super::{Key, RecordKeys, StructuredTensor};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::ops::Index;
use crate::tensor::Tensor;

/// The value of a field: a tensor, or nested records.
#[derive(Clone)]
#[non_exhaustive]
pub enum FieldValue {
    /// A tensor of any dtype.
    Tensor(Tensor),
    /// Nested records.
    Records(StructuredTensor),
}

/// Tensor or records, and their parts.
impl FieldValue {
    /// The tensor that the value is.
    ///
    /// Its first dimensions are those of the records that have the field. No pass, no copy.
    ///
    /// # Errors
    /// The value consists of nested records.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor, StructuredTensor};
    /// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
    /// let value = FieldValue::from(&x);
    /// assert_eq!(value.tensor()?.to_string(), "tensor([1, 2], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn tensor(self) -> Result<Tensor> {
        match self {
            Self::Tensor(tensor) => Ok(tensor),
            Self::Records(records) => {
                let names = records.field_names().collect::<Vec<_>>().join(", ");
                Err(Error::argument("tensor", format!("the value consists of records with the fields {names}")))
            }
        }
    }

    /// The nested records that the value consists of.
    ///
    /// Their first dimensions are those of the records that have the field. No pass, no copy.
    ///
    /// # Errors
    /// The value is a tensor.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor, StructuredTensor};
    /// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
    /// let value = FieldValue::from(StructuredTensor::from_fields_and_rank([("x", &x)], 1)?);
    /// assert_eq!(value.records()?.field_names().collect::<Vec<_>>(), ["x"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn records(self) -> Result<StructuredTensor> {
        match self {
            Self::Records(records) => Ok(records),
            Self::Tensor(t) => {
                let what = format!("the value is a tensor of {} of shape {}", t.dtype(), t.shape_text());
                Err(Error::argument("records", what))
            }
        }
    }

    /// Number of dimensions: of the tensor, or of the records.
    ///
    /// Known on the host: no pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor, StructuredTensor};
    /// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
    /// let value = FieldValue::from(&x);
    /// assert_eq!(value.rank(), 1);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        match self {
            Self::Tensor(tensor) => tensor.rank(),
            Self::Records(records) => records.rank(),
        }
    }

    /// The host-known shape: the size of each uniform dimension of the tensor, or of the records; none for a ragged
    /// dimension, or where only the device knows the size.
    ///
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor, StructuredTensor};
    /// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
    /// let value = FieldValue::from(&x);
    /// assert_eq!(value.shape(), [Some(2)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn shape(&self) -> Vec<Option<usize>> {
        match self {
            Self::Tensor(tensor) => tensor.shape(),
            Self::Records(records) => records.shape(),
        }
    }

    /// The device that the value lives on.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor, StructuredTensor};
    /// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
    /// let value = FieldValue::from(&x);
    /// assert!(value.device().is_cpu());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn device(&self) -> Device {
        match self {
            Self::Tensor(tensor) => tensor.device(),
            Self::Records(records) => records.device(),
        }
    }

    /// The part that the keys select: items of a slice, one per dimension, and names of fields in between.
    ///
    /// A tensor takes items alone, which it treats as [`Tensor::slice`] does; nested records take what
    /// [`StructuredTensor::get`] takes. No keys give the value itself. Costs a [`Tensor::slice`] of each selected
    /// field.
    ///
    /// # Errors
    /// The name of a field for a tensor; a name that no field has; a name after other than one item for each dimension
    /// of the records; an item out of range or beyond the dimensions, at the read where only the device knows the
    /// sizes.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor, keys};
    /// let value = FieldValue::from(&RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?);
    /// assert_eq!(value.get(keys![0, 1])?.tensor()?.to_string(), "tensor(2, shape=(), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn get<'a>(&self, keys: impl RecordKeys<'a>) -> Result<Self> {
        match self {
            Self::Records(records) => records.get(keys),
            Self::Tensor(tensor) => {
                let mut items = Vec::new();
                for key in keys.as_ref() {
                    match key {
                        Key::Index(item) => items.push(*item),
                        Key::Field(name) => {
                            let what = format!("a tensor of shape {} has no field {name:?}", tensor.shape_text());
                            return Err(Error::argument("get", what));
                        }
                    }
                }
                // A tensor without items is the tensor itself.
                let items: &[Index<'_>] = &items;
                if items.is_empty() {
                    Ok(self.clone())
                } else {
                    tensor.slice(items).map(Self::Tensor).map_err(|e| e.of("get"))
                }
            }
        }
    }
}

impl From<StructuredTensor> for FieldValue {
    fn from(records: StructuredTensor) -> Self {
        Self::Records(records)
    }
}
impl From<&StructuredTensor> for FieldValue {
    fn from(records: &StructuredTensor) -> Self {
        Self::Records(records.clone())
    }
}
impl From<Tensor> for FieldValue {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}
impl<X: AsRef<Tensor>> From<&X> for FieldValue {
    fn from(tensor: &X) -> Self {
        Self::Tensor(tensor.as_ref().clone())
    }
}

impl fmt::Debug for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor(tensor) => fmt::Debug::fmt(tensor, f),
            Self::Records(records) => fmt::Debug::fmt(records, f),
        }
    }
}
