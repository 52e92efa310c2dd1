//! Separates the conditions of an expression from its value.

use std::collections::HashSet;

use super::Node;
use super::digest::{DigestMap, DigestSet};
use super::expr::{Expr, ExprKind};
use super::handles::Handles;
use super::refs::Refs;
use super::walk::for_each_node;

/// The expression without its conditions.
pub(crate) fn unconditional<R: Handles>(e: &Expr<R>) -> Expr<R> {
    fn go<R: Handles>(e: &Expr<R>, memo: &mut DigestMap<Expr<R>>) -> Expr<R> {
        if !e.has_conditions() {
            return e.clone();
        }
        if let Some(known) = memo.get(&e.digest()) {
            return known.clone();
        }
        let out = match e.kind() {
            ExprKind::Checked(_, _, value) => go(value, memo),
            _ => e.with_operands(e.operands().map(|o| go(o, memo)).collect::<Vec<_>>().into_iter()),
        };
        memo.insert(e.digest(), out.clone());
        out
    }
    go(e, &mut DigestMap::default())
}

/// The arrays that depend on conditions, among those that the expression reads and `arrays`. A result that reads none of
/// them, since it has no elements by now, is still valid only if their conditions hold.
pub(crate) fn conditional_arrays<'a>(e: &Expr, arrays: impl IntoIterator<Item = &'a Node>) -> Vec<Node> {
    let mut all: Vec<Node> = arrays.into_iter().cloned().collect();
    for_each_node(e, &mut |node| all.push(node.clone()));
    let mut seen = DigestSet::default();
    all.retain(|node| node.is_fallible() && seen.insert(node.digest()));
    all
}

/// A condition: the check, and the expression that must hold.
pub(crate) type Condition<R> = (<R as Refs>::Check, Expr<R>);

/// The conditions of an expression; the conditions contain no conditions themselves. A condition inside one branch of a
/// `select` applies only where that branch is taken.
pub(crate) fn conditions<R: Handles>(e: &Expr<R>) -> Vec<Condition<R>> {
    fn go<R: Handles>(e: &Expr<R>, memo: &mut DigestMap<Vec<Condition<R>>>) -> Vec<Condition<R>> {
        if !e.has_conditions() {
            return Vec::new();
        }
        if let Some(known) = memo.get(&e.digest()) {
            return known.clone();
        }
        let mut out: Vec<Condition<R>> = Vec::new();
        for (k, operand) in e.operands().enumerate() {
            let excused = |ok: Expr<R>| match (e.kind(), k) {
                (ExprKind::Select(taken, ..), 1) => ok.or(unconditional(taken).not()),
                (ExprKind::Select(taken, ..), 2) => ok.or(unconditional(taken)),
                _ => ok,
            };
            out.extend(go(operand, memo).into_iter().map(|(check, ok)| (check, excused(ok))));
        }
        if let ExprKind::Checked(check, ok, _) = e.kind() {
            out.push((check.clone(), unconditional(ok)));
        }
        let mut seen = HashSet::new();
        out.retain(|(check, ok)| seen.insert((check.clone(), ok.digest())));
        memo.insert(e.digest(), out.clone());
        out
    }
    go(e, &mut DigestMap::default())
}

/// The conditions that every evaluation checks: those outside of the branches of a `select`.
pub(crate) fn always_checked<R: Handles>(e: &Expr<R>) -> DigestSet {
    let (mut seen, mut out) = (DigestSet::default(), DigestSet::default());
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        if !seen.insert(e.digest()) || !e.has_conditions() {
            continue;
        }
        if matches!(e.kind(), ExprKind::Checked(..)) {
            out.insert(e.digest());
        }
        let of_all = if matches!(e.kind(), ExprKind::Select(..)) { 1 } else { usize::MAX };
        stack.extend(e.operands().take(of_all));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::expr::Check;
    use super::*;

    #[test]
    fn checks_of_a_branch_apply_where_it_is_taken() {
        let (i, small): (_, Expr) = (Expr::index(), Expr::index().lt(Expr::u32(9)));
        let (low, even) = (Check::new("test", "low"), Check::new("test", "even"));
        let is_even = i.clone().rem(Expr::u32(2)).eq(Expr::u32(0));
        let chosen = small.clone().select(
            i.clone().checked(low.clone(), i.clone().lt(Expr::u32(3))),
            i.clone().checked(even.clone(), is_even.clone()),
        );
        let e = chosen.clone().add(chosen);
        assert_eq!(unconditional(&e), {
            let bare = small.clone().select(i.clone(), i.clone());
            bare.clone().add(bare)
        });
        let want = [(low, i.lt(Expr::u32(3)).or(small.clone().not())), (even, is_even.or(small))];
        assert_eq!(conditions(&e), want, "each once");
    }

    #[test]
    fn a_nested_condition_is_checked_first() {
        let (inner, outer) = (Check::new("test", "inner"), Check::new("test", "outer"));
        let holds = |n: u32| -> Expr { Expr::index().lt(Expr::u32(n)) };
        let ok = holds(7).checked(inner.clone(), holds(5));
        let e = Expr::index().checked(outer.clone(), ok);
        assert_eq!(conditions(&e), [(inner, holds(5)), (outer, holds(7))]);
        assert_eq!(unconditional(&e), Expr::index());
    }
}
