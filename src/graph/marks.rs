//! Which positions stay, as bits, with their ranks: what compactions and the new ends of rows are read from.
//!
//! A *rank* is the number of positions that stay before a given one. An array of u32 holds both bits and ranks:
//!
//! ```text
//! words 0 .. tiles             the rank of each tile's first position
//! word  tiles                  how many positions stay in all
//! words tiles + 1 ..           a word each 16 positions: low half their bits, high half their rank within the tile
//! ```
//!
//! A tile has 2048 positions, and one more position than there are is in a tile: any rank takes two words. That is a
//! quarter of a byte a position, for which the condition itself is worked out once. Jacobson 1989, "Space-efficient
//! static trees and graphs", has such directories of ranks in general.

use super::backend::BackendRef;
use super::expr::Expr;
use super::extent::Extent;
use super::node::Node;
use super::opcode::{BinaryOp, UnaryOp};
use super::size::Size;

/// Positions of a tile.
pub(crate) const TILE: u32 = 2048;

/// Positions of a word.
pub(crate) const WORD: u32 = 16;

/// Words of a tile.
pub(crate) const TILE_WORDS: u32 = TILE / WORD;

/// The number of tiles for up to that many positions.
pub(crate) const fn tiles(capacity: u32) -> u32 {
    capacity / TILE + 1
}

/// Words of marks of up to that many positions.
#[cfg(test)]
pub(crate) const fn words(capacity: u32) -> u32 {
    tiles(capacity) * (1 + TILE_WORDS) + 1
}

/// The number of tiles of marks of that many words.
pub(crate) const fn tiles_in(words: u32) -> u32 {
    words.saturating_sub(1) / (1 + TILE_WORDS)
}

/// [`words`] as a size.
pub(super) fn words_size(capacity: &Size) -> Size {
    capacity.div(TILE).add(1).mul(1 + TILE_WORDS).add(1)
}

/// The marks of some positions.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    node: Node,
    count: Extent,
}

impl Marks {
    /// Marks the positions below `count` at which `keep` holds, an expression in the position.
    pub(crate) fn new(backend: &BackendRef, op: &'static str, count: &Extent, keep: Expr) -> Self {
        Self { node: Node::marks(backend, op, keep, count.clone()), count: count.clone() }
    }

    /// Marks that exist, of so many positions.
    pub(super) fn of(node: Node, count: Extent) -> Self {
        Self { node, count }
    }

    /// The array.
    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// How many positions there are.
    pub(crate) fn count(&self) -> &Extent {
        &self.count
    }

    /// How many stay in all; known on the device.
    pub(crate) fn total(&self) -> Extent {
        Extent::bounded(self.count.size(), Expr::load(&self.node, Expr::size(&self.tiles())))
    }

    /// The number of tiles: of the array as it was made, perhaps for an upper bound of the positions.
    fn tiles(&self) -> Size {
        Size::len(&self.node).sub(1).div(1 + TILE_WORDS)
    }

    /// How many stay of those before position `at`, which is at most the number of positions.
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
