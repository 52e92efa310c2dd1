//! Symbolic sizes: element counts of arrays, as parameters of the program that computes the arrays.
//!
//! A size is a constant of the program, the size of an input, a count that a kernel computes, or arithmetic over these.
//! Two recordings of one program over inputs of other sizes have the same symbolic sizes; only the values differ. One
//! plan therefore holds for every batch.
//!
//! ```text
//! Input(nrows of x) = 64        host-known: comes with the tensor
//! Input(nvals of x) = 3171
//! Count(marks of x > 0, word 2) device-known: at most 3171; exact once it has been read
//! Mul(Input(nrows of x), 16)    arithmetic
//! ```
//!
//! A count is an element of a stored array, never a nested expression, so that the cost of reading it does not depend
//! on how the program computes it. The array is released once the host knows the value.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::digest::Digest;
use super::expr::Expr;
use super::node::Node;

/// Arithmetic on sizes: u32, saturating.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SizeOp {
    Add,
    /// 0 where the second operand is larger.
    Sub,
    Mul,
    /// Rounds down; 0 for a divisor of 0.
    Div,
    Min,
    Max,
}

impl SizeOp {
    /// Applies the operation.
    pub(crate) fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Self::Add => a.saturating_add(b),
            Self::Sub => a.saturating_sub(b),
            Self::Mul => a.saturating_mul(b),
            Self::Div => a.checked_div(b).unwrap_or(0),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}

/// A symbolic size; cheap to clone, compared by structure and not by value.
#[derive(Debug, Clone)]
pub(crate) enum Size {
    /// A constant of the program.
    Const(u32),
    /// Any other size.
    Symbol(Arc<Symbol>),
}

/// A size other than a constant.
#[derive(Debug)]
pub(crate) struct Symbol {
    digest: Digest,
    /// Nesting depth of the operations.
    depth: u32,
    /// Whether the size contains a slot of a plan, so that its value differs from run to run.
    varies: bool,
    kind: SizeKind,
}

/// The kinds of symbolic size.
#[derive(Debug)]
pub(crate) enum SizeKind {
    /// Host-known: given with the program's inputs.
    Input(u32),
    /// Computed by a kernel.
    Count(DeviceCount),
    /// A slot of a plan: its value is set before each run.
    Slot {
        value: AtomicU32,
        /// Location of the exact value, if a kernel computes it. The value that is set is then an upper bound.
        count: Option<SlotCount>,
    },
    /// Length of an array as allocated, which may be an upper bound of a count that is known by now.
    Len(Node),
    /// Arithmetic.
    Op(SizeOp, Size, Size),
}

/// Location on the device of the exact value of a plan's slot that is a count.
#[derive(Debug, Clone)]
pub(crate) struct SlotCount {
    pub(crate) node: Node,
    pub(crate) at: Size,
}

/// A size that a kernel computes.
#[derive(Debug)]
pub(crate) struct DeviceCount {
    /// An upper bound, known on the host.
    bound: u32,
    /// The upper bound as a size, which tightens once a count in it is known.
    bounded_by: Mutex<Option<Size>>,
    /// The array that holds the count, and the index; released once the value is known.
    place: Mutex<Option<(Node, Size)>>,
    exact: OnceLock<u32>,
}

