//! Recognition of values that are rows of a table, possibly through a chain of element-wise operations, such as the scales
//! of the product of a sparse and a dense matrix. The index of a table row and the operands of the chain must depend on
//! the value's index alone. They are computed once per value instead of once per column.

use super::super::row_reduce::{ChainStep, chain_of};
use crate::graph::planned::{Expr, ExprKind, Node};

/// Values of an element's expression that are rows of a table: the table, and the first element of the table row and the
/// steps of the chain, as expressions of the value's index.
pub(super) struct TableExpr {
    pub(super) table: Node,
    pub(super) first: Expr,
    pub(super) chain: Vec<ChainStep<Expr>>,
}

impl TableExpr {
    /// `None` for other expressions of an element.
    pub(super) fn of(e: &Expr, inner: usize) -> Option<Self> {
        let inner = u32::try_from(inner).ok().filter(|&inner| inner > 1)?;
        let of_value = |e: &Expr| e.of_element(inner);
        let ((table, first), chain) = chain_of(e, &|e| row_of_table(e, inner), &of_value)?;
        Some(Self { table, first, chain })
    }
}

/// The table of which `e` is an element, and the first element of the value's row.
fn row_of_table(e: &Expr, inner: u32) -> Option<(Node, Expr)> {
    let ExprKind::Load(table, at) = e.kind() else { return None };
    Some((table.clone(), at.first_of_element(inner)?))
}
