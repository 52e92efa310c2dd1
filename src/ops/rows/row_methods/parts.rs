//! Parts of a row: slices, single elements, masks, and the indices where a condition holds.

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::ops::{Index, IntoOperand, Row, RowOperand, SliceItems};
use crate::shape::{RaggedShape, same_layout};
use crate::tensor::Tensor;

/// Parts of a row.
impl Row {
    /// A part of the row: one index, range or new dimension per dimension of the row, outermost first.
    ///
    /// Items are those of [`s!`](crate::s), as of [`Tensor::slice`], but the first one is of the row's own outermost
    /// dimension. An index drops its dimension; a range keeps it, and ends at the end of its row at the latest, so that
    /// an empty row stays empty. Any dtype, which stays.
    ///
    /// # Errors
    /// More items than dimensions; an index into a dimension that differs between rows: [`Row::at`] takes one element of
    /// it. An index out of range.
    ///
    /// # Cost
    /// A map over the values. Each ragged dimension that is not kept whole, or lies below such a dimension, adds a
    /// prefix sum over its rows, or a map where the selected rows are contiguous. Slices that keep equally many values
    /// of every row share their partition. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, s};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &Device::cpu())?;
    /// let tails: RaggedTensor<i32> = x.map_rows(|row| row.slice(s![1..]))?;
    /// assert_eq!(tails.to_string(), "<ragged.RaggedTensor [[2, 3], [], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.RaggedTensor.__getitem__`.
    ///
    /// Awkward: `ak.Array.__getitem__`.
    ///
    /// Polars: `list.slice`.
    #[track_caller]
    pub fn slice(&self, index: impl SliceItems) -> Result<Self> {
        let mut items = vec![Index::ALL];
        items.extend_from_slice(index.items());
        Ok(self.with(self.all.slice(items)?))
    }

