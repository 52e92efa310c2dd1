//! Lines of rows of vectors: the numbers at one place of all elements of a row.

use super::Access;
use super::digit::{Counter, Digit, OwnRows, Radix};
use super::form::{Form, Sum, own_row};
use crate::graph::Expr;
use crate::graph::expr::ExprKind;
use crate::graph::handles::Handles;
use crate::graph::opcode::BinaryOp;

/// The access, if each line of the own rows reads the line of the same number.
pub(super) fn lines<R: Handles>(sum: &Sum<R>) -> Option<Access<R>> {
    let (starts, others): (Vec<_>, Vec<_>) = sum.terms.iter().partition(|term| term.is_start);
    let ([start], [(times, offset)], 0) = (&starts[..], &sum.digits[..], sum.constant) else { return None };
    let Counter::Offset(own) = &offset.of else { return None };
    let ExprKind::Load(of, row) = start.value.kind() else { return None };
    let is_whole = *offset == Digit::from(offset.of.clone(), Radix::ONE) && *times == start.times;
    let width = u32::try_from(*times).ok().filter(|_| is_whole)?;
    let is_same_line = match (&others[..], width) {
        ([], 1) => own.width > 1 && is_line(row, own),
        ([number], _) => {
            let line = Expr::row_of(&own.splits, Expr::index());
            let is_part = |e: &Expr<R>, op| is_binary(e, op, &line, width);
            own.width == 1
                && number.times == 1
                && is_part(row, BinaryOp::IndexDiv)
                && is_part(&number.value, BinaryOp::IndexRem)
        }
        _ => false,
    };
    is_same_line.then(|| Access::Lines { own: own.splits.clone(), own_width: own.width, of: of.clone(), width })
}

/// Whether the value is the line of the position: the own row times the numbers of an element, and the own number.
fn is_line<R: Handles>(value: &Expr<R>, own: &OwnRows<R>) -> bool {
    let width = Radix::known(own.width.into());
    let Form::Sum(Sum { constant: 0, digits, terms }) = value.form() else { return false };
    let number = Digit { modulus: Some(width), ..Digit::POSITION };
    matches!(&terms[..], [row] if row.times == i64::from(own.width) && own_row(&row.value).as_ref() == Some(own))
        && digits == [(1, number)]
}

fn is_binary<R: Handles>(e: &Expr<R>, op: BinaryOp, of: &Expr<R>, by: u32) -> bool {
    matches!(e.kind(), ExprKind::Binary(known, a, b) if *known == op && a == of && b.as_u32() == Some(by))
}
