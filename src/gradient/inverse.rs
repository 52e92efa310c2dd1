//! Adjoints of accesses to places in rows: slices, paddings, reversals, tiles, repeats.

use super::given::Given;
use super::keyed_rows::{self, Copies, Repeated};
use super::place::{Place, of_own_rows};
use super::preimage::{Piece, Preimage};
use super::repetition::Repetition;
use super::rows_ref::size_of;
use super::sized_rows::SizedRows;
use super::strided::with_gaps;
use crate::error::Result;
use crate::graph::access::{Access, Digit, Inner, Radix, RowsRef, Step};
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Recipe, RowDomain, Rows};
use crate::graph::opcode::BinaryOp;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;

/// The cotangents of elements, of as many numbers as the own elements have. `None` if no arithmetic leads back.
pub(super) fn adjoint(given: &Given<'_>, place: &Place<'_>, to: &Extent) -> Result<Option<Expr>> {
    let Place { of, base, step, inner, .. } = place;
    let Some(count) = given.elements(inner.own) else { return Ok(None) };
    let Some(own) = Own::new(given, place, count)? else { return Ok(None) };
    let (width, elements) = (Expr::u32(inner.own), to.part(inner.width.max(1)));
    let folds = matches!(step, Step::Each(_) | Step::Cyclic);
    if folds && base.as_u32() != Some(0) {
        return Ok(None);
    }
    let readers = match &own.reader {
        Reader::Same if folds => return Ok(Some(own.folded(given, place, &elements)?)),
        // First to rows like those that are read, one for each own row.
        _ if folds => return own.folded_first(given, place, to),
        Reader::Any(row) => {
            let counts = (&own.count, &own.nrows);
            let Some(repeated) = Repeated::of_rows(place, row, &own.nrows) else {
                return keyed_rows::adjoint(given, place, row, counts, &elements);
            };
            let Some(Copies { ct, count, rows, read }) = repeated.copies(given, place, counts)? else {
                return Ok(None);
            };
            let then = Place { own: &rows, of_own: Some(read), ..place.clone() };
            return adjoint(&Given { ct, count, ..given.clone() }, &then, to);
        }
        readers => readers,
    };
    let terms = readers.terms();
    let (number, term) = match terms.as_known() {
        Some(1) => (Expr::index(), Expr::u32(0)),
        _ => {
            let by = Expr::size(&terms.max(1));
            (Expr::index().div(by.clone()), Expr::index().rem(by))
        }
    };
    // The element that is read, its row, and its offset there from the first one that is read.
    let element = number.clone().div(width.clone());
    let number = number.rem(width.clone());
    let read = of.row_of(element.clone());
    let (row, is_read) = own.reader.reader(&read, &term, &own.nrows);
    let base = base.at(&own.rows.start(row.clone()).mul(width.clone()));
    let offset = element.sub(of.start(read)).sub(base);
    let length = own.rows.length(row.clone());
    let at = |k: Expr| given.ct.at(&own.rows.within(row.clone(), k).mul(width.clone()).add(number.clone()));
    let found = match *step {
        Step::Along(0) => {
            let Some(on) = own.domain(inner.own) else { return Ok(None) };
            let sums = given.sum(on, given.ct.clone())?;
            let sum = sums.at(&row.mul(width).add(number));
            given.only_where(is_read.and(offset.eq(Expr::u32(0))), sum)
        }
        Step::Along(step) => {
            let (k, is_step) = steps(offset, step);
            given.only_where(is_read.and(is_step).and(k.clone().lt(length)), at(k))
        }
        Step::Each(_) | Step::Cyclic => return Ok(None),
    };
    if terms.as_known() == Some(1) {
        return Ok(Some(found));
    }
    let numbers = given.rec.times(&elements, inner.own)?;
    let nvals = given.rec.times_size(&numbers, &terms)?;
    let on = RowDomain { rows: Rows::Uniform(terms), nrows: numbers, nvals, inner: 1 };
    Ok(Some(given.sum(on, found)?))
}

/// Own rows that read rows at places in rows of rows.
struct Nested {
    readers: Reader,
    own: RowsRef,
    of: RowsRef,
    base: Expr,
    step: i64,
    /// Numbers of each own element, of which number `k` reads the `k`-th place from that of the element.
    numbers: u32,
    nrows: Extent,
}

impl Nested {
    fn reader(&self, element: &Expr, term: &Expr) -> (Expr, Expr) {
        let numbers = Expr::u32(self.numbers);
        let (term, number) = (term.clone().div(numbers.clone()), term.clone().rem(numbers.clone()));
        let read = self.of.row_of(element.clone());
        let (row, is_read) = self.readers.reader(&read, &term, &self.nrows);
        let base = self.base.at(&self.own.start(row.clone()).mul(numbers.clone()));
        let offset = element.clone().sub(self.of.start(read)).sub(base).sub(number.clone());
        let (k, is_step) = steps(offset, self.step);
        let is_read = is_read.and(is_step).and(k.clone().lt(self.own.length(row.clone())));
        (self.own.within(row, k).mul(numbers).add(number), is_read)
    }
}

