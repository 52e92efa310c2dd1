//! Values of the sizes of a recording.

use super::fold::{Part, fold};
use super::{LARGEST, SizeKind, SizeOp};
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
        let part = |size: &Self| match size.kind() {
            _ if !size.varies() && size.fixed().is_some() => Part::Value(size.fixed()),
            Some(SizeKind::Count(count)) => Part::Value(count.exact()),
            Some(SizeKind::Traced(_)) => Part::Value(None),
            Some(SizeKind::Len(node)) if node.is_traced() => Part::Value(None),
            Some(SizeKind::Op(..)) => Part::Operation,
            _ => Part::Value(Some(size.capacity())),
        };
        fold(self, &part, &SizeOp::apply_known)
    }
}

impl Size {
    /// As [`RecordedSize::capacity`], with the lengths of arrays replaced by `len` where that is `Some`.
    pub(crate) fn capacity_given(&self, len: &impl Fn(&Node) -> Option<u32>) -> u32 {
        let part = |size: &Self| match size.fixed() {
            Some(n) => Part::Value(n),
            None => size.recorded_part(len),
        };
        fold(self, &part, &SizeOp::apply)
    }

    /// The size as a part of a capacity, from its own parts.
    pub(super) fn recorded_part(&self, len: &impl Fn(&Node) -> Option<u32>) -> Part<Self, u32> {
        match self.kind() {
            None => Part::Value(self.as_const().unwrap_or(0)),
            Some(SizeKind::Input(n)) => Part::Value(*n),
            Some(SizeKind::Traced(_)) => Part::Value(LARGEST),
            Some(SizeKind::Count(count)) => match (count.exact(), count.bounded_by()) {
                (Some(n), _) => Part::Value(n),
                (None, Some(bound)) => Part::AtMost(bound, count.most()),
                (None, None) => Part::Value(count.most()),
            },
            Some(SizeKind::Len(node)) => match len(node).or_else(|| node.stored().map(|stored| stored.len)) {
                Some(len) => Part::Value(len),
                None => Part::AtMost(node.extent().size().clone(), u32::MAX),
            },
            Some(SizeKind::Op(..)) => Part::Operation,
        }
    }

    /// The value without a limit of 32 bits, at which [`RecordedSize::capacity`] saturates: for errors.
    pub(crate) fn unsaturated(&self) -> u64 {
        let part = |size: &Self| match size.kind() {
            Some(SizeKind::Op(..)) => Part::Operation,
            _ => Part::Value(u64::from(size.capacity())),
        };
        fold(self, &part, &SizeOp::apply_u64)
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
