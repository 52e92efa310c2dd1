//! Operands of matrix products.

use super::{Reference, Rewrite, Rows};
use crate::graph::{Expr, Extent, Node, Size};

/// Operands of a batched matrix product; see [`Recipe::Product`](super::Recipe::Product). All sizes and starts are
/// expressions in the batch number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) struct Product<E = Expr, A = Node, X = Extent, S = Size> {
    /// Number of batches.
    pub(crate) batches: X,
    /// `m`, `k` and `n`: rows of the result, terms of a sum, columns of the result.
    pub(crate) sizes: [E; 3],
    /// First flat positions of the matrices: left, right, result. The results of consecutive batches are contiguous.
    pub(crate) starts: [E; 3],
    /// The left and right numbers, by flat position; row-major in each batch, one dtype.
    pub(crate) operands: [E; 2],
    /// Upper bound of the numbers of each operand.
    pub(crate) capacities: [S; 2],
    /// Upper bound of the terms of a sum.
    pub(crate) terms: S,
    /// Whether each operand is stored transposed: left as k by m, right as n by k.
    pub(crate) transposed: [bool; 2],
    /// Partition of the tiles by batch: batch `g` has `ceil(m / tile) * ceil(n / tile)` tiles.
    pub(crate) tiles: Rows<A, S>,
    /// Upper bound of the number of tiles.
    pub(crate) tile_capacity: S,
    /// Rows and columns of a tile. Changes no bits of the result.
    pub(crate) tile: u32,
}

impl<E, A, X, S> Product<E, A, X, S> {
    /// Calls `f` with every reference, arrays and extents before expressions.
    pub(super) fn visit<'a>(&'a self, f: &mut impl FnMut(Reference<'a, E, A, X, S>)) {
        let Self { batches, sizes, starts, operands, capacities, terms, tiles, tile_capacity, .. } = self;
        tiles.visit(f);
        f(Reference::Extent(batches));
        capacities.iter().chain([terms, tile_capacity]).for_each(|s| f(Reference::Size(s)));
        operands.iter().chain(sizes).chain(starts).for_each(|e| f(Reference::Expr(e)));
    }

    /// Rewrites the references.
    pub(super) fn map<C, R: Rewrite<E, A, X, S, C>>(
        &self,
        r: &mut R,
    ) -> Product<R::Expr, R::Array, R::Extent, R::Size> {
        let tiles = self.tiles.map(r);
        let batches = r.extent(&self.batches);
        let capacities = self.capacities.each_ref().map(|s| r.size(s));
        let (terms, tile_capacity) = (r.size(&self.terms), r.size(&self.tile_capacity));
        let operands = self.operands.each_ref().map(|e| r.expr(e));
        let sizes = self.sizes.each_ref().map(|e| r.expr(e));
        let starts = self.starts.each_ref().map(|e| r.expr(e));
        let Self { transposed, tile, .. } = *self;
        Product { batches, sizes, starts, operands, capacities, terms, transposed, tiles, tile_capacity, tile }
    }
}
