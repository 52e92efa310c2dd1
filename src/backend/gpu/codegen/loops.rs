//! Upper bounds of the loop iterations of the functions that expressions become. Drivers may limit them: see
//! [`DriverLimits`](crate::backend::gpu::driver_limits::DriverLimits).

use super::doubles;
use super::emit::is_lazy;
use crate::dtype::DType;
use crate::graph::digest::DigestSet;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::plan::Float64Repr;
use crate::graph::planned::{Expr, ExprKind, Node};
use crate::graph::scalar::Scalar;
use crate::graph::walk::for_each_expr;
use crate::math::MathFn;

/// Iterations of a loop and of those in it; drivers count the one that ends a loop too.
pub(crate) const fn looped(iterations: u64, each: u64) -> u64 {
    iterations.saturating_mul(1 + each).saturating_add(1)
}

/// Iterations per return within a branch, which Mesa's software driver compiles to a loop.
const RETURN: u64 = looped(1, 0);

/// Iterations per store of a number to a register: a shift of 64-bit integers.
pub(crate) const STORE: u64 = 2 * RETURN;

/// Iterations of a search for a row.
const SEARCH: u64 = looped(32, 0);

/// Iterations of a function of the user, whose loops are not known.
const USER_FUNCTION: u64 = 40;

/// Upper bound of the iterations of one evaluation of the expression. `own`: the splits whose rows the kernel knows, and
/// the numbers per element. `float64`: the representation of doubles.
pub(crate) fn iterations_of(e: &Expr, own: Option<(&Node, u32)>, float64: Float64Repr) -> u64 {
    let mut any = false;
    for_each_expr(e, &mut |e| any |= of_operation(e, own, float64) > 0);
    if any { Count { own, float64, scopes: vec![DigestSet::default()] }.value(e) } else { 0 }
}

/// Walks an expression in the scopes of its function: an expression that two branches need is computed in both.
struct Count<'a> {
    own: Option<(&'a Node, u32)>,
    float64: Float64Repr,
    scopes: Vec<DigestSet>,
}

impl Count<'_> {
    fn value(&mut self, e: &Expr) -> u64 {
        if self.is_known(e) {
            return 0;
        }
        let of_operands = match e.kind() {
            ExprKind::Select(c, a, b) => {
                let condition = self.value(c);
                let is_known = |e: &Expr| self.is_known(e);
                // Neighbouring invocations take both branches.
                let branches = match is_lazy(a, &is_known) || is_lazy(b, &is_known) {
                    true => self.branch(a).saturating_add(self.branch(b)),
                    false => self.value(a).saturating_add(self.value(b)),
                };
                condition.saturating_add(branches)
            }
            _ => e.operands().fold(0, |sum: u64, operand| sum.saturating_add(self.value(operand))),
        };
        self.scopes.last_mut().expect("a scope").insert(e.digest());
        of_operands.saturating_add(of_operation(e, self.own, self.float64))
    }

    fn branch(&mut self, e: &Expr) -> u64 {
        self.scopes.push(DigestSet::default());
        let out = self.value(e);
        self.scopes.pop();
        out
    }

    fn is_known(&self, e: &Expr) -> bool {
        self.scopes.iter().any(|scope| scope.contains(&e.digest()))
    }
}

/// Iterations of the loops of an operation without its operands. Mathematical functions have none, except remainders, and
/// those of doubles as pairs of words.
fn of_operation(e: &Expr, own: Option<(&Node, u32)>, float64: Float64Repr) -> u64 {
    let is_pair = |e: &Expr| e.dtype() == DType::F64 && float64 == Float64Repr::Pairs;
    match e.kind() {
        ExprKind::Unary(UnaryOp::Math(f), a) if is_pair(a) => doubles::iterations(*f),
        ExprKind::Binary(op, a, _) if is_pair(a) => match op {
            BinaryOp::Div => doubles::iterations(MathFn::Div),
            BinaryOp::Rem => doubles::iterations(MathFn::Rem),
            BinaryOp::Pow => doubles::iterations(MathFn::Pow),
            BinaryOp::Atan2 => doubles::iterations(MathFn::Atan2),
            _ => 0,
        },
        ExprKind::RowOf(..) if own.is_some() && e.own_row() == own => 0,
        ExprKind::RowOf(..) => SEARCH,
        ExprKind::Call(..) => USER_FUNCTION,
        ExprKind::Cast(from) if from.dtype().size().max(e.dtype().size()) == 8 => 8 * RETURN,
        ExprKind::Cast(_) => 3 * RETURN,
        ExprKind::Binary(op, a, b) => of_binary(*op, a.dtype(), b),
        _ => 0,
    }
}

fn of_binary(op: BinaryOp, dtype: DType, b: &Expr) -> u64 {
    let is_wide = dtype.size() == 8;
    match op {
        // A step of a remainder takes 8 bits of the exponent's difference, or 11.
        BinaryOp::Rem if dtype.is_float() => looped(if is_wide { 2046 / 11 + 1 } else { 254 / 8 + 1 }, 0) + 3 * RETURN,
        BinaryOp::Min | BinaryOp::Max if dtype.is_float() => 2 * RETURN,
        _ if dtype.is_float() => 0,
        BinaryOp::Pow => looped(dtype.size() as u64 * 8, 0) + RETURN,
        BinaryOp::Div | BinaryOp::IndexDiv | BinaryOp::Rem | BinaryOp::IndexRem => match b.kind() {
            ExprKind::Scalar(Scalar::U32(b)) if *b != 0 => 0,
            // Long division in base 2, and the shift before it.
            _ if is_wide => looped(64, 0) + 7 * RETURN,
            _ => 3 * RETURN,
        },
        BinaryOp::Shl | BinaryOp::Shr => 3 * RETURN,
        _ => 0,
    }
}
