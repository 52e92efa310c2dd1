//! The sizes of a plan: places in the table of each run, and arithmetic over them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Expr, ExprKind, Extent, InPlan, Node, Size};
use crate::graph::digest::{Digest, DigestSet};
use crate::graph::handles::SizeHandle;
use crate::graph::program::{ArrayId, SizeId};
use crate::graph::size::fold::{Part, Walked, fold};
use crate::graph::size::{SizeOp, size_operations};

/// A size other than a constant.
#[derive(Debug)]
pub(crate) struct Symbol {
    digest: Digest,
    facts: Facts,
    /// The number of the size in the program, if it is arithmetic of the program whose value does not change in a run:
    /// the table of a run has that value.
    number: Option<SizeId>,
    kind: SizeKind,
}

/// What is known of a size without a run.
#[derive(Debug, Clone, Copy, Default)]
struct Facts {
    /// See [`Walked::weight`].
    weight: u32,
    /// Whether the value differs from run to run. A plan must not depend on such a value.
    varies: bool,
    contains_count: bool,
    /// Whether the value may decrease in a run, as that of a count does once the count is computed: the size contains a
    /// count, or the length of an array whose extent contains one.
    changes: bool,
    /// The value of a size that does not vary.
    fixed: Option<u32>,
}

impl Facts {
    fn of(kind: &SizeKind) -> Self {
        match kind {
            SizeKind::Given(_) | SizeKind::InputLen(_) => Self { weight: 1, varies: true, ..Self::default() },
            SizeKind::Count(..) => Self { weight: 1, ..Self::COUNT },
            SizeKind::Added(_, bound) => Self { weight: bound.weight().saturating_add(1), ..Self::COUNT },
            SizeKind::Len(node) => {
                let size = node.extent().size().facts();
                Self { weight: size.weight.saturating_add(1), contains_count: false, ..size }
            }
            SizeKind::Op(op, a, b) => {
                let (a, b) = (a.facts(), b.facts());
                Self {
                    weight: a.weight.saturating_add(b.weight).saturating_add(1),
                    varies: a.varies || b.varies,
                    contains_count: a.contains_count || b.contains_count,
                    changes: a.changes || b.changes,
                    fixed: a.fixed.zip(b.fixed).map(|(a, b)| op.apply(a, b)),
                }
            }
        }
    }

    const COUNT: Self = Self { weight: 1, varies: true, contains_count: true, changes: true, fixed: None };
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

/// Weight of a size whose drop may not be recursive.
const MANY: u32 = 64;

size_operations!(Size: add Add, sub Sub, div Div, min Min, max Max);

impl Size {
    fn symbol(digest: Digest, kind: SizeKind) -> Self {
        Self::Symbol(Arc::new(Symbol { digest, facts: Facts::of(&kind), number: None, kind }))
    }

    /// The size as number `number` of the program. A run evaluates arithmetic of the program once, before its first step.
    pub(super) fn numbered(self, number: SizeId) -> Self {
        if let Self::Symbol(mut symbol) = self {
            // A size that another one refers to has its number.
            if let Some(symbol) = Arc::get_mut(&mut symbol)
                && matches!(symbol.kind, SizeKind::Op(..))
                && !symbol.facts.changes
            {
                symbol.number = Some(number);
            }
            Self::Symbol(symbol)
        } else {
            self
        }
    }

    /// The number in the table of a run of arithmetic that each run evaluates once.
    pub(super) fn number(&self) -> Option<SizeId> {
        if let Self::Symbol(s) = self { s.number } else { None }
    }

    /// A size of the program that is given with the inputs.
    pub(super) fn given(size: SizeId) -> Self {
        Self::symbol(Digest::of("size of a plan", size), SizeKind::Given(size))
    }

    /// A count of the program.
    pub(super) fn count(size: SizeId, at: DeviceCount) -> Self {
        Self::symbol(Digest::of("size of a plan", size), SizeKind::Count(size, at))
    }

