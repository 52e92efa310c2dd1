//! The exact value of a size, as an expression that the device evaluates.

use super::recorded::RecordedSize;
use super::{SizeKind, SizeOp};
use crate::graph::handles::Handles;
use crate::graph::{Expr, Size};

impl Size {
    /// See [`SizeHandle::exact_expr`](crate::graph::handles::SizeHandle::exact_expr).
    pub(crate) fn exact_expr(&self) -> Option<Expr> {
        fn go(size: &Size) -> Expr {
            match size.kind() {
                Some(SizeKind::Count(count)) => match (count.exact(), count.location()) {
                    (None, Some((node, at))) => Expr::load(&node, Expr::size(&at)),
                    _ => Expr::size(size),
                },
                Some(SizeKind::Op(op, a, b)) => {
                    // If the sum or product of the upper bounds fits in u32, so does that of the exact values.
                    let most = u64::from(u32::MAX);
                    let bounds = (!size.varies()).then(|| (u64::from(a.capacity()), u64::from(b.capacity())));
                    let fits = bounds.is_some_and(|(x, y)| match op {
                        SizeOp::Mul => x * y <= most,
                        _ => x + y <= most,
                    });
                    op.of_exprs(go(a), go(b), fits)
                }
                _ => Expr::size(size),
            }
        }
        if self.is_host_known() { None } else { Some(go(self)) }
    }
}

impl SizeOp {
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
