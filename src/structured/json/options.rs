//! Options of the conversion to records, for JSON lines and for values that implement `serde::Serialize`.

use serde::Serialize;

use super::batch::Parsing;
use super::json_type::JsonType;
use super::visit::Rules;
use crate::device::Device;
use crate::error::{Error, Result, here};
use crate::setters::setters;
use crate::structured::{FieldValue, StructuredTensor};

/// Types of records, and what becomes of nulls and of values that do not fit: options of
/// [`StructuredTensor::from_serialize_with`] and of [`JsonLines`](crate::JsonLines::with_options).
///
/// ```
/// use ragged::{DType, JsonOptions, JsonType};
/// let options = JsonOptions::default().schema(JsonType::list(DType::F64)).default_nulls(true);
/// assert!(options.default_nulls && !options.skip_misfits);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonOptions {
    /// The types. Parts that are [`JsonType::Inferred`], which is the default, are inferred.
    pub schema: JsonType,
    /// Whether null, and a field that is missing, is the default value of its type: 0, false, the empty string, the
    /// empty list, the record of default values. Otherwise it does not fit. The type of an inferred field must be known
    /// from an earlier value.
    pub default_nulls: bool,
    /// Whether records of the outermost list, or lines, that do not fit are left out. Otherwise they are an error.
    pub skip_misfits: bool,
    /// Whether fields that neither the schema nor the first record has are left out. Otherwise they do not fit.
    pub ignore_unknown_fields: bool,
}

setters! {
    impl[] JsonOptions {
        schema: into JsonType;
        default_nulls: bool;
        skip_misfits: bool;
        ignore_unknown_fields: bool;
    }
}

impl Default for JsonOptions {
    /// Types are inferred; what does not fit is an error.
    fn default() -> Self {
        Self { schema: JsonType::Inferred, default_nulls: false, skip_misfits: false, ignore_unknown_fields: false }
    }
}

impl JsonOptions {
    pub(super) fn parsing(&self) -> Parsing {
        let rules = Rules { ignore_unknown: self.ignore_unknown_fields, default_nulls: self.default_nulls };
        Parsing { rules, skip: self.skip_misfits }
    }
}

/// Conversion from values, with options.
impl FieldValue {
    /// A tensor or records, with [`JsonOptions`]: from a `serde_json::Value`, or from any value that implements
    /// `serde::Serialize`.
    ///
    /// Besides what [`from_serialize`](Self::from_serialize) does, the options give a schema of some or all parts, default
    /// values in place of nulls and missing fields, and leave out records that do not fit and fields that are unknown. The
    /// default of a number is 0, of a list the empty one. Parts without a type in the schema are inferred.
    ///
    /// # Errors
    /// With the path, unless the options admit the value: a value of another type than the schema's: a float for an
    /// integer, a number beyond the dtype, a field that is missing or unknown; records of one list with different fields;
    /// null. A null of an inferred type that no earlier value shows; an integer of more than 64 bits; values nested deeper
    /// than 128 levels. A schema with a field whose name is empty, a number, or given twice. More values than the device
    /// can hold; a dtype that it lacks.
    ///
    /// # Cost
    /// One upload per field, and one per list dimension.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, JsonOptions};
    /// let ages = [Some(12), None, Some(82)];
    /// let x = FieldValue::from_serialize_with(&ages, &JsonOptions::default().default_nulls(true), &Device::cpu())?;
    /// assert_eq!(x.to_string(), "tensor([12, 0, 82], shape=(3,), dtype=i32)");
    /// let known = FieldValue::from_serialize_with(&ages, &JsonOptions::default().skip_misfits(true), &Device::cpu())?;
    /// assert_eq!(known.to_string(), "tensor([12, 82], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_serialize_with(
        value: &(impl Serialize + ?Sized),
        options: &JsonOptions,
        device: &Device,
    ) -> Result<Self> {
        const OP: &str = "FieldValue::from_serialize_with";
        let column = options.schema.column().map_err(|what| Error::argument(OP, what)).map_err(here())?;
        Self::of_column(OP, column, value, options.parsing(), device)
    }
}

/// Conversion from values, with options.
impl StructuredTensor {
    /// Records, with [`JsonOptions`](crate::JsonOptions): from a `serde_json::Value`, or from any value that implements
    /// `serde::Serialize`.
    ///
    /// Besides what [`from_serialize`](Self::from_serialize) does, the options give a schema of some or all parts, default
    /// values in place of nulls and missing fields, and leave out records that do not fit and fields that are unknown. The
    /// default of a number is 0, of a list the empty one. Parts without a type in the schema are inferred.
    ///
    /// # Errors
    /// A value without records. With the path, unless the options admit the value: a value of another type than the
    /// schema's: a float for an integer, a number beyond the dtype, a field that is missing or unknown; records of one
    /// list with different fields; null. A null of an inferred type that no earlier value shows; an integer of more than
    /// 64 bits; values nested deeper than 128 levels. A schema with a field whose name is empty, a number, or given twice.
    /// More values than the device can hold; a dtype that it lacks.
    ///
    /// # Cost
    /// One upload per field, and one per list dimension.
    ///
    /// ```
    /// use ragged::{Device, JsonOptions, StructuredTensor};
    /// #[derive(serde::Serialize)]
    /// struct Person {
    ///     age: Option<u8>,
    ///     names: Option<Vec<&'static str>>,
    /// }
    /// let people = [Person { age: Some(12), names: Some(vec!["Ada"]) }, Person { age: None, names: None }];
    /// assert!(StructuredTensor::from_serialize(&people, &Device::cpu()).is_err());
    /// let options = JsonOptions::default().default_nulls(true);
    /// let records = StructuredTensor::from_serialize_with(&people, &options, &Device::cpu())?;
    /// assert_eq!(records.to_value()?, serde_json::json!([{"age": 12, "names": ["Ada"]}, {"age": 0, "names": []}]));
    /// let options = JsonOptions::default().skip_misfits(true);
    /// let records = StructuredTensor::from_serialize_with(&people, &options, &Device::cpu())?;
    /// assert_eq!(records.to_value()?, serde_json::json!([{"age": 12, "names": ["Ada"]}]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_serialize_with(
        value: &(impl Serialize + ?Sized),
        options: &JsonOptions,
        device: &Device,
    ) -> Result<Self> {
        const OP: &str = "StructuredTensor::from_serialize_with";
        FieldValue::from_serialize_with(value, options, device).map_err(|e| e.of(OP))?.of_records(OP)
    }
}
