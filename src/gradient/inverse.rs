//! Adjoints of accesses to places in rows: slices, paddings, reversals, tiles, repeats.

use super::given::Given;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::access::{Access, Inner, Radix, RowsRef, Step};
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Recipe, RowDomain, Rows};
use crate::graph::opcode::BinaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::shape::RowPartition;

/// See [`Access::Place`].
pub(super) struct Place<'a> {
    pub(super) own: &'a RowsRef,
    pub(super) of: &'a RowsRef,
    pub(super) row: &'a Expr,
    pub(super) base: &'a Expr,
    pub(super) step: Step,
    pub(super) inner: &'a Inner,
}

/// The cotangents, where at most one own row reads each row. `None` for rows that are any data.
pub(super) fn adjoint(given: &Given<'_>, place: &Place<'_>, to: &Extent) -> Result<Option<Expr>> {
    let Place { of, base, step, inner, .. } = place;
    let Some(count) = given.elements(inner.own) else { return Ok(None) };
    let Some(own) = Own::new(given, place, count)? else { return Ok(None) };
    // Sums of consecutive positions need all rows, from their first elements on.
    let is_whole = matches!(own.reader, Reader::Same) && base.as_u32() == Some(0);
    if matches!(step, Step::Each(_) | Step::Cyclic) && !is_whole {
        return Ok(None);
    }
    let width = Expr::u32(inner.own);
    let elements = to.part(inner.width.max(1));
    // The element that is read, its row, and its offset there from the first one that is read.
    let element = Expr::index().div(width.clone());
    let number = Expr::index().rem(width.clone());
    let read = of.row_of(element.clone());
    let (row, is_read) = own.reader(&read);
    let base = base.at(&own.rows.start(row.clone()).mul(width.clone()));
    let offset = element.sub(of.start(read)).sub(base);
    let length = own.rows.length(row.clone());
    let at = |k: Expr| given.ct.at(&own.rows.within(row.clone(), k).mul(width.clone()).add(number.clone()));
    let found = match *step {
        Step::Along(1) => given.only_where(is_read.and(offset.clone().lt(length)), at(offset)),
        Step::Along(0) => {
            let Some(on) = own.domain(inner.own) else { return Ok(None) };
            let sums = given.sum(on, given.ct.clone())?;
            let sum = sums.at(&row.mul(width.clone()).add(number));
            given.only_where(is_read.and(offset.eq(Expr::u32(0))), sum)
        }
        Step::Along(step) => {
            let Ok(by) = u32::try_from(step.unsigned_abs()) else { return Ok(None) };
            let distance = if step < 0 { Expr::u32(0).sub(offset) } else { offset };
            let k = distance.clone().div(Expr::u32(by));
            // Distances in the other direction are beyond half of the range.
            let is_forward = distance.clone().binary(BinaryOp::Shr, Expr::u32(31)).eq(Expr::u32(0));
            let is_step = distance.rem(Expr::u32(by)).eq(Expr::u32(0));
            given.only_where(is_read.and(is_forward).and(is_step).and(k.clone().lt(length)), at(k))
        }
        // Each element is read by consecutive positions.
        Step::Each(repeats) => {
            let Ok(repeats) = u32::try_from(repeats) else { return Ok(None) };
            let first = offset.min(length.clone()).mul(Expr::u32(repeats)).min(length);
            let first = own.rows.start(row).add(first);
            own.sum_from(given, &element_of(first, inner.own), &elements, inner.own, None)?
        }
        // Each element is read once per repetition of its row.
        Step::Cyclic => {
            let cycle = |row: &Expr| of.length(row.clone()).max(Expr::u32(1));
            let times = |row: &Expr| own.rows.length(row.clone()).div(cycle(row));
            let first = own.rows.start(row.clone()).add(offset.mul(times(&row)));
            let at = Expr::index().div(width.clone());
            let row = own.rows.row_of(at.clone());
            let term = at.sub(own.rows.start(row.clone()));
            let repeats = times(&row).max(Expr::u32(1));
            let k = term.clone().rem(repeats.clone()).mul(cycle(&row)).add(term.div(repeats));
            let read = own.rows.within(row, k).mul(width.clone()).add(Expr::index().rem(width));
            own.sum_from(given, &element_of(first, inner.own), &elements, inner.own, Some(&read))?
        }
    };
    Ok(Some(found))
}

/// An expression in the number as one in the element, of `width` numbers each.
fn element_of(e: Expr, width: u32) -> Expr {
    if width == 1 { e } else { e.at(&Expr::index().mul(Expr::u32(width))) }
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
    /// `first` plus or minus the number.
    Run { first: Expr, is_reversed: bool },
    /// The entry of the array.
    Entry(Node),
}

impl<'a> Own<'a> {
    fn new(given: &Given<'a>, place: &Place<'a>, count: Extent) -> Result<Option<Self>> {
        let (rec, width) = (given.rec, place.inner.own);
        let nrows = match place.own {
            RowsRef::Splits(splits) => Extent::of(splits.extent().size().sub(1)),
            RowsRef::Uniform(length) => match size_of(length) {
                Some(length) => count.part(length.max(1)),
                None => return Ok(None),
            },
        };
        let reader = if place.own.is_own_row(place.row, width) {
            Reader::Same
        } else {
            let Some(row) = row_read(place, width) else { return Ok(None) };
            match row.in_program().access() {
                Access::Run { start, step } if step.abs() == 1 => {
                    // `row = start + step * own`.
                    let first = if step < 0 { start } else { Expr::u32(0).sub(start) };
                    Reader::Run { first, is_reversed: step < 0 }
                }
                Access::Gathered { element, .. } => match permuted(&element, &nrows) {
                    true => Reader::Entry(rec.unique_scatter(nrows.clone(), (element, Expr::index()), nrows.clone())),
                    false => return Ok(None),
                },
                _ => return Ok(None),
            }
        };
        Ok(Some(Self { rec, rows: place.own, count, nrows, reader }))
    }

