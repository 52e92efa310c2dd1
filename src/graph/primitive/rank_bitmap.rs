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

use super::{Evaluation, Facts, Positions, Recipe};
use crate::dtype::DType;
use crate::graph::handles::{Handles, SizeHandle};
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::size::SizeOp;
use crate::graph::step::traffic::{StepRun, Traffic, WORD as WORD_BYTES};
use crate::graph::{Expr, Extent, Node, Size};

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
pub(crate) struct RankBitmap<R: Refs = Recorded> {
    node: R::Array,
    count: R::Extent,
}

impl RankBitmap {
    /// Marks the positions below `count` at which `keep`, an expression in the position, holds.
    pub(crate) fn new(rec: Recorder<'_>, count: &Extent, keep: Expr) -> Self {
        Self { node: Node::rank_bitmap(rec, keep, count.clone()), count: count.clone() }
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
        self.total_at_most(self.count.size())
    }

    /// [`Self::total`] with a smaller upper bound, which must be the same for equal bitmaps.
    pub(crate) fn total_at_most(&self, bound: impl Into<Size>) -> Extent {
        Extent::bounded(bound, Expr::load(&self.node, Expr::size(&self.tiles())))
    }

    /// The inverse of [`Self::rank`]: a function from a rank below the number of kept positions to the kept position of
    /// that rank, and from that number to some position from the end on. Costs a map over the words, whose result is a
    /// quarter of a byte per position, and a search in it per rank; a compaction of the positions would take four bytes
    /// per kept position.
    pub(crate) fn select(&self, rec: Recorder<'_>) -> impl Fn(&Expr) -> Expr {
        let words = self.tiles().mul(TILE_WORDS);
        let (at, last) = (Expr::index(), Expr::size(&words.sub(1)));
        let shift = |e: &Expr, by: u32| e.clone().binary(BinaryOp::Shr, Expr::u32(by));
        let in_tile = shift(&self.word(at.clone().min(last.clone())), 16);
        let in_tile = last.lt(at.clone()).select(Expr::u32(0), in_tile);
        let rank = Expr::load(&self.node, shift(&at, TILE_WORDS.ilog2())).add(in_tile);
        // The words after the last position have the total as their rank, so that all ranks ascend.
        // The size follows from the count, as that of the bitmap does: the length of an array that is not stored is that
        // of its capacity.
        let extent = Extent::whole_of(self.count.size().div(TILE).add(1).mul(TILE_WORDS).add(1));
        let ranks = rec.map(extent, rank, &[]);
        let bitmap = self.clone();
        move |rank| {
            let word = Expr::row_of(&ranks, rank.clone());
            let bits = bitmap.word(word.clone());
            let mut left = rank.clone().sub(Expr::load(&ranks, word.clone()));
            let mut bit = Expr::u32(0);
            // Bisection, without branches: `above` is 1 if the wanted bit is above the next `half` bits, otherwise 0.
            for half in [8, 4, 2, 1u32] {
                let low = bits.clone().binary(BinaryOp::Shr, bit.clone()).and(Expr::u32((1 << half) - 1));
                let below = low.unary(UnaryOp::CountOnes);
                let above = below.clone().le(left.clone()).cast(DType::U32);
                left = left.sub(below.mul(above.clone()));
                bit = bit.add(above.mul(Expr::u32(half)));
            }
            word.mul(Expr::u32(WORD)).add(bit)
        }
    }
}

impl<R: Handles> RankBitmap<R> {
    /// The bitmap of `count` positions in an existing array.
    pub(crate) fn of(node: R::Array, count: R::Extent) -> Self {
        Self { node, count }
    }

    /// Number of tiles of the allocated array, whose capacity may be an upper bound.
    fn tiles(&self) -> R::Size {
        let less_one = R::Size::op(SizeOp::Sub, &R::Size::len(&self.node), &1.into());
        R::Size::op(SizeOp::Div, &less_one, &(1 + TILE_WORDS).into())
    }

    /// The word of 16 positions, with the rank of the first one in the high half.
    fn word(&self, word: Expr<R>) -> Expr<R> {
        Expr::load(&self.node, Expr::size(&R::Size::op(SizeOp::Add, &self.tiles(), &1.into())).add(word))
    }

    /// Rank of position `at`, which is at most the number of positions.
    pub(crate) fn rank(&self, at: &Expr<R>) -> Expr<R> {
        let one = || Expr::u32(1);
        let tile = Expr::load(&self.node, at.clone().binary(BinaryOp::Shr, Expr::u32(TILE.ilog2())));
        let word = self.word(at.clone().binary(BinaryOp::Shr, Expr::u32(WORD.ilog2())));
        let before = one().binary(BinaryOp::Shl, at.clone().and(Expr::u32(WORD - 1))).sub(one());
        let in_word = word.clone().and(before).unary(UnaryOp::CountOnes);
        tile.add(word.binary(BinaryOp::Shr, Expr::u32(16))).add(in_word)
    }
}

/// Rank bitmap of the positions at which `keep` holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Mark<R: Refs = Recorded> {
    /// Whether a position is kept; bool.
    pub(crate) keep: R::Expr,
    /// Number of positions.
    pub(crate) count: R::Extent,
}

references!(Mark, "rank_bitmap" { extent count, expr keep; });

impl Facts for Mark<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Rowless
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        vec![Positions::of(&self.count)]
    }
    fn shown_elements(&self) -> Option<&planned::Extent> {
        Some(&self.count)
    }
    /// The tile counts are replaced by their exclusive prefix sum.
    fn traffic(&self, once: Traffic, at: &StepRun<'_>) -> Traffic {
        let tiles = WORD_BYTES * u64::from(tiles(at.sizes.capacity(&self.count)));
        once.plus(tiles, tiles)
    }
}

impl Node {
    /// Rank bitmap of the positions at which `keep` holds; see [`Mark`].
    fn rank_bitmap(rec: Recorder<'_>, keep: Expr, count: Extent) -> Self {
        let extent = Extent::whole_of(words_size(count.size()));
        Self::recorded(rec.backend, rec.op, DType::U32, extent, &[], Recipe::Mark(Mark { keep, count }))
    }
}