    /// Element `index` of the row along its outermost dimension. Negative indices count from the end. Unlike in
    /// [`Tensor::slice`], the dimension may be ragged: every row must have that element. The result has the dimensions
    /// of the row but the first. Any dtype, which stays.
    ///
    /// # Errors
    /// The row is a scalar; at the read, a row without the element, which includes every empty row.
    ///
    /// # Cost
    /// One map over the result, and a prefix sum per ragged dimension below. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
    /// let last: RaggedTensor<i32> = x.map_rows(|row| row.at(-1))?;
    /// assert_eq!(last.to_vec()?, [2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn at(&self, index: impl Integer) -> Result<Self> {
        const OP: &str = "at";
        let rec = self.all().recorder(OP);
        self.axis(OP, 0)?;
        Ok(self.with(self.all.nth_named(rec, index.saturating_i64())?))
    }

    /// Element `index` of each row of axis 1 of the row, counted from the end if negative. [`Row::at`] is that of axis 0.
    ///
    /// The result has the shape without axis 1. Any dtype, which stays. Every row of axis 1 must have the element:
    /// [`Row::nth_or`] gives a default for those without it.
    ///
    /// # Errors
    /// A row of rank 0 or 1. At the read: a row of axis 1 without the element, which includes every empty one.
    ///
    /// # Cost
    /// One map over the result, and a prefix sum per ragged dimension below axis 1. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![], vec![vec![4]]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| row.nth(-1))?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[2, 3], [], [4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Awkward: `ak.Array.__getitem__`.
    ///
    /// Polars: `list.get`.
    #[track_caller]
    pub fn nth(&self, index: impl Integer) -> Result<Self> {
        let all = self.of_rows("nth")?;
        Ok(self.with(all.with_values(&all.values()?.nth(index)?)?))
    }

    /// Element `index` of each row of axis 1 of the row, or a default for those that are too short.
    ///
    /// A negative index counts from the end. The result has the shape without axis 1, and one element for every row of
    /// axis 1, empty ones included. Any dtype, which stays; the default is one value of it.
    ///
    /// # Errors
    /// A row of rank 0 or 1; ragged dimensions below axis 1; a default that is not one value of the dtype.
    ///
    /// # Cost
    /// One map over the result; strings add a prefix sum. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![], vec![vec![4]]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| row.nth_or(1, -1))?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[2, -1], [], [-1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Awkward: `ak.firsts`.
    ///
    /// Polars: `list.get(…, null_on_oob=True)`.
    #[track_caller]
    pub fn nth_or<'a>(&self, index: impl Integer, default: impl IntoOperand<'a>) -> Result<Self> {
        let all = self.of_rows("nth_or")?;
        Ok(self.with(all.with_values(&all.values()?.nth_or(index, default)?)?))
    }

    /// `lengths` successive elements from element `starts` on: of the row itself if these are scalars, of each row of its
    /// axis 1 if they are vectors of one integer per row.
    ///
    /// Starts and lengths are rows of the same call, or tensors that are the same for all rows, of i32, u32, i64 or
    /// u64. Everything below an element moves with it. Any dtype, which stays. A length of 0 gives an empty row.
    ///
    /// # Errors
    /// A row that is a scalar, or without axis 1 beside vectors; starts and lengths of other shapes or dtypes, or of
    /// another call. At the read: a negative start or length; a slice that exceeds its row.
    ///
    /// # Cost
    /// A prefix sum over the rows, another per ragged dimension below, and one map over the values, which fuses into
    /// its consumer; starts or lengths that are the same for all rows are copied for each row. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3, 4], vec![], vec![5, 6]], &Device::cpu())?;
    /// let middle: RaggedTensor<i32> = x.map_rows(|row| {
    ///     let half = row.size()?.floordiv(2)?;
    ///     row.slice_rows(&half.floordiv(2)?, &half)
    /// })?;
    /// assert_eq!(middle.to_string(), "<ragged.RaggedTensor [[2, 3], [], [5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Polars: `list.slice`.
    #[track_caller]
    pub fn slice_rows<'a>(
        &self,
        starts: impl Into<RowOperand<'a>>,
        lengths: impl Into<RowOperand<'a>>,
    ) -> Result<Self> {
        const OP: &str = "slice_rows";
        let (starts, lengths) = (starts.into(), lengths.into());
        let rank = starts.rank();
        if rank > 1 || lengths.rank() != rank {
            let what = format!("starts of rank {rank} and lengths of rank {}: scalars or vectors", lengths.rank());
            return Err(Error::argument(OP, what));
        }
        self.axis(OP, 0)?;
        let (starts, lengths) = (self.rows_or_repeated(OP, &starts)?, self.rows_or_repeated(OP, &lengths)?);
        if rank == 0 {
            return Ok(self.with(self.all.slice_rows(&starts, &lengths)?));
        }
        let all = self.of_rows(OP)?;
        let mut flat = Vec::with_capacity(2);
        for given in [&starts, &lengths] {
            let numbers = if given.ragged_rank() == 0 { Tensor::from_tensor(given, 1)? } else { given.clone() };
            flat.push(numbers.on_condition(OP, &all.first_agrees_with(OP, &numbers)?)?.values()?);
        }
        Ok(self.with(all.with_values(&all.values()?.slice_rows(&flat[0], &flat[1])?)?))
    }

    /// The elements of the row along its outermost dimension where a row of bools is true.
    ///
    /// A mask of more dimensions selects in the innermost of its dimensions. No row disappears, though rows may become
    /// empty, and the dimensions of the mask become ragged. What is below a dropped element is dropped too. Any dtype,
    /// which stays.
    ///
    /// # Errors
    /// A mask that is a scalar, as rows cannot be removed, or not of bools; other sizes, at the read where only the
    /// device knows them; a row of another call.
    ///
    /// # Cost
    /// A rank bitmap of the mask, a map over the rows, and a compaction; a scan per ragged dimension below the mask.
    /// Only the values that stay are read, once. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 5, 3], vec![], vec![4]], &Device::cpu())?;
    /// let odd: RaggedTensor<i32> = x.map_rows(|row| row.boolean_mask(&row.floormod(2)?.equal(1)?))?;
    /// assert_eq!(odd.to_string(), "<ragged.RaggedTensor [[1, 5, 3], [], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.ragged.boolean_mask`.
    ///
    /// Awkward: `ak.Array.__getitem__`.
    ///
    /// Polars: `list.filter`.
    #[track_caller]
    pub fn boolean_mask(&self, mask: &Self) -> Result<Self> {
        const OP: &str = "boolean_mask";
        mask.axis(OP, 0)?;
        Ok(self.with(self.all.boolean_mask(mask.of_same_call(OP, self)?)?))
    }

    /// Indices of the elements that are true, or not 0, within the row: `[n, rank]`, i64, in the order of the elements.
    ///
    /// `n` differs between rows. NaN is not 0, -0 is. An empty row gives `[0, rank]`.
    ///
    /// # Errors
    /// A row of strings.
    ///
    /// # Cost
    /// A rank bitmap and a compaction over the elements, one map per dimension, with a search per ragged dimension, a
    /// row reduction that counts the indices of each row, and a prefix sum of the counts. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0, 7, 8], vec![], vec![9]], &Device::cpu())?;
    /// let y: RaggedTensor<i64> = x.map_rows(|row| row.where_indices())?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[[1], [2]], [], [[0]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.where(condition)`.
    ///
    /// Awkward: `ak.where(condition)`.
    ///
    /// Polars: `Expr.arg_true`.
    #[track_caller]
    pub fn where_indices(&self) -> Result<Self> {
        const OP: &str = "where_indices";
        let indices =
            self.all.where_indices()?.slice([Index::ALL, Index::Slice { start: Some(1), stop: None, step: 1 }])?;
        let flat = if self.rank() == 0 { self.lifted(1)? } else { self.all.merged(1, self.rank())? };
        let found = flat.count_nonzero(1)?;
        let length = Expr::load(found.numbers(OP)?, Expr::index()).cast(DType::U32);
        let (backend, nrows) = (self.all.backend(), self.all.nrows_extent());
        let rec = Recorder::new(backend, OP);
        let rows = rec.rows_of_lengths(&nrows, length, self.all.count()?.size().clone())?;
        Ok(self.with(indices.under(rows.with_nvals(indices.nrows_extent()))?))
    }

    /// The integers from 0 to this scalar, which is not included, as a vector.
    ///
    /// Same dtype. The vectors of the rows differ in length: their dimension is ragged. A limit of 0 or less gives an
    /// empty vector.
    ///
    /// # Errors
    /// A row that is no scalar; a dtype other than i32, u32, i64, f32 and f64. At the read: 2^32 numbers or more of a
    /// row, which includes NaN and infinite limits; more than 2^32 - 2 numbers of all rows together.
    ///
    /// # Cost
    /// A map and a prefix sum over the rows, and a map over the result. Never waits: only the device knows the number
    /// of values.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let limits = RaggedTensor::from_nested([3, 0, 2], &Device::cpu())?;
    /// let ranges: RaggedTensor<i32> = limits.map_rows(|limit| limit.range())?;
    /// assert_eq!(ranges.to_string(), "<ragged.RaggedTensor [[0, 1, 2], [], [0, 1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.ragged.range`.
    ///
    /// Polars: `pl.int_ranges`.
    #[track_caller]
    pub fn range(&self) -> Result<Self> {
        Ok(self.with(self.all.range()?))
    }

    /// Adds updates to elements of the rows of axis 1 of the row: `updates[g][k]` to element `indices[g][k]` of row `g`.
    ///
    /// The row is `[g, (len), ..]`, the indices are `[g, (m)]` and the updates `[g, (m), ..]`, rows of the same call.
    /// Shape and dtype stay; integers wrap, NaN propagates. An element without updates is copied; a row without indices
    /// stays. The updates of one element are added up in their order, in the canonical order of reductions, and the sum
    /// is added to the element: the same bits on every device.
    ///
    /// # Errors
    /// A row of rank 0 or 1; bools and strings; different dtypes; indices that are not integers; ragged dimensions below
    /// axis 1; other numbers of rows, indices or inner sizes; rows of another call. At the read: an index out of range,
    /// and what only the device knows.
    ///
    /// # Cost
    /// A sort of the indices, a row reduction of the updates and a map. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![]], &device)?;
    /// let at = RaggedTensor::from_nested([vec![vec![1, 1], vec![]], vec![]], &device)?;
    /// let sums = Tensor::map_rows_of(&[&x, &at], |rows| rows[0].batch_scatter_add(&rows[1], &rows[1]))?;
    /// assert_eq!(sums.to_string(), "<ragged.RaggedTensor [[[1, 4], [3]], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.tensor_scatter_nd_add`.
    #[track_caller]
    pub fn batch_scatter_add(&self, indices: &Self, updates: &Self) -> Result<Self> {
        const OP: &str = "batch_scatter_add";
        let all = self.of_rows(OP)?;
        let mut flat = Vec::with_capacity(2);
        for given in [indices, updates] {
            given.of_same_call(OP, self)?;
            let of_rows = given.of_rows(OP)?;
            let conditions = all.first_agrees_with(OP, &of_rows)?;
            flat.push(of_rows.on_condition(OP, &conditions)?.values()?);
        }
        Ok(self.with(all.with_values(&all.values()?.batch_scatter_add(&flat[0], &flat[1])?)?))
    }
}

impl Tensor {
    /// The conditions under which the outermost partition of `other` is that of this tensor.
    #[track_caller]
    fn first_agrees_with(&self, op: &'static str, other: &Self) -> Result<Vec<Node>> {
        let rec = self.recorder(op);
        Device::check_same(op, self.backend(), other.backend())?;
        let (own, others) = (outermost(op, self)?, outermost(op, other)?);
        same_layout(rec, &own, &others)
    }
}

/// The outermost partition, as a shape.
#[track_caller]
fn outermost(op: &'static str, x: &Tensor) -> Result<RaggedShape> {
    let rec = x.recorder(op);
    let parts = x.partitions()[..1].to_vec();
    let count = parts[0].nvals_extent().clone();
    RaggedShape::of_parts(rec, parts, Some(count), [], Vec::new())
}
