//! Rows, and places in rows.

use super::digit::{Counter, Digit, Grain, OwnRows, Radix};
use super::form::{Form, Sum, Term, own_row};
use super::{Access, Digits, Inner, RowsRef, Step, grain_of, value_of};
use crate::graph::Expr;
use crate::graph::expr::ExprKind;
use crate::graph::handles::Handles;

/// The own rows of an access, and the numbers per own element.
struct Own<R: Handles> {
    rows: RowsRef<R>,
    width: u32,
    /// The offset in the own row as a digit, with its factor.
    offset: Option<(i64, Digit<R>)>,
    inner: Digits<R>,
}

/// The access, if the element is the own row.
pub(super) fn row<R: Handles>(sum: &Sum<R>) -> Option<Access<R>> {
    let ([term], 0) = (&sum.terms[..], sum.constant) else { return None };
    let rows = own_row(&term.value)?;
    let width = u32::try_from(term.times).ok()?;
    let digits = inner_digits(&sum.digits, rows.width)?;
    Some(Access::Row { rows: rows.splits, inner: Inner { own: rows.width, width, digits } })
}

/// The access, if the element is at an offset in a row that is constant in the own row.
pub(super) fn place<R: Handles>(sum: &Sum<R>) -> Option<Access<R>> {
    let (start, of, row, width) = start(sum)?;
    let base: Vec<Term<R>> = sum.terms.iter().filter(|term| *term != start).cloned().collect();
    let own = own_rows(sum, &row, width)?;
    let is_in_row = |grain: &Grain<R>| match (grain, &own.rows) {
        (Grain::Constant, _) => true,
        (Grain::Row(rows), RowsRef::Splits(splits)) => rows.splits == *splits && rows.width == own.width,
        (Grain::Block(block), RowsRef::Uniform(length)) => {
            Radix::known(own.width.into()).product(length).as_ref() == Some(block)
        }
        _ => false,
    };
    if !is_in_row(row.grain()) || !is_in_row(&grain_of(&base)) {
        return None;
    }
    let by_width = |n: i64| (n % i64::from(width) == 0).then_some(n / i64::from(width));
    let base: Option<Vec<Term<R>>> =
        base.into_iter().map(|term| Some(Term { times: by_width(term.times)?, ..term })).collect();
    let base = value_of(&base?, by_width(sum.constant)?);
    let step = match &own.offset {
        None => Step::Along(0),
        Some((times, digit)) => match (by_width(*times)?, &digit.modulus, &own.rows) {
            (step, _, RowsRef::Uniform(_)) => Step::Along(step),
            (step, None, _) if digit.divisor == Radix::ONE => Step::Along(step),
            (1, None, _) => Step::Each(digit.divisor.as_known()?),
            (1, Some(modulus), _) if digit.divisor == Radix::ONE && is_length(modulus, &of, &row) => Step::Cyclic,
            _ => return None,
        },
    };
    let inner = Inner { own: own.width, width, digits: own.inner };
    Some(Access::Place { own: own.rows, of, row, base, step, inner })
}

/// A term of a sum that is the start of a row: see [`start`].
type Start<'a, R> = (&'a Term<R>, RowsRef<R>, Expr<R>, u32);

/// The term that is the start of a row, the rows, the row, and the numbers per element of the array that is read.
fn start<R: Handles>(sum: &Sum<R>) -> Option<Start<'_, R>> {
    let mut starts = sum.terms.iter().filter(|term| term.is_start);
    if let Some(term) = starts.next() {
        let ExprKind::Load(splits, row) = term.value.kind() else { return None };
        let width = u32::try_from(term.times).ok().filter(|&width| width > 0)?;
        return starts.next().is_none().then(|| (term, RowsRef::Splits(splits.clone()), row.clone(), width));
    }
    // The start of the own row in rows of one length.
    let is_offset = |rows: &OwnRows<R>| sum.digits.iter().any(|(_, d)| d.of == Counter::Offset(rows.clone()));
    let (term, rows) =
        sum.terms.iter().find_map(|term| Some((term, own_row(&term.value).filter(|rows| is_offset(rows))?)))?;
    let (times, width) = (u64::try_from(term.times).ok()?, u64::from(rows.width));
    let length = (times % width == 0).then_some(times / width)?;
    Some((term, RowsRef::Uniform(Radix::known(length)), term.value.clone(), rows.width))
}

