//! What the planner asks of a primitive.

use super::{Positions, RowDomain};
use crate::graph::planned::{Extent, InPlan};
use crate::graph::step::traffic::{StepRun, Traffic};

/// How often a kernel evaluates its expressions per position, and whether it knows the row of the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evaluation {
    /// Once per position, with the row known.
    Once,
    /// Once per position, without the row.
    Rowless,
    /// Twice per position, without the row: in both passes of a scan.
    Twice,
    /// Any number of times per position, possibly none, without the row: in the tiles of a product.
    Repeatedly,
    /// At about a hundred call sites of the kernel's source, as in a hash, with the row known; only a plain load is
    /// worth inlining into all.
    ManySites,
    /// Once per position, while the kernel overwrites an array: the expressions load arrays that are stored before.
    Stored,
}

impl RowDomain<InPlan> {
    /// The position of each number.
    pub(super) fn positions(&self) -> Vec<Positions> {
        vec![Positions { count: self.nvals.clone(), inner: self.inner }]
    }
}

/// What the planner asks of a primitive.
pub(crate) trait Facts {
    /// How the kernel evaluates the expressions.
    fn evaluation(&self) -> Evaluation;

    /// The positions at which the kernel evaluates each of the expressions, in their order, for a result of extent `out`.
    fn positions(&self, out: &Extent) -> Vec<Positions>;

    /// Whether the kernel can compute numbers of a product at the own position of expression `k`, instead of loading them:
    /// see [`RecomputedProduct`](crate::graph::step::recomputed::RecomputedProduct).
    fn recomputes(&self, _k: usize) -> bool {
        false
    }

    /// Whether the kernel may skip some of these positions.
    fn skips(&self) -> bool {
        false
    }

    /// The rows that the kernel iterates over, if any.
    fn domain(&self) -> Option<&RowDomain<InPlan>> {
        None
    }

    /// The number of elements that [`explain`](crate::Explain) shows; `None` for those of the result.
    fn shown_elements(&self) -> Option<&Extent> {
        None
    }

    /// Number of expressions, from the first on, whose loads count as traffic.
    fn counted_exprs(&self) -> usize {
        usize::MAX
    }

    /// The bytes that the kernels move, given those of one evaluation per position and of one store per result.
    fn traffic(&self, once: Traffic, _: &StepRun<'_>) -> Traffic {
        once
    }
}
