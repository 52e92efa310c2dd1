//! Accesses through arrays of positions.
//!
//! Operations store positions as maps, which later operations index. The planner may compute such a map or inline it;
//! the access of the load is the same.

use super::{Access, Order};
use crate::graph::conditions::unconditional;
use crate::graph::digest::DigestMap;
use crate::graph::expr::ExprKind;
use crate::graph::primitive::Recipe;
use crate::graph::walk::for_each_expr;
use crate::graph::{Expr, Node};

impl Expr {
    /// As [`Expr::access`], with the positions of unevaluated maps in place of loads from these: the access of the load
    /// in the program. Where a map has conditions, the access holds if they do.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests ask for the access in the program so far"))]
    pub(crate) fn access_in_program(&self) -> Access {
        ordered(self.in_program().access())
    }

    /// The expression with the positions of unevaluated maps in place of loads from these.
    pub(crate) fn in_program(&self) -> Self {
        expanded(self, &mut DigestMap::default())
    }
}

/// The expression with maps of positions inlined, as far as their recipes are kept. Splits stay arrays.
fn expanded(e: &Expr, known: &mut DigestMap<Expr>) -> Expr {
    if !e.reads() {
        return e.clone();
    }
    if let Some(known) = known.get(&e.digest()) {
        return known.clone();
    }
    let operands: Vec<Expr> = e.operands().map(|operand| expanded(operand, known)).collect();
    let mut out = e.with_operands(operands.into_iter());
    // A load that is the same at all positions is a number of the host or of a row, not a position.
    if let ExprKind::Load(positions, at) = out.kind()
        && at.has_index()
        && !searches(at, positions)
        && let Some(Recipe::Map(map)) = positions.kept_recipe().as_deref()
    {
        out = expanded(&unconditional(&map.value).at(at), known);
    }
    known.insert(e.digest(), out.clone());
    out
}

/// Whether the expression searches the array: its loads there are starts of rows.
fn searches(e: &Expr, splits: &Node) -> bool {
    let mut found = false;
    for_each_expr(e, &mut |e| found |= matches!(e.kind(), ExprKind::RowOf(of, _) if of == splits));
    found
}

/// The access with what is known of gathered elements from the primitive that computes them.
fn ordered(access: Access) -> Access {
    match access {
        Access::Choice(c, of) => {
            let [a, b] = *of;
            Access::Choice(c, Box::new([ordered(a), ordered(b)]))
        }
        Access::Gathered { element, inner, .. } => {
            let order = order_of(&element);
            Access::Gathered { element, inner, order }
        }
        access => access,
    }
}

fn order_of(element: &Expr) -> Order {
    let ExprKind::Load(positions, at) = element.kind() else { return Order::Any };
    if !at.access().is_own() {
        return Order::Any;
    }
    match positions.kept_recipe().as_deref() {
        Some(Recipe::Sort(_) | Recipe::RowSort(_)) => Order::Permutation,
        Some(Recipe::Compact(c)) if c.inner == 1 && c.value.is_index() => Order::Ascending,
        _ => Order::Any,
    }
}
