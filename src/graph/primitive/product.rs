//! Matrix products.

use super::{Evaluation, Facts, Positions, Recipe, Rows};
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::{Extent, Node};

/// Batched matrix product. Batch `g` has `m` times `n` results, row-major from `starts[2]` on; result (i, j) is the sum
/// of `a(i, l) * b(l, j)` over `l` below `k`, in the canonical order of [`canonical_order::product`], which depends on `k`
/// alone. All sizes and starts are expressions in the batch number.
///
/// [`canonical_order::product`]: crate::graph::canonical_order::product
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Product<R: Refs = Recorded> {
    /// Number of batches.
    pub(crate) batches: R::Extent,
    /// `m`, `k` and `n`: rows of the result, terms of a sum, columns of the result.
    pub(crate) sizes: [R::Expr; 3],
    /// First flat positions of the matrices: left, right, result. The results of consecutive batches are contiguous.
    pub(crate) starts: [R::Expr; 3],
    /// The left and right numbers, by flat position; row-major in each batch, one dtype.
    pub(crate) operands: [R::Expr; 2],
    /// Upper bound of the numbers of each operand.
    pub(crate) capacities: [R::Size; 2],
    /// Upper bound of the terms of a sum.
    pub(crate) terms: R::Size,
    /// Whether each operand is stored transposed: left as k by m, right as n by k.
    pub(crate) transposed: [bool; 2],
    /// Partition of the tiles by batch: batch `g` has `ceil(m / tile) * ceil(n / tile)` tiles.
    pub(crate) tiles: Rows<R>,
    /// Upper bound of the number of tiles.
    pub(crate) tile_capacity: R::Size,
    /// Rows and columns of a tile. Changes no bits of the result.
    pub(crate) tile: u32,
    /// Whether numbers of the output may belong to no matrix; they are 0.
    #[cfg_attr(feature = "saved", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub(crate) has_gaps: bool,
}

impl<R: Refs> Product<R> {
    pub(super) const FAMILY: &'static str = "matmul";

    pub(super) fn visit<'a>(&'a self, f: &mut impl FnMut(Reference<'a, R>)) {
        let Self { batches, sizes, starts, operands, capacities, terms, tiles, tile_capacity, .. } = self;
        tiles.visit(f);
        f(Reference::Extent(batches));
        capacities.iter().chain([terms, tile_capacity]).for_each(|s| f(Reference::Size(s)));
        operands.iter().chain(sizes).chain(starts).for_each(|e| f(Reference::Expr(e)));
    }

    pub(super) fn map<W: Rewrite<R>>(&self, r: &mut W) -> Product<W::To> {
        let tiles = self.tiles.map(r);
        let batches = r.extent(&self.batches);
        let capacities = self.capacities.each_ref().map(|s| r.size(s));
        let (terms, tile_capacity) = (r.size(&self.terms), r.size(&self.tile_capacity));
        let operands = self.operands.each_ref().map(|e| r.expr(e));
        let sizes = self.sizes.each_ref().map(|e| r.expr(e));
        let starts = self.starts.each_ref().map(|e| r.expr(e));
        let Self { transposed, tile, has_gaps, .. } = *self;
        Product {
            batches,
            sizes,
            starts,
            operands,
            capacities,
            terms,
            transposed,
            tiles,
            tile_capacity,
            tile,
            has_gaps,
        }
    }
}

impl Facts for Product<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Repeatedly
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        let operands = self.capacities.iter().map(|size| Positions::of(&planned::Extent::of(size.clone())));
        operands.chain((0..6).map(|_| Positions::of(&self.batches))).collect()
    }
    fn skips(&self) -> bool {
        true
    }
    /// The left operand, which is evaluated in blocks of rows.
    fn recomputes(&self, k: usize) -> bool {
        k == 0
    }
    /// Each operand counts once, although several tiles read the same elements.
    fn counted_exprs(&self) -> usize {
        self.operands.len()
    }
}

impl Recorder<'_> {
    /// Batched matrix products, `extent` numbers in all; see [`Product`].
    pub(crate) fn product(self, extent: Extent, product: Product, asserts: &[Node]) -> Node {
        let dtype = product.operands[0].dtype();
        debug_assert_eq!(dtype, product.operands[1].dtype(), "bug: operands differ");
        self.recorded(dtype, extent, asserts, Recipe::Product(product))
    }
}
