//! Records from values that implement `serde::Serialize`, among them `serde_json::Value`.

use serde::Serialize;

use super::assemble::{Dims, Dtypes};
use super::column::Column;
use super::serialize::{Unfit, Writer};
use crate::device::Device;
use crate::error::{Error, Result, caller, here};
use crate::structured::{FieldValue, StructuredTensor};

const OP: &str = "from_serialize";

impl FieldValue {
    /// A tensor of numbers, truth values or strings, or records: from a `serde_json::Value`, or from any value that
    /// implements `serde::Serialize`.
    ///
    /// Maps and structs become records, lists dimensions: of records, or of the values in a field. One list is a dense
    /// dimension, any further one is ragged. Integers are i32 where all of a field fit, else i64 or u64; floats are
    /// f32, as are fields of both, and lists without a value. An enum is its variant's name, or a record with one field
    /// of that name. One upload per field, and one per list dimension.
    ///
    /// TensorFlow: `StructuredTensor.from_pyval`.
    ///
    /// # Errors
    /// With the path: records of one list with different fields; values of different types or depths in one field;
    /// null; a name that is empty, a number, or given twice; an integer of more than 64 bits; values nested deeper
    /// than 128 levels. More values than the device can hold; a dtype that it lacks.
    ///
    /// ```
    /// use ragged::{Device, FieldValue};
    /// let x = FieldValue::from_serialize(&[vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_serialize(value: &(impl Serialize + ?Sized), device: &Device) -> Result<Self> {
        let location = caller();
        let mut column = Column::default();
        let written = value.serialize(Writer { column: &mut column, depth: 0 });
        written.map_err(|Unfit { trail, what }| Error::Record {
            op: OP,
            line: None,
            path: trail.to_string(),
            what,
            location,
        })?;
        column.into_field(Dims::default(), device, Dtypes::Narrow).map_err(|e| e.of(OP).at(location))
    }
}

impl StructuredTensor {
    /// Records from a `serde_json::Value`, or from any value that implements `serde::Serialize`: a map or a struct, or
    /// lists of them to any depth. See [`FieldValue::from_serialize`], which also takes lists of values.
    ///
    /// [`to_value`](Self::to_value) gives the value back.
    ///
    /// TensorFlow: `StructuredTensor.from_pyval`.
    ///
    /// # Errors
    /// As [`FieldValue::from_serialize`]; a value without records.
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
        match FieldValue::from_serialize(value, device)? {
            FieldValue::Records(records) => Ok(records),
            FieldValue::Tensor(t) => {
                let what = format!("the value holds no records, but is a tensor of shape {}", t.shape_text());
                Err(Error::argument(OP, what)).map_err(here())
            }
        }
    }
}
