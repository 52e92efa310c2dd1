//! Scalar expressions: the value of one element of an array as a function of its flat position.
//!
//! A map over a ragged domain is an expression in [`ExprKind::Index`], the flat position of the element. The row that
//! holds a position is [`ExprKind::RowOf`], a search in the row splits. Slices, gathers, concatenations and broadcasts
//! are therefore index arithmetic, and fusing them into a consumer is substitution ([`Expr::at`]).

use std::sync::{Arc, LazyLock};

use super::digest::{Digest, DigestMap};
use super::fold::{fold_remainder, fold_u32};
use super::node::Node;
use super::opcode::{BinaryOp, UnaryOp};
use super::recipe::Rewrite;
use super::scalar::Scalar;
use super::size::Size;
use crate::dtype::DType;
use crate::error::{Error, Result};

/// A device-side condition, with the error for the user if it does not hold.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Check {
    /// The operation.
    pub(crate) op: &'static str,
    /// The violated condition, as the error states it.
    pub(crate) what: String,
    /// Where the user called the operation.
    pub(crate) location: &'static std::panic::Location<'static>,
}

impl Check {
    /// A condition of the operation `op`, with the source location of the operation's caller.
    #[track_caller]
    pub(crate) fn new(op: &'static str, what: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { op, what: what.into(), location: std::panic::Location::caller() })
    }

    /// The condition that the total of a scan fits in u32.
    pub(crate) fn overflow(op: &'static str) -> Arc<Self> {
        Self::new(op, "the sizes of the rows add up to 2^32 or more")
    }

    /// Fails if `first` is a position at which the condition did not hold; u32::MAX stands for none.
    pub(crate) fn outcome(&self, first: u32) -> Result<()> {
        if first == u32::MAX {
            return Ok(());
        }
        Err(Error::Check {
            op: self.op,
            what: self.what.clone(),
            at: u64::from(first),
            location: format!("{}:{}", self.location.file(), self.location.line()),
        })
    }
}

/// The kinds of scalar expression. Generic over the references to expressions, arrays and sizes: those of a recording,
/// or numbers in a [`Program`](super::program::Program).
#[derive(Debug, Clone)]
pub(crate) enum ExprKind<E = Expr, A = Node, S = Size> {
    /// The flat position of the element being computed (u32).
    Index,
    /// A number: a run-time parameter of the kernel.
    Scalar(Scalar),
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
    /// `if condition { a } else { b }`: only the branch taken is evaluated.
    Select(E, E, E),
    /// Value conversion: as Rust's `as`. Conversion of an out-of-range float to an integer saturates on every backend.
    /// Conversion to bool is `!= 0`.
    Cast(E),
    /// Reinterpretation of the bits as another type of the same width.
    Bitcast(E),
    /// The value; records the position if the condition does not hold.
    Checked(Arc<Check>, E, E),
}

