//! Conversions between ragged and sparse tensors.

use super::coordinates::{Coordinates, indices_of};
use super::{Order, SparseTensor};
use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::shape::RowPartition;
use crate::tensor::{RaggedTensor, Tensor, clamped_to, counts_below};

/// Conversion from and to sparse tensors.
impl Tensor {
    /// The sparse tensor of all values, including zeros, at their coordinates.
    ///
    /// Ragged and inner dimensions become coordinates; the dense shape is [`Tensor::bounding_shape`]. An empty row has
    /// no entries. Any dtype.
    ///
    /// # Errors
    /// A scalar; more than 2^32 - 2 coordinates.
    ///
    /// # Cost
    /// One map for the coordinates and one per ragged dimension. Waits only where the host does not know the longest
    /// rows or the number of rows, which [`record_async`](crate::record_async) awaits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 6], vec![], vec![7]], &Device::cpu())?;
    /// let sparse = x.to_sparse()?;
    /// assert_eq!(sparse.dense_shape(), [3, 2]);
    /// assert_eq!(sparse.indices().to_string(), "tensor([[0, 0], [0, 1], [2, 0]], shape=(3, 2), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.RaggedTensor.to_sparse`.
    #[track_caller]
    pub fn to_sparse(&self) -> Result<SparseTensor> {
        let rec = self.recorder("to_sparse");
        if self.rank() == 0 {
            return Err(rec.argument("a scalar has no coordinates"));
        }
        let backend = self.backend();
        let nrows = rec.on_host(&self.nrows_extent())?;
        let mut dense_shape = vec![u64::from(nrows)];
        dense_shape.extend(self.longest_rows(rec)?.into_iter().map(u64::from));
        dense_shape.extend(self.inner().iter().map(|&d| u64::from(d)));

        let (count, elements) = (self.count()?, self.outer().cloned().unwrap_or_else(|| Extent::known(1)));
        // From the innermost dimension outwards: expressions in the value, or in the element.
        let (mut coordinates, mut rest) = (Vec::with_capacity(self.rank()), Expr::index());
        for &dim in self.inner().iter().rev() {
            coordinates.push(rest.clone().rem(Expr::u32(dim.max(1))));
            rest = rest.div(Expr::u32(dim.max(1)));
        }
        let element = Expr::index().div(Expr::u32(self.width().max(1)));
        let mut above = Expr::index();
        for p in self.partitions().iter().rev() {
            let offset = rec.map(elements.clone(), p.offset_of(above.clone()), &[]);
            let row = rec.map(elements.clone(), p.row_of(above), &[]);
            coordinates.push(Expr::load(&offset, element.clone()));
            above = Expr::load(&row, Expr::index());
        }
        coordinates.push(above.at(&element));
        coordinates.reverse();
        let indices = indices_of(rec, &count, &coordinates, &[])?;
        let values = Self::new(backend, Vec::new(), Some(count), [], self.values_ref().clone())?;
        Ok(SparseTensor::of_parts(indices, values, dense_shape, Order::Distinct))
    }

    /// The ragged tensor of the values of a sparse tensor, each row filled from its start.
    ///
    /// The same as [`SparseTensor::to_ragged`], under TensorFlow's name. The dimensions are those of the sparse tensor,
    /// all but the first ragged; a vector gives its values, dense. The dtype stays, and is any. A row without entries
    /// is empty.
    ///
    /// # Errors
    /// A scalar; 2^32 - 1 rows or more. At the read: coordinates outside of the dense shape or not in row-major order;
    /// rows whose columns, the coordinates of the last dimension, are not 0, 1, 2, …
    ///
    /// # Cost
    /// One search per row of each dimension but the last, and the checks. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let x = RaggedTensor::from_nested([vec![5, 6], vec![], vec![7]], &Device::cpu())?;
    /// assert_eq!(Tensor::from_sparse(&x.to_sparse()?)?.to_string(), x.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.RaggedTensor.from_sparse`.
    #[track_caller]
    pub fn from_sparse(sparse: &SparseTensor) -> Result<Self> {
        sparse.ragged(sparse.recorder("from_sparse"))
    }
}

