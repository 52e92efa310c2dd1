//! Histograms.

use super::{Evaluation, Facts, Positions, Recipe};
use crate::dtype::DType;
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::{Expr, Extent, Node};

/// Histogram of u32 keys: `out[b]` is the number of positions below `count` whose key is `b`. Keys that are not below
/// the capacity of the output are not counted. Counts are integers, so their order does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Histogram<R: Refs = Recorded> {
    /// The keys.
    pub(crate) key: R::Expr,
    /// Number of positions.
    pub(crate) count: R::Extent,
}

references!(Histogram, "histogram" { extent count, expr key; });

impl Facts for Histogram<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Rowless
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        vec![Positions::of(&self.count)]
    }
    fn shown_elements(&self) -> Option<&planned::Extent> {
        Some(&self.count)
    }
}

impl Recorder<'_> {
    /// The number of positions below `count` with each key, for the keys below `bins`; see [`Histogram`].
    pub(crate) fn histogram(self, count: Extent, key: Expr, bins: Extent) -> Node {
        debug_assert_eq!(key.dtype(), DType::U32, "bug: a key of another type");
        self.recorded(DType::U32, bins, &[], Recipe::Histogram(Histogram { key, count }))
    }
}