impl<E, A, S> ExprKind<E, A, S> {
    /// The operands that are expressions over the same position, in order.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &E> {
        use ExprKind as K;
        let (a, b, c) = match self {
            K::Index | K::Scalar(_) | K::Size(_) => (None, None, None),
            K::Load(_, a) | K::RowOf(_, a) | K::Unary(_, a) | K::Cast(a) | K::Bitcast(a) => (Some(a), None, None),
            K::Binary(_, a, b) | K::Checked(_, a, b) | K::Within(_, a, b) => (Some(a), Some(b), None),
            K::Select(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }

    /// Rewrites the references: the array or size first, then the operands in their order.
    pub(crate) fn map<X, R: Rewrite<E, A, X, S>>(&self, r: &mut R) -> ExprKind<R::Expr, R::Array, R::Size> {
        use ExprKind as K;
        match self {
            K::Index => K::Index,
            K::Scalar(s) => K::Scalar(*s),
            K::Size(s) => K::Size(r.size(s)),
            K::Load(n, i) => K::Load(r.array(n), r.expr(i)),
            K::RowOf(n, i) => K::RowOf(r.array(n), r.expr(i)),
            K::Within(n, row, offset) => K::Within(r.array(n), r.expr(row), r.expr(offset)),
            K::Unary(op, a) => K::Unary(*op, r.expr(a)),
            K::Binary(op, a, b) => K::Binary(*op, r.expr(a), r.expr(b)),
            K::Select(c, a, b) => K::Select(r.expr(c), r.expr(a), r.expr(b)),
            K::Cast(a) => K::Cast(r.expr(a)),
            K::Bitcast(a) => K::Bitcast(r.expr(a)),
            K::Checked(check, ok, v) => K::Checked(check.clone(), r.expr(ok), r.expr(v)),
        }
    }
}

/// Constants are equal if their dtypes and bits are.
impl<E: PartialEq, A: PartialEq, S: PartialEq> PartialEq for ExprKind<E, A, S> {
    fn eq(&self, other: &Self) -> bool {
        use ExprKind as K;
        match (self, other) {
            (K::Index, K::Index) => true,
            (K::Scalar(a), K::Scalar(b)) => a.dtype() == b.dtype() && a.bits() == b.bits(),
            (K::Size(a), K::Size(b)) => a == b,
            (K::Load(m, a), K::Load(n, b)) | (K::RowOf(m, a), K::RowOf(n, b)) => m == n && a == b,
            (K::Within(m, a, b), K::Within(n, c, d)) => m == n && a == c && b == d,
            (K::Unary(f, a), K::Unary(g, b)) => f == g && a == b,
            (K::Binary(f, a, b), K::Binary(g, c, d)) => f == g && a == c && b == d,
            (K::Select(a, b, c), K::Select(d, e, f)) => a == d && b == e && c == f,
            (K::Cast(a), K::Cast(b)) | (K::Bitcast(a), K::Bitcast(b)) => a == b,
            (K::Checked(x, a, b), K::Checked(y, c, d)) => x == y && a == c && b == d,
            _ => false,
        }
    }
}
impl<E: Eq, A: Eq, S: Eq> Eq for ExprKind<E, A, S> {}

impl<E: std::hash::Hash, A: std::hash::Hash, S: std::hash::Hash> std::hash::Hash for ExprKind<E, A, S> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        use ExprKind as K;
        std::mem::discriminant(self).hash(state);
        match self {
            K::Index => {}
            K::Scalar(s) => (s.dtype(), s.bits()).hash(state),
            K::Size(s) => s.hash(state),
            K::Load(n, _) | K::RowOf(n, _) | K::Within(n, ..) => n.hash(state),
            K::Unary(op, _) => op.hash(state),
            K::Binary(op, ..) => op.hash(state),
            // Distinguished by their operands, and by comparison.
            K::Select(..) | K::Cast(_) | K::Bitcast(_) | K::Checked(..) => {}
        }
        self.operands().for_each(|e| e.hash(state));
    }
}

/// A scalar expression; cheap to clone, immutable, compared by structure.
#[derive(Debug, Clone)]
pub(crate) struct Expr(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    digest: Digest,
    dtype: DType,
    /// Whether `Index` occurs in the expression itself, outside of other nodes.
    has_index: bool,
    /// Whether the expression reads an array or contains a condition. Such an expression is not folded away, since the
    /// array may have conditions too.
    reads: bool,
    /// Whether the expression contains a condition.
    conditions: bool,
    /// Whether the expression contains a condition, or reads an array that depends on one.
    fallible: bool,
    /// Number of operations in the tree, counted with repetition and saturating: an upper bound of the evaluation cost.
    cost: u32,
    /// Depth of the deepest array that the expression reads, when it was recorded.
    depth: u32,
    kind: ExprKind,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.0.digest == other.0.digest
    }
}
impl Eq for Expr {}

impl std::hash::Hash for Expr {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.digest.hash(state);
    }
}

/// Cost of a binary search, in operations.
const SEARCH_COST: u32 = 24;
/// Cost of a function of `crate::math`, in operations.
const MATH_COST: u32 = 24;

fn own_cost(kind: &ExprKind) -> u32 {
    use ExprKind as K;
    match kind {
        K::Index | K::Scalar(_) | K::Size(_) | K::Bitcast(_) => 0,
        K::RowOf(..) => SEARCH_COST,
        K::Within(..) => 2,
        K::Unary(UnaryOp::Math(_), _) => MATH_COST,
        K::Binary(BinaryOp::Pow | BinaryOp::Atan2, ..) => MATH_COST,
        K::Binary(BinaryOp::Div | BinaryOp::Rem, a, _) if a.dtype() != DType::U32 => MATH_COST,
        _ => 1,
    }
}

