//! Replacement of rows of a table.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Arithmetic;
use crate::error::{Error, Result, caller};
use crate::graph::expr::{Check, Expr};
use crate::graph::node::Node;
use crate::graph::opcode::BinaryOp;
use crate::graph::recorder::Recorder;
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
    fn update_rows(&self, ids: &impl AsRef<Tensor>, rows: &impl AsRef<Tensor>) -> T;
    alias "scatter_update", "index_copy", "scatter_nd";
    tensorflow "tf.tensor_scatter_nd_update";
    gradient yes;
    row none "ids name rows of one table";
}

/// The condition of ids.
const IDS: &str = "ids must ascend, and be at least 0 and below the number of rows";

#[track_caller]
fn update_rows(x: &Tensor, ids: &impl AsRef<Tensor>, rows: &impl AsRef<Tensor>) -> Result<Tensor> {
    const OP: &str = "update_rows";
    let (rec, ids, rows) = (Recorder::new(x.backend(), OP), ids.as_ref(), rows.as_ref());
    Takes::Numbers.check(OP, x.dtype())?;
    x.check_table(OP)?;
    rec.at(Device::check_same(OP, x.backend(), ids.backend()))?;
    rec.at(Device::check_same(OP, x.backend(), rows.backend()))?;
    if rows.dtype() != x.dtype() {
        return Err(Error::DTypes { op: OP, lhs: x.dtype(), rhs: rows.dtype(), location: caller() });
    }
    let id = rec.index_node(ids, "ids")?;
    if ids.ragged_rank() > 0 || ids.rank() != 1 {
        return Err(rec.argument(format!("the ids must be a vector, but have shape {}", ids.shape_text())));
    }
    if rows.ragged_rank() > 0 || rows.rank() != x.rank() || !rows.inner().iter().eq(x.inner().iter()) {
        let what = "the rows must have the dimensions of the table below the outermost".into();
        return Err(rec.shape(x.shape_text(), rows.shape_text(), what));
    }
    let (count, nrows) = (ids.nrows_extent(), x.nrows_extent());
    let check = rec.check("the ids and the rows have different numbers");
    let mut conditions: Vec<Node> = Vec::new();
    conditions.extend(count.agrees(&rows.nrows_extent()).condition(rec, check, |(n, m)| {
        rec.shape(ids.shape_text(), rows.shape_text(), format!("there are {n} ids, but {m} rows"))
    })?);
    let (at, one) = (Expr::index(), Expr::u32(1));
    let own = Expr::load(&id, at.clone());
    let is_within = in_range(&own, nrows.expr(), nrows.capacity());
    let before = Expr::load(&id, at.clone().max(one.clone()).sub(one));
    let ascends = at.clone().eq(Expr::u32(0)).or(before.lt(own.clone()));
    let check = Check::of_index(OP, IDS);
    conditions.push(Node::assert(x.backend(), count.clone(), is_within.clone().and(ascends), check));
    let row = is_within.select(own.cast(DType::U32), Expr::u32(u32::MAX));
    let (width, base) = (x.width(), rec.numbers(x)?);
    if width == 0 {
        return x.on_condition(OP, &conditions);
    }
    let replaced = if x.dtype().size() < 4 {
        // The number of the new row of each row, from 1 on.
        let from = rec.unique_scatter(count, (row, at.clone().add(Expr::u32(1))), nrows);
        let (number, column) = (at.clone().div(Expr::u32(width)), at.clone().rem(Expr::u32(width)));
        let from = Expr::load(&from, number);
        let new = from.clone().binary(BinaryOp::Sub, Expr::u32(1)).mul(Expr::u32(width)).add(column);
        let new = Expr::load(rec.numbers(rows)?, new);
        let value = from.eq(Expr::u32(0)).select(Expr::load(base, at), new);
        rec.map(x.count()?, value, &conditions)
    } else {
        let row = Expr::load(&rec.map(count.clone(), row, &[]), at.clone().div(Expr::u32(width)));
        let number = row.clone().mul(Expr::u32(width)).add(at.clone().rem(Expr::u32(width)));
        let to = row.lt(nrows.expr()).select(number, Expr::u32(u32::MAX));
        let value = Expr::load(rec.numbers(rows)?, at);
        rec.scatter_over(base, rec.times(&count, width)?, (to, value), &conditions)
    };
    x.with_value_node(replaced)
}
