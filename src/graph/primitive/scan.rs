//! Exclusive prefix sums.

use super::{Evaluation, Facts, Positions, Recipe};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::step::traffic::{StepRun, Traffic, WORD, keeps_elements};
use crate::graph::{Expr, Extent, Node};

/// Exclusive prefix sum, u32: `out[i]` is the sum of `value` at positions below `i`. The output has one entry more than
/// `count`; entries beyond repeat the total.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Scan<R: Refs = Recorded> {
    /// The summands; u32.
    pub(crate) value: R::Expr,
    /// Number of summands.
    pub(crate) count: R::Extent,
}

references!(Scan, "scan" { extent count, expr value; });

impl Facts for Scan<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Twice
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        vec![Positions::of(&self.count)]
    }
    /// Evaluates the summands twice, unless the kernel keeps them.
    fn traffic(&self, once: Traffic, at: &StepRun<'_>) -> Traffic {
        let kept = WORD * u64::from(at.sizes.capacity(&self.count));
        let again = if keeps_elements(at.step, at.loads) { (kept, kept) } else { (once.read, 0) };
        once.plus(again.0, again.1).with_scratch(at)
    }
}

impl Recorder<'_> {
    /// Exclusive prefix sums, with the total at the end; see [`Scan`].
    pub(crate) fn scan(self, count: Extent, value: Expr) -> Result<Node> {
        let extent = self.at(count.plus("an exclusive scan", &Extent::known(1)))?;
        Ok(self.recorded(DType::U32, extent, &[], Recipe::Scan(Scan { value, count })))
    }
}

impl Node {
    /// The summands of an unevaluated scan; `None` if they have conditions.
    pub(crate) fn summed(&self) -> Option<Expr> {
        match self.recipe().as_deref() {
            Some(Recipe::Scan(scan)) if !scan.value.has_conditions() => Some(scan.value.clone()),
            _ => None,
        }
    }
}
