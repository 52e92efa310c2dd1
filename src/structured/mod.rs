//! Records: named fields over one shape, stored field by field.

mod agreement;
mod concat;
mod display;
mod each;
mod equality;
mod field_path;
mod field_value;
mod from_fields;
mod gather;
mod get;
#[cfg(feature = "json")]
mod json;
mod keys;
mod len;
mod like;
mod promote;
mod record_shape;
mod reshape;
mod rows;
mod updates;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::device::Device;
use crate::error::Result;
use crate::shape::{RaggedShape, RowPartition};
use crate::tensor::Tensor;

pub use field_path::FieldPath;
pub use field_value::FieldValue;
#[cfg(feature = "json")]
pub use json::{Batches, JsonLines, JsonOptions, JsonType, Misfit};
pub use keys::{Key, RecordKeys};
pub use record_shape::RecordShape;
pub use updates::Update;

/// The fields of records, in the order of their names.
type Fields = BTreeMap<Arc<str>, FieldValue>;

/// Records of named fields over one shape, which may be ragged.
///
/// ```text
/// [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": []}]      two records: shape [2]
///     id    [1, 2]                                            a field is one tensor for all records
///     tags  [["a", "b"], []]                                  its first dimensions are those of the records
/// ```
///
/// A field is a [`Tensor`] of any dtype or another `StructuredTensor`. Records of shape `[d1, .., dn]` have fields of
/// shape `[d1, .., dn, ..]`: element `[i1, .., in]` of a field belongs to the record at `[i1, .., in]`. The row
/// partitions of the records are also the outermost partitions of every field that has them.
///
/// Immutable and cheap to clone. Operations record; reads compute, as with tensors. The feature `json` (on by default)
/// adds the conversion from and to JSON, from anything that implements `serde::Serialize`, and [`JsonLines`].
///
/// TensorFlow: `tf.experimental.StructuredTensor`.
///
/// ```
/// use ragged::{Device, FieldValue, RaggedTensor, StructuredTensor, keys};
///
/// let device = Device::cpu();
/// let id = RaggedTensor::from_nested([1, 2], &device)?;
/// let tags = RaggedTensor::from_nested([vec!["a", "b"], vec![]], &device)?;
/// let records = StructuredTensor::from_fields_and_rank([("id", FieldValue::from(&id)), ("tags", (&tags).into())], 1)?;
/// assert_eq!(records.shape(), [Some(2)]);
/// assert_eq!(records.get(keys![0, "tags"])?.tensor()?.to_string(), "tensor([b'a', b'b'], shape=(2,), dtype=str)");
/// # Ok::<(), ragged::Error>(())
/// ```
#[cfg_attr(not(feature = "json"), doc = "\n[`JsonLines`]: crate")]
#[derive(Clone)]
pub struct StructuredTensor {
    /// The shape of the records: one partition per dimension but the outermost, no inner dimensions.
    shape: RaggedShape,
    fields: Fields,
}

impl StructuredTensor {
    /// Number of dimensions of the records; 0 for a single record.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The host-known shape: the size of each uniform dimension; none for a ragged dimension, or where only the device
    /// knows the size. Dimensions of fields below those of the records are not part of it.
    pub fn shape(&self) -> Vec<Option<usize>> {
        self.shape.sizes()
    }

    /// The shape of the records, with their row partitions.
    pub fn ragged_shape(&self) -> &RaggedShape {
        &self.shape
    }

    /// The row partitions of the records, outermost first: one fewer than dimensions, none for a single record. Uniform
    /// dimensions are uniform partitions.
    pub fn row_partitions(&self) -> &[RowPartition] {
        self.shape.row_partitions()
    }

    /// The device that the records live on.
    pub fn device(&self) -> Device {
        self.shape.device()
    }

    /// The names of the fields, sorted.
    pub fn field_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.fields.keys().map(|name| &**name)
    }

    /// The fields with their names, sorted by name.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &FieldValue)> {
        self.fields.iter().map(|(name, field)| (&**name, field))
    }

    /// Number of records of the outermost dimension, as an i64 scalar; none for a single record. One map, no wait.
    ///
    /// # Errors
    /// More than 2^32 - 2 records.
    #[track_caller]
    pub fn nrows(&self) -> Result<Option<Tensor>> {
        if self.rank() == 0 { Ok(None) } else { self.skeleton()?.nrows().map(Some) }
    }

    /// Number of records, as an i64 scalar. One map, no wait. TensorFlow: `tf.size`.
    ///
    /// # Errors
    /// More than 2^32 - 2 records.
    #[track_caller]
    pub fn size(&self) -> Result<Tensor> {
        self.skeleton()?.size()
    }

    /// The tensors of all fields, with those of nested records, in the order of [`fields`](Self::fields).
    fn leaves(&self) -> Vec<&Tensor> {
        let mut out = Vec::new();
        for field in self.fields.values() {
            match field {
                FieldValue::Tensor(tensor) => out.push(tensor),
                FieldValue::Records(records) => out.extend(records.leaves()),
            }
        }
        out
    }

    /// Computes all fields now, on their device, in one submission, as [`eval`](crate::eval).
    ///
    /// # Errors
    /// As [`eval`](crate::eval).
    #[track_caller]
    pub fn eval(&self) -> Result<()> {
        crate::tensor::eval(self.leaves())
    }
}

#[cfg(test)]
mod tests;
