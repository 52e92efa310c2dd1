//! Folds of values by slot, without a sort.
//!
//! Consecutive positions form tiles of [`TILE`]. A tile has one result per slot: the values of the slot's positions in the
//! tile, combined one by one in ascending order, starting from the identity. A column reduction over the tiles, in the
//! canonical order, gives the result of each slot. Both steps depend on the positions of a slot's values alone, so that
//! every backend computes the same bits.

use super::{Evaluation, Facts, Positions, Recipe};
use crate::error::Result;
use crate::graph::opcode::ReduceOp;
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::{Expr, Extent, Node};

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

/// Folds of values by slot, within tiles of consecutive positions. `out[tile * slots + s]` is the fold of `value` over the
/// positions of the tile whose key is `s`, in ascending order. Keys that are not below `slots` belong to no slot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct TileFold<R: Refs = Recorded> {
    /// The operation.
    pub(crate) op: ReduceOp,
    /// The slot of a position; u32.
    pub(crate) key: R::Expr,
    /// The values.
    pub(crate) value: R::Expr,
    /// Number of positions.
    pub(crate) count: R::Extent,
    /// Number of slots; at most [`MAX_SLOTS`].
    pub(crate) slots: u32,
}

references!(TileFold, "tile_fold" { extent count, expr key, expr value; op, slots });

impl Facts for TileFold<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Rowless
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        vec![Positions::of(&self.count), Positions::of(&self.count)]
    }
    fn shown_elements(&self) -> Option<&planned::Extent> {
        Some(&self.count)
    }
}

impl Recorder<'_> {
    /// The folds of `value` by `key` within tiles; see [`TileFold`].
    ///
    /// # Errors
    /// 2^32 - 1 results or more.
    pub(crate) fn tile_fold(self, op: ReduceOp, count: Extent, (key, slots): (Expr, u32), value: Expr) -> Result<Node> {
        debug_assert!(slots <= MAX_SLOTS, "bug: {slots} slots");
        let extent = self.at(tiles(&count).and_then(|tiles| tiles.times("folds of tiles", u64::from(slots))))?;
        let dtype = value.dtype();
        let recipe = Recipe::TileFold(TileFold { op, key, value, count, slots });
        Ok(self.recorded(dtype, extent, &[], recipe))
    }
}