/// The number of steps to an offset, and whether there is one.
fn steps(offset: Expr, step: i64) -> (Expr, Expr) {
    if step == 1 {
        return (offset, Expr::u32(0).eq(Expr::u32(0)));
    }
    let by = Expr::u32(u32::try_from(step.unsigned_abs()).unwrap_or(u32::MAX));
    let distance = if step < 0 { Expr::u32(0).sub(offset) } else { offset };
    // Distances in the other direction are beyond half of the range.
    let is_forward = distance.clone().binary(BinaryOp::Shr, Expr::u32(31)).eq(Expr::u32(0));
    (distance.clone().div(by.clone()), is_forward.and(distance.rem(by).eq(Expr::u32(0))))
}

/// The own rows.
struct Own<'a> {
    rec: Recorder<'a>,
    rows: &'a RowsRef,
    count: Extent,
    nrows: Extent,
    reader: Reader,
}

/// Which own row reads a row.
enum Reader {
    /// The row of the same number.
    Same,
    /// Those that read it by arithmetic.
    Some(Box<Preimage>),
    /// The entry of the array.
    Entry(Node),
    /// The rank of the row among those that are kept.
    Kept(RankBitmap, Extent),
    /// Those at the place of that row in a row of rows.
    Within(Box<Nested>),
    /// Any that read it, where own row `Index` reads that row.
    Any(Expr),
}

impl Reader {
    /// The readers of each row, where own row `Index` of `nrows` reads that row.
    fn of_row(rec: Recorder<'_>, row: Expr, nrows: &Extent) -> Self {
        let access = row.access();
        if let Access::Gathered { element, .. } = &access
            && permuted(element, nrows)
        {
            return Self::Entry(rec.unique_scatter(nrows.clone(), (element.clone(), Expr::index()), nrows.clone()));
        }
        if let Access::Gathered { element, .. } = &access
            && let ExprKind::Load(positions, at) = element.kind()
            && at.is_own_position()
            && let Some(Recipe::Compact(compact)) = positions.kept_recipe().as_deref()
            && compact.inner == 1
            && compact.value.is_index()
        {
            let bitmap = RankBitmap::of(compact.bitmap.clone(), compact.count.clone());
            return Self::Kept(bitmap, compact.count.clone());
        }
        if let Some(readers) = readers(&row, &access, nrows) {
            return Self::Some(Box::new(readers));
        }
        match Self::within(rec, &row, &access, nrows) {
            Some(nested) => Self::Within(Box::new(nested)),
            None => Self::Any(row),
        }
    }

    /// The readers of each row, where the rows that are read are at places in rows.
    fn within(rec: Recorder<'_>, row: &Expr, access: &Access, count: &Extent) -> Option<Nested> {
        let Access::Place { own, of, row, base, step: Step::Along(step), inner } = access else {
            let SizedRows { own, of, row: _ } = SizedRows::of(&row.uniform())?;
            let (base, nrows) = (Expr::u32(0), own.nrows(count)?);
            return Some(Nested { readers: Self::Same, own, of, base, step: 1, numbers: 1, nrows });
        };
        let numbers = consecutive(inner)?;
        if *step == 0 || u32::try_from(step.unsigned_abs()).is_err() {
            return None;
        }
        let nrows = own.nrows(&count.part(numbers))?;
        let readers = if own.is_own_row(row, numbers) {
            Self::Same
        } else {
            let row = of_own_rows(row, own, numbers)?;
            match Self::of_row(rec, row.in_program(), &nrows) {
                Self::Any(_) => return None,
                readers => readers,
            }
        };
        let (own, of, base) = (own.clone(), of.clone(), base.clone());
        Some(Nested { readers, own, of, base, step: *step, numbers, nrows })
    }

    /// The own row that reads that row, of those the `term`-th one, and whether there is one.
    fn reader(&self, row: &Expr, term: &Expr, nrows: &Extent) -> (Expr, Expr) {
        let own = match self {
            Self::Same | Self::Any(_) => row.clone(),
            Self::Some(readers) => return readers.reader(row, term),
            Self::Within(nested) => return nested.reader(row, term),
            Self::Kept(bitmap, count) => {
                let (rank, next) = (bitmap.rank(row), bitmap.rank(&row.clone().add(Expr::u32(1))));
                let is_kept = row.clone().lt(count.expr()).and(rank.clone().ne(next));
                return (rank.clone(), is_kept.and(rank.lt(nrows.expr())));
            }
            // Rows beyond the permutation have no entry.
            Self::Entry(entries) => {
                row.clone().lt(nrows.expr()).select(Expr::load(entries, row.clone()), Expr::u32(u32::MAX))
            }
        };
        (own.clone(), own.lt(nrows.expr()))
    }

    /// Number of own rows that may read a row.
    fn terms(&self) -> Size {
        match self {
            Self::Some(readers) => readers.terms(),
            Self::Within(nested) => nested.readers.terms().mul(nested.numbers),
            _ => Size::from(1),
        }
    }
}

