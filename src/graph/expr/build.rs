//! Construction of expressions, with index arithmetic folded.

use super::fold::{fold_remainder, fold_u32};
use super::{ExprKind, Register};
use crate::dtype::DType;
use crate::graph::Expr;
use crate::graph::handles::{ArrayHandle, Common, FunctionHandle, Handles, ParamHandle, SizeHandle};
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::graph::scalar::param::ScalarParam;

impl Expr {
    /// A number of the user, or one computed from it: a parameter of the program, whose value nothing is folded by.
    pub(crate) fn number(s: impl Into<Scalar>) -> Self {
        let s = s.into();
        Self::new(ExprKind::Param(ScalarParam::recorded(s)), s.dtype())
    }
}

impl<R: Handles> Common<R> {
    pub(in crate::graph) fn new() -> Self {
        Self { index: Expr::new(ExprKind::Index, DType::U32), small: [0u32, 1, 2, 3].map(Expr::scalar) }
    }
}

impl<R: Handles> Expr<R> {
    /// The flat position of the element being computed.
    pub(crate) fn index() -> Self {
        R::common().index.clone()
    }
    /// A constant of the program: a number that the engine writes, never one of the user.
    pub(crate) fn scalar(s: impl Into<Scalar>) -> Self {
        let s = s.into();
        Self::new(ExprKind::Scalar(s), s.dtype())
    }
    /// A constant u32: the type of positions and counts.
    pub(crate) fn u32(v: u32) -> Self {
        R::common().small.get(v as usize).map_or_else(|| Self::scalar(v), Self::clone)
    }
    /// The capacity of the size.
    pub(crate) fn size(size: &R::Size) -> Self {
        match size.as_const() {
            Some(n) => Self::u32(n),
            None => Self::new(ExprKind::Size(size.clone()), DType::U32),
        }
    }
    /// Element `index` of `node`.
    pub(crate) fn load(node: &R::Array, index: Self) -> Self {
        Self::new(ExprKind::Load(node.clone(), index), node.dtype())
    }
    /// Number `index` of a register.
    pub(crate) fn register(register: Register, dtype: DType, index: Self) -> Self {
        Self::new(ExprKind::Register(register, index), dtype)
    }
    /// Position `offset` of row `row`. The offset must lie within the row wherever the value is used.
    pub(crate) fn within(splits: &R::Array, row: Self, offset: Self) -> Self {
        Self::new(ExprKind::Within(splits.clone(), row, offset), DType::U32)
    }
    /// The row that holds position `index`, in sorted `splits`.
    pub(crate) fn row_of(splits: &R::Array, index: Self) -> Self {
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
            UnaryOp::SortKey if self.dtype() == DType::F64 => DType::U64,
            UnaryOp::SortKey => DType::U32,
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
        let other = if matches!(op, BinaryOp::Div | BinaryOp::Rem) { other.into_divisor() } else { other };
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
        if a == b && !self.reads() && a.as_param().is_none() {
            return a;
        }
        // Two loads from one array: select the position and load once.
        if let (ExprKind::Load(n, i), ExprKind::Load(m, j)) = (a.kind(), b.kind())
            && n == m
        {
            return Self::load(n, self.select_operand(i, j));
        }
        let dtype = a.dtype();
        Self::new(ExprKind::Select(self, a, b), dtype)
    }

    /// The expression as a divisor: see [`ScalarParam::as_divisor`].
    fn into_divisor(self) -> Self {
        match self.as_param() {
            Some(p) if self.dtype() == DType::U32 => Self::new(ExprKind::Param(p.as_divisor()), DType::U32),
            _ => self,
        }
    }

    /// `if self { a } else { b }` with common operands hoisted: `if c { x + z } else { y + z }` becomes `(if c { x }
    /// else { y }) + z`.
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

    /// The user's function of these arguments.
    pub(crate) fn call(function: &R::Function, arguments: Box<[Self]>) -> Self {
        debug_assert!(
            arguments.iter().map(Self::dtype).eq(function.def().parameters.iter().copied()),
            "bug: {function:?} of {arguments:?}"
        );
        Self::new(ExprKind::Call(function.clone(), arguments), function.def().result)
    }

    /// `self`, under a condition: the kernel reports the element's position if `ok` is false.
    pub(crate) fn checked(self, check: R::Check, ok: Self) -> Self {
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
        debug_assert_eq!(self.dtype(), DType::U32, "bug: positions are u32");
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
}
