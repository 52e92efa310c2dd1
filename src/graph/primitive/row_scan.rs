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
///
/// With a decay, the scan is a linear recurrence: `out[j] = decay(j) * out[j - 1] + value(j)` in each row and column. The
/// element of the scan is then the affine map of its position, a pair of a factor and a term, and the monoid is the
/// composition of maps; the result is the term of each prefix. The decay of a row's first element has no effect.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct RowScan<R: Refs = Recorded> {
    /// The monoid; sums if there is a decay.
    pub(crate) op: ReduceOp,
    /// The rows.
    pub(crate) on: RowDomain<R>,
    /// The values.
    pub(crate) value: R::Expr,
    /// Factors of the preceding results, of the dtype of the values; 1 if `None`.
    #[cfg_attr(feature = "saved", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) decay: Option<R::Expr>,
}

references!(RowScan, "row_scan" { domain on, expr value, optional_expr decay; op });

impl Facts for RowScan<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Once
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        let of_decay = self.decay.iter().flat_map(|_| self.on.positions());
        self.on.positions().into_iter().chain(of_decay).collect()
    }
    fn domain(&self) -> Option<&RowDomain<InPlan>> {
        Some(&self.on)
    }
    /// If rows may have several blocks, the scratch buffer has more than one element: results are written twice, and the
    /// partials of the blocks are scanned in between. A recurrence has partials of two numbers, and a scratch buffer of the
    /// factors of each prefix.
    fn traffic(&self, once: Traffic, at: &StepRun<'_>) -> Traffic {
        let unused = at.step.out.dtype().size() as u64 * if self.decay.is_some() { 3 } else { 1 };
        let again = if at.scratch_bytes > unused { once.written } else { 0 };
        once.plus(again, again).with_scratch(at).with_scratch(at)
    }
}

impl Recorder<'_> {
    /// The inclusive scan of each row; see [`RowScan`].
    pub(crate) fn row_scan(self, op: ReduceOp, on: RowDomain, value: Expr) -> Result<Node> {
        self.row_scan_of(RowScan { op, on, value, decay: None })
    }

    /// The linear recurrence `y[i] = decay * y[i - 1] + value` of each row; see [`RowScan`].
    pub(crate) fn row_recurrence(self, on: RowDomain, value: Expr, decay: Expr) -> Result<Node> {
        self.row_scan_of(RowScan { op: ReduceOp::Sum, on, value, decay: Some(decay) })
    }

    fn row_scan_of(self, scan: RowScan) -> Result<Node> {
        let (on, dtype) = (&scan.on, scan.value.dtype());
        let extent = self.at(on.nvals.times("a row scan", u64::from(on.inner)))?;
        Ok(self.recorded(dtype, extent, &[], Recipe::RowScan(scan)))
    }
}
