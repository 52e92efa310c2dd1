//! Evaluation cost of expressions, in operations.

use crate::graph::planned::{Expr, ExprKind, Node};
use crate::graph::walk::for_each_expr;

/// Maximum cost of an expression that is recomputed for a second consumer instead of stored.
pub(crate) const MAX_REPEATED_COST: u32 = 80;

/// Cost of one evaluation of the expression, in operations. Each distinct subexpression counts once. The row of the
/// element in the partition `rows`, which the kernel knows, costs nothing.
pub(crate) fn evaluation_cost(e: &Expr, rows: Option<&(Node, u32)>) -> u32 {
    let mut sum = 0u32;
    for_each_expr(e, &mut |e| {
        let is_known = e.own_row().is_some_and(|(s, inner)| rows.is_some_and(|r| (&r.0, r.1) == (s, inner)));
        sum = sum.saturating_add(if is_known { 0 } else { e.own_cost() });
    });
    sum
}

/// Whether the expression searches row splits for the row of a position.
pub(in crate::graph) fn contains_search(e: &Expr) -> bool {
    let mut found = false;
    for_each_expr(e, &mut |e| found |= matches!(e.kind(), ExprKind::RowOf(..)));
    found
}
