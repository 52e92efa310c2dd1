//! Adjoints of accesses that are sums of digits of the position: uniform dimensions that are broadcast, permuted, cut,
//! or overlap.

use super::given::Given;
use super::preimage::{Piece, Preimage, blocks, is_multiple};
use crate::error::Result;
use crate::graph::access::{Digits, Uniform};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{RowDomain, Rows};
use crate::graph::size::{Factors, Size};
use crate::record::by_key::one_row;

/// Numbers that a reduction folds side by side, at most; more are read with a stride.
const SIDE_BY_SIDE: u32 = 1 << 16;

/// Position `i` reads element `start + step * i`.
pub(super) fn run(given: &Given<'_>, start: &Expr, step: i64, to: &Extent) -> Result<Option<Expr>> {
    let Some(piece) = Piece::run(step) else { return Ok(None) };
    inverse(given, start, vec![piece], to)
}

/// Position `i` reads element `base + Σ times * digit`. `None` if no arithmetic leads back.
pub(super) fn adjoint(given: &Given<'_>, base: &Expr, digits: &Digits, to: &Extent) -> Result<Option<Expr>> {
    match Piece::of_digits(digits) {
        Some(pieces) => of_pieces(given, base, pieces, to),
        None => Ok(None),
    }
}

/// As [`adjoint`], of digits whose factors are sizes.
pub(super) fn of_uniform(given: &Given<'_>, uniform: &Uniform, to: &Extent) -> Result<Option<Expr>> {
    of_pieces(given, &uniform.base, uniform.digits.iter().map(Piece::of_uniform).collect(), to)
}

fn of_pieces(given: &Given<'_>, base: &Expr, pieces: Vec<Piece>, to: &Extent) -> Result<Option<Expr>> {
    match without_gaps(given, pieces)? {
        Some((given, pieces)) => inverse(&given, base, pieces, to),
        None => Ok(None),
    }
}

/// The piece that continues those up to `end`, or the one with the smallest divisor.
fn take_next(pieces: &mut Vec<Piece>, end: &Size) -> Option<Piece> {
    let next = pieces.iter().position(|piece| piece.divisor == *end);
    let smallest = || (0..pieces.len()).min_by_key(|&k| Factors::of(&pieces[k].divisor).order());
    Some(pieces.remove(next.or_else(smallest)?))
}

/// The pieces with those of dimensions that none of them reads, smallest divisor first: they cover the positions below
/// `count`.
pub(super) fn with_gaps(mut pieces: Vec<Piece>, count: &Extent) -> Option<Vec<Piece>> {
    let (mut end, mut out) = (Size::from(1), Vec::with_capacity(pieces.len() + 1));
    let unread = |divisor: &Size, gap: Size| Piece {
        times: Size::from(0),
        is_reversed: false,
        divisor: divisor.clone(),
        modulus: Some(gap),
    };
    while let Some(piece) = take_next(&mut pieces, &end) {
        let gap = Factors::of(&piece.divisor).exact(&end)?;
        if gap != Size::from(1) {
            out.push(unread(&end, gap));
        }
        match &piece.modulus {
            Some(modulus) => end = piece.divisor.mul(modulus),
            None => {
                out.push(piece);
                return pieces.is_empty().then_some(out);
            }
        }
        out.push(piece);
    }
    out.push(unread(&end, blocks(count.size(), &end)));
    Some(out)
}

/// The sums over the dimensions of the position that no piece reads, after which the pieces cover the position, smallest
/// divisor first.
fn without_gaps<'a>(given: &Given<'a>, mut pieces: Vec<Piece>) -> Result<Option<(Given<'a>, Vec<Piece>)>> {
    let (mut given, mut end, mut out) = (given.clone(), Size::from(1), Vec::with_capacity(pieces.len()));
    while let Some(piece) = take_next(&mut pieces, &end) {
        let Some(gap) = Factors::of(&piece.divisor).exact(&end) else { return Ok(None) };
        if gap != Size::from(1) {
            let (all, rows) = given.in_blocks(&piece.divisor)?;
            given = all.summed(&gap, &end, &rows)?;
            for above in &mut pieces {
                let Some(divisor) = Factors::of(&above.divisor).exact(&gap) else { return Ok(None) };
                above.divisor = divisor;
            }
        }
        let piece = Piece { divisor: end.clone(), ..piece };
        match &piece.modulus {
            Some(modulus) => end = end.mul(modulus),
            None => {
                out.push(piece);
                return Ok(pieces.is_empty().then_some((given, out)));
            }
        }
        out.push(piece);
    }
    // The outermost dimension.
    if given.count.size().is_same(&end) {
        return Ok(Some((given, out)));
    }
    let (given, rows) = given.in_blocks(&end)?;
    if !rows.size().contains_count() {
        let outermost = rows.size().clone();
        return Ok(Some((given.summed(&outermost, &end, &Extent::known(1))?, out)));
    }
    // A number of positions that only the device knows.
    let Some(inner) = end.as_const().filter(|inner| (1..=SIDE_BY_SIDE).contains(inner)) else { return Ok(None) };
    let on = RowDomain { inner, ..one_row(given.rec, &rows)? };
    let ct = given.sum(on, given.ct.clone())?;
    Ok(Some((Given { ct, count: Extent::known(inner), ..given }, out)))
}