impl<'a> Own<'a> {
    fn new(given: &Given<'a>, place: &Place<'a>, count: Extent) -> Result<Option<Self>> {
        let (rec, width) = (given.rec, place.inner.own);
        let Some(nrows) = place.own.nrows(&count) else { return Ok(None) };
        let reader = if place.of_own.is_none() && place.own.is_own_row(place.row, width) {
            Reader::Same
        } else {
            let Some(row) = place.of_own.clone().or_else(|| of_own_rows(place.row, place.own, width)) else {
                return Ok(None);
            };
            let row = row.in_program();
            Reader::of_row(rec, row, &nrows)
        };
        Ok(Some(Self { rec, rows: place.own, count, nrows, reader }))
    }

    fn domain(&self, inner: u32) -> Option<RowDomain> {
        let rows = match self.rows {
            RowsRef::Splits(splits) => Rows::Splits(splits.clone()),
            RowsRef::Uniform(length) => Rows::Uniform(size_of(length)?),
        };
        Some(RowDomain { rows, nrows: self.nrows.clone(), nvals: self.count.clone(), inner })
    }

    /// The sums of the positions that read each element of the row of the same number.
    fn folded(&self, given: &Given<'_>, place: &Place<'_>, elements: &Extent) -> Result<Expr> {
        let (rec, width) = (self.rec, Expr::u32(place.inner.own));
        let repetition = Repetition { own: self.rows, of: place.of, step: place.step, nrows: &self.nrows };
        let rows = Rows::Splits(repetition.readers(rec, elements, &self.count)?);
        let on = RowDomain { rows, nrows: elements.clone(), nvals: self.count.clone(), inner: place.inner.own };
        let at = Expr::index();
        let position = repetition.position(at.clone().div(width.clone())).mul(width.clone()).add(at.rem(width));
        let value = if place.step == Step::Cyclic { given.ct.at(&position) } else { given.ct.clone() };
        given.sum(on, value)
    }

    /// As [`adjoint`], by way of rows that have an element for each that their own row reads.
    fn folded_first(&self, given: &Given<'_>, place: &Place<'_>, to: &Extent) -> Result<Option<Expr>> {
        let (rec, width) = (self.rec, place.inner.own);
        let Some(row) = place.of_own.clone().or_else(|| of_own_rows(place.row, place.own, width)) else {
            return Ok(None);
        };
        let (own, read) = (self.rows.length(Expr::index()), place.of.length(row.clone()));
        let length = match place.step {
            Step::Cyclic if keyed_rows::times_as_long(self.rows, place.of, &row).is_some() => read,
            step => step.length_read(own, read),
        };
        let rows = rec.rows_of_lengths(&self.nrows, length, self.count.size())?;
        let count = rec.times(rows.nvals_extent(), width)?;
        let Rows::Splits(splits) = rows.domain(1).rows else { return Ok(None) };
        let between = RowsRef::Splits(splits);
        let first = Place { of: &between, ..place.clone() };
        let ct = self.folded(given, &first, rows.nvals_extent())?;
        let ct = Expr::load(&rec.map(count.clone(), ct, &[]), Expr::index());
        let of_own = place.of_own.clone().or_else(|| of_own_rows(place.row, place.own, width));
        let then = Place { own: &between, of_own, step: Step::Along(1), ..place.clone() };
        adjoint(&Given { ct, count, ..given.clone() }, &then, to)
    }
}

/// The own rows that read each row, if arithmetic leads back.
fn readers(row: &Expr, access: &Access, nrows: &Extent) -> Option<Preimage> {
    let (base, pieces) = match access {
        Access::Run { start, step } => (start.clone(), vec![Piece::run(*step)?]),
        Access::Strided { base, digits } => (base.clone(), Piece::of_digits(digits)?),
        _ => {
            let uniform = row.uniform();
            let is_arithmetic = uniform.values.is_empty() && !uniform.digits.is_empty();
            is_arithmetic.then(|| (uniform.base, uniform.digits.iter().map(Piece::of_uniform).collect()))?
        }
    };
    let readers = Preimage::new(&base, with_gaps(pieces, nrows)?, nrows)?;
    Some(readers).filter(|readers| !readers.terms().contains_count())
}

/// The numbers of an own element, if number `k` reads the `k`-th element from one on.
fn consecutive(inner: &Inner) -> Option<u32> {
    let is_consecutive = match &inner.digits[..] {
        [] => inner.own == 1,
        [(1, digit)] => *digit == Digit { modulus: Some(Radix::known(inner.own.into())), ..Digit::POSITION },
        _ => false,
    };
    (inner.width == 1 && is_consecutive).then_some(inner.own)
}

/// Whether the elements are a permutation of the rows.
pub(super) fn permuted(element: &Expr, nrows: &Extent) -> bool {
    let ExprKind::Load(positions, at) = element.kind() else { return false };
    let is_sort = matches!(positions.kept_recipe().as_deref(), Some(Recipe::Sort(_) | Recipe::RowSort(_)));
    is_sort && at.access().is_own() && positions.extent().is_same(nrows)
}
