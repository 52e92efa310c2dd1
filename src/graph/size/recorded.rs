//! Values of sizes outside of runs.

use super::SizeView;
use crate::graph::{Extent, Size};

/// The values of the sizes of a recording.
///
/// The planner and the backends run plans, whose sizes have values in a run only. They do not import this trait, and ask
/// the [`SizeView`] of the run instead: without it, a size has no method that returns a value.
pub(crate) trait RecordedSize {
    /// The value; for a count that the host does not know, an upper bound.
    fn capacity(&self) -> u32;

    /// The value, if the host knows it, possibly because it was read: for allocations and for what is shown, never for
    /// a type.
    fn host_value(&self) -> Option<u32>;
}

impl RecordedSize for Size {
    fn capacity(&self) -> u32 {
        SizeView::RECORDED.value(self)
    }

    fn host_value(&self) -> Option<u32> {
        SizeView::RECORDED.host_value(self)
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
