//! The exact value of a size, as an expression that the device evaluates.

use super::fold::{Part, fold};
use super::recorded::RecordedSize;
use super::{SizeKind, SizeOp};
use crate::graph::handles::Handles;
use crate::graph::{Expr, Size};

impl Size {
    /// See [`SizeHandle::exact_expr`](crate::graph::handles::SizeHandle::exact_expr).
    pub(crate) fn exact_expr(&self) -> Option<Expr> {
        // With each expression its upper bound, but for one that varies from run to run.
        let part = |size: &Self| {
            let expr = match size.kind() {
                Some(SizeKind::Op(..)) => return Part::Operation,
                Some(SizeKind::Count(count)) => match (count.exact(), count.location()) {
                    (None, Some((node, at))) => Expr::load(&node, Expr::size(&at)),
                    _ => Expr::size(size),
                },
                _ => Expr::size(size),
            };
            Part::Value((expr, (!size.varies()).then(|| size.capacity())))
        };
        let apply = |op: SizeOp, (a, x): (Expr, Option<u32>), (b, y): (Expr, Option<u32>)| {
            let bounds = x.zip(y);
            (op.of_exprs(a, b, bounds.is_some_and(|(x, y)| op.fits(x, y))), bounds.map(|(x, y)| op.apply(x, y)))
        };
        if self.is_host_known() { None } else { Some(fold(self, &part, &apply).0) }
    }
}

impl SizeOp {
    /// Whether a sum or product of these, and so of anything smaller, fits in u32.
    pub(in crate::graph) fn fits(self, x: u32, y: u32) -> bool {
        match self {
            Self::Mul => x.checked_mul(y).is_some(),
            _ => x.checked_add(y).is_some(),
        }
    }

    /// The operation on expressions, which saturates as [`SizeOp::apply`] does. `fits`: whether the result of a sum or
    /// product fits in u32.
    pub(in crate::graph) fn of_exprs<R: Handles>(self, a: Expr<R>, b: Expr<R>, fits: bool) -> Expr<R> {
        let most = Expr::u32(u32::MAX);
        match self {
            Self::Add if fits => a.add(b),
            Self::Add => most.sub(a.clone()).min(b).add(a),
            Self::Sub => a.max(b.clone()).sub(b),
            Self::Mul if fits => a.mul(b),
            Self::Mul => {
                let fits = a.clone().le(most.clone().div(b.clone().max(Expr::u32(1))));
                fits.select(a.mul(b), most)
            }
            Self::Div => a.div(b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}
