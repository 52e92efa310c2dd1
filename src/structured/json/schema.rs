//! Schemas of records that exist.

use super::json_type::JsonType;
use crate::structured::{FieldValue, StructuredTensor};

/// JSON and serde: schema.
impl StructuredTensor {
    /// The type of the records, with the dtype of each field: a schema for
    /// [`from_serialize_with_schema`](Self::from_serialize_with_schema), and for
    /// [`JsonLines::with_schema`](crate::JsonLines::with_schema). Each dimension of the records is a list, uniform or
    /// ragged. Reads nothing.
    ///
    /// TensorFlow: `StructuredTensor.Spec`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let tokens = RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields_and_rank([("tokens", &tokens)], 1)?;
    /// assert_eq!(records.schema().to_string(), "[{tokens: [i32]}]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn schema(&self) -> JsonType {
        lists(self.rank(), self.record_type())
    }

    /// The type of one record.
    fn record_type(&self) -> JsonType {
        JsonType::record(self.fields.iter().map(|(name, field)| (name.clone(), field.type_below(self.rank()))))
    }
}

/// JSON and serde: schema.
impl FieldValue {
    /// The type of the value, with its dtype or with those of its fields.
    ///
    /// Each dimension is a list, uniform or ragged. A schema for
    /// [`from_serialize_with_schema`](Self::from_serialize_with_schema). Reads nothing.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor};
    /// let tokens = RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu())?;
    /// assert_eq!(FieldValue::from(&tokens).schema().to_string(), "[[i32]]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn schema(&self) -> JsonType {
        self.type_below(0)
    }

    /// The type of the elements below the first `rank` dimensions.
    fn type_below(&self, rank: usize) -> JsonType {
        let of = match self {
            Self::Tensor(tensor) => tensor.dtype().into(),
            Self::Records(records) => records.record_type(),
        };
        lists(self.rank().saturating_sub(rank), of)
    }
}

/// Lists of `depth` levels.
fn lists(depth: usize, of: JsonType) -> JsonType {
    (0..depth).fold(of, |of, _| JsonType::list(of))
}
