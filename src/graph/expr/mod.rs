//! Scalar expressions: the value of one element of an array as a function of its flat position.
//!
//! A map over a ragged domain is an expression in [`ExprKind::Index`], the flat position of the element. The row that
//! holds a position is [`ExprKind::RowOf`], a search in the row splits. Slices, gathers, concatenations and broadcasts
//! are therefore index arithmetic, and fusing them into a consumer is substitution ([`Expr::at`]).

mod build;
mod check;
mod convert;
mod fold;
mod kind;
mod substitute;

use std::sync::{Arc, OnceLock};

pub(crate) use super::Expr;
pub(crate) use check::{Check, CheckedStrings};
pub(crate) use kind::{ExprKind, Register};

use super::access::Structure;
use super::digest::Digest;
use super::handles::{ArrayHandle, FunctionHandle, Handles, ParamHandle, SizeHandle};
use super::opcode::{BinaryOp, UnaryOp};
use super::scalar::Scalar;
use super::scope::Scope;
use crate::dtype::DType;

/// Contents of an [`Expr`].
#[derive(Debug)]
pub(super) struct ExprData<R: Handles> {
    digest: Digest,
    dtype: DType,
    /// Whether the expression contains `Index`; expressions of the nodes that it reads do not count.
    has_index: bool,
    /// Whether the expression reads an array or contains a condition. Folding must not remove such an expression, since
    /// the array may have conditions too.
    reads: bool,
    /// Whether the expression contains a condition.
    conditions: bool,
    /// Whether the expression reads a register of a recurrence.
    registers: bool,
    /// Whether the expression contains a condition, or reads an array that depends on one.
    fallible: bool,
    /// The scope of the arrays that the expression reads and that derivatives are taken of.
    scope: Option<Scope>,
    /// Number of operations in the tree, counted with repetition and saturating: an upper bound of the evaluation cost.
    cost: u32,
    /// Depth, at recording, of the deepest array that the expression reads.
    depth: u32,
    height: u32,
    kind: ExprKind<R>,
    /// How the value comes about from the position, once asked for; not part of the digest.
    structure: OnceLock<Box<Structure<R>>>,
}

impl<R: Handles> Clone for Expr<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: Handles> PartialEq for Expr<R> {
    fn eq(&self, other: &Self) -> bool {
        self.0.digest == other.0.digest
    }
}
impl<R: Handles> Eq for Expr<R> {}

impl<R: Handles> std::hash::Hash for Expr<R> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.digest.hash(state);
    }
}

/// Cost of a binary search, in operations.
const SEARCH_COST: u32 = 24;
/// Cost of a function of `crate::math`, in operations.
const MATH_COST: u32 = 24;

fn own_cost<R: Handles>(kind: &ExprKind<R>) -> u32 {
    use ExprKind as K;
    match kind {
        K::Index | K::Scalar(_) | K::Param(_) | K::Size(_) | K::Bitcast(_) => 0,
        K::RowOf(..) => SEARCH_COST,
        K::Within(..) => 2,
        K::Unary(UnaryOp::Math(_), _) => MATH_COST,
        K::Call(f, _) => f.def().wgsl.cost,
        K::Binary(BinaryOp::Pow | BinaryOp::Atan2, ..) => MATH_COST,
        K::Binary(BinaryOp::Div | BinaryOp::Rem, a, _) if a.dtype() != DType::U32 => MATH_COST,
        _ => 1,
    }
}

impl<R: Handles> Expr<R> {
    pub(in crate::graph) fn new(kind: ExprKind<R>, dtype: DType) -> Self {
        use ExprKind as K;
        let digest = match &kind {
            K::Index => Digest::of("index", ()),
            K::Scalar(s) => Digest::of("scalar", (s.dtype(), s.bits())),
            K::Param(p) => p.digest(),
            K::Size(size) => size.digest(),
            K::Load(n, i) => Digest::of("load", (n.digest(), i)),
            K::Register(register, i) => Digest::of("register", (register, dtype, i)),
            K::RowOf(n, i) => Digest::of("row", (n.digest(), i)),
            K::Within(n, r, o) => Digest::of("within", (n.digest(), r, o)),
            K::Unary(op, a) => Digest::of("unary", (op, a)),
            K::Binary(op, a, b) => Digest::of("binary", (op, a, b)),
            K::Select(c, a, b) => Digest::of("select", (c, a, b)),
            K::Cast(a) => Digest::of("cast", (dtype, a)),
            K::Bitcast(a) => Digest::of("bitcast", (dtype, a)),
            K::Call(f, arguments) => Digest::of("call", (f, arguments)),
            K::Checked(check, ok, v) => Digest::of("checked", (check, ok, v)),
        };
        let mut out = ExprData {
            digest,
            dtype,
            has_index: matches!(kind, K::Index),
            reads: matches!(kind, K::Load(..) | K::Register(..) | K::RowOf(..) | K::Within(..) | K::Checked(..)),
            conditions: matches!(kind, K::Checked(..)),
            registers: matches!(kind, K::Register(..)),
            fallible: match &kind {
                K::Load(n, _) | K::RowOf(n, _) | K::Within(n, _, _) => n.is_fallible(),
                _ => matches!(kind, K::Checked(..)),
            },
            scope: if let K::Load(n, _) = &kind { n.scope().cloned() } else { None },
            cost: own_cost(&kind),
            depth: match &kind {
                K::Load(n, _) | K::RowOf(n, _) | K::Within(n, _, _) => n.depth(),
                _ => 0,
            },
            height: 1,
            kind,
            structure: OnceLock::new(),
        };
        let (mut has_index, mut reads, mut conditions) = (out.has_index, out.reads, out.conditions);
        let (mut fallible, mut cost, mut depth, mut height) = (out.fallible, out.cost, out.depth, out.height);
        for e in out.kind.operands() {
            has_index |= e.has_index();
            reads |= e.reads();
            conditions |= e.has_conditions();
            out.registers |= e.has_registers();
            fallible |= e.is_fallible();
            out.scope = out.scope.take().or_else(|| e.scope().cloned());
            cost = cost.saturating_add(e.cost());
            depth = depth.max(e.depth());
            height = height.max(e.height() + 1);
        }
        (out.has_index, out.reads, out.conditions, out.cost) = (has_index, reads, conditions, cost);
        (out.fallible, out.depth, out.height) = (fallible, depth, height);
        Self(Arc::new(out))
    }