impl<'a> Given<'a> {
    /// The sums over a dimension of `gap` between `inner` numbers and `rows` dimensions above.
    fn summed(&self, gap: &Size, inner: &Size, rows: &Extent) -> Result<Given<'a>> {
        let rec = self.rec;
        let count = rec.times_size(rows, inner)?;
        let small = inner.as_const().filter(|inner| (1..=SIDE_BY_SIDE).contains(inner));
        let ct = match small {
            Some(inner) => {
                let nvals = rec.times_size(rows, gap)?;
                let on = RowDomain { rows: Rows::Uniform(gap.clone()), nrows: rows.clone(), nvals, inner };
                self.sum(on, self.ct.clone())?
            }
            None => {
                let (gap_of, width) = (Expr::size(&gap.max(1)), Expr::size(&inner.max(1)));
                let (result, term) = (Expr::index().div(gap_of.clone()), Expr::index().rem(gap_of.clone()));
                let row = result.clone().div(width.clone());
                let at = row.mul(gap_of).add(term).mul(width.clone()).add(result.rem(width));
                let nvals = rec.times_size(&count, gap)?;
                let on = RowDomain { rows: Rows::Uniform(gap.clone()), nrows: count.clone(), nvals, inner: 1 };
                self.sum(on, self.ct.at(&at))?
            }
        };
        Ok(Given { ct, count, ..self.clone() })
    }

    /// The same cotangents in whole blocks of `by` positions, and the number of blocks.
    pub(super) fn in_blocks(&self, by: &Size) -> Result<(Given<'a>, Extent)> {
        if is_multiple(self.count.size(), by) {
            return Ok((self.clone(), self.count.part(by)));
        }
        let blocks = match Factors::of(self.count.size()).exact(by).filter(|_| !self.count.size().contains_count()) {
            Some(blocks) => Extent::of(blocks),
            None => self.rec.plus(&self.count, &Extent::of(by.max(1).sub(1)))?.part(by.max(1)),
        };
        let ct = self.only_where(Expr::index().lt(self.count.expr()), self.ct.clone());
        let count = self.rec.times_size(&blocks, by)?;
        Ok((Given { ct, count, ..self.clone() }, blocks))
    }
}

/// Whether each element is read by the position of its number, and no other.
fn is_identity(given: &Given<'_>, base: &Expr, pieces: &[Piece], to: &Extent) -> bool {
    let [Piece { times, is_reversed: false, divisor, modulus }] = pieces else { return false };
    let (count, one) = (given.count.size(), Size::from(1));
    let is_whole = modulus.as_ref().is_none_or(|modulus| modulus == count);
    let is_same = count == to.size() || count.as_const().is_some() && count.is_same(to.size());
    is_same && is_whole && !count.contains_count() && *times == one && *divisor == one && base.as_u32() == Some(0)
}

/// The cotangents of the elements, where the pieces cover the position.
fn inverse(given: &Given<'_>, base: &Expr, pieces: Vec<Piece>, to: &Extent) -> Result<Option<Expr>> {
    if is_identity(given, base, &pieces, to) {
        return Ok(Some(given.ct.clone()));
    }
    let Some(readers) = Preimage::new(base, pieces, &given.count) else { return Ok(None) };
    let terms = readers.terms();
    let (element, term) = match terms.as_known() {
        Some(1) => (Expr::index(), Expr::u32(0)),
        _ => {
            let by = Expr::size(&terms.max(1));
            (Expr::index().div(by.clone()), Expr::index().rem(by))
        }
    };
    let (position, is_read) = readers.reader(&element, &term);
    let read = given.only_where(is_read, given.ct.at(&position));
    if terms.as_known() == Some(1) {
        return Ok(Some(read));
    }
    let nvals = given.rec.times_size(to, &terms)?;
    let on = RowDomain { rows: Rows::Uniform(terms), nrows: to.clone(), nvals, inner: 1 };
    Ok(Some(given.sum(on, read)?))
}
