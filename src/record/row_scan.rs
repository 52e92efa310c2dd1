//! Inclusive and exclusive scans of rows in both directions: index arithmetic around the inclusive forward scan of the
//! primitive.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::RowDomain;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;

/// Operator, exclusivity and direction of a scan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowScan {
    pub(crate) op: ReduceOp,
    /// Excludes the value itself: the first result of a row is the identity element.
    pub(crate) exclusive: bool,
    /// Scans from the end of the row.
    pub(crate) reverse: bool,
}

/// Position of an output number among the scanned rows, as expressions in the output number.
pub(crate) struct RowPlace {
    /// Its row.
    pub(crate) row: Expr,
    /// Its element, counted over all rows.
    pub(crate) at: Expr,
    /// Index of the number within its element.
    pub(crate) number: Expr,
}

impl RowScan {
    /// Records the scan of `value`, an expression in the number `element * inner + d` of the rows. Returns the result
    /// for the number at `place`.
    pub(crate) fn record(&self, rec: Recorder<'_>, on: RowDomain, value: Expr, place: &RowPlace) -> Result<Expr> {
        let identity = Expr::scalar(self.op.identity(value.dtype()));
        if on.inner == 0 || on.nrows.capacity() == 0 || on.nvals.capacity() == 0 {
            return Ok(identity);
        }
        let (width, one, rows) = (Expr::u32(on.inner), Expr::u32(1), on.rows.clone());
        let number = |element: Expr, d: Expr| element.mul(width.clone()).add(d);
        let within = |row: Expr, offset: Expr| rows.within(row, offset);
        let value = if self.reverse {
            let element = Expr::index().div(width.clone());
            let row = rows.row_of(element.clone());
            let offset = element.sub(rows.start(row.clone()));
            let mirrored = rows.length(row.clone()).sub(one.clone()).sub(offset);
            value.at(&number(within(row, mirrored), Expr::index().rem(width.clone())))
        } else {
            value
        };
        let scan = rec.row_scan(self.op, on, value)?;
        let RowPlace { row, at, number: d } = place;
        if !self.reverse && !self.exclusive {
            return Ok(Expr::load(&scan, number(at.clone(), d.clone())));
        }
        let mut offset = at.clone().sub(rows.start(row.clone()));
        if self.reverse {
            offset = rows.length(row.clone()).sub(one.clone()).sub(offset);
        }
        if !self.exclusive {
            return Ok(Expr::load(&scan, number(within(row.clone(), offset), d.clone())));
        }
        let before = Expr::load(&scan, number(within(row.clone(), offset.clone().sub(one)), d.clone()));
        Ok(offset.eq(Expr::u32(0)).select(identity, before))
    }
}
