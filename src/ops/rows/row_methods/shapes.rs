//! Dimensions of a row: new ones, removed ones, repeated ones, and their order.

use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Rows;
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::ops::{IntoAxes, Row};
use crate::record::axes::Axes;
use crate::record::by_key::ByKey;
use crate::record::rows::Repeats;
use crate::shape::RowPartition;
use crate::tensor::Values;

/// Dimensions.
impl Row {
    /// Inserts a dimension of size 1 as dimension `axis` of the row: 0 to the rank, or negative.
    ///
    /// Any dtype, which stays. An empty row stays empty.
    ///
    /// # Errors
    /// An axis out of range.
    ///
    /// # Cost
    /// No pass. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
    /// let distances: RaggedTensor<i32> = x.map_rows(|row| row.expand_dims(1)? - row)?;
    /// assert_eq!(distances.to_string(), "<ragged.RaggedTensor [[[0, -1], [1, 0]], [[0]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.expand_dims`.
    ///
    /// Polars: `Expr.implode`.
    #[track_caller]
    pub fn expand_dims(&self, axis: impl Integer) -> Result<Self> {
        const OP: &str = "expand_dims";
        let rec = self.all().recorder(OP);
        let axis = self.new_axis(OP, axis.saturating_i64())?;
        Ok(self.with(self.all.with_new_axis(rec, axis as usize)?))
    }

    /// Removes dimensions of size 1 of the row; `..` stands for those whose size is 1 by type.
    ///
    /// Each axis is a uniform dimension of that size, or a ragged one whose rows all have one element; an empty row has
    /// none. Any dtype, which stays.
    ///
    /// # Errors
    /// An axis out of range or repeated; a dimension of another size in any row, at the read where only the device can
    /// tell.
    ///
    /// # Cost
    /// No pass; a map over the values where only the device can tell that all rows have one element. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
    /// let same: RaggedTensor<i32> = x.map_rows(|row| row.expand_dims(1)?.squeeze(..))?;
    /// assert_eq!(same.to_string(), x.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.squeeze`.
    #[track_caller]
    pub fn squeeze(&self, axes: impl IntoAxes) -> Result<Self> {
        let axes = match axes.into() {
            Axes::All => {
                let sizes = self.all.ragged_shape().known_sizes();
                Axes::List((1..sizes.len()).filter(|&d| sizes[d] == Some(1)).map(|d| d as i64).collect())
            }
            axes => self.axes("squeeze", axes)?,
        };
        Ok(self.with(self.all.squeeze(axes)?))
    }

    /// The row repeated `multiples` times along its dimensions, one copy after another.
    ///
    /// Any dtype. With a multiple of 0 the dimension is empty. The lengths of ragged dimensions are multiplied; uniform
    /// dimensions stay uniform, and empty rows empty.
    ///
    /// # Errors
    /// Not one multiple per dimension of the row; a negative multiple; a result of 2^32 elements or more.
    ///
    /// # Cost
    /// Index arithmetic: one map over the values, which fuses into its consumer. A ragged dimension that is repeated
    /// adds one search per value, and one prefix sum per ragged dimension below. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| row.tile(&[2]))?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[1, 2, 1, 2], [], [3, 3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.tile`.
    #[track_caller]
    pub fn tile<I: Integer>(&self, multiples: &[I]) -> Result<Self> {
        const OP: &str = "tile";
        if multiples.len() != self.rank() {
            let what = format!("{} multiples for a row of {} dimensions", multiples.len(), self.rank());
            return Err(Error::argument(OP, what));
        }
        let mut all = vec![1i64];
        for (d, multiple) in multiples.iter().enumerate() {
            let multiple = multiple.saturating_i64();
            if multiple < 0 {
                return Err(Error::argument(OP, format!("multiples[{d}] is {multiple}, but must not be negative")));
            }
            all.push(multiple);
        }
        Ok(self.with(self.all.tile(&all)?))
    }

