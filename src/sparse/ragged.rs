//! Conversions between ragged and sparse tensors.

use super::coordinates::{Coordinates, indices_of};
use super::{Order, SparseTensor};
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::shape::RowPartition;
use crate::tensor::{RaggedTensor, Tensor, counts_below};

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
        const OP: &str = "to_sparse";
        if self.rank() == 0 {
            return Err(Error::argument(OP, "a scalar has no coordinates"));
        }
        let backend = self.backend();
        let nrows = self.nrows_extent().on_host(backend, OP)?;
        let mut dense_shape = vec![u64::from(nrows)];
        dense_shape.extend(self.longest_rows(OP)?.into_iter().map(u64::from));
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
            let offset = Node::map(backend, OP, elements.clone(), p.offset_of(above.clone()), &[]);
            let row = Node::map(backend, OP, elements.clone(), p.row_of(above), &[]);
            coordinates.push(Expr::load(&offset, element.clone()));
            above = Expr::load(&row, Expr::index());
        }
        coordinates.push(above.at(&element));
        coordinates.reverse();
        let indices = indices_of(backend, OP, &count, &coordinates, &[])?;
        let values = Self::new(backend, Vec::new(), Some(count), [], self.values_ref().clone())?;
        Ok(SparseTensor::of_parts(indices, values, dense_shape, Order::Distinct))
    }

    /// The ragged tensor of a sparse matrix whose values fill each row from its start.
    ///
    /// The result has as many rows as the dense shape, empty ones included; values keep their order. Any dtype.
    ///
    /// # Errors
    /// A rank other than 2; at the read, coordinates that are not sorted by rows within the dense shape, or columns
    /// that are not 0, 1, 2, ... in each row.
    ///
    /// # Cost
    /// One search per row and the checks. No wait.
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
        const OP: &str = "from_sparse";
        let coordinates = Coordinates::new(OP, sparse)?;
        let (i, before) = (Expr::index(), Expr::index().max(Expr::u32(1)).sub(Expr::u32(1)));
        let (row, column) = (coordinates.of(0), coordinates.of(1));
        let continues = i.eq(Expr::u32(0)).not().and(row.at(&before).eq(row));
        let expected = continues.select(column.at(&before).add(Expr::scalar(1i64)), Expr::scalar(0i64));
        let check = Check::new(OP, "columns must be 0, 1, 2, ... in each row");
        let filled = Node::assert(sparse.backend(), sparse.count(), column.eq(expected), check);
        sparse.values.under(sparse.row_partition(OP, &[filled])?)
    }
}

impl SparseTensor {
    /// The ragged tensor of a sparse matrix whose values fill each row from its start.
    ///
    /// The result has as many rows as the dense shape, empty ones included; values keep their order. Any dtype.
    ///
    /// # Errors
    /// A rank other than 2; at the read, coordinates that are not sorted by rows within the dense shape, or columns
    /// that are not 0, 1, 2, ... in each row.
    ///
    /// # Cost
    /// One search per row and the checks. No wait.
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
        Tensor::from_sparse(self)
    }

    /// The values of each row of a sparse matrix as a ragged tensor `[rows, (values)]`, without the columns.
    ///
    /// Values keep their order. One search per row and the checks, no wait.
    ///
    /// # Errors
    /// A rank other than 2; 2^32 - 1 rows or more. At the read: rows that do not ascend; coordinates outside of the
    /// dense shape.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 3], [0, 1], [2, 2]], [5, 6, 7], [3, 4], &Device::cpu())?;
    /// assert_eq!(x.values_by_row()?.to_string(), "<ragged.RaggedTensor [[5, 6], [], [7]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn values_by_row(&self) -> Result<Tensor> {
        self.values_in_rows("values_by_row")
    }

    /// As [`values_by_row`](Self::values_by_row).
    #[track_caller]
    pub(super) fn values_in_rows(&self, op: &'static str) -> Result<Tensor> {
        self.values.under(self.row_partition(op, &[])?)
    }

    /// The partition of the values of a sparse matrix into rows, which must ascend; subject to further conditions.
    #[track_caller]
    pub(super) fn row_partition(&self, op: &'static str, further: &[Node]) -> Result<RowPartition> {
        self.check_rank(op, 2)?;
        let (backend, count) = (self.backend(), self.count());
        let rows = Extent::known_u64(op, self.dense_shape[0])?;
        let conditions = [&self.conditions, &self.require(op, Order::Sorted, &[0])?, further].concat();
        // Rows out of range and unsorted rows fail at the read. Until then, keys and splits must be valid.
        let most = Expr::scalar(i64::from(u32::MAX - 3));
        let row = Coordinates::new(op, self)?.of(0).max(Expr::scalar(0i64)).min(most).cast(DType::U32);
        let below = counts_below(backend, op, &count, |at| row.at(&at))?;
        let entries = rows.plus(op, &Extent::known(1))?;
        let found = Node::map(backend, op, entries.clone(), Expr::row_of(&below, Expr::index()), &[]);
        let (a, b) = (Expr::load(&found, Expr::index()), Expr::load(&found, Expr::index().add(Expr::u32(1))));
        let length = a.clone().le(b.clone()).select(b.sub(a), Expr::u32(0));
        let sums = Node::scan(backend, op, rows.clone(), length)?;
        let splits = Expr::load(&sums, Expr::index()).min(count.expr());
        let splits = Node::map(backend, op, entries, splits, &conditions);
        Ok(RowPartition::from_splits_node(splits, rows, count.size()).with_nvals(count))
    }
}

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
