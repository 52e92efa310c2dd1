//! Row reductions.

use std::collections::HashSet;

use super::{Evaluation, Facts, Positions, Recipe, RowDomain, Rows};
use crate::error::Result;
use crate::graph::canonical_order::BLOCK;
use crate::graph::expr::ExprKind;
use crate::graph::opcode::ReduceOp;
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::reducer::{Empty, Reducer};
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::step::row_kernel::in_long_rows;
use crate::graph::step::traffic::{StepRun, Traffic, load_bytes};
use crate::graph::walk::for_each_expr;
use crate::graph::{Expr, Node};

/// Row reduction: `out[row * inner + d]` is the reduction of `value` over the elements `(j, d)` of the row, `j`
/// ascending. `value` is an expression in the flat position `j * inner + d`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Reduce<R: Refs = Recorded> {
    /// The result of each row.
    pub(crate) reducer: Reducer,
    /// The rows.
    pub(crate) on: RowDomain<R>,
    /// The values.
    pub(crate) value: R::Expr,
}

references!(Reduce, "row_reduce" { domain on, expr value; reducer });

impl Facts for Reduce<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Once
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        self.on.positions()
    }
    fn domain(&self) -> Option<&RowDomain<InPlan>> {
        Some(&self.on)
    }
    fn recomputes(&self, _: usize) -> bool {
        self.on.inner == 1
    }
    /// Words that several narrow results share are cleared, then set by atomic `or`.
    fn traffic(&self, once: Traffic, at: &StepRun<'_>) -> Traffic {
        let narrow = at.step.outputs().into_iter().filter(|n| n.dtype().size() < 4);
        let packed = narrow.map(|n| at.sizes.bytes(n)).sum::<u64>();
        once.plus(self.reread_bytes(at) + packed, packed).with_scratch(at)
    }
}

impl Reduce<InPlan> {
    /// Bytes that a row kernel reads again for the map of rows of several blocks: the loads that the map shares with
    /// the reductions, and the splits.
    fn reread_bytes(&self, at: &StepRun<'_>) -> u64 {
        let (sizes, RowDomain { rows, nvals, .. }) = (at.sizes, &self.on);
        let Some(kernel) = &at.step.row_kernel else { return 0 };
        // A map exists only for inner width 1, for which rows longer than `BLOCK` have several blocks.
        let (Some(map), true) = (&kernel.map, sizes.longest(rows) > BLOCK) else { return 0 };
        let elements = u64::from(sizes.capacity(nvals));
        let mut reduced = HashSet::new();
        for r in &kernel.results {
            for_each_expr(&r.value, &mut |e| {
                reduced.insert(e.digest());
            });
        }
        let mut bytes = 0;
        for_each_expr(&map.value, &mut |e| {
            if let ExprKind::Load(n, _) = e.kind()
                && reduced.contains(&e.digest())
            {
                bytes += load_bytes(sizes, e, n, elements);
            }
        });
        let splits = if let Rows::Splits(n) = rows { sizes.bytes(n) } else { 0 };
        bytes * u64::from(in_long_rows(sizes, rows, sizes.capacity(nvals))) / elements.max(1) + splits
    }
}

impl Recorder<'_> {
    /// The reduction of each row; see [`Reduce`].
    pub(crate) fn reduce(self, reducer: impl Into<Reducer>, on: RowDomain, value: Expr) -> Result<Node> {
        let extent = self.at(on.nrows.times("a row reduction", u64::from(on.inner)))?;
        let dtype = value.dtype();
        let reducer = match reducer.into() {
            Reducer::Op(op @ (ReduceOp::Min | ReduceOp::Max)) if dtype.is_float() => {
                Reducer::Extreme(op, Empty::Finite)
            }
            reducer => reducer,
        };
        Ok(self.recorded(dtype, extent, &[], Recipe::Reduce(Reduce { reducer, on, value })))
    }
}
