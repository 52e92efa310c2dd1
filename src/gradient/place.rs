//! Places in rows, as gradients take them, and values as expressions in the own row.

use super::rows_ref::size_of;
use crate::graph::access::{Inner, RowsRef, Step};
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::node::Node;
use crate::graph::opcode::BinaryOp;
use crate::graph::size::{Factors, Size};

/// See [`Access::Place`](crate::graph::access::Access::Place).
#[derive(Clone)]
pub(super) struct Place<'a> {
    pub(super) own: &'a RowsRef,
    pub(super) of: &'a RowsRef,
    pub(super) row: &'a Expr,
    /// The row as an expression in the own row, if that is known.
    pub(super) of_own: Option<Expr>,
    pub(super) base: &'a Expr,
    pub(super) step: Step,
    pub(super) inner: &'a Inner,
}

/// The value as an expression in the block of `width` positions. `None` if it depends on the position otherwise.
pub(super) fn of_block(e: &Expr, width: &Size) -> Option<Expr> {
    if *width == Size::from(1) {
        return Some(e.clone());
    }
    e.in_terms_of(&|e| match e.kind() {
        ExprKind::Binary(BinaryOp::IndexDiv, at, by) => {
            at.is_index() && by.as_size().is_some_and(|by| Factors::are_same(&by, width))
        }
        _ => false,
    })
}

/// The value as an expression in the own row, in rows of elements of `width` numbers. `None` if it depends on the position
/// otherwise.
pub(super) fn of_own_row(e: &Expr, splits: &Node, width: u32) -> Option<Expr> {
    e.in_terms_of(&|e| e.own_row() == Some((splits, width)))
}

impl Expr {
    /// The value as an expression in the parts for which `is_part` holds. `None` if it depends on the position otherwise.
    pub(super) fn in_terms_of(&self, is_part: &dyn Fn(&Self) -> bool) -> Option<Self> {
        fn go(e: &Expr, is_part: &dyn Fn(&Expr) -> bool, memo: &mut DigestMap<Option<Expr>>) -> Option<Expr> {
            if !e.has_index() {
                return Some(e.clone());
            }
            if is_part(e) {
                return Some(Expr::index());
            }
            if let Some(known) = memo.get(&e.digest()) {
                return known.clone();
            }
            let operands: Option<Vec<Expr>> = e.operands().map(|operand| go(operand, is_part, memo)).collect();
            let out = operands.filter(|all| !all.is_empty()).map(|all| e.with_operands(all.into_iter()));
            memo.insert(e.digest(), out.clone());
            out
        }
        go(self, is_part, &mut DigestMap::default())
    }
}

/// The value as an expression in the own row. `None` if it depends on the position otherwise.
pub(super) fn of_own_rows(value: &Expr, own: &RowsRef, width: u32) -> Option<Expr> {
    match own {
        RowsRef::Splits(splits) => of_own_row(value, splits, width),
        RowsRef::Uniform(length) => match length.as_known() {
            Some(length) => value.of_element(u32::try_from(length.checked_mul(width.into())?).ok()?),
            None => of_block(value, &size_of(length)?.mul(width)),
        },
    }
}