/// A coordinate of a dimension of this size, as u32: in range for those that fail their check too.
fn narrow(coordinate: Expr, size: u64) -> Expr {
    clamped_to(coordinate, Expr::u32(u32::try_from(size.saturating_sub(1)).unwrap_or(MOST_ROWS).min(MOST_ROWS)))
}

/// Clamp for rows: below the sentinel of the search.
const MOST_ROWS: u32 = u32::MAX - 3;

/// Conversion to ragged tensors.
impl SparseTensor {
    /// The ragged tensor of the values, each row filled from its start.
    ///
    /// A matrix gives as many rows as the dense shape, empty ones included. Dimensions between the first and the last
    /// are ragged too: a row has as many elements as its last entry needs. So [`to_sparse`](Tensor::to_sparse) of a
    /// ragged tensor gives it back, but for empty rows at the ends of rows. A vector gives its values, dense. Values
    /// keep their order. The dtype stays, and is any.
    ///
    /// # Errors
    /// A scalar; 2^32 - 1 rows or more. At the read: coordinates outside of the dense shape or not in row-major order;
    /// rows whose columns, the coordinates of the last dimension, are not 0, 1, 2, …
    /// ([`values_by_row`](Self::values_by_row) takes any columns).
    ///
    /// # Cost
    /// One search per row of each dimension but the last, and the checks. No wait.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 0], [0, 1], [2, 0]], [5, 6, 7], [3, 4], &Device::cpu())?;
    /// assert_eq!(x.to_ragged()?.to_string(), "<ragged.RaggedTensor [[5, 6], [], [7]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.RaggedTensor.from_sparse`.
    #[track_caller]
    pub fn to_ragged(&self) -> Result<Tensor> {
        self.ragged(self.recorder("to_ragged"))
    }

    /// As [`to_ragged`](Self::to_ragged).
    #[track_caller]
    fn ragged(&self, rec: Recorder<'_>) -> Result<Tensor> {
        let rank = self.rank();
        let Some(last) = rank.checked_sub(1) else {
            return Err(rec.argument("a scalar has no rows"));
        };
        let coordinates = Coordinates::new(rec, self)?;
        let (at, before) = (Expr::index(), Expr::index().max(Expr::u32(1)).sub(Expr::u32(1)));
        // Rows out of order begin at a column below that of the entry before, or repeat one: each entry's column is 0,
        // or continues the row of the entry before.
        let continues = (0..last).fold(at.eq(Expr::u32(0)).not(), |same, d| {
            let coordinate = coordinates.of(d);
            same.and(coordinate.at(&before).eq(coordinate))
        });
        let column = coordinates.of(last);
        let expected = continues.select(column.at(&before).add(Expr::scalar(1i64)), Expr::scalar(0i64));
        let check = rec.check(format!("columns (dimension {last}) must be 0, 1, 2, ... in each row"));
        let filled = rec.assert(self.count(), column.eq(expected), check);
        if last == 0 {
            let sized = self.values.on_condition(rec.op, &[&self.conditions[..], &[filled]].concat())?;
            return Ok(sized);
        }
        let above: Vec<usize> = (0..last).collect();
        let conditions = [&self.conditions[..], &self.require(rec, Order::Sorted, &above)?, &[filled]].concat();
        let mut rows = rec.known(self.dense_shape[0])?;
        let mut row = narrow(coordinates.of(0), self.dense_shape[0]);
        let mut partitions = Vec::with_capacity(last);
        for d in 1..last {
            // The rows of dimension `d` up to that of the last entry, which entries in order hold.
            let entries = self.entries_by_row(rec, &row, &rows, &conditions)?;
            let next = entries.start(Expr::index().add(Expr::u32(1)));
            let final_entry = next.max(Expr::u32(1)).sub(Expr::u32(1));
            let inside = narrow(coordinates.of(d), self.dense_shape[d]);
            let needed = inside.at(&final_entry).add(Expr::u32(1));
            let length = entries.length(Expr::index()).eq(Expr::u32(0)).select(Expr::u32(0), needed);
            // An entry outside of an empty dimension fails its check, but has a row.
            let size = self.dense_shape[d].max(1);
            let capacity = upper_bound(u64::from(rows.capacity()).saturating_mul(size));
            let level = RowPartition::from_lengths(rec, &rows, length, capacity)?;
            let below = rec.map(self.count(), level.within(row, inside), &[]);
            row = Expr::load(&below, Expr::index());
            rows = level.nvals_extent().clone();
            partitions.push(level);
        }
        let rows = self.entries_by_row(rec, &row, &rows, &conditions)?;
        partitions.into_iter().rev().try_fold(self.values.under(rows)?, |below, level| below.under(level))
    }