fn lock<T>(m: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DeviceCount {
    /// The value, once the host knows it.
    pub(crate) fn exact(&self) -> Option<u32> {
        self.exact.get().copied()
    }

    /// An upper bound.
    pub(crate) fn bound(&self) -> u32 {
        let tighter = lock(&self.bounded_by).clone();
        tighter.map_or(self.bound, |size| size.value().min(self.bound))
    }

    /// The upper bound as a size, if it contains counts of its own.
    pub(crate) fn bounded_by(&self) -> Option<Size> {
        lock(&self.bounded_by).clone()
    }

    /// The array that holds the value, and the index; `None` once the host knows the value.
    pub(crate) fn place(&self) -> Option<(Node, Size)> {
        lock(&self.place).clone()
    }

    /// Sets the value that was read, and releases the array.
    pub(crate) fn settle(&self, value: u32) {
        let _ = self.exact.set(value.min(self.bound()));
        let released = (lock(&self.place).take(), lock(&self.bounded_by).take());
        drop(released);
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

/// Maximum nesting depth of operations. A longer chain becomes a size of its own, which bounds the recursion of walks.
const MAX_DEPTH: u32 = 16;

impl Size {
    /// The size of an input, identified by `identity`.
    pub(crate) fn input(identity: Digest, value: u32) -> Self {
        Self::symbol(Digest::of("input size", identity), 0, SizeKind::Input(value))
    }

    /// Length of an array as allocated.
    pub(crate) fn len(node: &Node) -> Self {
        Self::symbol(Digest::of("length", node.digest()), 0, SizeKind::Len(node.clone()))
    }

    /// Element `at` of an array of u32, at most `bound`.
    pub(crate) fn count(node: Node, at: Self, bound: Self) -> Self {
        let digest = Digest::of("count", (node.digest(), &at));
        let value = bound.value();
        let bounded_by = (bound.is_host_known().is_none() && bound.depth() < MAX_DEPTH).then_some(bound.clone());
        let depth = bounded_by.as_ref().map_or(0, Self::depth) + 1;
        let count = DeviceCount {
            bound: value,
            bounded_by: Mutex::new(bounded_by),
            place: Mutex::new(Some((node, at))),
            exact: OnceLock::new(),
        };
        Self::symbol(digest, depth, SizeKind::Count(count))
    }

    /// A slot of a plan.
    pub(super) fn slot(identity: Digest, count: Option<SlotCount>) -> Self {
        Self::symbol(Digest::of("size slot", identity), 0, SizeKind::Slot { value: AtomicU32::new(0), count })
    }

    /// Location of the exact value of a slot, if a kernel computes it.
    pub(crate) fn slot_count(&self) -> Option<&SlotCount> {
        match self.kind() {
            Some(SizeKind::Slot { count, .. }) => count.as_ref(),
            _ => None,
        }
    }

    /// Sets the value of a slot.
    pub(crate) fn set(&self, n: u32) {
        if let Some(SizeKind::Slot { value, .. }) = self.kind() {
            value.store(n, Ordering::Relaxed);
        }
    }

    fn symbol(digest: Digest, depth: u32, kind: SizeKind) -> Self {
        let varies = match &kind {
            SizeKind::Slot { .. } => true,
            SizeKind::Len(node) => node.extent().size().varies(),
            SizeKind::Op(_, a, b) => a.varies() || b.varies(),
            SizeKind::Input(_) | SizeKind::Count(_) => false,
        };
        Self::Symbol(Arc::new(Symbol { digest, depth, varies, kind }))
    }

    pub(crate) fn digest(&self) -> Digest {
        match self {
            Self::Const(n) => Digest::of("constant size", n),
            Self::Symbol(s) => s.digest,
        }
    }

    /// The kind; none for a constant.
    pub(crate) fn kind(&self) -> Option<&SizeKind> {
        match self {
            Self::Const(_) => None,
            Self::Symbol(s) => Some(&s.kind),
        }
    }

    /// Nesting depth of the operations.
    pub(super) fn depth(&self) -> u32 {
        match self {
            Self::Const(_) => 0,
            Self::Symbol(s) => s.depth,
        }
    }

    /// Whether the size contains a slot of a plan, which each run sets anew. A plan must keep nothing that follows from
    /// its value.
    pub(super) fn varies(&self) -> bool {
        match self {
            Self::Const(_) => false,
            Self::Symbol(s) => s.varies,
        }
    }

    /// The value, if the size is a constant.
    pub(crate) fn as_const(&self) -> Option<u32> {
        if let Self::Const(n) = self { Some(*n) } else { None }
    }

    /// The value; for a count that the host does not know, an upper bound.
    pub(crate) fn value(&self) -> u32 {
        match self.kind() {
            None => self.as_const().unwrap_or(0),
            Some(SizeKind::Input(n)) => *n,
            Some(SizeKind::Slot { value, .. }) => value.load(Ordering::Relaxed),
            Some(SizeKind::Count(count)) => count.exact().unwrap_or_else(|| count.bound()),
            Some(SizeKind::Len(node)) => match node.stored() {
                Some(stored) => stored.len,
                None => node.extent().capacity(),
            },
            Some(SizeKind::Op(op, a, b)) => op.apply(a.value(), b.value()),
        }
    }

    /// As [`Self::value`], but with the lengths of arrays that `len` gives, where it gives one.
    pub(crate) fn value_given(&self, len: &impl Fn(&Node) -> Option<u32>) -> u32 {
        match self.kind() {
            Some(SizeKind::Len(node)) => len(node).unwrap_or_else(|| self.value()),
            Some(SizeKind::Op(op, a, b)) => op.apply(a.value_given(len), b.value_given(len)),
            _ => self.value(),
        }
    }

    /// The value, if the host knows it.
    pub(crate) fn is_host_known(&self) -> Option<u32> {
        match self.kind() {
            None | Some(SizeKind::Input(_) | SizeKind::Len(_) | SizeKind::Slot { count: None, .. }) => {
                Some(self.value())
            }
            Some(SizeKind::Slot { .. }) => None,
            Some(SizeKind::Count(count)) => count.exact(),
            Some(SizeKind::Op(op, a, b)) => Some(op.apply(a.is_host_known()?, b.is_host_known()?)),
        }
    }

    /// The counts in the size that only the device knows.
    pub(crate) fn counts(&self) -> Vec<&Self> {
        let (mut out, mut stack): (Vec<&Self>, Vec<&Self>) = (Vec::new(), vec![self]);
        while let Some(size) = stack.pop() {
            match size.kind() {
                Some(SizeKind::Count(count)) if count.exact().is_none() && !out.contains(&size) => out.push(size),
                Some(SizeKind::Slot { count: Some(_), .. }) if !out.contains(&size) => out.push(size),
                Some(SizeKind::Op(_, a, b)) => stack.extend([b, a]),
                _ => {}
            }
        }
        out
    }

    /// The array that holds a count, unless the host knows it already.
    pub(crate) fn count_node(&self) -> Option<Node> {
        match self.kind() {
            Some(SizeKind::Count(count)) => count.place().map(|(node, _)| node),
            _ => None,
        }
    }

    /// Applies `op`, and folds constants and identity elements.
    pub(crate) fn op(op: SizeOp, a: &Self, b: &Self) -> Self {
        use SizeOp as O;
        match (op, a.as_const(), b.as_const()) {
            (_, Some(a), Some(b)) => return Self::Const(op.apply(a, b)),
            (O::Add, Some(0), _) | (O::Mul, Some(1), _) => return b.clone(),
            (O::Add | O::Sub, _, Some(0)) | (O::Mul | O::Div, _, Some(1)) => return a.clone(),
            (O::Mul, Some(0), _) | (O::Mul, _, Some(0)) => return Self::Const(0),
            (O::Min | O::Max, ..) if a == b => return a.clone(),
            _ => {}
        }
        let digest = Digest::of("size", (op, a, b));
        let depth = a.depth().max(b.depth()) + 1;
        if depth > MAX_DEPTH
            && !a.varies()
            && !b.varies()
            && let (Some(x), Some(y)) = (a.is_host_known(), b.is_host_known())
        {
            return Self::symbol(digest, 0, SizeKind::Input(op.apply(x, y)));
        }
        Self::symbol(digest, depth, SizeKind::Op(op, a.clone(), b.clone()))
    }

    pub(crate) fn add(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Add, self, &other.into())
    }
    pub(crate) fn sub(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Sub, self, &other.into())
    }
    pub(crate) fn mul(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Mul, self, &other.into())
    }
    pub(crate) fn div(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Div, self, &other.into())
    }
    pub(crate) fn min(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Min, self, &other.into())
    }
    pub(crate) fn max(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Max, self, &other.into())
    }

    /// The exact value as an expression that reads the counts of the size on the device; `None` if the host knows the
    /// value. The expression saturates as [`SizeOp::apply`] does.
    pub(crate) fn exact_expr(&self) -> Option<Expr> {
        fn go(size: &Size) -> Expr {
            match size.kind() {
                Some(SizeKind::Count(count)) => match (count.exact(), count.place()) {
                    (None, Some((node, at))) => Expr::load(&node, Expr::size(&at)),
                    _ => Expr::size(size),
                },
                Some(SizeKind::Slot { count: Some(SlotCount { node, at }), .. }) => Expr::load(node, Expr::size(at)),
                Some(SizeKind::Op(op, a, b)) => {
                    // If the sum or product of the upper bounds fits in u32, so does that of the exact values.
                    let most = u64::from(u32::MAX);
                    let (x, y) = (u64::from(a.value()), u64::from(b.value()));
                    let adds = !size.varies() && x + y <= most;
                    let multiplies = !size.varies() && x * y <= most;
                    let (a, b) = (go(a), go(b));
                    let most = Expr::u32(u32::MAX);
                    match op {
                        SizeOp::Add if adds => a.add(b),
                        SizeOp::Add => most.sub(a.clone()).min(b).add(a),
                        SizeOp::Sub => a.max(b.clone()).sub(b),
                        SizeOp::Mul if multiplies => a.mul(b),
                        SizeOp::Mul => {
                            let fits = a.clone().le(most.clone().div(b.clone().max(Expr::u32(1))));
                            fits.select(a.mul(b), most)
                        }
                        SizeOp::Div => a.div(b),
                        SizeOp::Min => a.min(b),
                        SizeOp::Max => a.max(b),
                    }
                }
                _ => Expr::size(size),
            }
        }
        if self.is_host_known().is_some() { None } else { Some(go(self)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(k: u32, value: u32) -> Size {
        Size::input(Digest::of("test", k), value)
    }

    #[test]
    fn sizes_compare_by_structure() {
        let (a, b) = (input(1, 7), input(2, 7));
        assert_ne!(a, b);
        assert_eq!(a, input(1, 9));
        assert_eq!(a.add(&b), input(1, 3).add(input(2, 4)));
        assert_ne!(a.add(&b), a.mul(&b));
        assert_eq!((a.add(&b).value(), a.mul(3).sub(2).value(), a.sub(9).value()), (14, 19, 0));
        assert_eq!(a.mul(1), a);
        assert_eq!(a.add(0), a);
        assert_eq!(Size::from(3).mul(4), Size::from(12));
    }

    #[test]
    fn long_chains_stay_flat() {
        let mut sum = input(0, 1);
        for k in 1..100_000 {
            sum = sum.add(input(k, 1));
            assert!(sum.depth() <= MAX_DEPTH);
        }
        assert_eq!(sum.value(), 100_000);
    }
}
