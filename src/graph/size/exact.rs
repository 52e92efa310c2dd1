//! The exact value of a size, as an expression that the device evaluates.

use super::recorded::RecordedSize;
use super::{SizeKind, SizeOp, SlotCount};
use crate::graph::{Expr, Size};

impl Size {
    /// The exact value as an expression that reads the counts of the size on the device; `None` if the host knows the
    /// value. The expression saturates as [`SizeOp::apply`] does.
    pub(crate) fn exact_expr(&self) -> Option<Expr> {
        fn go(size: &Size) -> Expr {
            match size.kind() {
                Some(SizeKind::Count(count)) => match (count.exact(), count.location()) {
                    (None, Some((node, at))) => Expr::load(&node, Expr::size(&at)),
                    _ => Expr::size(size),
                },
                Some(SizeKind::Slot { count: Some(SlotCount { node, at }), .. }) => Expr::load(node, Expr::size(at)),
                Some(SizeKind::Op(op, a, b)) => {
                    // If the sum or product of the upper bounds fits in u32, so does that of the exact values.
                    let most = u64::from(u32::MAX);
                    let bounds = (!size.varies()).then(|| (u64::from(a.capacity()), u64::from(b.capacity())));
                    let adds = bounds.is_some_and(|(x, y)| x + y <= most);
                    let multiplies = bounds.is_some_and(|(x, y)| x * y <= most);
                    let (a, b) = (go(a), go(b));
                    let most = Expr::u32(u32::MAX);
                    match op {
                        SizeOp::Add if adds => a.add(b),
                        SizeOp::Add => most.sub(a.clone()).min(b).add(a),
                        SizeOp::Sub => a.max(b.clone()).sub(b),
                        SizeOp::Mul if multiplies => a.mul(b),
                        SizeOp::Mul => {
                            let fits = a.clone().le(most.clone().div(b.clone().max(Expr::u32(1))));
                            fits.select(a.mul(b), most)
                        }
                        SizeOp::Div => a.div(b),
                        SizeOp::Min => a.min(b),
                        SizeOp::Max => a.max(b),
                    }
                }
                _ => Expr::size(size),
            }
        }
        if self.is_host_known() { None } else { Some(go(self)) }
    }
}
