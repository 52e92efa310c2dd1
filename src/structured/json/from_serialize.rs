//! Records from values that implement `serde::Serialize`, among them `serde_json::Value`.

use serde::Serialize;

use super::assemble::{Dims, Dtypes};
use super::batch::Parsing;
use super::column::Column;
use super::json_type::JsonType;
use super::serialize::{Unfit, Writer};
use crate::device::Device;
use crate::error::{Error, Result, caller, here};
use crate::structured::{FieldValue, StructuredTensor};

/// JSON and serde: construction.
impl FieldValue {
    /// A tensor of numbers, truth values or strings, or records: from a `serde_json::Value`, or from any value that
    /// implements `serde::Serialize`.
    ///
    /// Maps and structs become records, lists dimensions: of records, or of the values in a field. One list is a dense
    /// dimension, any further one is ragged. An enum is its variant's name, or a record with one field of that name.
    /// One upload per field, and one per list dimension.
    ///
    /// Dtypes follow from the values of each field, not from the types of Rust: integers are i32 where all of a field
    /// fit, else i64 or u64; floats are f32, or f64 where one exceeds the range of f32, as are fields of integers and
    /// floats; lists without a value are f32, also where other batches have records in them. So batches of one program
    /// can differ in dtypes, and 0.1 is rounded to f32.
    /// [`from_serialize_with_schema`](Self::from_serialize_with_schema) determines the dtypes.
    ///
    /// TensorFlow: `StructuredTensor.from_pyval`.
    ///
    /// # Errors
    /// With the path: records of one list with different fields; values of different types or depths in one field;
    /// null, unless [`from_serialize_with`](Self::from_serialize_with) has default values; a name that is empty, a
    /// number, or given twice; an integer of more than 64 bits; values nested deeper than 128 levels. More values than
    /// the device can hold; a dtype that it lacks.
    ///
    /// ```
    /// use ragged::{Device, FieldValue};
    /// let x = FieldValue::from_serialize(&[vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_serialize(value: &(impl Serialize + ?Sized), device: &Device) -> Result<Self> {
        Self::of_column("FieldValue::from_serialize", Column::default(), value, Parsing::default(), device)
    }

    /// A tensor or records of the types of a schema: from a `serde_json::Value`, or from any value that implements
    /// `serde::Serialize`.
    ///
    /// Maps and structs become records, lists dimensions, as in [`from_serialize`](Self::from_serialize), which infers
    /// the types. With a schema they are the same for every batch, lists without a value included. Parts that are
    /// [`JsonType::Inferred`] are inferred. [`schema`](Self::schema) of one batch is a schema for the next ones. One
    /// upload per field, and one per list dimension.
    ///
    /// TensorFlow: `StructuredTensor.from_pyval(pyval, typespec)`.
    ///
    /// # Errors
    /// With the path: a value of another type than the schema's: a float for an integer, a number beyond the dtype, a
    /// field that is missing or unknown; records of one list with different fields; null; an integer of more than 64
    /// bits; values nested deeper than 128 levels. A schema with a field whose name is empty, a number, or given twice.
    /// More values than the device can hold; a dtype that it lacks.
    ///
    /// ```
    /// use ragged::{DType, Device, FieldValue, JsonType};
    /// let device = Device::cpu();
    /// let schema = JsonType::list(JsonType::list(DType::F64));
    /// let x = FieldValue::from_serialize_with_schema(&[[0.1].as_slice(), &[]], &schema, &device)?;
    /// assert_eq!(x.tensor()?.dtype(), DType::F64);
    /// let none = FieldValue::from_serialize_with_schema(&[[0i32; 0]; 2], &schema, &device)?;
    /// assert_eq!(none.tensor()?.dtype(), DType::F64);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_serialize_with_schema(
        value: &(impl Serialize + ?Sized),
        schema: &JsonType,
        device: &Device,
    ) -> Result<Self> {
        const OP: &str = "FieldValue::from_serialize_with_schema";
        let column = schema.column().map_err(|what| Error::argument(OP, what)).map_err(here())?;
        Self::of_column(OP, column, value, Parsing::default(), device)
    }

    /// The value of a column without values, which gets this one.
    #[track_caller]
    pub(super) fn of_column(
        op: &'static str,
        mut column: Column,
        value: &(impl Serialize + ?Sized),
        parsing: Parsing,
        device: &Device,
    ) -> Result<Self> {
        let location = caller();
        let written = value.serialize(Writer { column: &mut column, depth: 0, parsing });
        written.map_err(|Unfit { trail, what }| Error::Record {
            op,
            line: None,
            path: trail.to_string(),
            what,
            location,
        })?;
        column.into_field(Dims::default(), device, Dtypes::Narrow).map_err(|e| e.of(op).at(location))
    }
}

