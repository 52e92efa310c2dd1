//! Entries for empty rows.

use super::coordinates::{Coordinates, indices_of};
use super::{Order, SparseTensor};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{RowDomain, Rows};
use crate::ops::IntoOperand;
use crate::record::by_key::ByKey;
use crate::shape::{Repeats, RowPartition};
use crate::tensor::Tensor;

/// Entries for empty rows.
impl SparseTensor {
    /// Gives each empty row, an index of the first dimension without entries, an entry with the value `default` at its
    /// start. Also returns an indicator of the rows that were empty, a bool vector.
    ///
    /// Entries come out in order of their rows. Those of one row keep their order: they are not sorted.
    ///
    /// # Errors
    /// A scalar; a `default` of another dtype, on another device, or of rank 1 or more; 2^32 - 1 rows or more. At the
    /// read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A sort of the entries by row, and two maps each over coordinates and values. No wait, except for the size of a
    /// byte string that only the device has.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[2, 1], [0, 3], [2, 0]], [1, 2, 3], [4, 5], &Device::cpu())?;
    /// let (filled, empty) = x.fill_empty_rows(10)?;
    /// assert_eq!(filled.values().to_string(), "tensor([2, 10, 1, 3, 10], shape=(5,), dtype=i32)");
    /// assert_eq!(
    ///     filled.indices().to_string(),
    ///     "tensor([[0, 3], [1, 0], [2, 1], [2, 0], [3, 0]], shape=(5, 2), dtype=i64)"
    /// );
    /// assert_eq!(empty.to_string(), "tensor([False, True, False, True], shape=(4,), dtype=bool)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.fill_empty_rows`.
    #[track_caller]
    pub fn fill_empty_rows<'a>(&self, default: impl IntoOperand<'a>) -> Result<(Self, Tensor)> {
        let rec = self.recorder("fill_empty_rows");
        let Some(&nrows) = self.dense_shape.first() else {
            return Err(rec.argument("a scalar has no rows"));
        };
        let count = self.count();
        let nrows = rec.known(nrows)?;
        let coordinates = Coordinates::new(rec, self)?;
        let row = coordinates.of(0).cast(DType::U32);
        let keys = ByKey::new(rec, &count, row, &nrows)?;
        let RowDomain { rows, nvals: members, .. } = keys.rows(1);
        let splits = match rows {
            Rows::Splits(splits) => splits,
            // Without rows or entries.
            uniform => rec.map(rec.plus(&nrows, &Extent::known(1))?, uniform.start(Expr::index()), &[]),
        };
        let rows = RowPartition::from_splits_node(splits, nrows, count.size()).with_nvals(members.clone());
        let order = Expr::load(keys.order(), Expr::index());
        let by_row =
            |t: &Tensor| t.take_rows(rec, members.clone(), order.clone(), Repeats::Never, &[])?.under(rows.clone());
        let (values, empty) = by_row(&self.values)?.fill_empty_rows(default)?;
        let (all, _) = by_row(&coordinates.tensor(self)?)?.fill_empty_rows(0i64)?;
        let filled = &all.partitions()[0];
        let (numbers, found) = (rec.numbers(&all)?, filled.nvals_extent());
        let rank = Expr::u32(self.rank() as u32);
        let below = (1..self.rank()).map(|d| {
            let at = Expr::index().mul(rank.clone()).add(Expr::u32(d as u32));
            Expr::load(numbers, at)
        });
        let row = filled.row_of(Expr::index()).cast(DType::I64);
        let all: Vec<Expr> = std::iter::once(row).chain(below).collect();
        let indices = indices_of(rec, found, &all, &self.conditions)?;
        let order = if self.rank() == 1 { self.order.max(Order::Sorted) } else { self.order };
        let empty = empty.on_condition(rec.op, &self.conditions)?;
        let filled = Self::of_parts(indices, values.values()?, self.dense_shape.clone(), order);
        Ok((filled.subject_to(&self.conditions), empty))
    }
}
