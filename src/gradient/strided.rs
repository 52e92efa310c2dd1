//! Adjoints of accesses that are sums of digits of the position: uniform dimensions that are broadcast, permuted, cut,
//! or overlap.

use super::given::Given;
use super::inverse::size_of;
use crate::error::Result;
use crate::graph::access::{Counter, Digits};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{RowDomain, Rows};
use crate::graph::size::Size;
use crate::record::by_key::one_row;

/// Numbers that a reduction folds side by side, at most; more are read with a stride.
const SIDE_BY_SIDE: u32 = 1 << 16;

/// Position `i` reads element `start + step * i`.
pub(super) fn run(given: &Given<'_>, start: &Expr, step: i64, to: &Extent) -> Result<Option<Expr>> {
    inverse(given, start, &[Piece { times: step, divisor: Size::from(1), modulus: None }], to)
}

/// Position `i` reads element `base + Σ times * digit`. `None` if no arithmetic leads back.
pub(super) fn adjoint(given: &Given<'_>, base: &Expr, digits: &Digits, to: &Extent) -> Result<Option<Expr>> {
    let piece = |(times, digit): &(i64, crate::graph::access::Digit)| {
        let modulus = match &digit.modulus {
            None => None,
            Some(modulus) => Some(size_of(modulus)?),
        };
        let of_position = digit.of == Counter::Position;
        of_position.then_some(Piece { times: *times, divisor: size_of(&digit.divisor)?, modulus })
    };
    let Some(pieces) = digits.iter().map(piece).collect() else { return Ok(None) };
    let Some((given, pieces)) = without_gaps(given, pieces)? else { return Ok(None) };
    inverse(&given, base, &pieces, to)
}

/// `times * ((position / divisor) % modulus)`.
#[derive(Debug, Clone)]
struct Piece {
    times: i64,
    divisor: Size,
    modulus: Option<Size>,
}

/// `a / b`, if it is known to leave no rest.
fn exact(a: &Size, b: &Size) -> Option<Size> {
    match (a.as_const(), b.as_const()) {
        _ if a == b => Some(Size::from(1)),
        (_, Some(1)) => Some(a.clone()),
        (Some(a), Some(b)) if b > 0 && a % b == 0 => Some(Size::from(a / b)),
        _ => None,
    }
}

/// The sums over the dimensions of the position that no piece reads, after which the pieces cover the position, smallest
/// divisor first.
fn without_gaps<'a>(given: &Given<'a>, mut pieces: Vec<Piece>) -> Result<Option<(Given<'a>, Vec<Piece>)>> {
    let (mut given, mut end, mut out) = (given.clone(), Size::from(1), Vec::with_capacity(pieces.len()));
    while !pieces.is_empty() {
        // The piece that continues the last one, or the one with the smallest divisor.
        let next = (0..pieces.len()).find(|&k| pieces[k].divisor == end);
        let smallest = || (0..pieces.len()).min_by_key(|&k| pieces[k].divisor.as_const().unwrap_or(u32::MAX));
        let Some(k) = next.or_else(smallest) else { return Ok(None) };
        let piece = pieces.remove(k);
        let Some(gap) = exact(&piece.divisor, &end) else { return Ok(None) };
        if gap != Size::from(1) {
            let rows = given.count.part(piece.divisor.clone());
            given = given.summed(&gap, &end, &rows)?;
            for above in &mut pieces {
                let Some(divisor) = exact(&above.divisor, &gap) else { return Ok(None) };
                above.divisor = divisor;
            }
        }
        let piece = Piece { divisor: end.clone(), ..piece };
        match &piece.modulus {
            Some(modulus) => end = end.mul(modulus),
            None if pieces.is_empty() => {
                out.push(piece);
                return Ok(Some((given, out)));
            }
            None => return Ok(None),
        }
        out.push(piece);
    }
    // The outermost dimension.
    if given.count.as_known().is_some() {
        let outermost = given.count.size().div(end.max(1));
        return Ok(Some((given.summed(&outermost, &end, &Extent::known(1))?, out)));
    }
    // A number of positions that only the device knows.
    let Some(inner) = end.as_const().filter(|inner| (1..=SIDE_BY_SIDE).contains(inner)) else { return Ok(None) };
    let on = RowDomain { inner, ..one_row(given.rec, &given.count.part(inner))? };
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
}

