//! The sizes of a plan: places in the table of each run, and arithmetic over them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Expr, ExprKind, Extent, InPlan, Node, Size};
use crate::graph::digest::{Digest, DigestSet};
use crate::graph::handles::SizeHandle;
use crate::graph::program::{ArrayId, SizeId};
use crate::graph::size::{SizeOp, size_operations};

/// A size other than a constant.
#[derive(Debug)]
pub(crate) struct Symbol {
    digest: Digest,
    /// Whether the value differs from run to run.
    varies: bool,
    kind: SizeKind,
}

/// The kinds of symbolic size of a plan.
#[derive(Debug)]
pub(super) enum SizeKind {
    /// A size of the program, given with the inputs.
    Given(SizeId),
    /// A size of the program that a kernel computes.
    Count(SizeId, DeviceCount),
    /// A size that a kernel computes in an array that the planner added, with an upper bound. The host never knows the
    /// value.
    Added(DeviceCount, Size),
    /// Allocated length of an input.
    InputLen(ArrayId),
    /// Length of a computed array as allocated.
    Len(Node),
    /// Arithmetic.
    Op(SizeOp, Size, Size),
}

/// Location of the exact value of a count.
#[derive(Debug, Clone)]
pub(crate) struct DeviceCount {
    pub(crate) node: Node,
    pub(crate) at: Size,
}

size_operations!(Size: add Add, sub Sub, div Div, max Max);

impl Size {
    fn symbol(digest: Digest, varies: bool, kind: SizeKind) -> Self {
        Self::Symbol(Arc::new(Symbol { digest, varies, kind }))
    }

    /// A size of the program that is given with the inputs.
    pub(super) fn given(size: SizeId) -> Self {
        Self::symbol(Digest::of("size of a plan", size), true, SizeKind::Given(size))
    }

    /// A count of the program.
    pub(super) fn count(size: SizeId, at: DeviceCount) -> Self {
        Self::symbol(Digest::of("size of a plan", size), true, SizeKind::Count(size, at))
    }

    /// A count in an array that the planner added: element `at`, at most `bound`.
    fn added(node: &Node, at: Self, bound: &Self) -> Self {
        let digest = Digest::of("count", (node.digest(), &at, bound));
        Self::symbol(digest, true, SizeKind::Added(DeviceCount { node: node.clone(), at }, bound.clone()))
    }

    /// Allocated length of an input of the program.
    pub(super) fn input_len(array: ArrayId) -> Self {
        Self::symbol(Digest::of("input length of a plan", array), true, SizeKind::InputLen(array))
    }

    /// Length of a computed array as allocated.
    pub(super) fn len(node: &Node) -> Self {
        let varies = node.extent().size().varies();
        Self::symbol(Digest::of("length", node.digest()), varies, SizeKind::Len(node.clone()))
    }

    /// Applies `op`, and folds constants and identity elements.
    pub(crate) fn op(op: SizeOp, a: &Self, b: &Self) -> Self {
        if let Some(folded) = op.folded((a, a.as_const()), (b, b.as_const())) {
            return folded;
        }
        let varies = a.varies() || b.varies();
        Self::symbol(Digest::of("size", (op, a, b)), varies, SizeKind::Op(op, a.clone(), b.clone()))
    }

    /// The kind; `None` for a constant.
    pub(super) fn kind(&self) -> Option<&SizeKind> {
        match self {
            Self::Const(_) => None,
            Self::Symbol(s) => Some(&s.kind),
        }
    }

    pub(crate) fn digest(&self) -> Digest {
        match self {
            Self::Const(n) => Digest::of("constant size", n),
            Self::Symbol(s) => s.digest,
        }
    }

    /// The value, if the size is a constant.
    pub(crate) fn as_const(&self) -> Option<u32> {
        if let Self::Const(n) = self { Some(*n) } else { None }
    }

    /// Whether the value differs from run to run. A plan must not depend on such a value.
    fn varies(&self) -> bool {
        match self {
            Self::Const(_) => false,
            Self::Symbol(s) => s.varies,
        }
    }

