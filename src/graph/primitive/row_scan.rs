//! Inclusive scans of rows.

use super::{Evaluation, Facts, Positions, Recipe, RowDomain};
use crate::error::Result;
use crate::graph::opcode::ReduceOp;
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::step::traffic::{StepRun, Traffic};
use crate::graph::{Expr, Node};

/// Inclusive scan of each row and column: `out[j * inner + d]` is the reduction of `value` over column `d` of the
/// elements of `j`'s row up to and including `j`. `value` is an expression in the flat position `j * inner + d`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct RowScan<R: Refs = Recorded> {
    /// The monoid.
    pub(crate) op: ReduceOp,
    /// The rows.
    pub(crate) on: RowDomain<R>,
    /// The values.
    pub(crate) value: R::Expr,
}

references!(RowScan, "row_scan" { domain on, expr value; op });

impl Facts for RowScan<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Once
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        self.on.positions()
    }
    fn domain(&self) -> Option<&RowDomain<InPlan>> {
        Some(&self.on)
    }
    /// If rows may have several blocks, the scratch buffer has more than one element: results are written twice, and the
    /// partials of the blocks are scanned in between.
    fn traffic(&self, once: Traffic, at: &StepRun<'_>) -> Traffic {
        let again = if at.scratch_bytes > at.step.out.dtype().size() as u64 { once.written } else { 0 };
        once.plus(again, again).with_scratch(at).with_scratch(at)
    }
}

impl Recorder<'_> {
    /// The inclusive scan of each row; see [`RowScan`].
    pub(crate) fn row_scan(self, op: ReduceOp, on: RowDomain, value: Expr) -> Result<Node> {
        let extent = self.at(on.nvals.times("a row scan", u64::from(on.inner)))?;
        let dtype = value.dtype();
        Ok(self.recorded(dtype, extent, &[], Recipe::RowScan(RowScan { op, on, value })))
    }
}
