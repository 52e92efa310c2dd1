//! Positions in the rows of reductions and scans.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::RowDomain;
use crate::graph::recorder::Recorder;
use crate::record::row_scan::RowPlace;

/// The numbers of the rows, and the result that the number at the position belongs to.
pub(super) fn numbers(rec: Recorder<'_>, on: &RowDomain) -> Result<(Extent, Expr)> {
    let width = Expr::u32(on.inner.max(1));
    let row = match on.nrows.as_known() {
        Some(1) => Expr::u32(0),
        _ => on.rows.row_of(Expr::index().div(width.clone())),
    };
    let result = row.mul(width.clone()).add(Expr::index().rem(width));
    Ok((rec.times(&on.nvals, on.inner)?, result))
}

/// The number at the position, among the numbers of the rows.
pub(super) fn place(on: &RowDomain) -> RowPlace {
    let width = Expr::u32(on.inner.max(1));
    let at = Expr::index().div(width.clone());
    RowPlace { row: on.rows.row_of(at.clone()), at, number: Expr::index().rem(width) }
}
