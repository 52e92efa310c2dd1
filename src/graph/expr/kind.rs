//! The kinds of scalar expression.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::Check;
use crate::graph::function::Function;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::recipe::Rewrite;
use crate::graph::scalar::Scalar;
use crate::graph::scalar_param::ScalarParam;
use crate::graph::{Expr, Node, Size};

/// The kinds of scalar expression. Generic over the references to expressions, arrays, sizes, scalar parameters,
/// checks and functions: those of a recording, or numbers in a [`Program`](crate::graph::program::Program).
#[derive(Debug, Clone)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum ExprKind<E = Expr, A = Node, S = Size, P = ScalarParam, C = Arc<Check>, F = Function> {
    /// The flat position of the element being computed (u32).
    Index,
    /// A constant of the program.
    Scalar(#[cfg_attr(feature = "saved", serde(with = "crate::graph::scalar_bits"))] Scalar),
    /// A number of the user: a parameter of the program.
    Param(P),
    /// A size (u32), at its capacity: a run-time parameter of the kernel.
    Size(S),
    /// Element `index` of a node. Out-of-range indices give an unspecified element, never a fault.
    Load(A, E),
    /// The row that holds position `index`: the greatest `r` with `splits[r] <= index`, by a search in sorted splits.
    RowOf(A, E),
    /// Position `offset` of row `row` of sorted splits: `splits[row] + offset`. Unlike the plain sum, the expression
    /// promises that the offset lies within the row, so that the row of the position is `row` without a search.
    Within(A, E, E),
    /// One operand.
    Unary(UnaryOp, E),
    /// Two operands of one dtype.
    Binary(BinaryOp, E, E),
    /// `if condition { a } else { b }`, lazy: only the taken branch is evaluated.
    Select(E, E, E),
    /// Value conversion: as Rust's `as`. Conversion of an out-of-range float to an integer saturates on every backend.
    /// Conversion to bool is `!= 0`.
    Cast(E),
    /// Reinterpretation of the bits as another type of the same width.
    Bitcast(E),
    /// A function of the user, whose value depends on its arguments alone.
    Call(F, Box<[E]>),
    /// The value under a condition: the kernel reports the position if the condition does not hold.
    Checked(C, E, E),
}

/// Rewrites the references of an expression; see [`ExprKind::map`].
pub(crate) trait RewriteExpr<E, A, X, S, P, C, F>: Rewrite<E, A, X, S, C> {
    type Param;
    type Function;
    fn param(&mut self, p: &P) -> Self::Param;
    fn function(&mut self, f: &F) -> Self::Function;
}

impl<E, A, S, P, C, F> ExprKind<E, A, S, P, C, F> {
    /// The operands that are expressions over the same position, in order.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &E> {
        use ExprKind as K;
        let arguments: &[E] = if let K::Call(_, arguments) = self { arguments } else { &[] };
        let (a, b, c) = match self {
            K::Index | K::Scalar(_) | K::Param(_) | K::Size(_) | K::Call(..) => (None, None, None),
            K::Load(_, a) | K::RowOf(_, a) | K::Unary(_, a) | K::Cast(a) | K::Bitcast(a) => (Some(a), None, None),
            K::Binary(_, a, b) | K::Checked(_, a, b) | K::Within(_, a, b) => (Some(a), Some(b), None),
            K::Select(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten().chain(arguments)
    }

    /// Rewrites the references: the array or size first, then the operands in their order.
    #[expect(clippy::type_complexity, reason = "each kind of reference is a type")]
    pub(crate) fn map<X, R: RewriteExpr<E, A, X, S, P, C, F>>(
        &self,
        r: &mut R,
    ) -> ExprKind<R::Expr, R::Array, R::Size, R::Param, R::Check, R::Function> {
        use ExprKind as K;
        match self {
            K::Index => K::Index,
            K::Scalar(s) => K::Scalar(*s),
            K::Param(p) => K::Param(r.param(p)),
            K::Size(s) => K::Size(r.size(s)),
            K::Load(n, i) => K::Load(r.array(n), r.expr(i)),
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
impl<E, A, S, P, C, F> PartialEq for ExprKind<E, A, S, P, C, F>
where
    E: PartialEq,
    A: PartialEq,
    S: PartialEq,
    P: PartialEq,
    C: PartialEq,
    F: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        use ExprKind as K;
        match (self, other) {
            (K::Index, K::Index) => true,
            (K::Scalar(a), K::Scalar(b)) => a.dtype() == b.dtype() && a.bits() == b.bits(),
            (K::Param(a), K::Param(b)) => a == b,
            (K::Size(a), K::Size(b)) => a == b,
            (K::Load(m, a), K::Load(n, b)) | (K::RowOf(m, a), K::RowOf(n, b)) => m == n && a == b,
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
impl<E: Eq, A: Eq, S: Eq, P: Eq, C: Eq, F: Eq> Eq for ExprKind<E, A, S, P, C, F> {}

impl<E: Hash, A: Hash, S: Hash, P: Hash, C: Hash, F: Hash> Hash for ExprKind<E, A, S, P, C, F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        use ExprKind as K;
        std::mem::discriminant(self).hash(state);
        match self {
            K::Index => {}
            K::Scalar(s) => (s.dtype(), s.bits()).hash(state),
            K::Param(p) => p.hash(state),
            K::Size(s) => s.hash(state),
            K::Load(n, _) | K::RowOf(n, _) | K::Within(n, ..) => n.hash(state),
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