    /// A count in an array that the planner added: element `at`, at most `bound`.
    fn added(node: &Node, at: Self, bound: &Self) -> Self {
        let digest = Digest::of("count", (node.digest(), &at, bound));
        Self::symbol(digest, SizeKind::Added(DeviceCount { node: node.clone(), at }, bound.clone()))
    }

    /// Allocated length of an input of the program.
    pub(super) fn input_len(array: ArrayId) -> Self {
        Self::symbol(Digest::of("input length of a plan", array), SizeKind::InputLen(array))
    }

    /// Length of a computed array as allocated.
    pub(super) fn len(node: &Node) -> Self {
        Self::symbol(Digest::of("length", node.digest()), SizeKind::Len(node.clone()))
    }

    /// Applies `op`, and folds constants and identity elements.
    pub(crate) fn op(op: SizeOp, a: &Self, b: &Self) -> Self {
        if let Some(folded) = op.folded((a, a.as_const()), (b, b.as_const())) {
            return folded;
        }
        Self::symbol(Digest::of("size", (op, a, b)), SizeKind::Op(op, a.clone(), b.clone()))
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

    fn facts(&self) -> Facts {
        match self {
            Self::Const(n) => Facts { weight: 1, fixed: Some(*n), ..Facts::default() },
            Self::Symbol(s) => s.facts,
        }
    }

    /// Whether the size contains a count.
    pub(crate) fn contains_count(&self) -> bool {
        self.facts().contains_count
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
                Some(SizeKind::Op(_, a, b)) if size.contains_count() && seen.insert(size.digest()) => {
                    stack.extend([b, a]);
                }
                _ => {}
            }
        }
        out
    }

    /// See [`SizeHandle::exact_expr`].
    pub(crate) fn exact_expr(&self) -> Option<Expr> {
        let part = |size: &Self| {
            let expr = match size.kind() {
                Some(SizeKind::Op(..)) => return Part::Operation,
                Some(SizeKind::Count(_, DeviceCount { node, at }) | SizeKind::Added(DeviceCount { node, at }, _)) => {
                    Expr::load(node, Expr::size(at))
                }
                _ => Expr::size(size),
            };
            Part::Value((expr, size.facts().fixed))
        };
        let apply = |op: SizeOp, (a, x): (Expr, Option<u32>), (b, y): (Expr, Option<u32>)| {
            let fixed = x.zip(y);
            (op.of_exprs(a, b, fixed.is_some_and(|(x, y)| op.fits(x, y))), fixed.map(|(x, y)| op.apply(x, y)))
        };
        self.contains_count().then(|| fold(self, &part, &apply).0)
    }
}

impl Drop for Symbol {
    /// Without recursion: operations may be nested to any depth.
    fn drop(&mut self) {
        let operands = |kind: &mut SizeKind| match kind {
            SizeKind::Op(_, a, b) => [a, b].map(|operand| std::mem::replace(operand, Size::Const(0))),
            _ => [Size::Const(0), Size::Const(0)],
        };
        if self.facts.weight > MANY {
            let mut stack = operands(&mut self.kind).to_vec();
            while let Some(size) = stack.pop() {
                if let Size::Symbol(symbol) = size
                    && let Some(mut symbol) = Arc::into_inner(symbol)
                {
                    stack.extend(operands(&mut symbol.kind));
                }
            }
        }
    }
}

impl Walked for Size {
    fn digest(&self) -> Digest {
        self.digest()
    }

    fn operation(&self) -> Option<(SizeOp, &Self, &Self)> {
        match self.kind() {
            Some(SizeKind::Op(op, a, b)) => Some((*op, a, b)),
            _ => None,
        }
    }

    fn weight(&self) -> u32 {
        self.facts().weight
    }
}

impl Extent {
    /// `live` elements, at most `capacity`: a size, or an element of an array that the planner added.
    pub(crate) fn counted(capacity: &Size, live: &Expr) -> Self {
        let count = match (live.as_size(), live.kind()) {
            (Some(live), _) => Some(live.min(capacity)),
            (None, ExprKind::Load(node, at)) => at.as_size().map(|at| Size::added(node, at, capacity)),
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
        self.facts().varies
    }
    fn fixed_value(&self) -> Option<u32> {
        self.facts().fixed
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
