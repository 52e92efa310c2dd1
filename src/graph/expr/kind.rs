//! The kinds of scalar expression.

use std::hash::{Hash, Hasher};

use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::refs::{Recorded, Refs, Rewrite};
use crate::graph::scalar::Scalar;

/// A register of a recurrence: numbers of one element of the rows that a [`ScanRows`](crate::graph::primitive::ScanRows)
/// walks along, which no array stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "saved", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(crate) struct Register {
    /// The recurrence while its step is recorded; 0 in a recipe.
    pub(crate) scan: u32,
    /// Its number: first the states, then the stages.
    pub(crate) number: u32,
}

/// The kinds of scalar expression.
#[derive(Debug, Clone)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) enum ExprKind<R: Refs = Recorded> {
    /// The flat position of the element being computed (u32).
    Index,
    /// A constant of the program.
    Scalar(#[cfg_attr(feature = "saved", serde(with = "crate::graph::scalar::bits"))] Scalar),
    /// A number of the user: a parameter of the program.
    Param(R::Param),
    /// A size (u32), at its capacity: a run-time parameter of the kernel.
    Size(R::Size),
    /// Element `index` of a node. Out-of-range indices give an unspecified element, never a fault.
    Load(R::Array, R::Expr),
    /// Number `index` of a register, as if all elements had one after another: the numbers of the own element alone are
    /// read. Occurs in recurrences only.
    Register(Register, R::Expr),
    /// The row that holds position `index`: the greatest `r` with `splits[r] <= index`, by a search in sorted splits.
    RowOf(R::Array, R::Expr),
    /// Position `offset` of row `row` of sorted splits: `splits[row] + offset`. Unlike the plain sum, the expression
    /// promises that the offset lies within the row, so that the row of the position is `row` without a search.
    Within(R::Array, R::Expr, R::Expr),
    /// One operand.
    Unary(UnaryOp, R::Expr),
    /// Two operands of one dtype.
    Binary(BinaryOp, R::Expr, R::Expr),
    /// `if condition { a } else { b }`, lazy: only the taken branch is evaluated.
    Select(R::Expr, R::Expr, R::Expr),
    /// Value conversion: as Rust's `as`. Conversion of an out-of-range float to an integer saturates on every backend.
    /// Conversion to bool is `!= 0`.
    Cast(R::Expr),
    /// Reinterpretation of the bits as another type of the same width.
    Bitcast(R::Expr),
    /// A function of the user, whose value depends on its arguments alone.
    Call(
        R::Function,
        #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
        Box<[R::Expr]>,
    ),
    /// The value under a condition: the kernel reports the position if the condition does not hold.
    Checked(R::Check, R::Expr, R::Expr),
}

impl<R: Refs> ExprKind<R> {
    /// The operands that are expressions over the same position, in order.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &R::Expr> {
        use ExprKind as K;
        let arguments: &[R::Expr] = if let K::Call(_, arguments) = self { arguments } else { &[] };
        let (a, b, c) = match self {
            K::Index | K::Scalar(_) | K::Param(_) | K::Size(_) | K::Call(..) => (None, None, None),
            K::Load(_, a) | K::Register(_, a) | K::RowOf(_, a) | K::Unary(_, a) | K::Cast(a) | K::Bitcast(a) => {
                (Some(a), None, None)
            }
            K::Binary(_, a, b) | K::Checked(_, a, b) | K::Within(_, a, b) => (Some(a), Some(b), None),
            K::Select(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten().chain(arguments)
    }

    /// Rewrites the references: the array or size first, then the operands in their order.
    pub(crate) fn map<W: Rewrite<R>>(&self, r: &mut W) -> ExprKind<W::To> {
        use ExprKind as K;
        match self {
            K::Index => K::Index,
            K::Scalar(s) => K::Scalar(*s),
            K::Param(p) => K::Param(r.param(p)),
            K::Size(s) => K::Size(r.size(s)),
            K::Load(n, i) => K::Load(r.array(n), r.expr(i)),
            K::Register(register, i) => K::Register(*register, r.expr(i)),
            K::RowOf(n, i) => K::RowOf(r.array(n), r.expr(i)),
            K::Within(n, row, offset) => K::Within(r.array(n), r.expr(row), r.expr(offset)),
            K::Unary(op, a) => K::Unary(*op, r.expr(a)),
            K::Binary(op, a, b) => K::Binary(*op, r.expr(a), r.expr(b)),
            K::Select(c, a, b) => K::Select(r.expr(c), r.expr(a), r.expr(b)),
            K::Cast(a) => K::Cast(r.expr(a)),
            K::Bitcast(a) => K::Bitcast(r.expr(a)),
            K::Call(f, arguments) => K::Call(r.function(f), arguments.iter().map(|a| r.expr(a)).collect()),
            K::Checked(check, ok, v) => K::Checked(r.check(check), r.expr(ok), r.expr(v)),
        }
    }
}

/// Constants are equal if their dtypes and bits are.
impl<R: Refs> PartialEq for ExprKind<R> {
    fn eq(&self, other: &Self) -> bool {
        use ExprKind as K;
        match (self, other) {
            (K::Index, K::Index) => true,
            (K::Scalar(a), K::Scalar(b)) => a.dtype() == b.dtype() && a.bits() == b.bits(),
            (K::Param(a), K::Param(b)) => a == b,
            (K::Size(a), K::Size(b)) => a == b,
            (K::Load(m, a), K::Load(n, b)) | (K::RowOf(m, a), K::RowOf(n, b)) => m == n && a == b,
            (K::Register(m, a), K::Register(n, b)) => m == n && a == b,
            (K::Within(m, a, b), K::Within(n, c, d)) => m == n && a == c && b == d,
            (K::Unary(f, a), K::Unary(g, b)) => f == g && a == b,
            (K::Binary(f, a, b), K::Binary(g, c, d)) => f == g && a == c && b == d,
            (K::Select(a, b, c), K::Select(d, e, f)) => a == d && b == e && c == f,
            (K::Cast(a), K::Cast(b)) | (K::Bitcast(a), K::Bitcast(b)) => a == b,
            (K::Call(f, a), K::Call(g, b)) => f == g && a == b,
            (K::Checked(x, a, b), K::Checked(y, c, d)) => x == y && a == c && b == d,
            _ => false,
        }
    }
}
impl<R: Refs> Eq for ExprKind<R> {}

impl<R: Refs> Hash for ExprKind<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        use ExprKind as K;
        std::mem::discriminant(self).hash(state);
        match self {
            K::Index => {}
            K::Scalar(s) => (s.dtype(), s.bits()).hash(state),
            K::Param(p) => p.hash(state),
            K::Size(s) => s.hash(state),
            K::Load(n, _) | K::RowOf(n, _) | K::Within(n, ..) => n.hash(state),
            K::Register(register, _) => register.hash(state),
            K::Unary(op, _) => op.hash(state),
            K::Binary(op, ..) => op.hash(state),
            K::Call(f, _) => f.hash(state),
            K::Checked(check, ..) => check.hash(state),
            // Their operands are hashed below.
            K::Select(..) | K::Cast(_) | K::Bitcast(_) => {}
        }
        self.operands().for_each(|e| e.hash(state));
    }
}
