//! Construction of sizes.

use std::sync::Arc;

use super::fold::Walked;
use super::op::{SizeOp, size_operations};
use super::recorded::RecordedSize;
use super::{COUNTS, Contains, DeviceCount, LARGEST, MAX_DEPTH, SizeKind, Symbol};
use crate::graph::digest::Digest;
use crate::graph::{BackendRef, Node, Size};

impl Size {
    /// The size of an input, identified by `identity`.
    pub(crate) fn input(identity: Digest, value: u32) -> Self {
        Self::symbol(Digest::of("input size", identity), 0, SizeKind::Input(value))
    }

    /// A size of the user's data that is given as a number, such as a length of uniform rows: a parameter of the program.
    /// Equal numbers are one size, so that tensors of equal shapes have structurally equal shapes. 0 and 1 are
    /// constants, since they decide what is recorded.
    pub(crate) fn given(n: u32) -> Self {
        if n <= 1 { Self::Const(n) } else { Self::input(Digest::of("given size", n), n) }
    }

    /// A size of an input of a traced program, identified by `identity`.
    pub(crate) fn traced(backend: &BackendRef, identity: Digest) -> Self {
        Self::symbol(Digest::of("traced size", identity), 0, SizeKind::Traced(backend.clone()))
    }

    /// Length of the allocated array.
    pub(crate) fn len(node: &Node) -> Self {
        Self::symbol(Digest::of("length", node.digest()), 0, SizeKind::Len(node.clone()))
    }

    /// Element `at` of an array of u32, at most `bound`. Equal counts are one object: see
    /// [`invariants`](crate::graph::size#invariants).
    pub(crate) fn count(node: Node, at: Self, bound: Self) -> Self {
        debug_assert!(!at.contains_count(), "bug: the index of a count contains a count");
        let digest = Digest::of("count", (node.digest(), &at));
        let varying = bound.varies() || at.varies() || node.extent().size().varies();
        let most = if bound.varies() { u32::MAX } else { bound.capacity() };
        let may_decrease = !bound.is_host_known() && bound.depth() < MAX_DEPTH;
        let depth = if may_decrease { bound.depth() } else { 0 } + 1;
        let bounded_by = (may_decrease || bound.varies()).then_some(bound);
        let weight = bounded_by.as_ref().map_or(0, Walked::weight).saturating_add(1);
        let contains = Contains { varying, traced: false, count: true };
        let kind = SizeKind::Count(DeviceCount::new(most, bounded_by, (node, at)));
        Self::interned(Symbol { digest, depth, weight, contains, fixed: None, kind })
    }

    /// A count whose value the host has read: arithmetic over counts that the host has read.
    pub(crate) fn read_count(identity: Digest, value: u32) -> Self {
        let kind = SizeKind::Count(DeviceCount::read(value));
        let (digest, contains) = (Digest::of("read count", identity), Contains { count: true, ..Contains::default() });
        Self::interned(Symbol { digest, depth: 0, weight: 1, contains, fixed: Some(value), kind })
    }

    /// The live symbol of that digest, or this one.
    fn interned(symbol: Symbol) -> Self {
        let (digest, mut made) = (symbol.digest, Some(symbol));
        let found = COUNTS.get_or_insert(digest, || made.take().expect("bug: made once"));
        // Dropped after the release of the table's lock, which the drop takes.
        drop(made);
        Self::Symbol(found)
    }

    pub(super) fn symbol(digest: Digest, depth: u32, kind: SizeKind) -> Self {
        let (weight, contains) = match &kind {
            SizeKind::Traced(_) => (1, Contains { varying: true, traced: true, count: false }),
            SizeKind::Len(node) => {
                let size = node.extent().size();
                (size.weight().saturating_add(1), Contains { varying: size.varies(), ..Contains::default() })
            }
            SizeKind::Op(_, a, b) => {
                (a.weight().saturating_add(b.weight()).saturating_add(1), a.contains().or(b.contains()))
            }
            SizeKind::Input(_) | SizeKind::Count(_) => (1, Contains::default()),
        };
        let fixed = match &kind {
            SizeKind::Input(n) => Some(*n),
            SizeKind::Traced(_) => Some(LARGEST),
            SizeKind::Op(op, a, b) => a.fixed().zip(b.fixed()).map(|(a, b)| op.apply(a, b)),
            SizeKind::Len(_) | SizeKind::Count(_) => None,
        };
        Self::Symbol(Arc::new(Symbol { digest, depth, weight, contains, fixed, kind }))
    }
}

impl Size {
    /// Applies `op`, and folds constants and identity elements.
    pub(crate) fn op(op: SizeOp, a: &Self, b: &Self) -> Self {
        if let Some(folded) = op.folded((a, a.as_const()), (b, b.as_const())) {
            return folded;
        }
        let digest = Digest::of("size", (op, a, b));
        let depth = a.depth().max(b.depth()) + 1;
        if depth > MAX_DEPTH
            && !a.varies()
            && !b.varies()
            && let (Some(x), Some(y)) = (a.host_value(), b.host_value())
        {
            let value = op.apply(x, y);
            let counts = a.contains_count() || b.contains_count();
            return if counts { Self::read_count(digest, value) } else { Self::input(digest, value) };
        }
        Self::symbol(digest, depth, SizeKind::Op(op, a.clone(), b.clone()))
    }
}

size_operations!(Size: add Add, sub Sub, mul Mul, div Div, min Min, max Max);
