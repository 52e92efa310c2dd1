//! Recognition of values that are rows of a table, possibly through a chain of element-wise operations, such as the scales
//! of the product of a sparse and a dense matrix. The index of a table row and the operands of the chain must depend on
//! the value's index alone. They are computed once per value instead of once per column.

use super::super::compiled_expr::Inputs;
use super::super::row_reduce::{ChainStep, chain_of};
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::node::Node;
use crate::graph::opcode::BinaryOp;

/// Rewrites an expression of an element's index as an expression of its value's index. `None` if the result may differ
/// among the `inner` elements of a value.
fn of_value(e: &Expr, inner: usize, known: &mut DigestMap<Option<Expr>>) -> Option<Expr> {
    if !e.has_index() {
        return Some(e.clone());
    }
    if let Some(known) = known.get(&e.digest()) {
        return known.clone();
    }
    let found = match e.kind() {
        ExprKind::Index => None,
        ExprKind::Binary(BinaryOp::IndexDiv, i, by) if i.is_index() && by.as_u32() == Some(inner as u32) => {
            Some(Expr::index())
        }
        _ => {
            let operands: Option<Vec<Expr>> = e.operands().map(|operand| of_value(operand, inner, known)).collect();
            operands.map(|operands| e.with_operands(operands.into_iter()))
        }
    };
    known.insert(e.digest(), found.clone());
    found
}

/// Values of an element's expression that are rows of a table: the table, and the first element of the table row and the
/// steps of the chain, as expressions of the value's index.
pub(super) struct TableExpr {
    pub(super) table: Node,
    pub(super) first: Expr,
    pub(super) chain: Vec<ChainStep<Expr>>,
}

impl TableExpr {
    /// `None` for other expressions of an element.
    pub(super) fn of(inputs: &Inputs, e: &Expr, inner: usize) -> Option<Self> {
        let of_value = |e: &Expr| of_value(e, inner, &mut DigestMap::default());
        let ((table, first), chain) = chain_of(e, &|e| row_of_table(inputs, e, inner), &of_value)?;
        Some(Self { table, first, chain })
    }
}

/// The table of which `e` is an element, and the first element of the value's row.
fn row_of_table(inputs: &Inputs, e: &Expr, inner: usize) -> Option<(Node, Expr)> {
    let is_column = |e: &Expr| match e.kind() {
        ExprKind::Binary(BinaryOp::IndexRem, i, by) => i.is_index() && by.as_u32() == Some(inner as u32),
        _ => false,
    };
    let ExprKind::Load(table, at) = e.kind() else { return None };
    let ExprKind::Binary(BinaryOp::Add, first, column) = at.kind() else { return None };
    if inner < 2 || inputs.array(table).len() == 0 || !is_column(column) {
        return None;
    }
    Some((table.clone(), of_value(first, inner, &mut DigestMap::default())?))
}
