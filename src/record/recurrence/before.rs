//! The states before each element.

use crate::graph::expr::Expr;
use crate::graph::primitive::ScanRows;

/// The number at position `element * on.inner + column` of the states before the element, from `after`, the states after
/// each element by the same position.
pub(crate) fn states_before(scan: &ScanRows, after: impl Fn(Expr) -> Expr) -> Expr {
    let on = &scan.on;
    let width = Expr::u32(on.inner);
    let (element, column) = (Expr::index().div(width.clone()), Expr::index().rem(width.clone()));
    let row = on.rows.row_of(element.clone());
    let start = on.rows.start(row.clone());
    let offset = element.sub(start);
    let one = Expr::u32(1);
    let (is_first, neighbour) = if scan.reversed {
        let last = on.rows.length(row.clone()).sub(one.clone());
        (offset.clone().eq(last), offset.add(one))
    } else {
        (offset.clone().eq(Expr::u32(0)), offset.sub(one))
    };
    let initial = scan.initial.at(&row.clone().mul(width.clone()).add(column.clone()));
    let at = on.rows.within(row, neighbour);
    is_first.select(initial, after(at.mul(width).add(column)))
}
