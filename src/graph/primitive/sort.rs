//! Sorts.

use super::{Evaluation, Facts, Positions, Recipe};
use crate::dtype::DType;
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::step::traffic::{StepRun, Traffic};
use crate::graph::{Expr, Extent, Node};

/// Stable argsort of u32 keys: `out[k]` is the position of the k-th smallest key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Sort<R: Refs = Recorded> {
    /// The keys.
    pub(crate) key: R::Expr,
    /// Number of keys.
    pub(crate) count: R::Extent,
    /// Number of low bits of the keys that are compared.
    pub(crate) bits: u32,
}

references!(Sort, "sort" { extent count, expr key; bits });

impl Facts for Sort<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Twice
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        vec![Positions::of(&self.count)]
    }
    /// The keys are evaluated twice. Each pass reads a key twice and an index once, and writes both.
    fn traffic(&self, once: Traffic, at: &StepRun<'_>) -> Traffic {
        let (n, passes) = (u64::from(at.sizes.capacity(&self.count)), u64::from(self.bits.div_ceil(8).max(1)));
        Traffic { read: 2 * once.read + n * 12 * passes, written: n * 8 * passes }
    }
}

impl Recorder<'_> {
    /// Stable argsort of keys; see [`Sort`].
    pub(crate) fn sort(self, count: Extent, key: Expr, bits: u32) -> Node {
        self.recorded(DType::U32, count.clone(), &[], Recipe::Sort(Sort { key, count, bits }))
    }
}
