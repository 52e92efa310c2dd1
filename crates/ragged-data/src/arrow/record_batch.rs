//! Record batches, from and to records.

use arrow_array::{RecordBatch, StructArray};
use arrow_schema::{DataType, SchemaRef};
use ragged::operation::named;
use ragged::{Device, Result, StructuredTensor};

use super::decode::{Decoder, Policy};
use super::encode::encode;
use super::{Masked, Nulls};
use crate::fault::argument;

/// Makes records of a record batch.
pub trait FromRecordBatch: Sized {
    /// The batch as records, with a field for each column. Nulls are errors.
    ///
    /// # Errors
    /// As [`FromArrow::from_arrow`](super::FromArrow::from_arrow); two columns of one name.
    ///
    /// # Cost
    /// As [`FromArrow::from_arrow`](super::FromArrow::from_arrow).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray};
    /// use ragged::{Device, StructuredTensor};
    /// use ragged_data::arrow::FromRecordBatch;
    /// let name: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    /// let price: ArrayRef = Arc::new(Float32Array::from(vec![0.5, 1.5]));
    /// let batch = RecordBatch::try_from_iter([("price", price), ("name", name)]).unwrap();
    /// let records = StructuredTensor::from_record_batch(&batch, &Device::cpu())?;
    /// assert_eq!(records.field::<f32>("price")?.to_vec()?, [0.5, 1.5]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn from_record_batch(batch: &RecordBatch, device: &Device) -> Result<Self> {
        Self::from_record_batch_with(batch, Nulls::Error, device)
    }

    /// As [`Self::from_record_batch`], with a choice of what nulls become.
    ///
    /// # Errors
    /// As [`Self::from_record_batch`].
    ///
    /// # Cost
    /// As [`Self::from_record_batch`]; numbers and strings with nulls are copied.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Int32Array, RecordBatch};
    /// use ragged::{Device, StructuredTensor};
    /// use ragged_data::arrow::{FromRecordBatch, Nulls};
    /// let id: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None]));
    /// let batch = RecordBatch::try_from_iter([("id", id)]).unwrap();
    /// let records = StructuredTensor::from_record_batch_with(&batch, Nulls::Empty, &Device::cpu())?;
    /// assert_eq!(records.field::<i32>("id")?.to_vec()?, [7, 0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn from_record_batch_with(batch: &RecordBatch, nulls: Nulls, device: &Device) -> Result<Self>;

    /// As [`Self::from_record_batch`], with the masks of nulls beside the records.
    ///
    /// # Errors
    /// As [`Self::from_record_batch`], but for nulls.
    ///
    /// # Cost
    /// As [`Self::from_record_batch`], and a byte for each value of a level with nulls.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Int32Array, RecordBatch};
    /// use ragged::{Device, StructuredTensor};
    /// use ragged_data::arrow::{FromRecordBatch};
    /// let id: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None]));
    /// let batch = RecordBatch::try_from_iter([("id", id)]).unwrap();
    /// let records = StructuredTensor::from_record_batch_masked(&batch, &Device::cpu())?;
    /// assert_eq!(records.mask("id").unwrap().to_vec()?, [true, false]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn from_record_batch_masked(batch: &RecordBatch, device: &Device) -> Result<Masked<Self>>;
}

impl FromRecordBatch for StructuredTensor {
    #[track_caller]
    fn from_record_batch_with(batch: &RecordBatch, nulls: Nulls, device: &Device) -> Result<Self> {
        let policy = match nulls {
            Nulls::Error => Policy::Error,
            Nulls::Empty => Policy::Empty,
        };
        named("from_record_batch", || {
            Decoder { policy, device }.value_of(&StructArray::from(batch.clone()))?.value.records()
        })
    }

    #[track_caller]
    fn from_record_batch_masked(batch: &RecordBatch, device: &Device) -> Result<Masked<Self>> {
        named("from_record_batch_masked", || {
            let value = Decoder { policy: Policy::Mask, device }.value_of(&StructArray::from(batch.clone()))?;
            value.try_map(|value| value.records())
        })
    }
}

/// Makes a record batch of records.
pub trait ToRecordBatch {
    /// The records as a record batch, with a column for each field, in their order.
    ///
    /// # Errors
    /// Records of other than one dimension; as [`ToArrow::to_arrow`](super::ToArrow::to_arrow).
    ///
    /// # Cost
    /// As [`ToArrow::to_arrow`](super::ToArrow::to_arrow).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// use ragged_data::arrow::ToRecordBatch;
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu())?;
    /// let batch = StructuredTensor::from_fields_and_rank([("x", &x)], 1)?.to_record_batch()?;
    /// assert_eq!((batch.num_rows(), batch.schema().field(0).name().as_str()), (2, "x"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn to_record_batch(&self) -> Result<RecordBatch>;

    /// The records as a record batch of this schema, with its types and the order of its columns.
    ///
    /// # Errors
    /// Records of other than one dimension; as [`ToArrow::to_arrow_as`](super::ToArrow::to_arrow_as).
    ///
    /// # Cost
    /// As [`ToArrow::to_arrow_as`](super::ToArrow::to_arrow_as).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_schema::{DataType, Field, Schema};
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// use ragged_data::arrow::ToRecordBatch;
    /// let (id, day) = (RaggedTensor::from_nested([7u64, 8], &Device::cpu())?, RaggedTensor::from_nested([1, 2], &Device::cpu())?);
    /// let records = StructuredTensor::from_fields([("day", day.erased()), ("id", id.erased())], [2])?;
    /// let fields = vec![Field::new("id", DataType::UInt64, false), Field::new("day", DataType::Date32, false)];
    /// let schema = Arc::new(Schema::new(fields));
    /// assert_eq!(records.to_record_batch_as(&schema)?.schema(), schema);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn to_record_batch_as(&self, schema: &SchemaRef) -> Result<RecordBatch>;
}

impl ToRecordBatch for StructuredTensor {
    #[track_caller]
    fn to_record_batch(&self) -> Result<RecordBatch> {
        named("to_record_batch", || batch(self, None))
    }

    #[track_caller]
    fn to_record_batch_as(&self, schema: &SchemaRef) -> Result<RecordBatch> {
        named("to_record_batch_as", || {
            let columns = batch(self, Some(&DataType::Struct(schema.fields().clone())))?;
            columns.with_schema(schema.clone()).map_err(|e| argument(e.to_string()))
        })
    }
}

fn batch(records: &StructuredTensor, data_type: Option<&DataType>) -> Result<RecordBatch> {
    if records.rank() != 1 {
        let what = format!("a record batch has records of 1 dimension, but these have {}", records.rank());
        return Err(argument(what));
    }
    let array = encode(&records.into(), data_type)?;
    let structs = array.as_any().downcast_ref::<StructArray>();
    structs.map(RecordBatch::from).ok_or_else(|| argument("records are structs"))
}
