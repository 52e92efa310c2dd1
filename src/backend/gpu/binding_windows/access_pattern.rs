//! Access patterns: which part of an array the workgroups of a dispatch access.

use crate::backend::gpu::codegen::Misses;
use crate::graph::planned::Node;

/// Host-known bounds of the part of an array that the workgroups of a dispatch access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::backend::gpu) enum AccessPattern {
    /// The whole array.
    Whole,
    /// The first bytes of the array, this many, for every workgroup.
    Prefix(u64),
    /// Nothing: the entry point does not access the array.
    Unused,
    /// `bytes` bytes per tile, and `more` bytes after the last tile.
    PerTile { bytes: u64, more: u64 },
    /// Two regions: `bytes` bytes per tile from the start, and `then.1` bytes per tile from byte `then.0` on. Stores
    /// only.
    TwicePerTile { bytes: u64, then: (u64, u64) },
    /// `bytes` bytes per row, and `more` bytes after the last row.
    PerRow { bytes: u64, more: u64 },
    /// Any position. Arrays with the same axis are accessed at the same positions.
    Random {
        axis: usize,
        /// Which loads of the array count as misses.
        misses: Misses,
    },
}

impl AccessPattern {
    /// Tiles of that many elements of an array.
    pub(in crate::backend::gpu) fn tiles_of(elements: u32, n: &Node) -> Self {
        Self::PerTile { bytes: u64::from(elements) * n.dtype().size() as u64, more: 0 }
    }
}
