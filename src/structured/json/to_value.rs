//! Records as JSON values, and as anything that implements `serde::Deserialize`.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::backend::host_memory::counted_allocations;
use crate::error::{Error, Result, caller};
use crate::structured::{FieldValue, StructuredTensor};
use crate::tensor::{HostTensor, Nested, Tensor, to_host};

const OP: &str = "to_value";

/// A field in host memory.
enum HostField {
    Tensor(HostTensor),
    Records {
        /// A tensor with one element per record.
        records: HostTensor,
        fields: Vec<(Arc<str>, HostField)>,
    },
}

/// JSON and serde: reads.
impl FieldValue {
    /// Reads the value as JSON: lists of the elements, records as objects.
    ///
    /// A list for each dimension; empty rows are empty lists. [`from_serialize`](Self::from_serialize) takes it back.
    /// One submission for all fields, and one wait. TensorFlow: `StructuredTensor.to_pyval`.
    ///
    /// # Errors
    /// With the path: NaN and infinities, byte strings that are no UTF-8, all of which JSON lacks. No host memory for
    /// the values. The first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor};
    /// let value = FieldValue::from(&RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu())?);
    /// assert_eq!(value.to_value()?, serde_json::json!([[1, 2], []]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_value(&self) -> Result<Value> {
        let call = caller();
        let mut tensors = Vec::new();
        collect(self, &mut tensors).map_err(|e| e.at(call))?;
        let mut read = to_host(tensors).map_err(|e| e.at(call))?.into_iter();
        let host = host_field(self, &mut read);
        let _counted = counted_allocations(self.device().backend(), OP, host.json_bytes()).map_err(|e| e.at(call))?;
        host.value(0, 0).map_err(|Unfit { path, what }| {
            let path = path.into_iter().rev().collect::<Vec<_>>().join(".");
            Error::Record { op: OP, line: None, path, what, location: call }
        })
    }

    /// Reads the value as any type that implements `serde::Deserialize`, such as nested vectors.
    ///
    /// The type gets the JSON of [`to_value`](Self::to_value): lists of the elements, records as maps. One submission
    /// for all fields, and one wait.
    ///
    /// # Errors
    /// Values that the type does not take. With the path: NaN and infinities, byte strings that are no UTF-8, all of
    /// which JSON lacks. No host memory for the values. The first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor};
    /// let value = FieldValue::from(&RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu())?);
    /// assert_eq!(value.deserialize::<Vec<Vec<u8>>>()?, [vec![1, 2], vec![]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T> {
        let value = self.to_value()?;
        let location = caller();
        serde_json::from_value(value).map_err(|e| Error::Record {
            op: "deserialize",
            line: None,
            path: String::new(),
            what: e.to_string(),
            location,
        })
    }
}

/// JSON and serde: reads.
impl StructuredTensor {
    /// Reads the records as JSON: an object per record, in lists for the dimensions.
    ///
    /// A single record is one object; empty rows are empty lists. [`from_serialize`](Self::from_serialize) takes the
    /// value back. One submission for all fields, and one wait. TensorFlow: `StructuredTensor.to_pyval`.
    ///
    /// # Errors
    /// With the path: NaN and infinities, byte strings that are no UTF-8, all of which JSON lacks. No host memory for
    /// the values. The first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let a = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields([("a", &a)], [3])?;
    /// assert_eq!(records.to_value()?, serde_json::json!([{"a": 1}, {"a": 2}, {"a": 3}]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_value(&self) -> Result<Value> {
        FieldValue::from(self).to_value()
    }

    /// Reads the records, once, and iterates over the outermost dimension: each record as a JSON object, each row of
    /// records as a list. [`deserialize`](Self::deserialize) gives structs, [`row_at`](Self::row_at) a record on the
    /// device.
    ///
    /// # Errors
    /// A single record; as [`FieldValue::to_value`].
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let id = RaggedTensor::from_nested([7, 8], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields([("id", &id)], [2])?;
    /// let mut ids = Vec::new();
    /// for record in records.rows()? {
    ///     ids.push(record["id"].as_i64());
    /// }
    /// assert_eq!(ids, [Some(7), Some(8)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn rows(&self) -> Result<impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + Send + use<>> {
        if self.rank() == 0 {
            return Err(Error::argument("rows", "a single record has no rows"));
        }
        match self.to_value()? {
            Value::Array(rows) => Ok(rows.into_iter()),
            other => unreachable!("bug: records of rank {} are {other}", self.rank()),
        }
    }

    /// Reads the records as any type that implements `serde::Deserialize`, such as a vector of structs.
    ///
    /// The type gets the JSON of [`to_value`](Self::to_value): a map per record, in lists for the dimensions. One
    /// submission for all fields, and one wait.
    ///
    /// # Errors
    /// Values that the type does not take. With the path: NaN and infinities, byte strings that are no UTF-8, all of
    /// which JSON lacks. No host memory for the values. The first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// #[derive(serde::Deserialize, PartialEq, Debug)]
    /// struct Row {
    ///     a: i32,
    /// }
    /// let a = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields([("a", &a)], [2])?;
    /// assert_eq!(records.deserialize::<Vec<Row>>()?, [Row { a: 1 }, Row { a: 2 }]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T> {
        FieldValue::from(self).deserialize()
    }
}

