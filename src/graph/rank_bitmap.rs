//! Rank bitmap: a bitmap of the positions that a mask keeps, with ranks, for compactions and the row splits of their
//! results.
//!
//! A *rank* is the number of kept positions before a given one. An array of u32 holds both bits and ranks:
//!
//! ```text
//! words 0 .. tiles             the rank of each tile's first position
//! word  tiles                  the number of kept positions
//! words tiles + 1 ..           a word per 16 positions: bits in the low half, rank within the tile in the high half
//! ```
//!
//! A tile has 2048 positions. The tiles also cover the position after the last one, so that every rank is computed from
//! two words. The bitmap takes a quarter of a byte per position, and the mask is evaluated once. Rank directories:
//! Jacobson 1989, "Space-efficient static trees and graphs".

use super::opcode::{BinaryOp, UnaryOp};
use super::recipe::Recipe;
use super::{BackendRef, Expr, Extent, Node, Size};
use crate::dtype::DType;

/// Positions per tile.
pub(crate) const TILE: u32 = 2048;

/// Positions per word.
pub(crate) const WORD: u32 = 16;

/// Words per tile.
pub(crate) const TILE_WORDS: u32 = TILE / WORD;

/// Number of tiles for up to `capacity` positions.
pub(crate) const fn tiles(capacity: u32) -> u32 {
    capacity / TILE + 1
}

/// Number of words for up to `capacity` positions.
#[cfg(test)]
pub(crate) const fn words(capacity: u32) -> u32 {
    tiles(capacity) * (1 + TILE_WORDS) + 1
}

/// Number of tiles in a bitmap of `words` words.
pub(crate) const fn tiles_in(words: u32) -> u32 {
    words.saturating_sub(1) / (1 + TILE_WORDS)
}

/// Number of words for up to `capacity` positions, as a size.
fn words_size(capacity: &Size) -> Size {
    capacity.div(TILE).add(1).mul(1 + TILE_WORDS).add(1)
}

/// A rank bitmap of `count` positions.
#[derive(Debug, Clone)]
pub(crate) struct RankBitmap {
    node: Node,
    count: Extent,
}

impl RankBitmap {
    /// Marks the positions below `count` at which `keep`, an expression in the position, holds.
    pub(crate) fn new(backend: &BackendRef, op: &'static str, count: &Extent, keep: Expr) -> Self {
        Self { node: Node::rank_bitmap(backend, op, keep, count.clone()), count: count.clone() }
    }

    /// The bitmap of `count` positions in an existing array.
    pub(super) fn of(node: Node, count: Extent) -> Self {
        Self { node, count }
    }

    /// The array.
    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// Number of positions.
    pub(crate) fn count(&self) -> &Extent {
        &self.count
    }

    /// Number of kept positions; device-known.
    pub(crate) fn total(&self) -> Extent {
        Extent::bounded(self.count.size(), Expr::load(&self.node, Expr::size(&self.tiles())))
    }

    /// Number of tiles of the allocated array, whose capacity may be an upper bound.
    fn tiles(&self) -> Size {
        Size::len(&self.node).sub(1).div(1 + TILE_WORDS)
    }

    /// Rank of position `at`, which is at most the number of positions.
    pub(crate) fn rank(&self, at: &Expr) -> Expr {
        let shifted = |e: Expr, op, by: u32| e.binary(op, Expr::u32(by));
        let one = || Expr::u32(1);
        let tile = Expr::load(&self.node, shifted(at.clone(), BinaryOp::Shr, TILE.ilog2()));
        let first = Expr::size(&self.tiles().add(1));
        let word = Expr::load(&self.node, first.add(shifted(at.clone(), BinaryOp::Shr, WORD.ilog2())));
        let before = one().binary(BinaryOp::Shl, at.clone().and(Expr::u32(WORD - 1))).sub(one());
        let in_word = word.clone().and(before).unary(UnaryOp::CountOnes);
        tile.add(shifted(word, BinaryOp::Shr, 16)).add(in_word)
    }
}

impl Node {
    /// Rank bitmap of the positions at which `keep` holds; see [`Recipe::RankBitmap`].
    fn rank_bitmap(backend: &BackendRef, name: &'static str, keep: Expr, count: Extent) -> Self {
        let extent = Extent::of(words_size(count.size())).whole();
        Self::recorded(backend, name, DType::U32, extent, &[], Recipe::RankBitmap { keep, count })
    }

    /// The values of the kept positions, `inner` numbers per position, `extent` numbers in total; see
    /// [`Recipe::Compact`].
    pub(crate) fn compact(
        backend: &BackendRef,
        name: &'static str,
        bitmap: &RankBitmap,
        (value, inner): (Expr, u32),
        extent: Extent,
    ) -> Self {
        let dtype = value.dtype();
        let recipe = Recipe::Compact { bitmap: bitmap.node().clone(), value, count: bitmap.count().clone(), inner };
        Self::recorded(backend, name, dtype, extent, &[], recipe)
    }
}
