//! Sorts of a row by keys.

use crate::error::Result;
use crate::graph::recorder::Recorder;
use crate::ops::{Row, SortBy, SortKeys};

impl<'a> From<&'a Row> for SortKeys<'a, Row> {
    fn from(key: &'a Row) -> Self {
        Self::one(key, false)
    }
}

impl<'a> SortBy for &'a Row {
    type Order = SortKeys<'a, Row>;
    fn descending(self) -> SortKeys<'a, Row> {
        SortKeys::one(self, true)
    }
}

/// Sorting by keys.
impl Row {
    /// The elements of the row in the order of one or several keys, which are rows of the same call.
    ///
    /// The dimensions of every key are the first dimensions of this row; its innermost dimension is sorted. Several keys,
    /// in a tuple, an array or a `Vec`, sort by the first, and where that is equal by the next. Orders, dtypes and costs
    /// are those of [`Tensor::sort_by`](crate::Tensor::sort_by). Stable; empty rows stay empty. Never waits.
    ///
    /// # Errors
    /// No key; keys of different ranks; a row or key that is a scalar; a key with more dimensions than the row or other
    /// row lengths (at the read where only the device knows them); a row of another call.
    ///
    /// ```
    /// use ragged::opt::descending;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![2, -3, 1], vec![], vec![4]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| row.sort_by(descending(&row.abs()?)))?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[-3, 2, 1], [], [4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Polars: `Expr.sort_by`.
    #[track_caller]
    pub fn sort_by<'a>(&self, keys: impl Into<SortKeys<'a, Self>>) -> Result<Self> {
        const OP: &str = "sort_by";
        self.axis(OP, -1)?;
        let keys = keys.into();
        let mut all = Vec::with_capacity(keys.keys().len());
        for &(key, is_descending) in keys.keys() {
            all.push((key.vector_of_same_call(OP, self)?, is_descending));
        }
        self.with(self.all.sorted_by(Recorder::new(self.all.backend(), OP), &all)?)
    }
}