/// JSON and serde: construction.
impl StructuredTensor {
    /// Records from a `serde_json::Value`, or from any value that implements `serde::Serialize`: a map or a struct, or
    /// lists of them to any depth.
    ///
    /// Lists become dimensions of the records, and of the values in a field: the first is dense, any further one
    /// ragged. An enum is its variant's name, or a record with one field of that name. [`FieldValue::from_serialize`],
    /// which also takes lists of values, says how dtypes follow from the values of the batch;
    /// [`from_serialize_with_schema`](Self::from_serialize_with_schema) determines them. [`to_value`](Self::to_value)
    /// gives the value back, with floats as f32 holds them.
    ///
    /// TensorFlow: `StructuredTensor.from_pyval`.
    ///
    /// # Errors
    /// A value without records.
    /// With the path: records of one list with different fields; values of different types or depths in one field;
    /// null; a name that is empty, a number, or given twice; an integer of more than 64 bits; values nested deeper
    /// than 128 levels. More values than the device can hold; a dtype that it lacks.
    ///
    /// # Cost
    /// A pass over the value on the host, one upload per field, and one per list dimension. Never waits.
    ///
    /// ```
    /// use ragged::{Device, StructuredTensor};
    /// #[derive(serde::Serialize)]
    /// struct Person {
    ///     age: u8,
    ///     names: Vec<&'static str>,
    /// }
    /// let people = [Person { age: 12, names: vec!["Ada"] }, Person { age: 82, names: vec![] }];
    /// let records = StructuredTensor::from_serialize(&people, &Device::cpu())?;
    /// assert_eq!(records.shape(), [Some(2)]);
    /// assert_eq!(records.to_value()?, serde_json::json!([{"age": 12, "names": ["Ada"]}, {"age": 82, "names": []}]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_serialize(value: &(impl Serialize + ?Sized), device: &Device) -> Result<Self> {
        const OP: &str = "StructuredTensor::from_serialize";
        FieldValue::from_serialize(value, device).map_err(|e| e.of(OP))?.of_records(OP)
    }

    /// Records of the types of a schema: from a `serde_json::Value`, or from any value that implements
    /// `serde::Serialize`.
    ///
    /// Maps and structs become records, lists dimensions, as in [`from_serialize`](Self::from_serialize), which infers
    /// the types. With a schema they are the same for every batch, lists without a value included. Parts that are
    /// [`JsonType::Inferred`] are inferred. [`schema`](Self::schema) of one batch is a schema for the next ones.
    ///
    /// TensorFlow: `StructuredTensor.from_pyval(pyval, typespec)`.
    ///
    /// # Errors
    /// A value without records. With the path: a value of another type than the schema's: a float for an integer, a
    /// number beyond the dtype, a field that is missing or unknown; records of one list with different fields; null; an
    /// integer of more than 64 bits; values nested deeper than 128 levels. A schema with a field whose name is empty, a
    /// number, or given twice. More values than the device can hold; a dtype that it lacks.
    ///
    /// # Cost
    /// A pass over the value on the host, one upload per field, and one per list dimension. Never waits.
    ///
    /// ```
    /// use ragged::{DType, Device, JsonType, StructuredTensor};
    /// use serde_json::json;
    /// let device = Device::cpu();
    /// let schema = JsonType::list(JsonType::record([
    ///     ("price", JsonType::from(DType::F64)),
    ///     ("docs", JsonType::list(JsonType::record([("tokens", JsonType::list(DType::U32))]))),
    /// ]));
    /// let batch = json!([{"price": 0.1, "docs": [{"tokens": [1, 2]}]}, {"price": 2, "docs": []}]);
    /// let records = StructuredTensor::from_serialize_with_schema(&batch, &schema, &device)?;
    /// assert_eq!(records.to_value()?[0], batch[0]);
    ///
    /// // A batch without a document has the same types.
    /// let empty = json!([{"price": 1.5, "docs": []}]);
    /// let empty = StructuredTensor::from_serialize_with_schema(&empty, &records.schema(), &device)?;
    /// assert_eq!(empty.schema(), records.schema());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_serialize_with_schema(
        value: &(impl Serialize + ?Sized),
        schema: &JsonType,
        device: &Device,
    ) -> Result<Self> {
        const OP: &str = "StructuredTensor::from_serialize_with_schema";
        FieldValue::from_serialize_with_schema(value, schema, device).map_err(|e| e.of(OP))?.of_records(OP)
    }
}

impl FieldValue {
    /// The records of a value that was serialized.
    #[track_caller]
    pub(super) fn of_records(self, op: &'static str) -> Result<StructuredTensor> {
        match self {
            Self::Records(records) => Ok(records),
            Self::Tensor(t) => {
                let what = format!("the value holds no records, but is a tensor of shape {}", t.shape_text());
                Err(Error::argument(op, what))
            }
        }
    }
}
