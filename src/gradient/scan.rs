//! The cotangents of the values of row scans.

use super::cotangents::Cotangents;
use super::rows::{numbers, place};
use super::scalar::{number, times, zero};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::opcode::{ReduceOp, UnaryOp};
use crate::graph::primitive;
use crate::graph::recorder::Recorder;
use crate::record::by_key::reduce_rows;
use crate::record::lines::Lines;
use crate::record::row_scan::{RowPlace, RowScan, Terms};

/// Adds the cotangents of the values of a scan whose cotangent is `ct`.
pub(super) fn pull(
    all: &mut Cotangents<'_>,
    rec: Recorder<'_>,
    scan: &primitive::RowScan,
    node: &Node,
    ct: &Node,
) -> Result<()> {
    let primitive::RowScan { op, on, value, decay } = scan;
    let (count, _) = numbers(rec, on)?;
    let rows = Scanned { rec, on };
    let own = Expr::load(ct, Expr::index());
    if let Some(decay) = decay {
        let (of_value, of_decay) = rows.of_recurrence(node, decay, own)?;
        all.pull(value, of_value, &count)?;
        return all.pull(decay, of_decay, &count);
    }
    let of_value = match op {
        ReduceOp::Sum => rows.sums_from_the_end(own)?,
        ReduceOp::Prod => rows.of_products(node, value, own)?,
        ReduceOp::Min | ReduceOp::Max => rows.of_extremes(node, &own)?,
    };
    all.pull(value, of_value, &count)
}

/// The rows of a scan.
struct Scanned<'a> {
    rec: Recorder<'a>,
    on: &'a RowDomain,
}

impl Scanned<'_> {
    fn scan(&self, scan: RowScan, value: Expr) -> Result<Expr> {
        scan.record(self.rec, self.on.clone(), value, &place(self.on))
    }

    fn sums_from_the_end(&self, value: Expr) -> Result<Expr> {
        self.scan(RowScan { op: ReduceOp::Sum, exclusive: false, reverse: true }, value)
    }

    /// The cotangents of the values and of the decays.
    fn of_recurrence(&self, y: &Node, decay: &Expr, own: Expr) -> Result<(Expr, Expr)> {
        let whole = self.whole(decay, own)?;
        let of_decay = times(self.before(y, zero(decay.dtype())), &whole);
        Ok((whole, of_decay))
    }

    /// A product is the one before it times its value: the values are the decays of a recurrence that starts with 1. Nothing
    /// is divided, so that zeros have derivatives, of all orders.
    fn of_products(&self, y: &Node, x: &Expr, own: Expr) -> Result<Expr> {
        let whole = self.whole(x, own)?;
        Ok(times(self.before(y, number(x.dtype(), 1.0)), &whole))
    }

    /// The cotangents of the results of a recurrence of which `own` are those that the results have by themselves. Through the
    /// next result, each has that of the next one times its decay too: a recurrence from the ends of the rows.
    fn whole(&self, decay: &Expr, own: Expr) -> Result<Expr> {
        let (on, RowPlace { row, at, .. }) = (self.on, place(self.on));
        let (width, start) = (Expr::u32(on.inner.max(1)), on.rows.start(row.clone()));
        let is_last = at.add(Expr::u32(1)).eq(start.add(on.rows.length(row)));
        let later = is_last.select(zero(decay.dtype()), decay.at(&Expr::index().add(width)));
        let from_the_end = RowScan { op: ReduceOp::Sum, exclusive: false, reverse: true };
        from_the_end.record(self.rec, on.clone(), Terms::of_recurrence(own, later, None), &place(on))
    }

    /// The results before the results `y`; before the first one of a row, `first`.
    fn before(&self, y: &Node, first: Expr) -> Expr {
        let RowPlace { row, at, .. } = place(self.on);
        let before = Expr::load(y, Expr::index().sub(Expr::u32(self.on.inner.max(1))));
        at.eq(self.on.rows.start(row)).select(first, before)
    }

    /// Each result is the value that was the last new extreme: each new extreme has the cotangents from it on to the next
    /// one, in its line.
    fn of_extremes(&self, y: &Node, ct: &Expr) -> Result<Expr> {
        let (rec, lines) = (self.rec, Lines::of_rows(self.rec, self.on)?);
        let (rows, count, at) = (lines.domain(), lines.count(), Expr::index());
        let of_y = |place: Expr| Expr::load(y, lines.number().at(&place));
        let is_first = at.clone().eq(rows.rows.start(rows.rows.row_of(at.clone())));
        let before = of_y(at.clone().sub(Expr::u32(1)));
        // Once a NaN is the extreme, it stays.
        let is_nan = before.clone().unary(UnaryOp::IsNan);
        let is_new = is_first.or(before.eq(of_y(at.clone())).or(is_nan).not());
        let next = RowScan { op: ReduceOp::Min, exclusive: false, reverse: true };
        let end = rows.rows.start(rows.rows.row_of(at.clone()).add(Expr::u32(1)));
        let next = next.record(rec, rows.clone(), is_new.select(at.clone(), end), &place(rows))?;
        let start = at.lt(count.expr()).select(next, count.expr());
        let splits = rec.splits(count, &start, &[])?;
        let from_each = RowDomain { rows: Rows::Splits(splits), nrows: count.clone(), nvals: count.clone(), inner: 1 };
        let sums = reduce_rows(rec, ReduceOp::Sum, from_each, ct.at(lines.number()))?;
        Ok(Expr::load(&sums, lines.place().clone()))
    }
}
