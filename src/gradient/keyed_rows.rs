//! Adjoints of rows that are gathered whole: the rows are sorted by the row that each reads, not their elements.

use super::given::Given;
use super::inverse::Place;
use crate::error::Result;
use crate::graph::access::{RowsRef, Step};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Recipe, RowDomain, Rows};
use crate::record::by_key::ByKey;
use crate::shape::RowPartition;

/// The cotangents of elements, where own row `Index`, of `nrows` and of `count` elements in all, reads that row. `None`
/// unless each own row is known to be as long as the row that it reads.
pub(super) fn adjoint(
    given: &Given<'_>,
    place: &Place<'_>,
    row: &Expr,
    (count, nrows): (&Extent, &Extent),
    elements: &Extent,
) -> Result<Option<Expr>> {
    let Place { own, of, base, step, inner, .. } = place;
    if *step != Step::Along(1) || base.as_u32() != Some(0) || !is_whole(own, of, row) {
        return Ok(None);
    }
    let rec = given.rec;
    let Some(of_nrows) = of.nrows(elements) else { return Ok(None) };
    let keys = ByKey::new(rec, nrows, row.clone(), &of_nrows)?;
    let readers = keys.rows(1).rows;
    // The readers of each element are consecutive: those of the first element of a row, of its second one, and so on.
    let before = match of {
        RowsRef::Uniform(_) => None,
        RowsRef::Splits(_) => {
            let read = of.length(Expr::index()).mul(readers.length(Expr::index()));
            Some(rec.scan(of_nrows, read)?)
        }
    };
    let place_of = |element: Expr| {
        let read = of.row_of(element.clone());
        (read.clone(), element.sub(of.start(read)))
    };
    let (read, offset) = place_of(Expr::index());
    let before = match before {
        Some(before) => Expr::load(&before, read.clone()),
        None => readers.start(read.clone()).mul(of.length(read.clone())),
    };
    let first = before.add(offset.mul(readers.length(read)));
    let splits = rec.splits(elements, &RowPartition::ending_at(first, elements, count), &[])?;
    let width = Expr::u32(inner.own);
    let at = Expr::index().div(width.clone());
    let element = Expr::row_of(&splits, at.clone());
    let term = at.sub(Expr::load(&splits, element.clone()));
    let (read, offset) = place_of(element);
    let reader = Expr::load(keys.order(), readers.start(read.clone()).add(term.clone()));
    let position = own.within(reader, offset).mul(width.clone()).add(Expr::index().rem(width));
    let value = given.only_where(term.lt(readers.length(read)), given.ct.at(&position));
    let on = RowDomain { rows: Rows::Splits(splits), nrows: elements.clone(), nvals: count.clone(), inner: inner.own };
    Ok(Some(given.sum(on, value)?))
}

/// Whether each own row is known to be as long as the row that it reads.
fn is_whole(own: &RowsRef, of: &RowsRef, row: &Expr) -> bool {
    match (own, of) {
        (RowsRef::Uniform(own), RowsRef::Uniform(of)) => own == of,
        (RowsRef::Splits(splits), _) => match splits.kept_recipe().as_deref() {
            Some(Recipe::Scan(scan)) => scan.value.in_program() == of.length(row.clone()).in_program(),
            _ => false,
        },
        _ => false,
    }
}