impl Expr {
    pub(super) fn new(kind: ExprKind, dtype: DType) -> Self {
        use ExprKind as K;
        let digest = match &kind {
            K::Index => Digest::of("index", ()),
            K::Scalar(s) => Digest::of("scalar", (s.dtype(), s.bits())),
            K::Size(size) => size.digest(),
            K::Load(n, i) => Digest::of("load", (n.digest(), i)),
            K::RowOf(n, i) => Digest::of("row", (n.digest(), i)),
            K::Within(n, r, o) => Digest::of("within", (n.digest(), r, o)),
            K::Unary(op, a) => Digest::of("unary", (op, a)),
            K::Binary(op, a, b) => Digest::of("binary", (op, a, b)),
            K::Select(c, a, b) => Digest::of("select", (c, a, b)),
            K::Cast(a) => Digest::of("cast", (dtype, a)),
            K::Bitcast(a) => Digest::of("bitcast", (dtype, a)),
            K::Checked(check, ok, v) => Digest::of("checked", (check, ok, v)),
        };
        let mut out = Inner {
            digest,
            dtype,
            has_index: matches!(kind, K::Index),
            reads: matches!(kind, K::Load(..) | K::RowOf(..) | K::Within(..) | K::Checked(..)),
            conditions: matches!(kind, K::Checked(..)),
            fallible: match &kind {
                K::Load(n, _) | K::RowOf(n, _) | K::Within(n, _, _) => n.is_fallible(),
                _ => matches!(kind, K::Checked(..)),
            },
            cost: own_cost(&kind),
            depth: match &kind {
                K::Load(n, _) | K::RowOf(n, _) | K::Within(n, _, _) => n.depth(),
                _ => 0,
            },
            kind,
        };
        let (mut has_index, mut reads, mut conditions) = (out.has_index, out.reads, out.conditions);
        let (mut fallible, mut cost, mut depth) = (out.fallible, out.cost, out.depth);
        for e in out.kind.operands() {
            has_index |= e.has_index();
            reads |= e.reads();
            conditions |= e.has_conditions();
            fallible |= e.is_fallible();
            cost = cost.saturating_add(e.cost());
            depth = depth.max(e.depth());
        }
        (out.has_index, out.reads, out.conditions, out.cost) = (has_index, reads, conditions, cost);
        (out.fallible, out.depth) = (fallible, depth);
        Self(Arc::new(out))
    }

