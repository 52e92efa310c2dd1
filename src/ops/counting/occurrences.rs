//! Counts of integers without a counter per bin: those of the integers that occur.

use super::bin::sparse_bin;
use super::bincount::Counted;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::ops::options::Bins;
use crate::record::axes::Axes;
use crate::tensor::{Tensor, Values};

impl Counted {
    /// As [`Self::new`], along axis 0 or 1.
    ///
    /// # Errors
    /// A deeper axis.
    #[track_caller]
    pub(super) fn of_rows(op: &'static str, x: &Tensor, axis: &Axes) -> Result<Self> {
        let counted = Self::new(op, x, axis)?;
        if counted.partitions.is_empty() && counted.inner.is_empty() {
            return Ok(counted);
        }
        let what = "the axis must be 0, 1 or .. for a sparse result; merge the dimensions above it (merge_dims)";
        Err(Error::argument(op, what))
    }
}

impl Tensor {
    /// The values that occur along axis 0 or 1, and how often, in ascending order; see
    /// [`bincount_sparse`](Self::bincount_sparse).
    #[track_caller]
    pub(crate) fn occurrences(&self, op: &'static str, axis: &Axes, bins: Bins) -> Result<Occurrences> {
        let backend = self.backend();
        let rec = Recorder::new(backend, op);
        let counted = Counted::of_rows(op, self, axis)?;
        let bin = sparse_bin(op, self)?;
        let number = bins.reach(op, self, &bin)?;
        let keys = Values::Numbers(rec.map(counted.count.clone(), bin, &[]));
        let by_row = counted.outer.is_some();
        let mut keys = match by_row {
            true => {
                let rows = self.holding(keys)?.merged(1, self.rank() - 1)?;
                rows.inner_to_partitions(rows.inner().len())?
            }
            false => Self::new(backend, Vec::new(), Some(counted.count.clone()), [], keys)?,
        };
        if let (Some(_), Some(number)) = (bins.most, Scalar::U64(number).converted(keys.dtype())) {
            keys = keys.boolean_mask(&keys.less(number)?)?;
        }
        let (values, counts) = keys.unique_with_counts(-1)?;
        let counts = if bins.binary { counts.ones_like()? } else { counts };
        Ok(Occurrences { values, counts, bins: number, by_row })
    }

    /// The row that each value is counted in along axis 0 or 1, and the number of rows; `None` if all are counted
    /// together.
    #[track_caller]
    pub(crate) fn counted_rows(&self, op: &'static str, axis: &Axes) -> Result<Option<(Expr, Extent)>> {
        let counted = Counted::of_rows(op, self, axis)?;
        Ok(counted.outer.map(|_| (counted.group, counted.groups)))
    }

    /// The bin of each value, for counts that need no counter per bin, and the number of bins.
    #[track_caller]
    pub(crate) fn sparse_bins(&self, op: &'static str, bins: Bins) -> Result<(Expr, u64)> {
        let bin = sparse_bin(op, self)?;
        let number = bins.reach(op, self, &bin)?;
        Ok((bin, number))
    }
}

/// The values that occur, in ascending order: in all, or `[rows, (values)]`.
pub(crate) struct Occurrences {
    /// The values: u64 for 64-bit integers, u32 otherwise.
    pub(crate) values: Tensor,
    /// How often each occurs, i64.
    pub(crate) counts: Tensor,
    /// The number of bins.
    pub(crate) bins: u64,
    /// Whether the values are counted by row.
    pub(crate) by_row: bool,
}
