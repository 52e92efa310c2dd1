//! Inclusive and exclusive scans of rows in both directions: index arithmetic around the inclusive forward scan of the
//! primitive.

use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::opcode::ReduceOp;
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
    #[expect(clippy::too_many_arguments, reason = "those of the primitive")]
    #[track_caller]
    pub(crate) fn record(
        &self,
        backend: &BackendRef,
        name: &'static str,
        (rows, nrows): (&Rows, &Extent),
        nvals: &Extent,
        inner: u32,
        value: Expr,
        place: &RowPlace,
    ) -> Result<Expr> {
        let identity = Expr::scalar(self.op.identity(value.dtype()));
        if inner == 0 || nrows.capacity() == 0 || nvals.capacity() == 0 {
            return Ok(identity);
        }
        let (width, one) = (Expr::u32(inner), Expr::u32(1));
        let number = |element: Expr, d: Expr| element.mul(width.clone()).add(d);
        let within = |row: Expr, offset: Expr| match rows {
            Rows::Uniform(len) => row.mul(Expr::size(len)).add(offset),
            Rows::Splits(splits) => Expr::within(splits, row, offset),
        };
        let value = if self.reverse {
            let element = Expr::index().div(width.clone());
            let row = match rows {
                Rows::Uniform(len) => element.clone().div(Expr::size(&len.max(1))),
                Rows::Splits(splits) => Expr::row_of(splits, element.clone()),
            };
            let offset = element.sub(rows.start(row.clone()));
            let mirrored = rows.length(row.clone()).sub(one.clone()).sub(offset);
            value.at(&number(within(row, mirrored), Expr::index().rem(width.clone())))
        } else {
            value
        };
        let rows_of = (rows.clone(), nrows.clone());
        let scan = Node::row_scan(backend, name, self.op, rows_of, nvals.clone(), inner, value)?;
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