    /// The row with its uniform dimensions in another order: dimension `k` of the result is dimension `axes[k]` of this
    /// row. `..` reverses the dimensions that are uniform in all rows.
    ///
    /// Dimensions that differ between rows keep their places; [`Row::transpose_rows`] exchanges the two outermost ones.
    /// Any dtype, which stays. Empty rows stay empty.
    ///
    /// # Errors
    /// Axes that do not name each dimension of the row once; a dimension of a row partition that would move.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| row.transpose([1, 0]))?;
    /// assert_eq!(y.to_vec()?, [1, 3, 2, 4, 5, 7, 6, 8]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.transpose`.
    #[track_caller]
    pub fn transpose(&self, axes: impl IntoAxes) -> Result<Self> {
        let first = 1 + self.all.ragged_rank() as i64;
        let rank = self.all.rank() as i64;
        let order = match axes.into() {
            Axes::All => (0..first).chain((first..rank).rev()).collect(),
            axes => {
                let Axes::List(mut list) = self.axes("transpose", axes)? else {
                    unreachable!("bug: axes of a row are a list")
                };
                list.insert(0, 0);
                list
            }
        };
        Ok(self.with(self.all.transpose(Axes::List(order))?))
    }

    /// Exchanges the two outermost dimensions of the row: row `j` of the result has element `j` of each row of axis 1 that
    /// has one, in their order.
    ///
    /// The result has as many rows as the longest row of axis 1 has elements. What is below the elements moves with
    /// them. Any dtype, which stays. A row whose rows are all empty gives no rows.
    ///
    /// # Errors
    /// A row of rank 0 or 1.
    ///
    /// # Cost
    /// A stable sort of the elements by their position, a reduction for the longest rows with a prefix sum of its
    /// result, and a gather; rows of one known length are index arithmetic. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![], vec![vec![4, 5]]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| row.transpose_rows())?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[[1, 3], [2]], [], [[4], [5]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn transpose_rows(&self) -> Result<Self> {
        const OP: &str = "transpose_rows";
        let all = self.of_rows(OP)?;
        if self.all.ragged_rank() == 0 {
            let order = [0, 2, 1].into_iter().chain(3..self.all.rank() as i64).collect();
            return Ok(self.with(self.all.transpose(Axes::List(order))?));
        }
        let deep = all.inner_to_partitions(2usize.saturating_sub(all.ragged_rank()))?;
        let (backend, at) = (deep.backend(), Expr::index());
        let rec = Recorder::new(backend, OP);
        let (groups, rows) = (&deep.partitions()[0], &deep.partitions()[1]);
        let below = deep.partitions()[2..].to_vec();
        let elements = rec.tensor(below, deep.outer().cloned(), deep.inner().clone(), deep.values_ref().clone())?;
        let (nrows, count) = (groups.nrows_extent(), rows.nvals_extent());
        // The rows of each result: as many as its longest row has elements.
        let columns = match rows.uniform_size() {
            Some(len) => RowPartition::uniform(len, nrows.clone())?,
            None => {
                let own = groups.nvals_extent();
                let length = Values::Numbers(rec.map(own.clone(), rows.length(at.clone()), &[]));
                let lengths = rec.tensor(vec![groups.clone()], Some(own.clone()), [], length)?;
                let longest = Expr::load(rec.numbers(&lengths.reduce_max(1)?)?, at.clone());
                rec.rows_of_lengths(nrows, longest, count.size().clone())?
            }
        };
        let column = columns.within(groups.row_of(rows.row_of(at.clone())), rows.offset_of(at.clone()));
        let by = ByKey::new(rec, count, column, columns.nvals_extent())?;
        let members = by.rows(1);
        let members = match members.rows {
            // There are no elements.
            Rows::Uniform(_) => RowPartition::uniform(0, columns.nvals_extent().clone())?,
            Rows::Splits(splits) => RowPartition::from_splits_node(splits, members.nrows, count.size().clone()),
        };
        let members = members.with_nvals(count.clone());
        let from = Expr::load(by.order(), at);
        let taken = elements.take_rows(rec, Extent::clone(count), from, Repeats::Never, &[])?;
        Ok(self.with(taken.under(members)?.under(columns)?))
    }
}
