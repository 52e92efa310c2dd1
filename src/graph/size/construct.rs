//! Construction of sizes other than arithmetic.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{DeviceCount, MAX_DEPTH, SizeKind, SlotCount, Symbol};
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

    /// Element `at` of an array of u32, at most `bound`.
    pub(crate) fn count(node: Node, at: Self, bound: Self) -> Self {
        let digest = Digest::of("count", (node.digest(), &at));
        let value = bound.value();
        let bounded_by = (bound.host_value().is_none() && bound.depth() < MAX_DEPTH).then_some(bound.clone());
        let depth = bounded_by.as_ref().map_or(0, Self::depth) + 1;
        let count = DeviceCount::new(value, bounded_by, (node, at));
        Self::symbol(digest, depth, SizeKind::Count(count))
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
