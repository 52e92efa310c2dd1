//! Counts and sizes of a row.

use crate::error::{Error, Result};
use crate::integer::Integer;
use crate::ops::{Bins, HistogramRange, IntoAxes, IntoOperand, MaxLength, Operand, Row, RowOperand};
use crate::record::axes::Axes;
use crate::tensor::Tensor;

/// Sizes and counts.
impl Row {
    /// Number of elements of the row, as an i64 scalar.
    ///
    /// Dimensions below the outermost are included. An empty row has size 0, a scalar size 1.
    ///
    /// # Errors
    /// 2^32 - 1 elements or more.
    ///
    /// # Cost
    /// One map over the rows; for rows of rows, a reduction. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let sizes: RaggedTensor<i64> = x.map_rows(|row| row.size())?;
    /// assert_eq!(sizes.to_vec()?, [2, 0, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.size`.
    ///
    /// Awkward: `ak.count`.
    #[track_caller]
    pub fn size(&self) -> Result<Self> {
        match self.rank() {
            0 => self.constant(1i64),
            rank => Ok(self.with(with_partitions(&self.all.merged(1, rank)?)?.row_lengths(1)?)),
        }
    }

    /// Lengths of the rows of dimension `axis` of the row, i64: a scalar for axis 0, and one length per row for
    /// a deeper axis.
    ///
    /// The result has the dimensions above the axis. Any dtype. An empty row has length 0.
    ///
    /// # Errors
    /// An axis out of range; a dimension that is uniform in all rows and the host knows as such, which has no partition.
    ///
    /// # Cost
    /// One map over the rows. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![], vec![vec![3]]], &Device::cpu())?;
    /// let lengths: RaggedTensor<i64> = x.map_rows(|row| row.row_lengths(1))?;
    /// assert_eq!(lengths.to_string(), "<ragged.RaggedTensor [[2, 0], [], [1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.RaggedTensor.row_lengths`.
    ///
    /// Awkward: `ak.num`.
    ///
    /// Polars: `list.len`.
    #[track_caller]
    pub fn row_lengths(&self, axis: impl Integer) -> Result<Self> {
        let axis = self.axis("row_lengths", axis.saturating_i64())?;
        Ok(self.with(self.all.row_lengths(axis)?))
    }

    /// The number of occurrences of each of the integers from 0 to `bins - 1` in the row: along `axis` and all axes
    /// below it, or in the whole row (`..`).
    ///
    /// Axis 0 or `..` gives a vector of counts, a deeper axis one for each row of the row. The counts are i32. Values
    /// beyond the last bin are not counted. Floats must be whole numbers. An empty row counts nothing.
    ///
    /// # Errors
    /// A number of bins that is not given: it would depend on the row, so that rows would differ in shape. Byte strings;
    /// an axis out of range, or several; 2^32 - 1 counts or more. At the read: negative values, floats that are not whole
    /// numbers.
    ///
    /// # Cost
    /// One pass over the values. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 1, 2], vec![], vec![0]], &Device::cpu())?;
    /// let counts: RaggedTensor<i32> = x.map_rows(|row| row.bincount(.., 3))?;
    /// assert_eq!(counts.to_vec()?, [0, 2, 1, 0, 0, 0, 1, 0, 0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.math.bincount`.
    #[track_caller]
    pub fn bincount(&self, axis: impl IntoAxes, bins: impl Into<Bins>) -> Result<Self> {
        const OP: &str = "bincount";
        let bins = given_bins(OP, bins.into())?;
        Ok(self.with(self.as_counted()?.bincount(self.count_axes(OP, axis.into())?, bins)?))
    }

