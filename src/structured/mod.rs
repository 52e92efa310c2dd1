//! Records: named fields over one shape, stored field by field.

mod agreement;
mod concat;
mod display;
mod each;
mod equality;
mod field_path;
mod field_value;
mod fields;
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

use crate::device::Device;
use crate::error::Result;
use crate::graph::recorder::Recorder;
use crate::shape::{RaggedShape, RowPartition};
use crate::tensor::Tensor;
use fields::Fields;

pub use field_path::FieldPath;
pub use field_value::FieldValue;
#[cfg(feature = "json")]
pub use json::{Batches, JsonLines, JsonOptions, JsonType, Misfit};
pub use keys::{Key, RecordKeys};
pub use record_shape::RecordShape;
pub use updates::Update;

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

/// Parts, sizes and evaluation.
impl StructuredTensor {
    /// Number of dimensions of the records; 0 for a single record.
    ///
    /// Known on the host: no pass, no wait. TensorFlow: `StructuredTensor.rank`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &Device::cpu())?;
    /// let docs = StructuredTensor::from_fields_and_rank([("words", &words)], 1)?;
    /// assert_eq!((docs.rank(), docs.get(ragged::keys![0])?.rank()), (1, 0));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The host-known shape: the size of each uniform dimension; none for a ragged dimension, or where only the device
    /// knows the size.
    ///
    /// Dimensions of fields below those of the records are not part of it. No pass, no wait. TensorFlow:
    /// `StructuredTensor.shape`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &Device::cpu())?;
    /// let docs = StructuredTensor::from_fields_and_rank([("words", &words)], 1)?;
    /// assert_eq!(docs.shape(), [Some(2)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn shape(&self) -> Vec<Option<usize>> {
        self.shape.sizes()
    }

    /// The shape of the records, with their row partitions.
    ///
    /// It has a partition for each dimension but the outermost, and no inner dimensions. No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &Device::cpu())?;
    /// let docs = StructuredTensor::from_fields_and_rank([("words", &words)], 1)?;
    /// assert_eq!(docs.ragged_shape().sizes(), [Some(2)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn ragged_shape(&self) -> &RaggedShape {
        &self.shape
    }

    /// The row partitions of the records, outermost first: one fewer than dimensions, none for a single record.
    ///
    /// Uniform dimensions are uniform partitions. The fields share them. No pass, no wait. TensorFlow:
    /// `StructuredTensor.row_partitions`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &Device::cpu())?;
    /// let words = StructuredTensor::from_fields_and_rank([("word", &words)], 2)?;
    /// assert_eq!(words.row_partitions()[0].nvals(), Some(3));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn row_partitions(&self) -> &[RowPartition] {
        self.shape.row_partitions()
    }

    /// The device that the records live on.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &Device::cpu())?;
    /// let docs = StructuredTensor::from_fields_and_rank([("words", &words)], 1)?;
    /// assert!(docs.device().is_cpu());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn device(&self) -> Device {
        self.shape.device()
    }

    /// The names of the fields, in the order in which they were given.
    ///
    /// Those of nested records are not among them. TensorFlow: `StructuredTensor.field_names`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &Device::cpu())?;
    /// let docs = StructuredTensor::from_fields_and_rank([("words", &words)], 1)?;
    /// assert_eq!(docs.field_names().collect::<Vec<_>>(), ["words"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn field_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.fields.keys().map(|name| &**name)
    }

    /// The fields with their names, in the order in which they were given.
    ///
    /// A value is a tensor or nested records. No pass, no wait. [`field_value`](Self::field_value) gives one by its
    /// name or path.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &Device::cpu())?;
    /// let docs = StructuredTensor::from_fields_and_rank([("words", &words)], 1)?;
    /// assert!(docs.fields().all(|(name, value)| name == "words" && value.rank() == 2));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &FieldValue)> {
        self.fields.iter().map(|(name, field)| (&**name, field))
    }

    /// Number of records of the outermost dimension, as an i64 scalar; none for a single record.
    ///
    /// [`len`](Self::len) reads the number. TensorFlow: `StructuredTensor.nrows`.
    ///
    /// # Errors
    /// More than 2^32 - 2 records.
    ///
    /// # Cost
    /// One map. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &Device::cpu())?;
    /// let docs = StructuredTensor::from_fields_and_rank([("words", &words)], 1)?;
    /// assert_eq!(docs.nrows()?.unwrap().to_string(), "tensor(2, shape=(), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn nrows(&self) -> Result<Option<Tensor>> {
        if self.rank() == 0 { Ok(None) } else { self.skeleton()?.nrows().map(Some) }
    }

    /// Number of records in all dimensions, as an i64 scalar.
    ///
    /// TensorFlow: `tf.size`.
    ///
    /// # Errors
    /// More than 2^32 - 2 records.
    ///
    /// # Cost
    /// One map. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &Device::cpu())?;
    /// let words = StructuredTensor::from_fields_and_rank([("word", &words)], 2)?;
    /// assert_eq!(words.size()?.to_string(), "tensor(3, shape=(), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn size(&self) -> Result<Tensor> {
        self.skeleton()?.size()
    }

    /// The recorder of a call of the method `op`, at the line of the caller.
    #[track_caller]
    fn recorder(&self, op: &'static str) -> Recorder<'_> {
        Recorder::new(&self.shape.backend, op)
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

    /// Computes all fields now, on their device, without waiting for the results.
    ///
    /// One submission, in which shared arrays are computed once, as by [`eval`](crate::eval). Waits only for sizes
    /// whose upper bounds would take much memory.
    ///
    /// # Errors
    /// A request that the device rejects. Device-side checks are reported by reads.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &Device::cpu())?;
    /// let docs = StructuredTensor::from_fields_and_rank([("words", &words)], 1)?;
    /// docs.eval()?;
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn eval(&self) -> Result<()> {
        crate::tensor::eval(self.leaves())
    }
}

#[cfg(test)]
mod tests;
