//! Equality of records.

use super::{FieldValue, StructuredTensor};
use crate::error::{Result, here};
use crate::graph::recorder::Recorder;
use crate::ops::Comparison;

const OP: &str = "equals";

/// Comparison.
impl StructuredTensor {
    /// Whether both are equal as wholes: in the shape of the records, in the names of the fields, and in the dtype, the
    /// layout and all values of each field.
    ///
    /// A NaN equals nothing, as in [`Tensor::equals`](crate::Tensor::equals). The order in which fields were given does
    /// not matter.
    ///
    /// # Errors
    /// Different devices; the first failed device-side check that either depends on; a lost device.
    ///
    /// # Cost
    /// A pass over the values of all fields together: one wait, one more where only the device knows the layouts, and
    /// none where the host knows a difference.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor, Update};
    /// let device = Device::cpu();
    /// let id = RaggedTensor::from_nested([7, 8], &device)?;
    /// let records = StructuredTensor::from_fields_and_rank([("id", &id)], 1)?;
    /// assert!(records.equals(&StructuredTensor::from_fields([("id", &id)], [2])?)?);
    /// assert!(!records.equals(&records.with_updates([Update::set("id", &(&id + 1)?)])?)?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `StructuredTensor.__eq__`.
    #[track_caller]
    pub fn equals(&self, other: &Self) -> Result<bool> {
        let rec = self.recorder(OP);
        let mut comparison = Comparison::new(rec);
        Ok(compare_records(&mut comparison, self, other)? && comparison.decide().map_err(here())?)
    }
}

/// Comparison.
impl FieldValue {
    /// Whether both are equal tensors ([`Tensor::equals`](crate::Tensor::equals)) or equal records
    /// ([`StructuredTensor::equals`]).
    ///
    /// A tensor never equals records; a NaN equals nothing. One pass over the values and one wait, one more where only
    /// the device knows the layouts, and none where the host knows a difference.
    ///
    /// # Errors
    /// Different devices; the first failed device-side check that either depends on; a lost device.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor};
    /// let id = RaggedTensor::from_nested([7, 8], &Device::cpu())?;
    /// assert!(FieldValue::from(&id).equals(&FieldValue::from(&(&id + 0)?))?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn equals(&self, other: &Self) -> Result<bool> {
        let backend = match self {
            Self::Tensor(tensor) => tensor.backend(),
            Self::Records(records) => &records.shape.backend,
        };
        let rec = Recorder::new(backend, OP);
        let mut comparison = Comparison::new(rec);
        Ok(compare(&mut comparison, self, other)? && comparison.decide().map_err(here())?)
    }
}

/// Adds the comparison of two values of fields. False if the host knows that they differ.
#[track_caller]
fn compare(comparison: &mut Comparison, a: &FieldValue, b: &FieldValue) -> Result<bool> {
    match (a, b) {
        (FieldValue::Tensor(a), FieldValue::Tensor(b)) => comparison.tensors(a, b),
        (FieldValue::Records(a), FieldValue::Records(b)) => compare_records(comparison, a, b),
        _ => Ok(false),
    }
}

/// Adds the comparison of records. False if the host knows that they differ.
#[track_caller]
fn compare_records(comparison: &mut Comparison, a: &StructuredTensor, b: &StructuredTensor) -> Result<bool> {
    if !comparison.shapes(&a.shape, &b.shape)?
        || !a.fields.by_name().map(|(name, _)| name).eq(b.fields.by_name().map(|(name, _)| name))
    {
        return Ok(false);
    }
    for ((_, a), (_, b)) in a.fields.by_name().zip(b.fields.by_name()) {
        if !compare(comparison, a, b)? {
            return Ok(false);
        }
    }
    Ok(true)
}
