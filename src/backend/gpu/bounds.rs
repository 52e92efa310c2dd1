//! Bounds-check elimination: proves that the indices of an expression are in bounds for any contents of the arrays.
//!
//! Proofs use host-known sizes only. Values in buffers are unbounded: kernels run even after a failed check, and the
//! user's program can write to the buffers of tensors.

use crate::graph::digest::DigestMap;
use crate::graph::opcode::BinaryOp;
use crate::graph::planned::{Expr, ExprKind, Node, SizeView};
use crate::graph::scalar::Scalar;
use crate::graph::walk::for_each_expr;

/// Whether all loads of the expression are provably in bounds at every position below `positions`.
pub(super) fn are_in_bounds(sizes: SizeView<'_>, e: &Expr, positions: u32) -> bool {
    let mut bounds = UpperBounds { sizes, positions: u64::from(positions), known: DigestMap::default() };
    let mut proven = true;
    for_each_expr(e, &mut |e| {
        proven &= match e.kind() {
            ExprKind::Load(node, at) | ExprKind::Within(node, at, _) => bounds.fits(at, node),
            // The search reads only splits before the last one.
            ExprKind::RowOf(splits, _) => sizes.capacity(splits.extent()) > 0,
            _ => true,
        };
    });
    proven
}

/// Exclusive upper bounds of index expressions.
struct UpperBounds<'a> {
    sizes: SizeView<'a>,
    positions: u64,
    known: DigestMap<Option<u64>>,
}

impl UpperBounds<'_> {
    fn fits(&mut self, at: &Expr, array: &Node) -> bool {
        self.of(at).is_some_and(|bound| bound <= u64::from(self.sizes.capacity(array.extent())))
    }

    /// Exclusive upper bound of the expression, if known. Sums and products are bounded only where they cannot wrap.
    fn of(&mut self, e: &Expr) -> Option<u64> {
        if let Some(known) = self.known.get(&e.digest()) {
            return *known;
        }
        let bound = match e.kind() {
            ExprKind::Index => Some(self.positions),
            ExprKind::Scalar(Scalar::U32(v)) => Some(u64::from(*v) + 1),
            ExprKind::Size(size) => Some(u64::from(self.sizes.value(size)) + 1),
            // A search returns one of the rows; row 0 if there are none.
            ExprKind::RowOf(splits, _) => {
                Some(u64::from(self.sizes.capacity(splits.extent()).saturating_sub(1).max(1)))
            }
            ExprKind::Select(_, a, b) => self.of(a).zip(self.of(b)).map(|(a, b)| a.max(b)),
            ExprKind::Checked(_, _, v) => self.of(v),
            ExprKind::Binary(op, a, b) => self.of_binary(*op, a, b),
            _ => None,
        };
        self.known.insert(e.digest(), bound);
        bound
    }

    fn of_binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<u64> {
        let (x, y) = (self.of(a), self.of(b));
        let by = b.as_u32().map(u64::from).filter(|&by| by > 0);
        // The greatest value below an exclusive bound; a bound of 0 implies that there are no positions.
        let most = |bound: u64| bound.saturating_sub(1);
        let bound = match op {
            BinaryOp::Min => return [x, y].into_iter().flatten().min(),
            BinaryOp::IndexDiv => most(x?) / by? + 1,
            BinaryOp::IndexRem => by?,
            BinaryOp::Add => most(x?) + most(y?) + 1,
            BinaryOp::Mul => most(x?).checked_mul(most(y?))? + 1,
            _ => return None,
        };
        (bound <= 1 << 32).then_some(bound)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::are_in_bounds;
    use crate::backend::cpu::CpuBackend;
    use crate::dtype::DType;
    use crate::graph::backend::BackendRef;
    use crate::graph::plan::PlanOf;
    use crate::graph::{Expr, Node};

    fn array(len: u32) -> Node {
        let backend: BackendRef = Arc::new(CpuBackend::new(u64::MAX, true));
        Node::source(&backend, DType::U32, len, Arc::new(()))
    }

    /// Whether all indices of the expression are provably in bounds, for `n` positions.
    fn are_proven(e: &Expr, n: u32) -> bool {
        let backend: BackendRef = Arc::new(CpuBackend::new(u64::MAX, true));
        let plan = PlanOf::of_expr(&backend, e);
        are_in_bounds(plan.sizes(), &plan.expr(), n)
    }

    /// Whether the index provably lies within an array of that length, for 100 positions.
    fn proven(len: u32, at: &Expr) -> bool {
        are_proven(&Expr::load(&array(len), at.clone()).add(Expr::u32(3)), 100)
    }

    /// Length of the smallest array for which the index is provably in bounds.
    fn least(at: &Expr) -> Option<u32> {
        let least = (1..2000).find(|&len| proven(len, at))?;
        assert!((least..2000).all(|len| proven(len, at)), "bounds are monotonic");
        Some(least)
    }

    #[test]
    fn positions_are_followed_through_arithmetic() {
        let i = Expr::index;
        assert_eq!(least(&i()), Some(100));
        assert_eq!(least(&Expr::u32(7)), Some(8));
        assert_eq!(least(&i().add(Expr::u32(1))), Some(101));
        assert_eq!(least(&i().mul(Expr::u32(3)).add(Expr::u32(2))), Some(300));
        assert_eq!(least(&i().div(Expr::u32(7))), Some(15));
        assert_eq!(least(&i().rem(Expr::u32(7))), Some(7));
        assert_eq!(least(&i().eq(Expr::u32(5)).select(Expr::u32(500), i())), Some(501));
        assert_eq!(least(&i().mul(Expr::u32(1 << 30))), None, "it may wrap");
        assert_eq!(least(&i().sub(Expr::u32(1))), None, "it may wrap");
    }

    #[test]
    fn values_in_buffers_are_unbounded() {
        let held = Expr::load(&array(100), Expr::index());
        assert_eq!(least(&held), None);
        assert_eq!(least(&held.clone().add(Expr::u32(0)).min(Expr::u32(49))), Some(50));
        // A search returns one of the rows for any splits.
        let splits = array(31);
        assert_eq!(least(&Expr::row_of(&splits, held.clone())), Some(30));
        assert_eq!(least(&Expr::within(&splits, Expr::u32(0), Expr::index())), None);
        // Nested indices must be proven as well.
        assert!(!are_proven(&Expr::load(&array(9), held.min(Expr::u32(8))), 101));
    }
}
