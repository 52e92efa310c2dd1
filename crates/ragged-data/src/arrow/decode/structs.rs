//! Structs: records.

use arrow_array::{Array, StructArray};
use arrow_buffer::NullBuffer;
use ragged::{RaggedShape, Result, StructuredTensor};

use super::{Decoder, Level, Masked};

impl Decoder<'_> {
    /// Records of the fields.
    pub(super) fn structs(&self, array: &StructArray, nulls: Option<&NullBuffer>, level: &Level) -> Result<Masked> {
        // The fields of a null struct are null.
        let outer = self.emptied(nulls);
        let mut fields = Vec::new();
        let mut masks = Vec::new();
        for (field, column) in array.fields().iter().zip(array.columns()) {
            let value = self.value(column, &level.field(field.name(), outer.cloned()))?;
            fields.push((field.name().as_str(), value.value));
            masks.extend(value.masks);
        }
        let records = if fields.is_empty() {
            StructuredTensor::from_shape(&RaggedShape::dense(&[array.len()], self.device)?)?
        } else {
            StructuredTensor::from_fields(fields, [array.len()])?
        };
        Ok(self.masked(records.clone().into(), nulls, level)?.above(Masked { value: records.into(), masks }))
    }
}
