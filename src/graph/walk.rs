//! Traversals of expressions, which visit each distinct subexpression once.

use super::digest::DigestSet;
use super::expr::Expr;
use super::handles::{ArrayHandle, Handles};

/// Calls `f` for each distinct subexpression.
pub(crate) fn for_each_expr<R: Handles>(e: &Expr<R>, f: &mut impl FnMut(&Expr<R>)) {
    let mut seen = DigestSet::default();
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        if seen.insert(e.digest()) {
            f(e);
            stack.extend(e.operands());
        }
    }
}

/// Calls `f` for each array that the expression reads, once per distinct subexpression that reads it.
pub(crate) fn for_each_node<R: Handles>(e: &Expr<R>, f: &mut impl FnMut(&R::Array)) {
    for_each_expr(e, &mut |e| e.node().into_iter().for_each(&mut *f));
}

/// The arrays that the expression reads.
pub(crate) fn arrays<R: Handles>(e: &Expr<R>) -> DigestSet {
    let mut out = DigestSet::default();
    for_each_node(e, &mut |n| {
        out.insert(n.digest());
    });
    out
}