/// The own rows: those in which offsets are taken, or in which the row that is read is constant.
fn own_rows<R: Handles>(sum: &Sum<R>, row: &Expr<R>, width: u32) -> Option<Own<R>> {
    let mut offsets = sum.digits.iter().filter(|(_, digit)| digit.of != Counter::Position);
    let offset = offsets.next().cloned();
    if offsets.next().is_some() {
        return None;
    }
    let rows = match (&offset, row.grain()) {
        (Some((_, Digit { of: Counter::Offset(rows), .. })), _) | (None, Grain::Row(rows)) => rows.clone(),
        (None, Grain::Block(block)) => return uniform_rows(sum, block, width),
        _ => return None,
    };
    let digits: Vec<(i64, Digit<R>)> =
        sum.digits.iter().filter(|(_, digit)| digit.of == Counter::Position).cloned().collect();
    let inner = inner_digits(&digits, rows.width)?;
    Some(Own { rows: RowsRef::Splits(rows.splits), width: rows.width, offset, inner })
}

/// Own rows of one length, `block` numbers in all.
fn uniform_rows<R: Handles>(sum: &Sum<R>, block: &Radix<R>, width: u32) -> Option<Own<R>> {
    let mut digits = Vec::with_capacity(sum.digits.len() + 1);
    for (times, digit) in &sum.digits {
        // The numbers of an element continue in the offset: split there.
        let by = i64::from(width).checked_div(*times).filter(|by| *by > 1 && by * times == i64::from(width));
        let split = by.and_then(|by| u64::try_from(by).ok()).and_then(|by| digit.split(by));
        match split {
            Some((Some(high), Some(low))) => digits.extend([(width.into(), high), (*times, low)]),
            _ => digits.push((*times, digit.clone())),
        }
    }
    let ends = |digit: &Digit<R>| digit.modulus.as_ref().and_then(|modulus| digit.divisor.product(modulus));
    let at = digits.iter().position(|(_, digit)| ends(digit).as_ref() == Some(block))?;
    let (times, digit) = digits.remove(at);
    let width = u32::try_from(digit.divisor.as_known()?).ok()?;
    let rows = RowsRef::Uniform(digit.modulus.clone()?);
    Some(Own { rows, width, inner: inner_digits(&digits, width)?, offset: Some((times, digit)) })
}

/// The digits, if all of them are of the number within the own element, of which there are `width`.
pub(super) fn inner_digits<R: Handles>(digits: &[(i64, Digit<R>)], width: u32) -> Option<Digits<R>> {
    let is_inner = |digit: &Digit<R>| {
        let end = digit.divisor.as_known().zip(digit.known_modulus()).and_then(|(d, m)| d.checked_mul(m));
        digit.of == Counter::Position && end.is_some_and(|end| end > 0 && u64::from(width) % end == 0)
    };
    digits.iter().all(|(_, digit)| is_inner(digit)).then(|| digits.into())
}

/// Whether the radix is the length of that row.
fn is_length<R: Handles>(radix: &Radix<R>, of: &RowsRef<R>, row: &Expr<R>) -> bool {
    let RowsRef::Splits(splits) = of else { return false };
    let end = Expr::load(splits, row.clone().add(Expr::u32(1)));
    radix.times == 1 && radix.size == Some(end.sub(Expr::load(splits, row.clone())))
}

impl<R: Handles> RowsRef<R> {
    /// Whether `row` is the number of the own row, where these are the own rows of elements of `width` numbers.
    pub(crate) fn is_own_row(&self, row: &Expr<R>, width: u32) -> bool {
        match self {
            Self::Splits(splits) => row.own_row() == Some((splits, width)),
            Self::Uniform(length) => {
                let Form::Sum(sum) = row.form() else { return false };
                let digit = sum.as_digit().filter(|d| d.of == Counter::Position && d.modulus.is_none());
                digit.is_some_and(|d| Radix::known(width.into()).product(length).as_ref() == Some(&d.divisor))
            }
        }
    }
}
