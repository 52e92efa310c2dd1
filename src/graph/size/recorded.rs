//! Values of the sizes of a recording.

use super::SizeKind;
use crate::graph::{Extent, Node, Size};

/// The values of the sizes of a recording. The sizes of a plan have values in a run only: see
/// [`SizeView`](crate::graph::planned::SizeView).
pub(crate) trait RecordedSize {
    /// The value; for a count that the host does not know, an upper bound.
    fn capacity(&self) -> u32;

    /// The value, if the host knows it, possibly because it was read: for allocations and for what is shown, never for
    /// a type.
    fn host_value(&self) -> Option<u32>;
}

impl RecordedSize for Size {
    fn capacity(&self) -> u32 {
        self.capacity_given(&|_| None)
    }

    fn host_value(&self) -> Option<u32> {
        match self.kind() {
            Some(SizeKind::Count(count)) => count.exact(),
            Some(SizeKind::Traced(_)) => None,
            Some(SizeKind::Len(node)) if node.is_traced() => None,
            Some(SizeKind::Op(op, a, b)) => match (op, a.host_value(), b.host_value()) {
                (op, Some(0), _) | (op, _, Some(0)) if op.keeps_zero() => Some(0),
                (_, a, b) => Some(op.apply(a?, b?)),
            },
            _ => Some(self.capacity()),
        }
    }
}

impl Size {
    /// As [`RecordedSize::capacity`], with the lengths of arrays replaced by `len` where that is `Some`.
    pub(crate) fn capacity_given(&self, len: &impl Fn(&Node) -> Option<u32>) -> u32 {
        match self.kind() {
            None => self.as_const().unwrap_or(0),
            Some(SizeKind::Input(n)) => *n,
            Some(SizeKind::Traced(_)) => u32::MAX - 1,
            Some(SizeKind::Count(count)) => count.exact().unwrap_or_else(|| count.bound()),
            Some(SizeKind::Len(node)) => {
                len(node).unwrap_or_else(|| node.stored().map_or_else(|| node.extent().capacity(), |stored| stored.len))
            }
            Some(SizeKind::Op(op, a, b)) => op.apply(a.capacity_given(len), b.capacity_given(len)),
        }
    }

    /// The value without a limit of 32 bits, at which [`RecordedSize::capacity`] saturates: for errors.
    pub(crate) fn unsaturated(&self) -> u64 {
        match self.kind() {
            Some(SizeKind::Op(op, a, b)) => op.apply_u64(a.unsaturated(), b.unsaturated()),
            _ => self.capacity().into(),
        }
    }
}

impl RecordedSize for Extent {
    fn capacity(&self) -> u32 {
        self.size().capacity()
    }

    fn host_value(&self) -> Option<u32> {
        self.size().host_value()
    }
}