    /// The values of each row of a sparse matrix as a ragged tensor `[rows, (values)]`, without the columns.
    ///
    /// Values keep their order. Any dtype. A row without entries is empty.
    ///
    /// # Errors
    /// A rank other than 2; 2^32 - 1 rows or more. At the read: rows that do not ascend; coordinates outside of the
    /// dense shape.
    ///
    /// # Cost
    /// One search per row and the checks. Never waits.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 3], [0, 1], [2, 2]], [5, 6, 7], [3, 4], &Device::cpu())?;
    /// assert_eq!(x.values_by_row()?.to_string(), "<ragged.RaggedTensor [[5, 6], [], [7]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn values_by_row(&self) -> Result<Tensor> {
        self.values_in_rows(self.recorder("values_by_row"))
    }

    /// As [`values_by_row`](Self::values_by_row).
    #[track_caller]
    pub(super) fn values_in_rows(&self, rec: Recorder<'_>) -> Result<Tensor> {
        self.values.under(self.row_partition(rec)?)
    }

    /// The partition of the values of a sparse matrix into rows, which must ascend.
    #[track_caller]
    pub(super) fn row_partition(&self, rec: Recorder<'_>) -> Result<RowPartition> {
        self.check_rank(rec, 2)?;
        let rows = rec.known(self.dense_shape[0])?;
        let conditions = [&self.conditions[..], &self.require(rec, Order::Sorted, &[0])?[..]].concat();
        let row = clamped_to(Coordinates::new(rec, self)?.of(0), Expr::u32(MOST_ROWS));
        self.entries_by_row(rec, &row, &rows, &conditions)
    }

    /// The partition of the entries into `rows` rows, where `row` is that of the entry `Index`. It is valid for rows
    /// that do not ascend too, which fail a condition at the read.
    #[track_caller]
    fn entries_by_row(
        &self,
        rec: Recorder<'_>,
        row: &Expr,
        rows: &Extent,
        conditions: &[Node],
    ) -> Result<RowPartition> {
        let count = self.count();
        let below = counts_below(rec, &count, |at| row.at(&at))?;
        let entries = rec.plus(rows, &Extent::known(1))?;
        let found = rec.map(entries.clone(), Expr::row_of(&below, Expr::index()), &[]);
        let (a, b) = (Expr::load(&found, Expr::index()), Expr::load(&found, Expr::index().add(Expr::u32(1))));
        let length = a.clone().le(b.clone()).select(b.sub(a), Expr::u32(0));
        let sums = rec.scan(rows.clone(), length)?;
        let splits = Expr::load(&sums, Expr::index()).min(count.expr());
        let splits = rec.map(entries, splits, conditions);
        Ok(RowPartition::from_splits_node(splits, rows.clone(), count.size()).with_nvals(count))
    }
}

/// Conversion to sparse tensors.
impl<T: Element> RaggedTensor<T> {
    /// The sparse tensor of all values, including zeros, at their coordinates.
    ///
    /// Ragged and inner dimensions become coordinates; the dense shape is [`bounding_shape`](Self::bounding_shape). An
    /// empty row has no entries. Any dtype.
    ///
    /// # Errors
    /// A scalar; more than 2^32 - 2 coordinates.
    ///
    /// # Cost
    /// One map for the coordinates and one per ragged dimension. Waits only where the host does not know the longest
    /// rows or the number of rows, which [`record_async`](crate::record_async) awaits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 6], vec![], vec![7]], &Device::cpu())?;
    /// let sparse = x.to_sparse()?;
    /// assert_eq!(sparse.dense_shape(), [3, 2]);
    /// assert_eq!(sparse.values().to_string(), "tensor([5, 6, 7], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.RaggedTensor.to_sparse`.
    #[track_caller]
    pub fn to_sparse(&self) -> Result<SparseTensor> {
        self.erased().to_sparse()
    }
}
