//! Scatters to distinct indices.

use super::{Evaluation, Facts, Positions, Recipe};
use crate::dtype::DType;
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::{Expr, Extent, Node};

/// Unique scatter: `out[at(i)]` is `value(i)`, for the positions `i` below `count`. Elements that no position writes are
/// 0, and indices that are not below the capacity of the output write nothing. No two positions may write one element,
/// which debug builds of the CPU backend check: the order of the writes does not matter then.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct UniqueScatter<R: Refs = Recorded> {
    /// The index of a position; u32.
    pub(crate) at: R::Expr,
    /// The values.
    pub(crate) value: R::Expr,
    /// Number of positions.
    pub(crate) count: R::Extent,
}

references!(UniqueScatter, "unique_scatter" { extent count, expr at, expr value; });

impl Facts for UniqueScatter<InPlan> {
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
    /// The values of `count` positions at their indices; see [`UniqueScatter`].
    pub(crate) fn unique_scatter(self, count: Extent, (at, value): (Expr, Expr), extent: Extent) -> Node {
        debug_assert_eq!(at.dtype(), DType::U32, "bug: an index of another type");
        let dtype = value.dtype();
        self.recorded(dtype, extent, &[], Recipe::UniqueScatter(UniqueScatter { at, value, count }))
    }
}
