//! Gathering of records by index.

use super::StructuredTensor;
use crate::error::{Error, Result, here};
use crate::ops::GatherIndices;
use crate::ops::IntoGatherIndices;

/// Records by index.
impl StructuredTensor {
    /// The records at `indices` along a dimension of the records, the outermost by default.
    ///
    /// [`along`](crate::opt::along)`(&indices, axis)` names another dimension;
    /// [`batched`](crate::opt::batched)`(&indices, dims)` gathers batch by batch. The dimensions of the indices take
    /// the place of the gathered one. An empty row of indices gives an empty row of records.
    ///
    /// TensorFlow: `tf.gather`.
    ///
    /// # Errors
    /// A single record; an axis out of range for the records; indices that are no integers, or on another device; an
    /// index out of range, at the read.
    ///
    /// # Cost
    /// A [`Tensor::gather`] of each field: a map over its values, which fuses into its consumer, and a scan per ragged
    /// dimension below. Waits where that of a field does.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor, keys};
    /// let device = Device::cpu();
    /// let id = RaggedTensor::from_nested([7, 8, 9], &device)?;
    /// let records = StructuredTensor::from_fields_and_rank([("id", &id)], 1)?;
    /// let picked = records.gather(&RaggedTensor::from_nested([2, 0, 0], &device)?)?;
    /// assert_eq!(picked.field_value("id")?.tensor()?.to_string(), "tensor([9, 7, 7], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// [`Tensor::gather`]: crate::Tensor::gather
    #[track_caller]
    pub fn gather<'a>(&self, indices: impl IntoGatherIndices<'a>) -> Result<Self> {
        const OP: &str = "gather";
        let GatherIndices { indices, axis, batch_dims } = indices.into();
        if self.rank() == 0 {
            return Err(Error::argument(OP, "a single record has no dimension to gather from"));
        }
        let batch_dims = if batch_dims < 0 { batch_dims + indices.rank() as i64 } else { batch_dims };
        let axis = self.shape.axis(OP, axis.unwrap_or(batch_dims))?;
        let along = GatherIndices { indices, axis: Some(axis as i64), batch_dims };
        self.each(&|t| t.gather(along)).map_err(here())
    }
}
