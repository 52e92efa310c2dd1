//! Adjoints of rows that are gathered whole: the rows are put in the order of the row that each reads, not their
//! elements. That order follows from the rows of rows for repetitions, else from a sort.

use super::given::Given;
use super::place::{Place, of_own_rows};
use super::repetition::{Repetition, repeats_of};
use crate::error::Result;
use crate::graph::access::{Access, RowsRef, Step};
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::{Recipe, RowDomain, Rows};
use crate::graph::opcode::BinaryOp;
use crate::graph::recorder::Recorder;
use crate::record::by_key::ByKey;

/// The cotangents of elements, where own row `Index`, of `nrows` and of `count` elements in all, reads that row. `None`
/// unless each own row is known to be as long as the row that it reads.
pub(super) fn adjoint(
    given: &Given<'_>,
    place: &Place<'_>,
    row: &Expr,
    counts: (&Extent, &Extent),
    elements: &Extent,
) -> Result<Option<Expr>> {
    match reads_whole_rows(place, row) {
        true => of_whole_rows(given, place, row, counts, elements),
        false => Ok(None),
    }
}

fn reads_whole_rows(Place { own, of, base, step, .. }: &Place<'_>, row: &Expr) -> bool {
    *step == Step::Along(1) && base.as_u32() == Some(0) && times_as_long(own, of, row) == Some(1)
}

fn of_whole_rows(
    given: &Given<'_>,
    Place { own, of, inner, .. }: &Place<'_>,
    row: &Expr,
    (count, nrows): (&Extent, &Extent),
    elements: &Extent,
) -> Result<Option<Expr>> {
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

/// Rows that are repeated within rows of rows, of which several read the same one: the rows of rows are copies.
pub(super) struct Repeated {
    /// The own rows of rows.
    own: RowsRef,
    of: RowsRef,
    /// The row of rows that each own one reads.
    row: Expr,
    step: Step,
    nrows: Extent,
}

/// The cotangents of copies of rows, without repetitions.
pub(super) struct Copies {
    pub(super) ct: Expr,
    pub(super) count: Extent,
    pub(super) rows: RowsRef,
    /// The row that each of them is a copy of.
    pub(super) read: Expr,
}

impl Repeated {
    /// Of own rows of which `Index`, of `nrows`, reads that row, each as long as that one.
    pub(super) fn of_rows(place: &Place<'_>, row: &Expr, nrows: &Extent) -> Option<Self> {
        let Access::Place { own, of, row: outer, base, step: step @ (Step::Cyclic | Step::Each(_)), inner } =
            row.access()
        else {
            return None;
        };
        let is_repeated = base.as_u32() == Some(0) && (inner.own, inner.width) == (1, 1);
        if !is_repeated || own.is_own_row(&outer, 1) || !reads_whole_rows(place, row) {
            return None;
        }
        let (row, nrows) = (of_own_rows(&outer, &own, 1)?, own.nrows(nrows)?);
        Some(Self { own, of, row, step, nrows })
    }

    /// The cotangents of the rows in each own row of rows without its repetitions.
    pub(super) fn copies(
        &self,
        given: &Given<'_>,
        place: &Place<'_>,
        (count, nrows): (&Extent, &Extent),
    ) -> Result<Option<Copies>> {
        let (rec, at) = (given.rec, Expr::index());
        let length = self.step.length_read(self.own.length(at.clone()), self.of.length(self.row.clone()));
        let copies = rec.rows_of_lengths(&self.nrows, length, nrows.size())?;
        let Rows::Splits(of_copies) = copies.domain(1).rows else { return Ok(None) };
        let of_copies = RowsRef::Splits(of_copies);
        let number = of_copies.row_of(at.clone());
        let read = self.of.within(self.row.at(&number), at.clone().sub(of_copies.start(number)));
        let copied = rec.rows_of_lengths(copies.nvals_extent(), place.of.length(read.clone()), count.size())?;
        let Rows::Splits(rows) = copied.domain(1).rows else { return Ok(None) };
        let rows = RowsRef::Splits(rows);
        let own = self.own.row_of(at.clone());
        let offset = at.sub(self.own.start(own.clone()));
        let offset = match self.step {
            Step::Each(repeats) => offset.div(repeats_of(repeats)),
            _ => offset.rem(of_copies.length(own.clone())),
        };
        let of_row = of_copies.within(own, offset);
        let first = Place { of: &rows, ..place.clone() };
        let Some(ct) = of_whole_rows(given, &first, &of_row, (count, nrows), copied.nvals_extent())? else {
            return Ok(None);
        };
        let count = rec.times(copied.nvals_extent(), place.inner.own)?;
        let ct = Expr::load(&rec.map(count.clone(), ct, &[]), Expr::index());
        Ok(Some(Copies { ct, count, rows, read }))
    }
}

/// How many times as long each own row is known to be as the row that it reads; never 0.
pub(super) fn times_as_long(own: &RowsRef, of: &RowsRef, row: &Expr) -> Option<u32> {
    match (own, of) {
        (RowsRef::Uniform(own), RowsRef::Uniform(of)) => (own == of).then_some(1),
        (RowsRef::Splits(splits), _) => match splits.kept_recipe().as_deref() {
            Some(Recipe::Scan(scan)) => {
                let (length, read) = (scan.value.in_program(), of.length(row.clone()).in_program());
                match length.kind() {
                    _ if length == read => Some(1),
                    ExprKind::Binary(BinaryOp::Mul, of, times) if *of == read => times.as_u32().filter(|&n| n > 0),
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
    }
}