    /// The sum of the weights of the occurrences of each of the integers from 0 to `bins - 1` in the row: along `axis` and
    /// all axes below it, or in the whole row (`..`).
    ///
    /// Axis 0 or `..` gives a vector of sums, a deeper axis one for each row of the row. `weights` is a row of the same
    /// call with the shape of this row; its dtype is that of the result. Integers wrap, NaN propagates, and bins without
    /// values hold 0. Values beyond the last bin are not counted. Sums have the same bits on every backend.
    ///
    /// # Errors
    /// A number of bins that is not given, or [`binary`](crate::opt::binary) bins; byte strings; an axis out of range, or
    /// several; 2^32 - 1 sums or more; weights of another shape, of another call, of bools or byte strings. At the read:
    /// negative values, floats that are not whole numbers.
    ///
    /// # Cost
    /// Up to 512 bins in all rows together: one pass over the values and the weights. More bins: a stable sort of the
    /// values, and a reduction of the weights. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 1, 0], vec![0]], &device)?;
    /// let w = RaggedTensor::from_nested([vec![0.5f32, 1.0, 2.0], vec![4.0]], &device)?;
    /// let sums = Tensor::map_rows_of(&[x.erased(), w.erased()], |rows| rows[0].bincount_weighted(&rows[1], .., 2))?;
    /// assert_eq!(sums.to_string(), "tensor([[2.0, 1.5], [4.0, 0.0]], shape=(2, 2), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.math.bincount(…, weights=…)`.
    #[track_caller]
    pub fn bincount_weighted(&self, weights: &Self, axis: impl IntoAxes, bins: impl Into<Bins>) -> Result<Self> {
        const OP: &str = "bincount_weighted";
        let bins = given_bins(OP, bins.into())?;
        weights.of_same_call(OP, self)?;
        let axes = self.count_axes(OP, axis.into())?;
        Ok(self.with(self.as_counted()?.bincount_weighted(&weights.as_counted()?, axes, bins)?))
    }

    /// The number of values in each of `bins` bins of equal width over `range`: along `axis` and all axes below it, or in
    /// the whole row (`..`).
    ///
    /// Axis 0 or `..` gives a vector of counts, a deeper axis one for each row of the row. The counts are i32. A bin
    /// includes its lower bound; `low..=high` includes `high` in the last one. Values outside the range are not
    /// counted, or with [`clamped`](crate::opt::clamped)`(range)` in the first and the last bin. NaN is not counted,
    /// and an empty row counts nothing. Values are compared as by [`Tensor::histogram`].
    ///
    /// # Errors
    /// Byte strings; an axis out of range, or several; no bins; a range that is not finite or not ascending, or whose
    /// bins are narrower than the dtype resolves; 2^32 - 1 counts or more.
    ///
    /// # Cost
    /// One pass over the values. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0.0f32, 0.25, 1.0], vec![], vec![0.75]], &Device::cpu())?;
    /// let counts: RaggedTensor<i32> = x.map_rows(|row| row.histogram(.., 0.0..=1.0, 2))?;
    /// assert_eq!(counts.to_vec()?, [2, 1, 0, 0, 0, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.histogram_fixed_width`.
    ///
    /// Polars: `Expr.hist`.
    #[track_caller]
    pub fn histogram(&self, axis: impl IntoAxes, range: impl Into<HistogramRange>, bins: impl Integer) -> Result<Self> {
        let axes = self.count_axes("histogram", axis.into())?;
        Ok(self.with(self.as_counted()?.histogram(axes, range, bins)?))
    }

