//! Accesses through arrays of positions.
//!
//! Operations store positions as maps, which later operations index. The planner may compute such a map or inline it;
//! the access of the load is the same.

use super::{Access, Order};
use std::collections::HashSet;

use crate::graph::Expr;
use crate::graph::conditions::unconditional;
use crate::graph::digest::{Digest, DigestMap};
use crate::graph::expr::ExprKind;
use crate::graph::primitive::Recipe;
use crate::graph::walk::for_each_expr;

impl Expr {
    /// As [`Expr::access`], with the positions of unevaluated maps in place of loads from these: the access of the load
    /// in the program. Where a map has conditions, the access holds if they do.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests ask for the access in the program so far"))]
    pub(crate) fn access_in_program(&self) -> Access {
        ordered(self.in_program().access())
    }

    /// The expression with the positions of unevaluated maps in place of loads from these.
    pub(crate) fn in_program(&self) -> Self {
        Expansion { splits: splits_of(self), known: DigestMap::default() }.of(self)
    }
}

/// The arrays whose rows the expression searches, or refers to places in: its loads from them are starts of rows.
fn splits_of(e: &Expr) -> HashSet<Digest> {
    let mut found = HashSet::new();
    for_each_expr(e, &mut |e| {
        if let ExprKind::RowOf(splits, _) | ExprKind::Within(splits, ..) = e.kind() {
            found.insert(splits.digest());
        }
    });
    found
}

/// Expressions with maps of positions inlined, as far as their recipes are kept. Splits stay arrays.
struct Expansion {
    splits: HashSet<Digest>,
    known: DigestMap<Expr>,
}

impl Expansion {
    fn of(&mut self, e: &Expr) -> Expr {
        if !e.reads() {
            return e.clone();
        }
        if let Some(known) = self.known.get(&e.digest()) {
            return known.clone();
        }
        let operands: Vec<Expr> = e.operands().map(|operand| self.of(operand)).collect();
        let mut out = e.with_operands(operands.into_iter());
        // A load that is the same at all positions is a number of the host or of a row, not a position.
        if let ExprKind::Load(positions, at) = out.kind()
            && at.has_index()
            && !self.splits.contains(&positions.digest())
            && let Some(Recipe::Map(map)) = positions.kept_recipe().as_deref()
        {
            let value = unconditional(&map.value).at(at);
            self.splits.extend(splits_of(&value));
            out = self.of(&value);
        }
        self.known.insert(e.digest(), out.clone());
        out
    }
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
