//! Scatters to distinct indices.

use super::{Evaluation, Facts, Positions, Recipe};
use crate::dtype::DType;
use crate::graph::plan::Step;
use crate::graph::planned::{self, InPlan, SizeView};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::step::traffic::{StepRun, Traffic};
use crate::graph::{Expr, Extent, Node};

/// Unique scatter: `out[at(i)]` is `value(i)`, for the positions `i` below `count`. Elements that no position writes are
/// those of the base, or 0, and indices that are not below the capacity of the output write nothing. No two positions may
/// write one element, which debug builds of the CPU backend check: the order of the writes does not matter then.
///
/// The output takes the memory of the base where a run owns it and nothing reads it afterwards
/// ([`StepLinks::overwritten`](crate::graph::plan::StepLinks)); elsewhere the base is copied first.
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
    /// The elements that no position writes, of the dtype and the extent of the output; zeros if `None`.
    #[cfg_attr(feature = "saved", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) base: Option<R::Array>,
}

references!(UniqueScatter, "unique_scatter" { optional base, extent count, expr at, expr value; });

impl Facts for UniqueScatter<InPlan> {
    fn evaluation(&self) -> Evaluation {
        if self.base.is_some() { Evaluation::Stored } else { Evaluation::Rowless }
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        vec![Positions::of(&self.count), Positions::of(&self.count)]
    }
    fn shown_elements(&self) -> Option<&planned::Extent> {
        Some(&self.count)
    }
    /// Writes the elements at the indices, after a copy of the base.
    fn traffic(&self, once: Traffic, at: &StepRun<'_>) -> Traffic {
        if self.base.is_none() {
            return once;
        }
        let written = u64::from(at.sizes.capacity(&self.count)) * self.value.dtype().size() as u64;
        Traffic { read: once.read + once.written, written: once.written + written }
    }
}

/// Bytes of the copy of a base that is not overwritten: included in the traffic of the step.
pub(crate) fn copied_bytes(step: &Step, sizes: SizeView<'_>) -> u64 {
    step.recipe.base().map_or(0, |_| 2 * sizes.bytes(&step.out))
}

impl Recorder<'_> {
    /// The values of `count` positions at their indices; see [`UniqueScatter`].
    pub(crate) fn unique_scatter(self, count: Extent, (at, value): (Expr, Expr), extent: Extent) -> Node {
        debug_assert_eq!(at.dtype(), DType::U32, "bug: an index of another type");
        let dtype = value.dtype();
        self.recorded(dtype, extent, &[], Recipe::UniqueScatter(UniqueScatter { at, value, count, base: None }))
    }

    /// `base` with the values of `count` positions at their indices, under conditions; see [`UniqueScatter`].
    pub(crate) fn scatter_over(
        self,
        base: &Node,
        count: Extent,
        (at, value): (Expr, Expr),
        conditions: &[Node],
    ) -> Node {
        debug_assert_eq!((at.dtype(), value.dtype()), (DType::U32, base.dtype()), "bug: another type");
        let scatter = UniqueScatter { at, value, count, base: Some(base.clone()) };
        self.recorded(base.dtype(), base.extent().clone(), conditions, Recipe::UniqueScatter(scatter))
    }
}
