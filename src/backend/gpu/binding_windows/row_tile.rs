//! The access patterns of kernels that iterate over stored rows.

use super::access_pattern::AccessPattern;
use crate::backend::gpu::codegen::Binding;
use crate::backend::gpu::primitive::Bound;
use crate::graph::planned::{Expr, Node, RowDomain, Rows};

/// The splits of the rows, if the values are a stored array other than the splits, read at their own positions.
pub(in crate::backend::gpu) fn own_rows<'a>(on: &'a RowDomain, value: &Expr) -> Option<&'a Node> {
    let Rows::Splits(splits) = &on.rows else { return None };
    value.own_load().is_some_and(|n| n != splits).then_some(splits)
}

/// The tiles of a row reduction or row scan, with `inner` numbers per value and `block` values per block. The last block
/// of a tile may extend beyond the tile.
pub(in crate::backend::gpu) struct RowTile<'a> {
    pub(in crate::backend::gpu) splits: &'a Node,
    pub(in crate::backend::gpu) inner: u32,
    pub(in crate::backend::gpu) block: usize,
}

impl RowTile<'_> {
    /// The access pattern of an array of a kernel with tiles of that cost. `out` is the pattern of an output, given that
    /// of values.
    pub(in crate::backend::gpu) fn access_pattern(
        &self,
        at: &Bound<'_>,
        cost: u32,
        out: impl Fn(&dyn Fn(&Node) -> AccessPattern) -> AccessPattern,
    ) -> AccessPattern {
        let (inner, block, tile) = (u64::from(self.inner), self.block as u64, u64::from(cost));
        let is_level2 = at.launch.entry == LEVEL2;
        let values = |n: &Node| {
            let value = inner * n.dtype().size() as u64;
            if is_level2 {
                AccessPattern::Unused
            } else {
                AccessPattern::PerTile { bytes: tile * value, more: block * value }
            }
        };
        match at.binding {
            Binding::Read(n) if n == self.splits => AccessPattern::PerRow { bytes: 4, more: 4 },
            Binding::Read(n) => values(n),
            Binding::Output(_) => out(&values),
            // Two partials per block, in block order. A workgroup of `level2` reads the partials of the rows that start
            // in 256 blocks.
            Binding::Scratch(_) => {
                let partials = |blocks: u64| 2 * blocks * inner * at.element;
                let longest = at.step.recipe.rows().map_or(u32::MAX, |rows| at.sizes.longest(rows));
                let (bytes, more) = if is_level2 {
                    (partials(256), partials(u64::from(longest) / block + 2))
                } else {
                    (partials(tile / block), 0)
                };
                let is_known = tile.is_multiple_of(block) && at.element.is_power_of_two();
                if is_known && bytes + more + 256 <= at.step.limits.max_binding {
                    AccessPattern::PerTile { bytes, more }
                } else {
                    AccessPattern::Prefix(u64::MAX)
                }
            }
            _ => AccessPattern::Whole,
        }
    }
}

/// The entry point that combines the partials of the blocks of a row.
pub(in crate::backend::gpu) const LEVEL2: &str = "level2";