    /// The kind, to match on.
    pub(crate) fn kind(&self) -> &ExprKind {
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
    pub(super) fn address(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }
    /// Number of references to the expression's allocation.
    pub(super) fn references(&self) -> usize {
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
    /// Whether evaluation may fail: by a condition of the expression or of an array that it reads.
    pub(crate) fn is_fallible(&self) -> bool {
        self.0.fallible
    }
    /// Depth of the deepest array that the expression reads: see [`Node::depth`]. Arrays may have been evaluated since.
    pub(super) fn depth(&self) -> u32 {
        self.0.depth
    }
    /// Upper bound of the evaluation cost, in operations.
    pub(crate) fn cost(&self) -> u32 {
        self.0.cost
    }

    /// The flat position of the element being computed.
    pub(crate) fn index() -> Self {
        static INDEX: LazyLock<Expr> = LazyLock::new(|| Expr::new(ExprKind::Index, DType::U32));
        INDEX.clone()
    }
    pub(crate) fn scalar(s: impl Into<Scalar>) -> Self {
        let s = s.into();
        Self::new(ExprKind::Scalar(s), s.dtype())
    }
    /// A u32: the type of positions and counts.
    pub(crate) fn u32(v: u32) -> Self {
        // Most are 0 or 1.
        static SMALL: LazyLock<[Expr; 4]> = LazyLock::new(|| [0u32, 1, 2, 3].map(Expr::scalar));
        SMALL.get(v as usize).map_or_else(|| Self::scalar(v), Self::clone)
    }
    /// The capacity of the size.
    pub(crate) fn size(size: &Size) -> Self {
        match size.as_const() {
            Some(n) => Self::u32(n),
            None => Self::new(ExprKind::Size(size.clone()), DType::U32),
        }
    }
    /// Element `index` of `node`.
    pub(crate) fn load(node: &Node, index: Self) -> Self {
        Self::new(ExprKind::Load(node.clone(), index), node.dtype())
    }
    /// Position `offset` of row `row`. The offset must lie within the row wherever the value matters.
    pub(crate) fn within(splits: &Node, row: Self, offset: Self) -> Self {
        Self::new(ExprKind::Within(splits.clone(), row, offset), DType::U32)
    }
    /// The row that holds position `index`, in sorted `splits`.
    pub(crate) fn row_of(splits: &Node, index: Self) -> Self {
        if let ExprKind::Within(s, row, _) = index.kind()
            && s == splits
        {
            return row.clone();
        }
        Self::new(ExprKind::RowOf(splits.clone(), index), DType::U32)
    }
    pub(crate) fn unary(self, op: UnaryOp) -> Self {
        let dtype = match op {
            UnaryOp::IsNan | UnaryOp::IsInf | UnaryOp::IsFinite => DType::Bool,
            _ => self.dtype(),
        };
        if self.dtype().computes_in() != self.dtype() {
            let wide = self.dtype().computes_in();
            return self.cast(wide).unary(op).cast(dtype);
        }
        Self::new(ExprKind::Unary(op, self), dtype)
    }
    /// `self op other`; the dtypes must agree. u32 arithmetic folds if one side is 0 or 1, or if both are constants.
    pub(crate) fn binary(self, op: BinaryOp, other: Self) -> Self {
        debug_assert_eq!(self.dtype(), other.dtype(), "bug: {op:?} of {:?} and {:?}", self.dtype(), other.dtype());
        if let Some(folded) = fold_u32(op, &self, &other).or_else(|| fold_remainder(op, &self, &other)) {
            return folded;
        }
        let dtype = op.result(self.dtype());
        if self.dtype().computes_in() != self.dtype() {
            let wide = self.dtype().computes_in();
            return self.cast(wide).binary(op, other.cast(wide)).cast(dtype);
        }
        Self::new(ExprKind::Binary(op, self, other), dtype)
    }
    pub(crate) fn select(self, a: Self, b: Self) -> Self {
        debug_assert_eq!(a.dtype(), b.dtype(), "bug: branches differ");
        if let ExprKind::Scalar(Scalar::Bool(c)) = self.kind() {
            return if *c { a } else { b };
        }
        if a == b && !self.reads() {
            return a;
        }
        // Elements of one array: select the position, and read the array once.
        if let (ExprKind::Load(n, i), ExprKind::Load(m, j)) = (a.kind(), b.kind())
            && n == m
        {
            return Self::load(n, self.select_operand(i, j));
        }
        let dtype = a.dtype();
        Self::new(ExprKind::Select(self, a, b), dtype)
    }

    /// `if self { a } else { b }`, with the common part hoisted out of the branches: `(if c { x } else { y }) + z` for
    /// `if c { x + z } else { y + z }`.
    fn select_operand(self, a: &Self, b: &Self) -> Self {
        if let (ExprKind::Binary(op, x, z), ExprKind::Binary(other, y, w)) = (a.kind(), b.kind())
            && op == other
        {
            if z == w {
                return self.select_operand(x, y).binary(*op, z.clone());
            }
            if x == y {
                return x.clone().binary(*op, self.select_operand(z, w));
            }
        }
        self.select(a.clone(), b.clone())
    }

    /// `self`, recording the element's position if `ok` is false.
    pub(crate) fn checked(self, check: Arc<Check>, ok: Self) -> Self {
        let dtype = self.dtype();
        Self::new(ExprKind::Checked(check, ok, self), dtype)
    }

    pub(crate) fn add(self, o: Self) -> Self {
        self.binary(BinaryOp::Add, o)
    }
    pub(crate) fn sub(self, o: Self) -> Self {
        self.binary(BinaryOp::Sub, o)
    }
    pub(crate) fn mul(self, o: Self) -> Self {
        self.binary(BinaryOp::Mul, o)
    }
    /// The quotient of numbers.
    pub(crate) fn quotient(self, o: Self) -> Self {
        self.binary(BinaryOp::Div, o)
    }
    /// The remainder of numbers.
    pub(crate) fn remainder(self, o: Self) -> Self {
        self.binary(BinaryOp::Rem, o)
    }
    /// The quotient of positions; see [`BinaryOp::IndexDiv`].
    pub(crate) fn div(self, o: Self) -> Self {
        debug_assert_eq!(self.dtype(), DType::U32, "bug: a position of another type");
        self.binary(BinaryOp::IndexDiv, o)
    }
    /// The remainder of positions; see [`BinaryOp::IndexDiv`].
    pub(crate) fn rem(self, o: Self) -> Self {
        debug_assert_eq!(self.dtype(), DType::U32, "bug: a position of another type");
        self.binary(BinaryOp::IndexRem, o)
    }
    pub(crate) fn min(self, o: Self) -> Self {
        self.binary(BinaryOp::Min, o)
    }
    pub(crate) fn max(self, o: Self) -> Self {
        self.binary(BinaryOp::Max, o)
    }
    pub(crate) fn and(self, o: Self) -> Self {
        self.binary(BinaryOp::And, o)
    }
    pub(crate) fn or(self, o: Self) -> Self {
        self.binary(BinaryOp::Or, o)
    }
    pub(crate) fn eq(self, o: Self) -> Self {
        self.binary(BinaryOp::Eq, o)
    }
    pub(crate) fn ne(self, o: Self) -> Self {
        self.binary(BinaryOp::Ne, o)
    }
    pub(crate) fn lt(self, o: Self) -> Self {
        self.binary(BinaryOp::Lt, o)
    }
    pub(crate) fn le(self, o: Self) -> Self {
        self.binary(BinaryOp::Le, o)
    }
    pub(crate) fn not(self) -> Self {
        self.unary(UnaryOp::Not)
    }

    /// The value of a u32 constant.
    pub(crate) fn as_u32(&self) -> Option<u32> {
        match self.kind() {
            ExprKind::Scalar(Scalar::U32(v)) => Some(*v),
            _ => None,
        }
    }
    /// The value of a u32 constant or of a size that the host knows. A decision by this value becomes part of the
    /// program: recordings that decide differently are different programs.
    pub(crate) fn as_known(&self) -> Option<u32> {
        self.as_size()?.is_host_known()
    }
    /// The size, if the expression is a u32 constant or a size.
    pub(crate) fn as_size(&self) -> Option<Size> {
        match self.kind() {
            ExprKind::Scalar(Scalar::U32(v)) => Some(Size::Const(*v)),
            ExprKind::Size(size) => Some(size.clone()),
            _ => None,
        }
    }
    pub(crate) fn is_index(&self) -> bool {
        matches!(self.kind(), ExprKind::Index)
    }

    /// The operands that are expressions over the same position, in order.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Self> {
        self.kind().operands()
    }
    /// Cost of this operation alone, without its operands.
    pub(crate) fn own_cost(&self) -> u32 {
        own_cost(self.kind())
    }

    /// The node that this operation itself reads, if any.
    pub(crate) fn node(&self) -> Option<&Node> {
        match self.kind() {
            ExprKind::Load(n, _) | ExprKind::RowOf(n, _) | ExprKind::Within(n, _, _) => Some(n),
            _ => None,
        }
    }

    /// The partition and inner width, if the expression is the row of the current element.
    pub(crate) fn as_own_row(&self) -> Option<(&Node, u32)> {
        let ExprKind::RowOf(splits, at) = self.kind() else { return None };
        match at.kind() {
            ExprKind::Index => Some((splits, 1)),
            ExprKind::Binary(BinaryOp::IndexDiv, i, by) if i.is_index() => by.as_u32().map(|inner| (splits, inner)),
            _ => None,
        }
    }

    /// The same operation on other operands, given in the order of [`Expr::operands`].
    pub(crate) fn with_operands(&self, mut ops: impl Iterator<Item = Self>) -> Self {
        use ExprKind as K;
        let mut next = || ops.next().expect("bug: too few operands");
        match self.kind() {
            K::Index | K::Scalar(_) | K::Size(_) => self.clone(),
            K::Load(n, _) => Self::load(n, next()),
            K::RowOf(n, _) => Self::row_of(n, next()),
            K::Within(n, _, _) => {
                let (r, o) = (next(), next());
                Self::within(n, r, o)
            }
            K::Unary(op, _) => next().unary(*op),
            K::Cast(_) => next().cast(self.dtype()),
            K::Bitcast(_) => next().bitcast(self.dtype()),
            K::Binary(op, _, _) => {
                let (a, b) = (next(), next());
                a.binary(*op, b)
            }
            K::Checked(check, _, _) => {
                let (ok, v) = (next(), next());
                v.checked(check.clone(), ok)
            }
            K::Select(_, _, _) => {
                let (c, a, b) = (next(), next(), next());
                c.select(a, b)
            }
        }
    }

    /// The expression at another position: `Index` replaced by `position` throughout.
    pub(crate) fn at(&self, position: &Self) -> Self {
        fn go(e: &Expr, p: &Expr, memo: &mut DigestMap<Expr>) -> Expr {
            if !e.has_index() {
                return e.clone();
            }
            if e.is_index() {
                return p.clone();
            }
            if let Some(done) = memo.get(&e.digest()) {
                return done.clone();
            }
            let ops: Vec<Expr> = e.operands().map(|o| go(o, p, memo)).collect();
            let out = e.with_operands(ops.into_iter());
            memo.insert(e.digest(), out.clone());
            out
        }
        if position.is_index() { self.clone() } else { go(self, position, &mut Default::default()) }
    }
}
