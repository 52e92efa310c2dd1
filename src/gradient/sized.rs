//! Adjoints of accesses over uniform dimensions whose sizes are parameters of the program, and of one element of each row.

use super::given::Given;
use super::inverse::{self, Place, permuted};
use super::preimage::{Piece, Preimage};
use super::strided::{self, with_gaps};
use crate::error::Result;
use crate::graph::access::{Inner, Radix, RowsRef, Step, UniformDigit};
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::opcode::BinaryOp;
use crate::graph::size::{Factors, Size};

/// The cotangents of the elements. `None` if the index is no arithmetic of that kind.
pub(super) fn adjoint(given: &Given<'_>, index: &Expr, to: &Extent) -> Result<Option<Expr>> {
    let uniform = index.uniform();
    let (width, value) = match &uniform.values[..] {
        [] if uniform.digits.is_empty() => return Ok(None),
        [] => return strided::of_uniform(given, &uniform, to),
        [(width, value)] if uniform.base.as_u32() == Some(0) => (width, value),
        _ => return Ok(None),
    };
    // All numbers of the element that the value names.
    let is_whole = match &uniform.digits[..] {
        [] => *width == Size::from(1),
        [UniformDigit { is_negative: false, times, divisor, modulus: Some(modulus) }] => {
            let one = Size::from(1);
            *times == one && *divisor == one && Factors::are_same(modulus, width)
        }
        _ => false,
    };
    let Some(element) = of_block(value, width).filter(|_| is_whole) else { return Ok(None) };
    if let Some(of) = one_of_each_row(given, &element, width)? {
        return Ok(Some(of));
    }
    if width.as_const().is_some() {
        return Ok(None);
    }
    // Rows of a dense tensor are gathered.
    let rows = RowsRef::Uniform(Radix { times: 1, size: Some(Expr::size(width)) });
    let inner = Inner { own: 1, width: 1, digits: Box::default() };
    let (zero, row) = (Expr::u32(0), value.clone());
    let place = Place {
        own: &rows,
        of: &rows,
        row: &row,
        of_own: Some(element),
        base: &zero,
        step: Step::Along(1),
        inner: &inner,
    };
    inverse::adjoint(given, &place, to)
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
            let entries = given.rec.unique_scatter(count.clone(), row.clone(), Expr::index(), count.clone());
            (Expr::load(&entries, read.clone()), read.lt(count.expr()))
        }
        _ => return Ok(None),
    };
    let is_read = is_read.and(element.at(&reader).eq(own));
    Ok(Some(all.only_where(is_read, all.ct.at(&reader.mul(width).add(number)))))
}

/// The value as an expression in the block of `width` positions. `None` if it depends on the position otherwise.
pub(super) fn of_block(e: &Expr, width: &Size) -> Option<Expr> {
    fn go(e: &Expr, by: &Size, memo: &mut DigestMap<Option<Expr>>) -> Option<Expr> {
        if !e.has_index() {
            return Some(e.clone());
        }
        if let ExprKind::Binary(BinaryOp::IndexDiv, at, divisor) = e.kind()
            && at.is_index()
            && divisor.as_size().is_some_and(|divisor| Factors::are_same(&divisor, by))
        {
            return Some(Expr::index());
        }
        if let Some(known) = memo.get(&e.digest()) {
            return known.clone();
        }
        let operands: Option<Vec<Expr>> = e.operands().map(|operand| go(operand, by, memo)).collect();
        let out = operands.filter(|all| !all.is_empty()).map(|all| e.with_operands(all.into_iter()));
        memo.insert(e.digest(), out.clone());
        out
    }
    if *width == Size::from(1) {
        return Some(e.clone());
    }
    go(e, width, &mut DigestMap::default())
}
