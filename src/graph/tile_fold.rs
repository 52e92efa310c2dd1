//! Folds of values by slot, without a sort.
//!
//! Consecutive positions form tiles of [`TILE`]. A tile has one result per slot: the values of the slot's positions in the
//! tile, combined one by one in ascending order, starting from the identity. A column reduction over the tiles, in the
//! canonical order, gives the result of each slot. Both steps depend on the positions of a slot's values alone, so that
//! every backend computes the same bits.

use super::Extent;
use crate::error::Result;

/// Positions per tile. As many as a tile of a scan or a sort has, so that it fits the same binding windows.
pub(crate) const TILE: u32 = 2048;

/// The largest number of slots: the results of a tile are at most a quarter of its values, and fit the workgroup memory of a GPU
/// and the first-level cache of a core.
pub(crate) const MAX_SLOTS: u32 = 512;

/// Number of tiles of that many positions.
#[track_caller]
pub(crate) fn tiles(count: &Extent) -> Result<Extent> {
    Ok(count.plus("tiles of positions", &Extent::known(TILE - 1))?.part(TILE))
}
