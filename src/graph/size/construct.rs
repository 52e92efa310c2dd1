//! Construction of sizes other than arithmetic.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{COUNTS, DeviceCount, MAX_DEPTH, SizeKind, SlotCount, Symbol};
use crate::graph::digest::Digest;
use crate::graph::{Node, Size};

impl Size {
    /// The size of an input, identified by `identity`.
    pub(crate) fn input(identity: Digest, value: u32) -> Self {
        Self::symbol(Digest::of("input size", identity), 0, SizeKind::Input(value))
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
        let value = bound.value();
        let bounded_by = (bound.host_value().is_none() && bound.depth() < MAX_DEPTH).then_some(bound);
        let depth = bounded_by.as_ref().map_or(0, Self::depth) + 1;
        let kind = SizeKind::Count(DeviceCount::new(value, bounded_by, (node, at)));
        Self::interned(Symbol { digest, depth, varies: false, kind })
    }

    /// A count whose value the host has read: arithmetic over counts that the host has read.
    pub(crate) fn read_count(identity: Digest, value: u32) -> Self {
        let kind = SizeKind::Count(DeviceCount::read(value));
        Self::interned(Symbol { digest: Digest::of("read count", identity), depth: 0, varies: false, kind })
    }

    /// The live symbol of that digest, or this one.
    fn interned(symbol: Symbol) -> Self {
        let (digest, mut made) = (symbol.digest, Some(symbol));
        let found = COUNTS.get_or_insert(digest, || made.take().expect("bug: made once"));
        // Dropped after the release of the table's lock, which the drop takes.
        drop(made);
        Self::Symbol(found)
    }

    /// A slot of a plan.
    pub(in crate::graph) fn slot(identity: Digest, count: Option<SlotCount>) -> Self {
        Self::symbol(Digest::of("size slot", identity), 0, SizeKind::Slot { value: AtomicU32::new(0), count })
    }

    /// Location of the exact value of a slot that is a count.
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

    pub(super) fn symbol(digest: Digest, depth: u32, kind: SizeKind) -> Self {
        let varies = match &kind {
            SizeKind::Slot { .. } => true,
            SizeKind::Len(node) => node.extent().size().varies(),
            SizeKind::Op(_, a, b) => a.varies() || b.varies(),
            SizeKind::Input(_) | SizeKind::Count(_) => false,
        };
        Self::Symbol(Arc::new(Symbol { digest, depth, varies, kind }))
    }
}
