//! Where a kernel evaluates an expression.

use crate::error::Result;
use crate::graph::planned::{Extent, SizeView};

/// Positions at which a kernel evaluates an expression.
#[derive(Debug, Clone)]
pub(crate) struct Positions {
    /// Number of elements.
    pub(crate) count: Extent,
    /// Positions per element.
    pub(crate) inner: u32,
}

impl Positions {
    /// One position per element.
    pub(crate) fn of(count: &Extent) -> Self {
        Self { count: count.clone(), inner: 1 }
    }

    /// Extent of the positions.
    ///
    /// # Errors
    /// More positions than the largest array has.
    pub(crate) fn extent(&self) -> Result<Extent> {
        self.count.times("a row", u64::from(self.inner))
    }

    /// Number of positions in a run.
    pub(crate) fn number(&self, sizes: SizeView<'_>) -> u64 {
        u64::from(sizes.capacity(&self.count)) * u64::from(self.inner)
    }
}
