//! Substitution in expressions.

use super::ExprKind;
use crate::graph::Expr;
use crate::graph::digest::DigestMap;
use crate::graph::handles::Handles;
use crate::graph::size::RecordedSize;

impl<R: Handles> Expr<R> {
    /// The same operation on other operands, given in the order of [`Expr::operands`].
    pub(crate) fn with_operands(&self, mut ops: impl Iterator<Item = Self>) -> Self {
        use ExprKind as K;
        if let K::Call(f, _) = self.kind() {
            return Self::call(f, ops.collect());
        }
        let mut next = || ops.next().expect("bug: too few operands");
        match self.kind() {
            K::Index | K::Scalar(_) | K::Param(_) | K::Size(_) | K::Call(..) => self.clone(),
            K::Load(n, _) => Self::load(n, next()),
            K::Register(register, _) => Self::register(*register, self.dtype(), next()),
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
        fn go<R: Handles>(e: &Expr<R>, p: &Expr<R>, memo: &mut DigestMap<Expr<R>>) -> Expr<R> {
            if !e.has_index() {
                return e.clone();
            }
            if e.is_index() {
                return p.clone();
            }
            if let Some(done) = memo.get(&e.digest()) {
                return done.clone();
            }
            let ops: Vec<Expr<R>> = e.operands().map(|o| go(o, p, memo)).collect();
            let out = e.with_operands(ops.into_iter());
            memo.insert(e.digest(), out.clone());
            out
        }
        if position.is_index() { self.clone() } else { go(self, position, &mut Default::default()) }
    }
}

impl Expr {
    /// The expression with sizes that the host has read replaced by their values.
    pub(crate) fn with_read_sizes(&self) -> Self {
        if let Some(value) = self.as_size().and_then(|size| size.host_value()) {
            return Self::u32(value);
        }
        let operands: Vec<Self> = self.operands().map(Self::with_read_sizes).collect();
        self.with_operands(operands.into_iter())
    }
}
