//! Adjoints of rows that are gathered whole: the rows are put in the order of the row that each reads, not their
//! elements. That order follows from the rows of rows for repetitions, else from a sort.

use super::given::Given;
use super::place::Place;
use super::repetition::Repetition;
use crate::error::Result;
use crate::graph::access::{Access, RowsRef, Step};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Recipe, RowDomain, Rows};
use crate::graph::recorder::Recorder;
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
    let Readers { rows: readers, key, place } = Readers::new(rec, row, nrows, &of_nrows)?;
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
    let reader = own.row_of(at.clone());
    let place = place.at(&reader);
    let (read, offset) = (key.at(&reader), at.clone().sub(own.start(reader)));
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

/// The own rows in the order of the rows that they read.
struct Readers {
    /// Those of each row that is read.
    rows: Rows,
    /// The row that each own row reads.
    key: Expr,
    /// The place of each own row in that order.
    place: Expr,
}

impl Readers {
    /// Of own rows of which `Index`, of `nrows`, reads that row of `of_nrows`.
    fn new(rec: Recorder<'_>, row: &Expr, nrows: &Extent, of_nrows: &Extent) -> Result<Self> {
        let at = Expr::index();
        if let Access::Place { own, of, row: of_row, base, step: step @ (Step::Cyclic | Step::Each(_)), inner } =
            row.access()
            && base.as_u32() == Some(0)
            && (inner.own, inner.width) == (1, 1)
            && own.is_own_row(&of_row, 1)
            && let Some(outer) = own.nrows(nrows)
        {
            let repetition = Repetition { own: &own, of: &of, step, nrows: &outer };
            let rows = Rows::Splits(repetition.readers(rec, of_nrows, nrows)?);
            return Ok(Self { rows, key: row.clone(), place: repetition.place(at) });
        }
        let keys = ByKey::new(rec, nrows, row.clone(), of_nrows)?;
        Ok(Self { rows: keys.rows(1).rows, key: keys.key(at.clone()), place: keys.place(rec, at) })
    }
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
