//! Selections from rows.

use super::{Evaluation, Facts, Positions, Recipe, RowDomain};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::row_lengths::class;
use crate::graph::step::traffic::{StepRun, Traffic};
use crate::graph::{Expr, Node};

/// The largest number of elements that a selection takes from a row; more are taken from a sort.
pub(crate) const MAX_K: u32 = 16;

/// Selection within each row: `out[row * k + j]` is the position of the row's `j`-th smallest key, of equal keys the
/// first; 0 if the row has no more than `j` elements. Keys are u32 or u64.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct TopK<R: Refs = Recorded> {
    /// The rows.
    pub(crate) on: RowDomain<R>,
    /// The keys, by flat position.
    pub(crate) key: R::Expr,
    /// Number of positions per row; at most [`MAX_K`].
    pub(crate) k: u32,
    /// Upper bound of the row lengths.
    pub(crate) longest: R::Size,
}

references!(TopK, "top_k" { domain on, size longest, expr key; k });

impl Facts for TopK<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Rowless
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        self.on.positions()
    }
    fn domain(&self) -> Option<&RowDomain<InPlan>> {
        Some(&self.on)
    }
    fn shown_elements(&self) -> Option<&planned::Extent> {
        Some(&self.on.nvals)
    }
    /// The candidates of long rows.
    fn traffic(&self, once: Traffic, at: &StepRun<'_>) -> Traffic {
        once.with_scratch(at)
    }
}

impl Recorder<'_> {
    /// The positions of the `k` smallest keys of each row of at most `longest` elements; see [`TopK`].
    ///
    /// # Errors
    /// 2^32 - 1 results or more.
    pub(crate) fn top_k(self, on: RowDomain, (key, k): (Expr, u32), longest: u32) -> Result<Node> {
        debug_assert!((1..=MAX_K).contains(&k), "bug: a selection of {k}");
        let extent = self.at(on.nrows.times("a selection of each row", u64::from(k)))?;
        let longest = on.rows.longest(class(longest));
        Ok(self.recorded(DType::U32, extent, &[], Recipe::TopK(TopK { on, key, k, longest })))
    }
}
