//! Assertions: conditions over positions.

use std::sync::Arc;

use super::{Evaluation, Facts, Positions, Recipe};
use crate::dtype::DType;
use crate::graph::expr::Check;
use crate::graph::planned::{self, InPlan};
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::{BackendRef, Expr, Extent, Node};

/// A condition that must hold at every position below `count`; computes no array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Assert<R: Refs = Recorded> {
    /// The condition; bool.
    pub(crate) ok: R::Expr,
    /// Number of positions.
    pub(crate) count: R::Extent,
    /// The check that fails if the condition does not hold.
    pub(crate) check: R::Check,
}

references!(Assert, "assert" { extent count, expr ok, check check; });

impl Facts for Assert<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Once
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        vec![Positions::of(&self.count)]
    }
    fn shown_elements(&self) -> Option<&planned::Extent> {
        Some(&self.count)
    }
}

impl Node {
    /// A condition over positions, to be passed to [`Node::map`].
    pub(crate) fn assert(backend: &BackendRef, count: Extent, ok: Expr, check: Arc<Check>) -> Self {
        Self::recorded(
            backend,
            check.op,
            DType::Bool,
            Extent::known(0),
            &[],
            Recipe::Assert(Assert { ok, count, check }),
        )
    }
}