/// Adds the tensors to read, in the order of [`host_field`].
#[track_caller]
fn collect(field: &FieldValue, out: &mut Vec<Tensor>) -> Result<()> {
    match field {
        FieldValue::Tensor(tensor) => out.push(tensor.clone()),
        FieldValue::Records(records) => {
            out.push(records.skeleton()?);
            records.fields.values().try_for_each(|field| collect(field, out))?;
        }
    }
    Ok(())
}

/// The field of the tensors that were read.
fn host_field(field: &FieldValue, read: &mut impl Iterator<Item = HostTensor>) -> HostField {
    let next = read.next().expect("bug: every tensor was read");
    match field {
        FieldValue::Tensor(_) => HostField::Tensor(next),
        FieldValue::Records(records) => {
            let fields = records.fields.iter().map(|(name, field)| (name.clone(), host_field(field, read)));
            HostField::Records { records: next, fields: fields.collect() }
        }
    }
}

/// A value that JSON lacks: its path, innermost name first, and the reason.
struct Unfit {
    path: Vec<String>,
    what: String,
}

/// Bytes per object of JSON and per name in it: a node of a tree has room for eleven names.
const OBJECT_BYTES: u64 = 704;

impl HostField {
    /// Bytes of all values as JSON: an upper bound, with the allocator's rounding.
    fn json_bytes(&self) -> u64 {
        let value = size_of::<Value>() as u64;
        match self {
            Self::Tensor(tensor) => tensor.nested_bytes(value),
            Self::Records { records, fields } => {
                let objects = fields.iter().map(|(name, _)| name.len() as u64 + 16).sum::<u64>()
                    + (fields.len() as u64).div_ceil(5) * OBJECT_BYTES;
                let all =
                    (records.values.len() as u64).saturating_mul(objects).saturating_add(records.nested_bytes(value));
                fields.iter().fold(all, |sum, (_, field)| sum.saturating_add(field.json_bytes()))
            }
        }
    }

    /// The element at position `at` of dimension `dim - 1`.
    fn value(&self, dim: usize, at: usize) -> Result<Value, Unfit> {
        let (shape, is_element) = match self {
            Self::Tensor(tensor) => (tensor, dim == tensor.rank()),
            Self::Records { records, .. } => (records, dim == records.rank()),
        };
        if !is_element {
            return shape.children(dim, at).map(|child| self.value(dim + 1, child)).collect();
        }
        match self {
            Self::Tensor(tensor) => {
                scalar(tensor.values.nested_at(at)).map_err(|what| Unfit { path: Vec::new(), what })
            }
            Self::Records { fields, .. } => {
                let member = |(name, field): &(Arc<str>, Self)| match field.value(dim, at) {
                    Ok(value) => Ok((name.to_string(), value)),
                    Err(mut unfit) => {
                        unfit.path.push(name.to_string());
                        Err(unfit)
                    }
                };
                fields.iter().map(member).collect::<Result<Map<_, _>, _>>().map(Value::Object)
            }
        }
    }
}

/// One value as JSON.
fn scalar(value: Nested) -> Result<Value, String> {
    let float = |v: f64| Number::from_f64(v).map(Value::Number).ok_or_else(|| format!("JSON has no {v}"));
    match value {
        Nested::Bool(v) => Ok(v.into()),
        Nested::Int(v) => match (i64::try_from(v), u64::try_from(v)) {
            (Ok(v), _) => Ok(v.into()),
            (_, Ok(v)) => Ok(v.into()),
            _ => Err(format!("the integer {v} needs more than 64 bits")),
        },
        Nested::Float32(v) => float(v.into()),
        Nested::Float(v) => float(v),
        Nested::Str(v) => match String::from_utf8(v) {
            Ok(v) => Ok(v.into()),
            Err(e) => Err(format!("the string {:?} is no UTF-8", String::from_utf8_lossy(e.as_bytes()))),
        },
        // A position that does not exist.
        Nested::List(_) => Ok(Value::Array(Vec::new())),
    }
}
