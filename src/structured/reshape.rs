//! Dimensions of records: merged, divided, added.

use super::StructuredTensor;
use crate::error::{Error, Result, caller, here};
use crate::graph::expr::Check;
use crate::integer::Integer;
use crate::shape::RowPartition;

/// Dimensions of the records.
impl StructuredTensor {
    /// Merges dimensions `outer_axis` to `inner_axis` of the records into one. Negative axes count from the back of the
    /// dimensions of the records.
    ///
    /// Empty rows of a merged dimension disappear. TensorFlow: `StructuredTensor.merge_dims`.
    ///
    /// # Errors
    /// An axis out of range for the records; `outer_axis` after `inner_axis`.
    ///
    /// # Cost
    /// A [`Tensor::merge_dims`](crate::Tensor::merge_dims) of each field: none from dimension 0 on, and otherwise a map
    /// over row splits; no pass over the values. Never waits.
    ///
    /// ```
    /// # #[cfg(feature = "json")] {
    /// use ragged::{Device, StructuredTensor};
    /// let json = serde_json::json!([[{"foo": 12}, {"foo": 33}], [], [{"foo": 99}]]);
    /// let records = StructuredTensor::from_serialize(&json, &Device::cpu())?.merge_dims(0, 1)?;
    /// assert_eq!(records.to_value()?, serde_json::json!([{"foo": 12}, {"foo": 33}, {"foo": 99}]));
    /// # }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn merge_dims(&self, outer_axis: impl Integer, inner_axis: impl Integer) -> Result<Self> {
        const OP: &str = "merge_dims";
        let first = self.shape.axis(OP, outer_axis.saturating_i64())?;
        let last = self.shape.axis(OP, inner_axis.saturating_i64())?;
        self.each(&|t| t.merge_dims(first, last)).map_err(here())
    }

    /// Divides the outermost dimension of the records into rows: the result has one more dimension. Rows of the
    /// partition without values are empty rows of records. TensorFlow: `StructuredTensor.partition_outer_dimension`.
    ///
    /// # Errors
    /// A single record; a partition of other than as many values as there are records, at the read where only the
    /// device knows; another device.
    ///
    /// # Cost
    /// No pass. Where only the device knows a number, one comparison, which the first read reports. Never waits.
    ///
    /// ```
    /// # #[cfg(feature = "json")] {
    /// use ragged::{Device, RowPartition, StructuredTensor};
    /// let device = Device::cpu();
    /// let json = serde_json::json!([{"foo": 12}, {"foo": 33}, {"foo": 99}]);
    /// let records = StructuredTensor::from_serialize(&json, &device)?;
    /// let rows = RowPartition::from_row_lengths(&[2, 0, 1], &device)?;
    /// assert_eq!(records.partition_outer_dimension(&rows)?.shape(), [Some(3), None]);
    /// # }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn partition_outer_dimension(&self, rows: &RowPartition) -> Result<Self> {
        const OP: &str = "partition_outer_dimension";
        if self.rank() == 0 {
            return Err(Error::argument(OP, "a single record has no dimension to divide"));
        }
        let there = self.shape.nrows_extent();
        let check = Check::new(OP, "the partition must have as many values as there are records");
        let location = caller();
        let differ = |(a, b)| Error::Partition {
            op: OP,
            what: format!("the partition has {a} values, but there are {b} records"),
            location,
        };
        let conditions = rows.nvals_extent().agrees(&there).condition(self.recorder(OP), check, differ)?;
        let conditions: Vec<_> = conditions.into_iter().collect();
        let mut out = self
            .each(&|t| t.under(rows.clone().with_nvals(there.clone()))?.on_condition(OP, &conditions))
            .map_err(here())?;
        out.shape.conditions.extend(conditions);
        Ok(out)
    }

    /// Inserts a dimension of size 1 as dimension `axis` of the records: 0 to the rank, or negative.
    ///
    /// # Errors
    /// An axis out of range.
    ///
    /// # Cost
    /// No pass. Waits where [`Tensor::expand_dims`](crate::Tensor::expand_dims) of a field does: along axis 0, where a
    /// field is dense and only the device knows the number of records.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape, StructuredTensor};
    /// let records = StructuredTensor::from_shape(&RaggedShape::dense(&[3], &Device::cpu())?)?;
    /// assert_eq!(records.expand_dims(1)?.shape(), [Some(3), Some(1)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.expand_dims`.
    #[track_caller]
    pub fn expand_dims(&self, axis: impl Integer) -> Result<Self> {
        const OP: &str = "expand_dims";
        let (given, rank) = (axis.saturating_i64(), self.rank() as i64 + 1);
        if given < -rank || given >= rank {
            return Err(Error::Axis { op: OP, axis: given, rank: rank as usize, location: caller() });
        }
        let axis = given.rem_euclid(rank);
        self.each(&|t| t.expand_dims(axis)).map_err(here())
    }
}
