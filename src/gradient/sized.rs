//! Adjoints of accesses over uniform dimensions whose sizes are parameters of the program, and of one element of each row.

use super::given::Given;
use super::inverse::{self, permuted};
use super::place::{Place, of_block};
use super::preimage::{Piece, Preimage};
use super::sized_rows::SizedRows;
use super::strided::{self, with_gaps};
use crate::error::Result;
use crate::graph::access::{Access, Digit, Inner, Radix, RowsRef, Step, Uniform, UniformDigit, UniformValue};
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::size::{Factors, Size};

/// The cotangents of the elements. `None` if the index is no arithmetic of that kind.
pub(super) fn adjoint(given: &Given<'_>, index: &Expr, to: &Extent) -> Result<Option<Expr>> {
    let uniform = index.uniform();
    let found = match &uniform.values[..] {
        [] if uniform.digits.is_empty() => return Ok(None),
        [] => return strided::of_uniform(given, &uniform, to),
        [value] if !value.is_negative => of_value(given, &uniform, value, to)?,
        [_, _] => of_rows(given, &uniform, to)?,
        _ => None,
    };
    if uniform.base.as_u32() == Some(0) {
        return Ok(found);
    }
    // From elements counted from the base.
    let at = Expr::index().sub(uniform.base);
    Ok(found.map(|found| given.only_where(at.clone().lt(to.expr()), found.at(&at))))
}

/// The cotangents of elements that a value names, where positions in their order read all numbers of each.
fn of_value(given: &Given<'_>, uniform: &Uniform, value: &UniformValue, to: &Extent) -> Result<Option<Expr>> {
    let (width, value) = (&value.times, &value.value);
    let one = Size::from(1);
    let is_whole = match &uniform.digits[..] {
        [] => *width == one,
        [UniformDigit { is_negative: false, times, divisor, modulus: Some(modulus) }] => {
            *times == one && *divisor == one && Factors::are_same(modulus, width)
        }
        _ => false,
    };
    let Some(element) = of_block(value, width).filter(|_| is_whole) else { return Ok(None) };
    if let Some(of) = one_of_each_row(given, &element, width)? {
        return Ok(Some(of));
    }
    if let Some(width) = width.as_const() {
        return of_place(given, &element, width, to);
    }
    of_blocks(given, element, width, to)
}

/// The cotangents where block `Index` of `width` positions reads the block of that number.
fn of_blocks(given: &Given<'_>, block: Expr, width: &Size, to: &Extent) -> Result<Option<Expr>> {
    let rows = RowsRef::Uniform(Radix { times: 1, size: Some(Expr::size(width)) });
    let inner = Inner { own: 1, width: 1, digits: Box::default() };
    let (zero, row) = (Expr::u32(0), block.at(&Expr::index().div(Expr::size(&width.max(1)))));
    let place = Place {
        own: &rows,
        of: &rows,
        row: &row,
        of_own: Some(block),
        base: &zero,
        step: Step::Along(1),
        inner: &inner,
    };
    inverse::adjoint(given, &place, to)
}

/// The cotangents of elements of `width` numbers at places in rows.
fn of_place(given: &Given<'_>, element: &Expr, width: u32, to: &Extent) -> Result<Option<Expr>> {
    let Access::Place { own, of, row, base, step, inner } = element.access() else { return Ok(None) };
    if inner.own != 1 || inner.width != 1 {
        return Ok(None);
    }
    let numbers = Digit { modulus: Some(Radix::known(width.into())), ..Digit::POSITION };
    let inner = Inner { own: width, width, digits: Box::new([(1, numbers)]) };
    let at = Expr::index().div(Expr::u32(width));
    let (row, base) = (row.at(&at), base.at(&at));
    inverse::adjoint(
        given,
        &Place { own: &own, of: &of, row: &row, of_own: None, base: &base, step, inner: &inner },
        to,
    )
}

/// The cotangents where the own row of each position reads the row of the same number, of a length that is a parameter.
fn of_rows(given: &Given<'_>, uniform: &Uniform, to: &Extent) -> Result<Option<Expr>> {
    if let Some(SizedRows { own, of, row }) = SizedRows::of(uniform) {
        let (zero, inner) = (Expr::u32(0), Inner { own: 1, width: 1, digits: Box::default() });
        let step = Step::Along(1);
        let place = Place { own: &own, of: &of, row: &row, of_own: None, base: &zero, step, inner: &inner };
        return inverse::adjoint(given, &place, to);
    }
    match whole_blocks(uniform) {
        Some((block, width)) => of_blocks(given, block, &width, to),
        None => Ok(None),
    }
}

/// The block that each block of positions reads whole, and the positions of one, if the sum is of multiples of those.
fn whole_blocks(uniform: &Uniform) -> Option<(Expr, Size)> {
    let one = Size::from(1);
    let is_number = |digit: &UniformDigit| digit.times == one && digit.divisor == one && !digit.is_negative;
    let number = uniform.digits.iter().position(is_number)?;
    let width = uniform.digits[number].modulus.clone()?;
    let signed = |sum: Expr, is_negative: bool, value: Expr| if is_negative { sum.sub(value) } else { sum.add(value) };
    let mut block = Expr::u32(0);
    for value in &uniform.values {
        let times = Factors::of(&value.times).exact(&width)?;
        block = signed(block, value.is_negative, of_block(&value.value, &width)?.mul(Expr::size(&times)));
    }
    for (_, digit) in uniform.digits.iter().enumerate().filter(|(k, _)| *k != number) {
        let times = Factors::of(&digit.times).exact(&width)?;
        let divisor = Factors::of(&digit.divisor).exact(&width)?;
        let mut value = Expr::index().div(Expr::size(&divisor));
        if let Some(modulus) = &digit.modulus {
            value = value.rem(Expr::size(modulus));
        }
        block = signed(block, digit.is_negative, value.mul(Expr::size(&times)));
    }
    Some((block, width))
}

/// The cotangents where each block of `width` positions reads an element, at any offset in a row that no other block
/// reads.
fn one_of_each_row(given: &Given<'_>, element: &Expr, width: &Size) -> Result<Option<Expr>> {
    let ExprKind::Within(splits, row, _) = element.kind() else { return Ok(None) };
    let (all, count) = given.in_blocks(width)?;
    let (width, at) = (Expr::size(&width.max(1)), Expr::index());
    let (own, number) = (at.clone().div(width.clone()), at.rem(width.clone()));
    let read = Expr::row_of(splits, own.clone());
    let rows = row.uniform();
    let (reader, is_read) = match row.kind() {
        _ if rows.values.is_empty() && !rows.digits.is_empty() => {
            let pieces = rows.digits.iter().map(Piece::of_uniform).collect();
            let readers = with_gaps(pieces, &count).and_then(|pieces| Preimage::new(&rows.base, pieces, &count));
            let Some(readers) = readers.filter(|readers| readers.terms() == Size::from(1)) else { return Ok(None) };
            readers.reader(&read, &Expr::u32(0))
        }
        _ if permuted(row, &count) => {
            let entries = given.rec.unique_scatter(count.clone(), (row.clone(), Expr::index()), count.clone());
            (Expr::load(&entries, read.clone()), read.lt(count.expr()))
        }
        _ => return Ok(None),
    };
    let is_read = is_read.and(element.at(&reader).eq(own));
    Ok(Some(all.only_where(is_read, all.ct.at(&reader.mul(width).add(number)))))
}