/// The cotangents of the elements, where the pieces cover the position.
fn inverse(given: &Given<'_>, base: &Expr, pieces: &[Piece], to: &Extent) -> Result<Option<Expr>> {
    let mut by_times: Vec<Piece> = pieces.to_vec();
    by_times.sort_by_key(|piece| piece.times.unsigned_abs());
    if by_times.iter().any(|piece| u32::try_from(piece.times.unsigned_abs()).is_err() || piece.times == 0) {
        return Ok(None);
    }
    if are_apart(&by_times) {
        return Ok(reader(given, base, &by_times, &Expr::index(), None));
    }
    // Several positions read an element: one for each value of a piece without which the others are apart.
    let without = |k: usize| by_times.iter().enumerate().filter(move |(other, _)| *other != k).map(|(_, p)| p.clone());
    let found = (0..by_times.len()).find(|&k| are_apart(&without(k).collect::<Vec<_>>()));
    let Some(k) = found else { return Ok(None) };
    let others: Vec<Piece> = without(k).collect();
    let free = &by_times[k];
    let Some(modulus) = free.modulus.clone() else { return Ok(None) };
    // The others read elements that differ by multiples of their factors, so that only each `apart`-th value matches.
    let apart = others.iter().fold(0, |apart, piece| gcd(apart, piece.times.unsigned_abs()));
    let apart = if free.times == 1 { u32::try_from(apart).unwrap_or(1).max(1) } else { 1 };
    let terms = modulus.add(apart - 1).div(apart).max(1);
    let (term, apart) = (Expr::size(&terms), Expr::u32(apart));
    let (element, k) = (Expr::index().div(term.clone()), Expr::index().rem(term));
    let first = element.clone().sub(base.clone()).rem(apart.clone());
    let value = first.add(k.mul(apart));
    let Some(read) = reader(given, base, &others, &element, Some((free, &value))) else { return Ok(None) };
    let read = given.only_where(value.lt(Expr::size(&modulus)), read);
    let nvals = given.rec.times_size(to, &terms)?;
    let on = RowDomain { rows: Rows::Uniform(terms), nrows: to.clone(), nvals, inner: 1 };
    Ok(Some(given.sum(on, read)?))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Whether different values of the pieces, by ascending factors, read different elements.
fn are_apart(by_times: &[Piece]) -> bool {
    // Elements between the least and the greatest that the smaller pieces read.
    let mut span = Some(0u64);
    by_times.iter().all(|piece| {
        let step = piece.times.unsigned_abs();
        let is_apart = span.is_some_and(|span| step > span);
        let modulus = piece.modulus.as_ref().and_then(Size::as_const);
        let last = modulus.and_then(|modulus| u64::from(modulus).saturating_sub(1).checked_mul(step));
        span = span.zip(last).and_then(|(span, last)| span.checked_add(last));
        is_apart
    })
}

/// The cotangent of the position that reads `element`, where the pieces read different elements; `free` is a piece of
/// that value.
fn reader(
    given: &Given<'_>,
    base: &Expr,
    by_times: &[Piece],
    element: &Expr,
    free: Option<(&Piece, &Expr)>,
) -> Option<Expr> {
    let step = |piece: &Piece| Expr::u32(piece.times.unsigned_abs() as u32);
    let (mut first, mut position) = (base.clone(), Expr::u32(0));
    if let Some((piece, value)) = free {
        first = first.add(value.clone().mul(Expr::u32(piece.times as u32)));
        position = value.clone().mul(Expr::size(&piece.divisor));
    }
    // Digits that count down begin at the end.
    for piece in by_times.iter().filter(|piece| piece.times < 0) {
        first = first.sub(length(given, piece).sub(Expr::u32(1)).mul(step(piece)));
    }
    // Elements before the first one wrap to differences beyond all that are read.
    let mut rest = element.clone().sub(first);
    let mut conditions = Vec::with_capacity(by_times.len() + 1);
    for piece in by_times.iter().rev() {
        let modulus = length(given, piece);
        let digit = rest.clone().div(step(piece));
        rest = rest.rem(step(piece));
        conditions.push(digit.clone().lt(modulus.clone()));
        let digit = if piece.times < 0 { modulus.sub(Expr::u32(1)).sub(digit) } else { digit };
        position = position.add(digit.mul(Expr::size(&piece.divisor)));
    }
    if rest.as_u32() != Some(0) {
        conditions.push(rest.eq(Expr::u32(0)));
    }
    Some(given.only_where(conditions.into_iter().reduce(Expr::and)?, given.ct.at(&position)))
}

/// Number of values of a digit.
fn length(given: &Given<'_>, piece: &Piece) -> Expr {
    match &piece.modulus {
        Some(modulus) => Expr::size(modulus),
        None => given.count.expr().div(Expr::size(&piece.divisor.max(1))),
    }
}