    /// Whether the size contains a count.
    pub(crate) fn contains_count(&self) -> bool {
        match self.kind() {
            Some(SizeKind::Count(..) | SizeKind::Added(..)) => true,
            Some(SizeKind::Op(_, a, b)) => a.contains_count() || b.contains_count(),
            _ => false,
        }
    }

    /// Location of the exact value, if the size is a count of the program.
    pub(crate) fn device_count(&self) -> Option<&DeviceCount> {
        match self.kind() {
            Some(SizeKind::Count(_, count)) => Some(count),
            _ => None,
        }
    }

    /// The counts that the size contains.
    pub(crate) fn counts(&self) -> Vec<&Self> {
        let (mut out, mut stack): (Vec<&Self>, Vec<&Self>) = (Vec::new(), vec![self]);
        let mut seen = DigestSet::default();
        while let Some(size) = stack.pop() {
            match size.kind() {
                Some(SizeKind::Count(..) | SizeKind::Added(..)) if seen.insert(size.digest()) => out.push(size),
                Some(SizeKind::Op(_, a, b)) => stack.extend([b, a]),
                _ => {}
            }
        }
        out
    }

    /// The value of a size that does not vary.
    fn fixed(&self) -> Option<u32> {
        match self.kind() {
            None => self.as_const(),
            Some(SizeKind::Len(node)) => node.extent().size().fixed(),
            Some(SizeKind::Op(op, a, b)) => Some(op.apply(a.fixed()?, b.fixed()?)),
            Some(SizeKind::Given(_) | SizeKind::Count(..) | SizeKind::Added(..) | SizeKind::InputLen(_)) => None,
        }
    }

    /// See [`SizeHandle::exact_expr`].
    pub(crate) fn exact_expr(&self) -> Option<Expr> {
        fn go(size: &Size) -> Expr {
            match size.kind() {
                Some(SizeKind::Count(_, DeviceCount { node, at }) | SizeKind::Added(DeviceCount { node, at }, _)) => {
                    Expr::load(node, Expr::size(at))
                }
                Some(SizeKind::Op(op, a, b)) => {
                    let fits = a.fixed().zip(b.fixed()).is_some_and(|(x, y)| match op {
                        SizeOp::Mul => x.checked_mul(y).is_some(),
                        _ => x.checked_add(y).is_some(),
                    });
                    op.of_exprs(go(a), go(b), fits)
                }
                _ => Expr::size(size),
            }
        }
        self.contains_count().then(|| go(self))
    }
}

impl Extent {
    /// As many elements as an array that the planner added says, at most `capacity`. `live` loads the number.
    pub(crate) fn counted(capacity: &Size, live: &Expr) -> Self {
        let count = match live.kind() {
            ExprKind::Load(node, at) => at.as_size().map(|at| Size::added(node, at, capacity)),
            _ => None,
        };
        Self::of(count.expect("bug: a count that no array holds"))
    }
}

impl SizeHandle<InPlan> for Size {
    fn digest(&self) -> Digest {
        self.digest()
    }
    fn as_const(&self) -> Option<u32> {
        self.as_const()
    }
    fn varies(&self) -> bool {
        self.varies()
    }
    fn fixed_value(&self) -> Option<u32> {
        self.fixed()
    }
    fn is_host_known(&self) -> bool {
        !self.contains_count()
    }
    fn contains_count(&self) -> bool {
        self.contains_count()
    }
    fn len(array: &Node) -> Self {
        Self::len(array)
    }
    fn op(op: SizeOp, a: &Self, b: &Self) -> Self {
        Self::op(op, a, b)
    }
    fn exact_expr(&self) -> Option<Expr> {
        self.exact_expr()
    }
    fn stored(self) -> Self {
        self
    }
}

impl From<u32> for Size {
    fn from(n: u32) -> Self {
        Self::Const(n)
    }
}
impl From<&Self> for Size {
    fn from(size: &Self) -> Self {
        size.clone()
    }
}

impl PartialEq for Size {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Const(a), Self::Const(b)) => a == b,
            (Self::Symbol(a), Self::Symbol(b)) => a.digest == b.digest,
            _ => false,
        }
    }
}
impl Eq for Size {}
impl Hash for Size {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}
