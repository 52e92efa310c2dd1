//! Stream compaction.

use super::rank_bitmap::RankBitmap;
use super::{Evaluation, Facts, Positions, Recipe};
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::step::traffic::{StepRun, Traffic};
use crate::graph::{Expr, Extent, Node};

/// Stream compaction: the values of the kept positions, in order, `inner` numbers each. The node's extent contains the
/// live count.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Compact<R: Refs = Recorded> {
    /// The bitmap.
    pub(crate) bitmap: R::Array,
    /// The numbers, by flat position `position * inner + d`; evaluated only at kept positions.
    pub(crate) value: R::Expr,
    /// Number of positions.
    pub(crate) count: R::Extent,
    /// Numbers per position.
    pub(crate) inner: u32,
}

references!(Compact, "compact" { array bitmap, extent count, expr value; inner });

impl Facts for Compact<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Rowless
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        vec![Positions { count: self.count.clone(), inner: self.inner }]
    }
    fn skips(&self) -> bool {
        true
    }
    /// Words that several narrow results share are cleared, then set by atomic `or`.
    fn traffic(&self, once: Traffic, at: &StepRun<'_>) -> Traffic {
        if at.step.out.dtype().size() < 4 { once.plus(once.written, once.written) } else { once }
    }
}

impl Recorder<'_> {
    /// The values of the kept positions, `inner` numbers per position, `extent` numbers in total; see [`Compact`].
    pub(crate) fn compact(self, bitmap: &RankBitmap, (value, inner): (Expr, u32), extent: Extent) -> Node {
        self.compact_if(bitmap, (value, inner), extent, &[])
    }

    /// As [`Self::compact`], under conditions.
    pub(crate) fn compact_if(
        self,
        bitmap: &RankBitmap,
        (value, inner): (Expr, u32),
        extent: Extent,
        conditions: &[Node],
    ) -> Node {
        let dtype = value.dtype();
        let (bitmap, count) = (bitmap.node().clone(), bitmap.count().clone());
        self.recorded(dtype, extent, conditions, Recipe::Compact(Compact { bitmap, value, count, inner }))
    }

    /// The positions that are kept, of which there are `extent`.
    pub(crate) fn kept(self, bitmap: &RankBitmap, extent: Extent) -> Node {
        self.compact(bitmap, (Expr::index(), 1), extent)
    }
}
