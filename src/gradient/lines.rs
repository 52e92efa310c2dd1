//! Adjoint of the transposition of the elements of each row with their numbers.

use super::given::Given;
use crate::graph::access::RowsRef;
use crate::graph::expr::Expr;
use crate::graph::node::Node;

/// The cotangents of elements of `width` numbers each, where each line of the own rows reads the line of the same number.
pub(super) fn adjoint(given: &Given<'_>, (own, own_width): (&Node, u32), (of, width): (&Node, u32)) -> Expr {
    let (own_rows, of_rows) = (RowsRef::Splits(own.clone()), RowsRef::Splits(of.clone()));
    let (by, own_by, at) = (Expr::u32(width), Expr::u32(own_width), Expr::index());
    let (element, number) = (at.clone().div(by.clone()), at.rem(by.clone()));
    let row = of_rows.row_of(element.clone());
    let offset = element.sub(of_rows.start(row.clone()));
    let line = row.mul(by).add(number);
    let (own_row, own_number) = (line.clone().div(own_by.clone()), line.rem(own_by.clone()));
    let nrows = Expr::size(&own.extent().size().sub(1));
    let is_read = own_row.clone().lt(nrows).and(offset.clone().lt(own_rows.length(own_row.clone())));
    let position = own_rows.within(own_row, offset).mul(own_by).add(own_number);
    given.only_where(is_read, given.ct.at(&position))
}
