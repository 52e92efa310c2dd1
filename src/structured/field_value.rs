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

impl FieldValue {
    /// The tensor.
    ///
    /// # Errors
    /// The value consists of nested records.
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

    /// The nested records.
    ///
    /// # Errors
    /// The value is a tensor.
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

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        match self {
            Self::Tensor(tensor) => tensor.rank(),
            Self::Records(records) => records.rank(),
        }
    }

    /// The host-known shape, as [`Tensor::shape`] and [`StructuredTensor::shape`].
    pub fn shape(&self) -> Vec<Option<usize>> {
        match self {
            Self::Tensor(tensor) => tensor.shape(),
            Self::Records(records) => records.shape(),
        }
    }

    /// The device that the value lives on.
    pub fn device(&self) -> Device {
        match self {
            Self::Tensor(tensor) => tensor.device(),
            Self::Records(records) => records.device(),
        }
    }

    /// The part that the keys select, as [`StructuredTensor::get`]; a tensor takes the items of [`Tensor::slice`].
    ///
    /// # Errors
    /// As [`StructuredTensor::get`] and [`Tensor::slice`]; the name of a field for a tensor.
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
