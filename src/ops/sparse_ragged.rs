//! Conversions between ragged and sparse tensors.

use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::shape::RowPartition;
use crate::sparse::SparseTensor;
use crate::tensor::{RaggedTensor, Tensor, Values, counts_below};

const OP: &str = "from_sparse";

impl Tensor {
    /// The sparse tensor of all values, including zeros, at their coordinates. `tf.RaggedTensor.to_sparse`.
    ///
    /// Inner dimensions become coordinates; the dense shape is [`Tensor::bounding_shape`]. One map for the coordinates
    /// and one per ragged dimension. Waits only where the host does not know the longest rows or the number of rows,
    /// which [`record_async`](crate::record_async) awaits.
    ///
    /// # Errors
    /// A scalar; more than 2^32 - 2 coordinates.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 6], vec![], vec![7]], &Device::cpu())?;
    /// let sparse = x.to_sparse()?;
    /// assert_eq!(sparse.dense_shape(), [3, 2]);
    /// assert_eq!(
    ///     sparse.indices().to_string(),
    ///     "tensor([[0, 0], [0, 1], [2, 0]], shape=(3, 2), dtype=i64)"
    /// );
    /// # Ok::<(), ragged::Error>(())
    /// ```
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
        let rank = self.rank() as u32;
        // From the innermost dimension outwards: expressions in the number, or in the element.
        let number = Expr::index().div(Expr::u32(rank));
        let (mut coordinates, mut rest) = (Vec::with_capacity(rank as usize), number.clone());
        for &dim in self.inner().iter().rev() {
            coordinates.push(rest.clone().rem(Expr::u32(dim.max(1))));
            rest = rest.div(Expr::u32(dim.max(1)));
        }
        let element = number.div(Expr::u32(self.width().max(1)));
        let mut above = Expr::index();
        for p in self.partitions().iter().rev() {
            let offset = Node::map(backend, OP, elements.clone(), p.offset_of(above.clone()), &[]);
            let row = Node::map(backend, OP, elements.clone(), p.row_of(above), &[]);
            coordinates.push(Expr::load(&offset, element.clone()));
            above = Expr::load(&row, Expr::index());
        }
        coordinates.push(above.at(&element));
        let dim = Expr::index().rem(Expr::u32(rank));
        let mut e = Expr::u32(0);
        for (k, coordinate) in coordinates.into_iter().rev().enumerate() {
            e = dim.clone().eq(Expr::u32(k as u32)).select(coordinate, e);
        }
        let entries = count.times(OP, rank.into())?;
        let node = Node::map(backend, OP, entries, e.cast(DType::I64), &[]);
        let indices = Self::new(backend, Vec::new(), Some(count.clone()), vec![rank], Values::Numbers(node))?;
        let values = Self::new(backend, Vec::new(), Some(count), Vec::new(), self.values_ref().clone())?;
        SparseTensor::new(&indices, &values, &dense_shape)
    }

    /// The ragged tensor of a sparse matrix whose values fill each row from its start. `tf.RaggedTensor.from_sparse`.
    ///
    /// The result has as many rows as the dense shape; values keep their order. One search per row and the checks, no
    /// wait.
    ///
    /// # Errors
    /// A rank other than 2; at the read, coordinates that are not sorted by rows within the dense shape, or columns
    /// that are not 0, 1, 2, ... in each row.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let x = RaggedTensor::from_nested([vec![5, 6], vec![], vec![7]], &Device::cpu())?;
    /// assert_eq!(Tensor::from_sparse(&x.to_sparse()?)?.to_string(), x.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_sparse(sparse: &SparseTensor) -> Result<Self> {
        sparse.values().under(rows_of(OP, sparse, Columns::Consecutive)?)
    }
}

/// Requirement on the columns of a sparse matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// 0, 1, 2, ... in each row.
    Consecutive,
    /// Any.
    Any,
}

/// The partition of the values of a sparse matrix into rows, which must ascend.
#[track_caller]
pub(super) fn rows_of(op: &'static str, sparse: &SparseTensor, columns: Columns) -> Result<RowPartition> {
    let &[nrows, _] = sparse.dense_shape() else {
        let rank = sparse.dense_shape().len();
        return Err(Error::argument(op, format!("needs a sparse tensor of rank 2, but its rank is {rank}")));
    };
    let backend = sparse.values().backend();
    let count = sparse.values().nrows_extent();
    let rows = Extent::known_u64(op, nrows)?;
    let coordinates = sparse.indices().numbers(op)?;
    let coordinate = |at: Expr, k: u32| Expr::load(coordinates, at.mul(Expr::u32(2)).add(Expr::u32(k)));
    let (i, one) = (Expr::index(), Expr::u32(1));
    let before = i.clone().sub(one.clone());
    let first = i.clone().eq(Expr::u32(0));
    let (row, column) = (coordinate(i.clone(), 0), coordinate(i, 1));
    let (row_before, column_before) = (coordinate(before.clone(), 0), coordinate(before, 1));
    let same = first.clone().not().and(row_before.clone().eq(row.clone()));
    let expected = same.select(column_before.add(Expr::scalar(1i64)), Expr::scalar(0i64));
    let inside = Expr::scalar(0i64).le(row.clone()).and(row.clone().lt(Expr::scalar(nrows as i64)));
    let sorted = first.or(row_before.le(row));
    let required = match columns {
        Columns::Consecutive => 3,
        Columns::Any => 2,
    };
    let asserts = [
        (inside, "rows must lie within the dense shape"),
        (sorted, "rows must ascend"),
        (column.eq(expected), "columns must be 0, 1, 2, ... in each row"),
    ]
    .map(|(ok, what)| Node::assert(backend, count.clone(), ok, Check::new(op, what)));

    let key = |at: Expr| {
        let most = Expr::scalar(i64::from(u32::MAX - 3));
        coordinate(at, 0).max(Expr::scalar(0i64)).min(most).cast(DType::U32)
    };
    let below = counts_below(backend, op, &count, key)?;
    let entries = rows.plus(op, &Extent::known(1))?;
    let found = Node::map(backend, op, entries.clone(), Expr::row_of(&below, Expr::index()), &[]);
    // Unsorted rows fail at the read. Until then, their splits must not decrease.
    let (a, b) = (Expr::load(&found, Expr::index()), Expr::load(&found, Expr::index().add(one)));
    let length = a.clone().le(b.clone()).select(b.sub(a), Expr::u32(0));
    let sums = Node::scan(backend, op, rows.clone(), length)?;
    let splits = Expr::load(&sums, Expr::index()).min(count.expr());
    let splits = Node::map(backend, op, entries, splits, &asserts[..required]);
    Ok(RowPartition::from_splits_node(splits, rows, count.size()).with_nvals(count))
}

impl<T: Element> RaggedTensor<T> {
    /// As [`Tensor::to_sparse`].
    ///
    /// # Errors
    /// As [`Tensor::to_sparse`].
    #[track_caller]
    pub fn to_sparse(&self) -> Result<SparseTensor> {
        self.erased().to_sparse()
    }
}