    /// The kind, to match on.
    pub(crate) fn kind(&self) -> &ExprKind<R> {
        &self.0.kind
    }
    /// The dtype of the value; never a string.
    pub(crate) fn dtype(&self) -> DType {
        self.0.dtype
    }
    pub(crate) fn digest(&self) -> Digest {
        self.0.digest
    }
    /// Address of the expression's allocation.
    pub(in crate::graph) fn address(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }
    /// The structure of the expression, once computed.
    pub(in crate::graph) fn structure_cell(&self) -> &OnceLock<Box<Structure<R>>> {
        &self.0.structure
    }
    /// Number of references to the expression's allocation.
    pub(in crate::graph) fn references(&self) -> usize {
        Arc::strong_count(&self.0)
    }
    /// Whether the value depends on the element's position.
    pub(crate) fn has_index(&self) -> bool {
        self.0.has_index
    }
    /// Whether evaluation reads an array or checks a condition.
    pub(crate) fn reads(&self) -> bool {
        self.0.reads
    }
    /// Whether evaluation checks a condition.
    pub(crate) fn has_conditions(&self) -> bool {
        self.0.conditions
    }
    /// Whether the expression reads a register of a recurrence, which has a value in a step only.
    pub(crate) fn has_registers(&self) -> bool {
        self.0.registers
    }
    /// Whether evaluation may fail: by a condition of the expression or of an array that it reads.
    pub(crate) fn is_fallible(&self) -> bool {
        self.0.fallible
    }
    /// The open scope of the arrays that the expression reads and that derivatives are taken of.
    pub(in crate::graph) fn scope(&self) -> Option<&Scope> {
        self.0.scope.as_ref().filter(|scope| scope.is_open())
    }
    /// Whether the expression reads an array that derivatives are taken of, or one computed from it.
    pub(crate) fn is_differentiable(&self) -> bool {
        self.scope().is_some()
    }
    /// Depth of the deepest array that the expression reads: see [`Node::depth`]. Arrays may have been evaluated since.
    pub(in crate::graph) fn depth(&self) -> u32 {
        self.0.depth
    }
    /// Number of operations on the longest path from the expression to a leaf, both included.
    pub(crate) fn height(&self) -> u32 {
        self.0.height
    }
    /// Upper bound of the evaluation cost, in operations.
    pub(crate) fn cost(&self) -> u32 {
        self.0.cost
    }

    /// The value of a u32 constant.
    pub(crate) fn as_u32(&self) -> Option<u32> {
        match self.kind() {
            ExprKind::Scalar(Scalar::U32(v)) => Some(*v),
            _ => None,
        }
    }
    /// The value of a u32 constant or of a size without counts. A caller that branches on the value makes it part of the
    /// program: recordings that branch differently are different programs.
    pub(crate) fn as_known(&self) -> Option<u32> {
        self.as_size()?.as_known()
    }
    /// The size, if the expression is a u32 constant or a size.
    pub(crate) fn as_size(&self) -> Option<R::Size> {
        match self.kind() {
            ExprKind::Scalar(Scalar::U32(v)) => Some(R::Size::from(*v)),
            ExprKind::Size(size) => Some(size.clone()),
            _ => None,
        }
    }
    /// The scalar parameter, if the expression is one.
    pub(crate) fn as_param(&self) -> Option<&R::Param> {
        if let ExprKind::Param(p) = self.kind() { Some(p) } else { None }
    }
    pub(crate) fn is_index(&self) -> bool {
        matches!(self.kind(), ExprKind::Index)
    }

    /// The operands that are expressions over the same position, in order.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Self> {
        self.kind().operands()
    }
    /// Cost of this operation without its operands.
    pub(crate) fn own_cost(&self) -> u32 {
        own_cost(self.kind())
    }

    /// The node that this operation reads, if any; reads of its operands do not count.
    pub(crate) fn node(&self) -> Option<&R::Array> {
        match self.kind() {
            ExprKind::Load(n, _) | ExprKind::RowOf(n, _) | ExprKind::Within(n, _, _) => Some(n),
            _ => None,
        }
    }
}
