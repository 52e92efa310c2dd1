//! Sorts of rows.

use super::{Evaluation, Facts, Positions, Recipe, RowDomain};
use crate::dtype::DType;
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::row_lengths::class;
use crate::graph::step::traffic::{StepRun, Traffic};
use crate::graph::{Expr, Node};

/// Stable argsort of u32 keys within each row: `out[k]` is the source position of the element at position `k` of the
/// sorted rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct RowSort<R: Refs = Recorded> {
    /// The rows.
    pub(crate) on: RowDomain<R>,
    /// The keys, by flat position.
    pub(crate) key: R::Expr,
    /// Number of low bits of the keys that are compared.
    pub(crate) bits: u32,
    /// Upper bound of the row lengths.
    pub(crate) longest: R::Size,
}

references!(RowSort, "row_sort" { domain on, size longest, expr key; bits });

impl Facts for RowSort<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Twice
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        self.on.positions()
    }
    fn domain(&self) -> Option<&RowDomain<InPlan>> {
        Some(&self.on)
    }
    /// Short rows are sorted in one pass. For others, assumes that all rows are long: these take radix passes over the
    /// bits of the key and of the number of the long row.
    fn traffic(&self, once: Traffic, at: &StepRun<'_>) -> Traffic {
        if at.scratch_bytes == 0 {
            return once;
        }
        let n = at.sizes.capacity(&self.on.nvals);
        let rows = row_bits(n, at.sizes.capacity(&self.on.nrows));
        let passes = self.bits.div_ceil(8).max(1) + rows.div_ceil(8);
        let moved = u64::from(n) * u64::from(passes);
        Traffic { read: 3 * once.read + 12 * moved, written: once.written + 8 * moved }
    }
}

/// The longest row that one workgroup of a GPU sorts, and positions per workgroup.
pub(crate) const STRETCH: u32 = 896;

/// Bits of the number of a row that is longer than a stretch, on a GPU: 0 if there is one at most.
pub(crate) const fn row_bits(nvals: u32, nrows: u32) -> u32 {
    if nrows <= 1 { 0 } else { u32::BITS - nvals.div_ceil(STRETCH).saturating_sub(1).leading_zeros() }
}

impl Recorder<'_> {
    /// Stable argsort of keys within each row of at most `longest` elements; see [`RowSort`].
    pub(crate) fn row_sort(self, on: RowDomain, (key, bits): (Expr, u32), longest: u32) -> Node {
        let (extent, longest) = (on.nvals.clone(), on.rows.longest(class(longest)));
        self.recorded(DType::U32, extent, &[], Recipe::RowSort(RowSort { on, key, bits, longest }))
    }
}
