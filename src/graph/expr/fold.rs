//! Constant folding of index arithmetic, in recordings and in plans.

use super::ExprKind;
use crate::dtype::DType;
use crate::graph::Expr;
use crate::graph::handles::{Handles, ParamHandle, SizeHandle};
use crate::graph::opcode::BinaryOp;
use crate::graph::scalar::Scalar;
use crate::graph::size::SizeOp;

/// Splits an expression of the form `q * k + m` into `q` and `m`, if its form guarantees that `m` is below `k`.
fn quotient_and_rest<R: Handles>(e: &Expr<R>, k: u32) -> Option<(Expr<R>, Expr<R>)> {
    use BinaryOp::{Add, IndexRem, Mul};
    let times_k = |e: &Expr<R>| match e.kind() {
        ExprKind::Binary(Mul, q, by) if by.as_u32() == Some(k) => Some(q.clone()),
        _ => None,
    };
    if let Some(q) = times_k(e) {
        return Some((q, Expr::u32(0)));
    }
    match e.kind() {
        ExprKind::Binary(Add, q, m) => {
            let small = match m.kind() {
                ExprKind::Binary(IndexRem, _, by) => by.as_u32() == Some(k),
                ExprKind::Scalar(Scalar::U32(v)) => *v < k,
                _ => false,
            };
            times_k(q).filter(|_| small).map(|q| (q, m.clone()))
        }
        _ => None,
    }
}

/// Folds the remainder of an unsigned number by a power of two to a bit mask. Division is slow on GPUs, and emulated
/// for 64-bit integers. The remainder by a parameter is therefore another program where a power of two is recorded; the
/// mask is a parameter, too.
pub(super) fn fold_remainder<R: Handles>(op: BinaryOp, a: &Expr<R>, b: &Expr<R>) -> Option<Expr<R>> {
    if op != BinaryOp::Rem {
        return None;
    }
    let mask = |k: Scalar| match k {
        Scalar::U32(k) if k.is_power_of_two() => Some(Scalar::U32(k - 1)),
        Scalar::U64(k) if k.is_power_of_two() => Some(Scalar::U64(k - 1)),
        _ => None,
    };
    let mask = match b.kind() {
        ExprKind::Scalar(k) => Expr::scalar(mask(*k)?),
        ExprKind::Param(p) => {
            let (param, dtype) = p.computed(mask)?;
            Expr::new(ExprKind::Param(param), dtype)
        }
        _ => return None,
    };
    Some(a.clone().binary(BinaryOp::And, mask))
}

/// Folds arithmetic and comparisons of host-known sizes. The result of a comparison becomes part of the program. Sizes
/// of a plan vary by run: comparisons of them, and arithmetic that may wrap, are not folded.
fn fold_sizes<R: Handles>(op: BinaryOp, a: &Expr<R>, b: &Expr<R>) -> Option<Expr<R>> {
    if !matches!(a.kind(), ExprKind::Size(_)) && !matches!(b.kind(), ExprKind::Size(_)) {
        return None;
    }
    let (a, b) = (a.as_size()?, b.as_size()?);
    if a.varies() || b.varies() {
        let op = match op {
            BinaryOp::Div | BinaryOp::IndexDiv => SizeOp::Div,
            BinaryOp::Min => SizeOp::Min,
            BinaryOp::Max => SizeOp::Max,
            _ => return None,
        };
        return (a.is_host_known() && b.is_host_known()).then(|| Expr::size(&R::Size::op(op, &a, &b)));
    }
    let (x, y) = (a.fixed_value()?, b.fixed_value()?);
    // The result of a comparison decides types, which do not depend on counts that were read.
    let is_comparison = matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le);
    if is_comparison && (a.contains_count() || b.contains_count()) {
        return None;
    }
    let fits = |n: Option<u32>| n.is_some();
    let op = match op {
        BinaryOp::Add if fits(x.checked_add(y)) => SizeOp::Add,
        BinaryOp::Sub if fits(x.checked_sub(y)) => SizeOp::Sub,
        BinaryOp::Mul if fits(x.checked_mul(y)) => SizeOp::Mul,
        BinaryOp::Div | BinaryOp::IndexDiv => SizeOp::Div,
        BinaryOp::Min => SizeOp::Min,
        BinaryOp::Max => SizeOp::Max,
        BinaryOp::Eq => return Some(Expr::scalar(x == y)),
        BinaryOp::Ne => return Some(Expr::scalar(x != y)),
        BinaryOp::Lt => return Some(Expr::scalar(x < y)),
        BinaryOp::Le => return Some(Expr::scalar(x <= y)),
        _ => return None,
    };
    Some(Expr::size(&R::Size::op(op, &a, &b)))
}

/// Folds index arithmetic: `x + 0`, `x * 1`, `x / 1`, `x % 1`, `(q * k + m) / k` with `m % k = m`, `within(s, r, o) -
/// s[r]`, and operations on two constants.
pub(super) fn fold_u32<R: Handles>(op: BinaryOp, a: &Expr<R>, b: &Expr<R>) -> Option<Expr<R>> {
    if a.dtype() != DType::U32 {
        return None;
    }
    if let Some(folded) = fold_sizes(op, a, b) {
        return Some(folded);
    }
    let (x, y) = (a.as_u32(), b.as_u32());
    if let (Some(x), Some(y)) = (x, y) {
        return Some(match op {
            BinaryOp::Add => Expr::u32(x.wrapping_add(y)),
            BinaryOp::Sub => Expr::u32(x.wrapping_sub(y)),
            BinaryOp::Mul => Expr::u32(x.wrapping_mul(y)),
            BinaryOp::Div | BinaryOp::IndexDiv => Expr::u32(x.checked_div(y).unwrap_or(0)),
            BinaryOp::Rem | BinaryOp::IndexRem => Expr::u32(x.checked_rem(y).unwrap_or(0)),
            BinaryOp::Min => Expr::u32(x.min(y)),
            BinaryOp::Max => Expr::u32(x.max(y)),
            BinaryOp::Eq => Expr::scalar(x == y),
            BinaryOp::Ne => Expr::scalar(x != y),
            BinaryOp::Lt => Expr::scalar(x < y),
            BinaryOp::Le => Expr::scalar(x <= y),
            _ => return None,
        });
    }
    if let (BinaryOp::IndexDiv | BinaryOp::IndexRem, Some(k)) = (op, y)
        && let Some((q, m)) = quotient_and_rest(a, k)
    {
        let (kept, dropped) = if op == BinaryOp::IndexDiv { (q, m) } else { (m, q) };
        return (!dropped.has_conditions()).then_some(kept);
    }
    if let (BinaryOp::Sub, ExprKind::Within(s, row, offset), ExprKind::Load(t, r)) = (op, a.kind(), b.kind())
        && s == t
        && row == r
    {
        return Some(offset.clone());
    }
    match (op, x, y) {
        (BinaryOp::Add | BinaryOp::Sub, _, Some(0))
        | (BinaryOp::Mul | BinaryOp::Div | BinaryOp::IndexDiv, _, Some(1)) => Some(a.clone()),
        (BinaryOp::Add, Some(0), _) | (BinaryOp::Mul, Some(1), _) => Some(b.clone()),
        // Reads are kept, since they may carry a condition that must be checked.
        (BinaryOp::IndexRem, _, Some(1)) if !a.has_conditions() => Some(Expr::u32(0)),
        (BinaryOp::Mul, _, Some(0)) if !a.reads() => Some(Expr::u32(0)),
        (BinaryOp::Mul, Some(0), _) if !b.reads() => Some(Expr::u32(0)),
        _ => None,
    }
}
