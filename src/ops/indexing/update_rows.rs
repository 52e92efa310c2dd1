//! Replacement of rows of a table.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Arithmetic;
use crate::error::{Error, Result, caller};
use crate::graph::expr::{Check, Expr};
use crate::graph::node::Node;
use crate::graph::size::RecordedSize;
use crate::ops::indexing::gather::in_range;
use crate::ops::operations;
use crate::record::elementwise::Takes;
use crate::tensor::Tensor;

operations! {
    /// Replacement of rows.
    const OPERATIONS: family "Products and segments" on RaggedTensor<T> where T: Arithmetic;

    /// The table with the rows at some ids replaced.
    ///
    /// Row `ids[k]` of the result is `rows[k]`, and the other rows are those of the table. The table is dense, `[n, ..]`,
    /// the ids are `[m]`, in ascending order and each at most once, and the rows `[m, ..]`, with the dimensions of the
    /// table below the outermost and its dtype, which stays. Values are copied, NaN included; without ids the result is
    /// the table. Ids in another order are sorted by `argsort`, and duplicates removed by `unique`.
    ///
    /// # Errors
    /// Bools and strings; different dtypes or devices; ids that are not integers; a ragged operand; other dimensions;
    /// another number of ids than of rows. At the read: an id that is negative or not below the number of rows, ids that
    /// do not ascend, and sizes that only the device knows.
    ///
    /// # Cost
    /// A copy of the table, then a write per number of `rows`. In a run that owns the table
    /// ([`Program::run_donating`](crate::Program::run_donating)) the table is overwritten, without the copy, if nothing later
    /// in the program reads it. Numbers of fewer than 32 bits take a map over the table. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let table = RaggedTensor::from_nested([[1, 2], [3, 4], [5, 6]], &device)?;
    /// let ids = RaggedTensor::from_nested([0, 2], &device)?;
    /// let rows = RaggedTensor::from_nested([[10, 20], [50, 60]], &device)?;
    /// assert_eq!(table.update_rows(&ids, &rows)?.to_vec()?, [10, 20, 3, 4, 50, 60]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn update_rows(&self, ids: &impl AsRef<Tensor> as tensor, rows: &impl AsRef<Tensor> as tensor) -> T;
    alias "scatter_update", "index_copy", "scatter_nd";
    tensorflow "tf.tensor_scatter_nd_update";
    gradient yes;
    row none "ids name rows of one table";
}

/// The condition of ids.
const IDS: &str = "ids must ascend, and be at least 0 and below the number of rows";

#[track_caller]
fn update_rows(x: &Tensor, ids: &impl AsRef<Tensor>, rows: &impl AsRef<Tensor>) -> Result<Tensor> {
    x.with_rows("update_rows", (ids.as_ref(), false), rows.as_ref())
}

impl Tensor {
    /// See [`Tensor::update_rows`]. Ids that are u32 and known to ascend, within the rows, are not checked.
    #[track_caller]
    pub(crate) fn with_rows(&self, op: &'static str, (ids, ascends): (&Self, bool), rows: &Self) -> Result<Self> {
        let rec = self.recorder(op);
        Takes::Numbers.check(op, self.dtype())?;
        self.check_table(op)?;
        rec.at(Device::check_same(op, self.backend(), ids.backend()))?;
        rec.at(Device::check_same(op, self.backend(), rows.backend()))?;
        if rows.dtype() != self.dtype() {
            return Err(Error::DTypes { op, lhs: self.dtype(), rhs: rows.dtype(), location: caller() });
        }
        let id = rec.index_node(ids, "ids")?;
        if ids.ragged_rank() > 0 || ids.rank() != 1 {
            return Err(rec.argument(format!("the ids must be a vector, but have shape {}", ids.shape_text())));
        }
        if rows.ragged_rank() > 0 || rows.rank() != self.rank() || !rows.inner().iter().eq(self.inner().iter()) {
            let what = "the rows must have the dimensions of the table below the outermost".into();
            return Err(rec.shape(self.shape_text(), rows.shape_text(), what));
        }
        let (count, nrows) = (ids.nrows_extent(), self.nrows_extent());
        let check = rec.check("the ids and the rows have different numbers");
        let mut conditions: Vec<Node> = Vec::new();
        conditions.extend(count.agrees(&rows.nrows_extent()).condition(rec, check, |(n, m)| {
            rec.shape(ids.shape_text(), rows.shape_text(), format!("there are {n} ids, but {m} rows"))
        })?);
        let (at, one) = (Expr::index(), Expr::u32(1));
        let own = Expr::load(&id, at.clone());
        let is_within = in_range(&own, nrows.expr(), nrows.capacity());
        let row = if ascends {
            id
        } else {
            let before = Expr::load(&id, at.clone().max(one.clone()).sub(one));
            let follows = at.clone().eq(Expr::u32(0)).or(before.lt(own.clone()));
            let check = Check::of_index(op, IDS);
            conditions.push(Node::assert(self.backend(), count.clone(), is_within.clone().and(follows), check));
            rec.map(count.clone(), is_within.select(own.cast(DType::U32), Expr::u32(u32::MAX)), &[])
        };
        if self.width() == 0 {
            return self.on_condition(op, &conditions);
        }
        let (width, base, new) = (Expr::u32(self.width()), rec.numbers(self)?, rec.numbers(rows)?);
        let (number, column) = (at.clone().div(width.clone()), at.clone().rem(width.clone()));
        let replaced = if self.dtype().size() < 4 {
            // The number of the new row of each row, from 1 on.
            let place = (Expr::load(&row, at.clone()), at.clone().add(Expr::u32(1)));
            let from = Expr::load(&rec.unique_scatter(count, place, nrows), number);
            let new = Expr::load(new, from.clone().sub(Expr::u32(1)).mul(width).add(column));
            rec.map(self.count()?, from.eq(Expr::u32(0)).select(Expr::load(base, at), new), &conditions)
        } else {
            let row = Expr::load(&row, number);
            let to = row.clone().lt(nrows.expr()).select(row.mul(width).add(column), Expr::u32(u32::MAX));
            rec.scatter_over(base, rec.times(&count, self.width())?, (to, Expr::load(new, at)), &conditions)
        };
        self.with_value_node(replaced)
    }
}
