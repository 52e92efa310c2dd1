//! Maps: an expression at every position.

use super::{Evaluation, Facts, Positions, Recipe};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::ExprKind;
use crate::graph::planned::{self, InPlan};
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::{BackendRef, Expr, Extent, Node, Size};

/// Element `i` is the expression at position `i`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Map<R: Refs = Recorded> {
    /// The value of an element.
    pub(crate) value: R::Expr,
    /// Whether all elements up to the capacity are computed, not only the live ones. Needed for row splits, which are
    /// searched up to the capacity.
    pub(crate) whole: bool,
}

references!(Map, "map" { expr value; whole });

impl Facts for Map<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Once
    }
    fn positions(&self, out: &planned::Extent) -> Vec<Positions> {
        vec![Positions::of(out)]
    }
    fn skips(&self) -> bool {
        self.whole
    }
}

impl Node {
    /// Element `i` is `value` at `i`.
    pub(crate) fn map(backend: &BackendRef, op: &'static str, extent: Extent, value: Expr, asserts: &[Self]) -> Self {
        // The identity map of all of `x` is `x`.
        if let ExprKind::Load(n, i) = value.kind()
            && i.is_index()
            && n.extent().is_same(&extent)
            && asserts.is_empty()
        {
            return n.clone();
        }
        Self::recorded(backend, op, value.dtype(), extent, asserts, Recipe::Map(Map { value, whole: false }))
    }

    /// Splits of `nrows` rows: entry `i` is `start` at `i`, and entries beyond the live rows repeat the last live
    /// entry, up to the capacity. `start` at the number of rows must be the number of values.
    #[track_caller]
    pub(crate) fn splits(
        backend: &BackendRef,
        op: &'static str,
        nrows: &Extent,
        start: &Expr,
        asserts: &[Self],
    ) -> Result<Self> {
        let entries = nrows.plus(op, &Extent::known(1))?;
        if nrows.as_known().is_some() {
            return Ok(Self::map(backend, op, entries, start.clone(), asserts));
        }
        let value = start.at(&Expr::index().min(nrows.expr()));
        let recipe = Recipe::Map(Map { value, whole: true });
        Ok(Self::recorded(backend, op, DType::U32, entries, asserts, recipe))
    }

    /// The last entry of splits or of a scan: the total. Entries beyond the live rows repeat it, so the index is the
    /// allocated length less 1, whatever the number of rows turns out to be.
    pub(crate) fn last_entry(&self) -> Expr {
        Expr::load(self, Expr::size(&Size::len(self).sub(1)))
    }
}