    /// Whether each row along `axis` contains the item.
    ///
    /// The item is one value for all rows, a row of the same call, or a tensor that is the same for all rows; the
    /// latter two are scalars, or have the dimensions of this row without the axis. Bools, of that shape. An empty row
    /// contains nothing; -0 equals +0, and no row contains NaN.
    ///
    /// # Errors
    /// `axis` out of range; an item of another dtype or shape; a row of another call.
    ///
    /// # Cost
    /// One row reduction; for strings also their comparison. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?;
    /// let item = RaggedTensor::from_nested([2, 2, 4], &device)?;
    /// let found = Tensor::map_rows_of(&[&x, &item], |rows| rows[0].contains(&rows[1], 0))?;
    /// assert_eq!(found.to_string(), "tensor([True, False, False], shape=(3,), dtype=bool)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Polars: `list.contains`.
    #[track_caller]
    pub fn contains<'a>(&self, item: impl Into<RowOperand<'a>>, axis: impl Integer) -> Result<Self> {
        const OP: &str = "contains";
        let axis = self.axis(OP, axis.saturating_i64())? - 1;
        let item = item.into();
        let is_per_row = item.rank() + 1 == self.rank() && self.rank() > 1;
        if !is_per_row && item.rank() > 0 {
            let what = format!("the item has rank {}: not that of the row without the axis", item.rank());
            return Err(Error::argument(OP, what));
        }
        let equal = match &item {
            RowOperand::Row(row) if is_per_row => {
                row.of_same_call(OP, self)?;
                self.equal(&row.expand_dims(axis)?)
            }
            RowOperand::Same(Operand::Tensor(t)) if is_per_row => self.equal(&t.expand_dims(axis)?),
            _ => self.equal(item),
        };
        equal.map_err(|e| e.of(OP))?.reduce_any(axis)
    }

    /// The mask of the first elements of padded sequences, whose lengths this row holds: true at position `j` of a new,
    /// innermost dimension of size `max_length` if `j` is below the length.
    ///
    /// Bools. A length of 0 or less gives no true, one above `max_length` gives only true. The dimensions of the row
    /// stay: an empty row gives `[0, max_length]`.
    ///
    /// # Errors
    /// A `max_length` of `..`, which would depend on the row, so that rows would differ in shape; lengths that are not
    /// integers; a negative `max_length`; 2^32 values or more.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let lengths = RaggedTensor::from_nested([vec![2, 0], vec![1]], &Device::cpu())?;
    /// let mask: RaggedTensor<bool> = lengths.map_rows(|row| row.sequence_mask(2))?;
    /// assert_eq!(mask.to_vec()?, [true, true, false, false, true, false]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sequence_mask`.
    #[track_caller]
    pub fn sequence_mask(&self, max_length: impl Into<MaxLength>) -> Result<Self> {
        let max_length = max_length.into();
        if max_length.0.is_none() {
            return Err(Error::argument(
                "sequence_mask",
                "rows need a max_length: the greatest length differs among them",
            ));
        }
        Ok(self.with(self.all.sequence_mask(max_length)?))
    }

    /// Fills every empty row of the innermost ragged dimension with one element whose numbers are all `default`. Also
    /// returns an indicator of the rows that were empty, in bools.
    ///
    /// The row has a ragged dimension below its outermost one, whose rows these are. The dtype stays. A row that is
    /// empty itself has no rows to fill.
    ///
    /// # Errors
    /// A row of rank 0 or 1, or one without ragged dimensions below its outermost; a default of another dtype, on another
    /// device, or of rank 1 or more; 2^32 - 1 values or more.
    ///
    /// # Cost
    /// A scan over these rows and a map over the values. Waits only for the size of a default string that only the
    /// device has; [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![], vec![vec![3]]], &Device::cpu())?;
    /// let (filled, empty): (RaggedTensor<i32>, RaggedTensor<bool>) = x.map_rows(|row| row.fill_empty_rows(-1))?;
    /// assert_eq!(filled.to_string(), "<ragged.RaggedTensor [[[1, 2], [-1]], [], [[3]]]>");
    /// assert_eq!(empty.to_string(), "<ragged.RaggedTensor [[False, True], [], [False]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.raw_ops.RaggedFillEmptyRows`.
    #[track_caller]
    pub fn fill_empty_rows<'a>(&self, default: impl IntoOperand<'a>) -> Result<(Self, Self)> {
        if self.all.ragged_rank() < 2 {
            return Err(Error::argument("fill_empty_rows", "a dense row has no rows that could be empty"));
        }
        let (filled, empty) = self.all.fill_empty_rows(default)?;
        Ok((self.with(filled), self.with(empty)))
    }

    /// The tensor of all rows, in which a scalar is a row of one value.
    #[track_caller]
    fn as_counted(&self) -> Result<Tensor> {
        self.lifted(self.rank().max(1))
    }

    /// The axis of a count: `..` counts the whole row.
    #[track_caller]
    fn count_axes(&self, op: &'static str, axes: Axes) -> Result<Axes> {
        match axes {
            Axes::All => Ok(Axes::List(vec![1])),
            axes => self.axes(op, axes),
        }
    }
}

/// The bins, whose number must not depend on the values.
#[track_caller]
fn given_bins(op: &'static str, bins: Bins) -> Result<Bins> {
    if bins.most == Some(bins.least) {
        return Ok(bins);
    }
    Err(Error::argument(op, "rows need a number of bins, such as 8: the largest value differs among them"))
}

/// The tensor, whose dimension below the outermost is a partition.
#[track_caller]
fn with_partitions(all: &Tensor) -> Result<Tensor> {
    if all.ragged_rank() == 0 { Tensor::from_tensor(all, 1) } else { Ok(all.clone()) }
}