    /// The own row that reads that row, and whether there is one.
    fn reader(&self, row: &Expr) -> (Expr, Expr) {
        let own = match &self.reader {
            Reader::Same => row.clone(),
            Reader::Run { first, is_reversed: true } => first.clone().sub(row.clone()),
            Reader::Run { first, is_reversed: false } => row.clone().add(first.clone()),
            // Rows beyond the permutation have no entry.
            Reader::Entry(entries) => {
                row.clone().lt(self.nrows.expr()).select(Expr::load(entries, row.clone()), Expr::u32(u32::MAX))
            }
        };
        (own.clone(), own.lt(self.nrows.expr()))
    }

    fn domain(&self, inner: u32) -> Option<RowDomain> {
        let rows = match self.rows {
            RowsRef::Splits(splits) => Rows::Splits(splits.clone()),
            RowsRef::Uniform(length) => Rows::Uniform(size_of(length)?),
        };
        Some(RowDomain { rows, nrows: self.nrows.clone(), nvals: self.count.clone(), inner })
    }

    /// The sum of the positions from `first` of an element on to that of the next; `read` is the number that a number
    /// among these stands for, if not itself.
    fn sum_from(
        &self,
        given: &Given<'_>,
        first: &Expr,
        elements: &Extent,
        inner: u32,
        read: Option<&Expr>,
    ) -> Result<Expr> {
        debug_assert_eq!(first.dtype(), DType::U32, "bug: a position of another type");
        let start = RowPartition::ending_at(first.clone(), elements, &self.count);
        let splits = self.rec.splits(elements, &start, &[])?;
        let rows = Rows::Splits(splits);
        let on = RowDomain { rows, nrows: elements.clone(), nvals: self.count.clone(), inner };
        let value = read.map_or_else(|| given.ct.clone(), |read| given.ct.at(read));
        given.sum(on, value)
    }
}

/// Whether the elements are a permutation of the rows.
fn permuted(element: &Expr, nrows: &Extent) -> bool {
    let ExprKind::Load(positions, at) = element.kind() else { return false };
    let is_sort = matches!(positions.kept_recipe().as_deref(), Some(Recipe::Sort(_) | Recipe::RowSort(_)));
    is_sort && at.access().is_own() && positions.extent().is_same(nrows)
}

/// The value as an expression in the own row, in rows of elements of `width` numbers. `None` if it depends on the position
/// otherwise.
pub(super) fn of_own_row(e: &Expr, splits: &Node, width: u32) -> Option<Expr> {
    fn go(e: &Expr, splits: &Node, width: u32, memo: &mut DigestMap<Option<Expr>>) -> Option<Expr> {
        if !e.has_index() {
            return Some(e.clone());
        }
        if e.own_row() == Some((splits, width)) {
            return Some(Expr::index());
        }
        if let Some(known) = memo.get(&e.digest()) {
            return known.clone();
        }
        let operands: Option<Vec<Expr>> = e.operands().map(|o| go(o, splits, width, memo)).collect();
        let out = operands.filter(|all| !all.is_empty()).map(|all| e.with_operands(all.into_iter()));
        memo.insert(e.digest(), out.clone());
        out
    }
    go(e, splits, width, &mut DigestMap::default())
}

/// The row that is read, as an expression in the own row.
fn row_read(place: &Place<'_>, width: u32) -> Option<Expr> {
    match place.own {
        RowsRef::Splits(splits) => of_own_row(place.row, splits, width),
        RowsRef::Uniform(length) => {
            let numbers = length.as_known()?.checked_mul(width.into())?;
            place.row.of_element(u32::try_from(numbers).ok()?)
        }
    }
}

/// The radix as a size.
pub(super) fn size_of(radix: &Radix) -> Option<Size> {
    let times = Size::from(u32::try_from(radix.times).ok()?);
    Some(match &radix.size {
        None => times,
        Some(size) => size.as_size()?.mul(&times),
    })
}

impl RowsRef {
    fn start(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(splits) => Expr::load(splits, row),
            Self::Uniform(length) => row.mul(length.expr()),
        }
    }

    fn within(&self, row: Expr, offset: Expr) -> Expr {
        match self {
            Self::Splits(splits) => Expr::within(splits, row, offset),
            Self::Uniform(length) => row.mul(length.expr()).add(offset),
        }
    }

    fn length(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(_) => self.start(row.clone().add(Expr::u32(1))).sub(self.start(row)),
            Self::Uniform(length) => length.expr(),
        }
    }

    fn row_of(&self, element: Expr) -> Expr {
        match self {
            Self::Splits(splits) => Expr::row_of(splits, element),
            Self::Uniform(length) => element.div(length.expr()),
        }
    }
}

impl Radix {
    fn expr(&self) -> Expr {
        let times = Expr::u32(u32::try_from(self.times).unwrap_or(u32::MAX));
        match &self.size {
            Some(size) => size.clone().mul(times),
            None => times,
        }
    }
}
