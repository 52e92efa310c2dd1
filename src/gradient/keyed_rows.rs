//! Adjoints of rows that are gathered whole: the rows are sorted by the row that each reads, not their elements.

use super::given::Given;
use super::place::Place;
use crate::error::Result;
use crate::graph::access::{RowsRef, Step};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Recipe, RowDomain, Rows};
use crate::record::by_key::ByKey;

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
            Some(rec.scan(of_nrows.clone(), read)?)
        }
    };
    let before = |row: Expr| match &before {
        Some(before) => Expr::load(before, row),
        None => readers.start(row.clone()).mul(of.length(row)),
    };
    let at = Expr::index();
    let read = of.row_of(at.clone());
    let first = before(read.clone()).add(at.clone().sub(of.start(read.clone())).mul(readers.length(read)));
    let beyond = before(of_nrows.expr());
    let first = at.clone().lt(elements.expr()).select(first, beyond);
    let splits = rec.splits(elements, &first, &[])?;
    // The place of each position among the readers, and the position at each place.
    let place = keys.place(rec, own.row_of(at.clone()));
    let reader = own.row_of(at.clone());
    let (read, offset) = (keys.key(reader.clone()), at.clone().sub(own.start(reader)));
    let rank = place.sub(readers.start(read.clone()));
    let place = before(read.clone()).add(offset.mul(readers.length(read.clone()))).add(rank);
    let place = read.lt(of_nrows.expr()).select(place, Expr::u32(u32::MAX));
    let positions = rec.unique_scatter(count.clone(), (place, at.clone()), count.clone());
    let width = Expr::u32(inner.own);
    let position = Expr::load(&positions, at.clone().div(width.clone())).mul(width.clone()).add(at.rem(width));
    let nvals = Extent::bounded(count.size(), splits.last_entry());
    let on = RowDomain { rows: Rows::Splits(splits), nrows: elements.clone(), nvals, inner: inner.own };
    Ok(Some(given.sum(on, given.ct.at(&position))?))
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
