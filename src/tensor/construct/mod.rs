//! Factories: construct a ragged tensor from values and an encoding of rows.
//!
//! Shared code is in this file. The other files hold the public names of one kind of encoding each: checked and
//! unchecked, on `Tensor` and on `RaggedTensor`.

/// What the factories of an encoding cost, for their pages on both types.
macro_rules! cost {
    (encoded) => {
        "No pass over the values of a tensor, which are not copied; values of the host are uploaded. Integers of the \
         host are checked there and uploaded as row splits; those on the device take a prefix sum and the checks. Never \
         waits."
    };
    (encoded unchecked) => {
        "No pass over the values of a tensor, which are not copied; values of the host are uploaded. Integers of the \
         host are uploaded as row splits; those on the device take a prefix sum, so that no integers cause accesses out \
         of bounds. Never waits."
    };
    (row ids) => {
        "No pass over the values of a tensor, which are not copied; values of the host are uploaded. Ids of the host \
         are checked and counted there, and uploaded as row splits; those on the device take a map over the ids, a \
         search per row, a prefix sum and the checks. Never waits."
    };
    (row ids unchecked) => {
        "No pass over the values of a tensor, which are not copied; values of the host are uploaded. Ids of the host \
         are counted there and uploaded as row splits; those on the device take a map over the ids, a search per row \
         and a prefix sum. Never waits."
    };
    (uniform $(unchecked)?) => {
        "No pass over the values of a tensor, which are not copied; values of the host are uploaded. Where only the \
         device knows their number, one comparison there. Never waits."
    };
}

mod encodings;
mod rowids;
mod uniform;

use super::Tensor;
use super::integers::Integers;
use super::partition::{Making, Trust, encoded, from_rowids, uniform};
use crate::device::Device;
use crate::error::{Error, Result, here};
use crate::graph::extent::Extent;
use crate::graph::node::Rows;
use crate::shape::{Encoding, RowPartition};

/// Construction from row encodings.
impl Tensor {
    /// The number of rows of the values to partition.
    ///
    /// # Errors
    /// A scalar, which has no rows.
    #[track_caller]
    fn divisible(&self, op: &'static str) -> Result<Extent> {
        if self.rank() == 0 {
            return Err(Error::argument(op, "values must have rank 1 or more, but are a scalar"));
        }
        Ok(self.nrows_extent())
    }

    /// Partitions these values into the rows that `given` encodes.
    #[track_caller]
    fn divided(&self, m: Making<'_>, encoding: Encoding, given: Integers<'_>) -> Result<Self> {
        self.under(encoded(m, encoding, given, Some(&self.divisible(m.rec.op)?))?)
    }

    /// Partitions these values by the row of each.
    #[track_caller]
    fn divided_by_rowids(&self, m: Making<'_>, ids: Integers<'_>, nrows: Option<i64>) -> Result<Self> {
        self.under(from_rowids(m, ids, nrows, Some(&self.divisible(m.rec.op)?))?)
    }

    /// Partitions these values into rows of one length.
    #[track_caller]
    fn divided_evenly(&self, m: Making<'_>, len: i64, nrows: Option<i64>) -> Result<Self> {
        let (partition, asserts) = uniform(m, len, nrows, &self.divisible(m.rec.op)?)?;
        self.on_condition(m.rec.op, &asserts)?.under(partition)
    }

    /// Partitions these values at several levels, outermost first.
    #[track_caller]
    fn divided_deeply<L>(
        &self,
        levels: impl DoubleEndedIterator<Item = L> + ExactSizeIterator,
        one: impl Fn(&Self, L) -> Result<Self>,
    ) -> Result<Self> {
        levels
            .enumerate()
            .rev()
            .try_fold(self.clone(), |values, (level, given)| {
                one(&values, given).map_err(|e| match e {
                    Error::Partition { op, what, location } => {
                        Error::Partition { op, what: format!("at level {level}, {what}"), location }
                    }
                    other => other,
                })
            })
            .map_err(here())
    }

    /// The tensor of `flat_values` under these partitions, outermost first. Each must have as many values as the next
    /// has rows; where the host does not know the counts, a device-side check compares them. The partitions are shared,
    /// so that tensors made of the same ones are known to have equal shapes. TensorFlow:
    /// the private `tf.RaggedTensor._from_nested_row_partitions`.
    ///
    /// # Errors
    /// A scalar as values; a partition whose number of values is not the number of rows below it; another device.
    ///
    /// # Cost
    /// No pass: values and partitions are shared, not copied. Where only the device knows a count, one comparison
    /// there. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, RowPartition, Tensor};
    /// let device = Device::cpu();
    /// let rows = RowPartition::from_row_lengths(&[2, 0, 1], &device)?;
    /// let values = RaggedTensor::from_nested([1, 2, 3], &device)?;
    /// let x = Tensor::from_row_partitions(&values, &[rows])?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_row_partitions(flat_values: &impl AsRef<Self>, partitions: &[RowPartition]) -> Result<Self> {
        const OP: &str = "from_row_partitions";
        let flat_values = flat_values.as_ref();
        let m = Making::new(flat_values.backend(), OP, Trust::Check);
        partitions
            .iter()
            .rev()
            .try_fold(flat_values.clone(), |values, p| {
                if let Rows::Splits(node) = p.rows() {
                    Device::check_same(OP, node.backend(), m.rec.backend)?;
                }
                let asserts = m.same_count(p.nvals_extent(), &values.divisible(OP)?)?;
                values.on_condition(OP, &asserts)?.under(p.clone())
            })
            .map_err(here())
    }
}
