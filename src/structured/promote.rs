//! Promotion of a field to the records above its own.

use std::sync::Arc;

use super::{FieldPath, FieldValue, StructuredTensor};
use crate::error::{Error, Result, here};

const OP: &str = "promote";

/// Promotion of nested fields.
impl StructuredTensor {
    /// The records with a copy of the field at `path` one level higher, as field `name` of the records that hold those
    /// of the field. Dimensions that only the inner records have merge into the next one: the `tokens` of every doc of
    /// a record become one list per record.
    ///
    /// The dtype stays, and empty records leave empty lists. TensorFlow: `StructuredTensor.promote`.
    ///
    /// # Errors
    /// A path of fewer than two names; a field that does not exist; a name that is empty or a number.
    ///
    /// # Cost
    /// A [`Tensor::merge_dims`](crate::Tensor::merge_dims) of the field: a map over row splits, and none over the
    /// values. Never waits.
    ///
    /// ```
    /// # #[cfg(feature = "json")] {
    /// use ragged::{Device, StructuredTensor};
    /// let json = serde_json::json!([
    ///     {"docs": [{"tokens": [1, 2]}, {"tokens": [3]}]},
    ///     {"docs": [{"tokens": [7]}]},
    /// ]);
    /// let records = StructuredTensor::from_serialize(&json, &Device::cpu())?.promote(["docs", "tokens"], "all")?;
    /// assert_eq!(records.field_value("all")?.tensor()?.to_string(), "<ragged.RaggedTensor [[1, 2, 3], [7]]>");
    /// # }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn promote(&self, path: impl Into<FieldPath>, name: impl Into<Arc<str>>) -> Result<Self> {
        let path = path.into();
        let [above @ .., _, _] = path.names() else {
            let what = format!("the path must have at least two names, but is {path}: its field has no records above");
            return Err(Error::argument(OP, what));
        };
        let value = self.at(OP, path.names())?;
        let rank = self.at(OP, above)?.rank();
        let parent = self.at(OP, &path.names()[..path.names().len() - 1])?.rank();
        let last = parent.min(value.rank().saturating_sub(1));
        let value = if last <= rank { value } else { merged(&value, rank, last).map_err(here())? };
        let mut target = above.to_vec();
        target.push(name.into());
        self.with_field(&target.into(), value)
    }
}

/// The value with dimensions `first` to `last` merged.
#[track_caller]
fn merged(value: &FieldValue, first: usize, last: usize) -> Result<FieldValue> {
    Ok(match value {
        FieldValue::Tensor(tensor) => tensor.merge_dims(first, last)?.into(),
        FieldValue::Records(records) => records.each(&|t| t.merge_dims(first, last))?.into(),
    })
}
