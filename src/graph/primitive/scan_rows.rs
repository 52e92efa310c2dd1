//! Recurrences along rows: a step that takes the states before an element to the states after it.

use super::{Evaluation, Facts, Positions, RowDomain};
use crate::error::Result;
use crate::graph::planned::{self, InPlan};
use crate::graph::recorder::Recorder;
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::{Expr, Extent, Node};

/// A recurrence along each row: of each element `on.inner` numbers, the states after it, then the registers that are kept.
/// A row begins with the initial states; the step computes the stages of an element from the states before it, one after
/// another.
///
/// Registers hold the numbers of one element: first those of the states, then those of each stage. A stage reads numbers
/// of its own element only, see [`columns`](Expr::columns).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct ScanRows<R: Refs = Recorded> {
    /// The rows; `inner` is the number of numbers of all states and of what is kept.
    pub(crate) on: RowDomain<R>,
    /// Whether rows are scanned from their ends.
    pub(crate) reversed: bool,
    /// The states before the first element of each row, at `row * state_numbers + column`.
    pub(crate) initial: R::Expr,
    /// Numbers of each state.
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    pub(crate) states: Box<[u32]>,
    /// The stages of a step; each reads registers before its own.
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    pub(crate) stages: Box<[Stage<R>]>,
    /// The register that holds each state after the step.
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    pub(crate) next: Box<[u32]>,
    /// Registers whose numbers are kept: stored beside the states, for readers other than the step. A register of a state
    /// has the numbers before the element.
    #[cfg_attr(
        feature = "saved",
        serde(
            default,
            skip_serializing_if = "<[u32]>::is_empty",
            deserialize_with = "crate::graph::saved_list::deserialize"
        )
    )]
    pub(crate) kept: Box<[u32]>,
}

/// What computes a register of `width` numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Stage<R: Refs = Recorded> {
    /// Numbers of the register.
    pub(crate) width: u32,
    pub(crate) value: StageValue<R>,
}

/// The numbers of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) enum StageValue<R: Refs = Recorded> {
    /// The expression at `element * width + column`.
    Map(R::Expr),
    /// The product of a vector and a matrix: the terms are added as those of a [`Product`](super::Product).
    Product {
        /// Number `l` of the vector, at `element * terms + l`.
        left: R::Expr,
        /// The matrix, of `terms` times `width` numbers, or transposed; reads no register.
        right: R::Expr,
        /// Terms of a sum.
        terms: u32,
        /// Whether the matrix is stored as `width` times `terms`.
        transposed: bool,
    },
}

impl<R: Refs> Stage<R> {
    fn map<W: Rewrite<R>>(&self, r: &mut W) -> Stage<W::To> {
        let value = match &self.value {
            StageValue::Map(value) => StageValue::Map(r.expr(value)),
            StageValue::Product { left, right, terms, transposed } => {
                let (left, right) = (r.expr(left), r.expr(right));
                StageValue::Product { left, right, terms: *terms, transposed: *transposed }
            }
        };
        Stage { width: self.width, value }
    }

    /// The expressions of the stage.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &R::Expr> {
        let (first, second) = match &self.value {
            StageValue::Map(value) => (value, None),
            StageValue::Product { left, right, .. } => (left, Some(right)),
        };
        [Some(first), second].into_iter().flatten()
    }
}

impl<R: Refs> ScanRows<R> {
    pub(super) const FAMILY: &'static str = "scan_rows";

    pub(super) fn visit<'a>(&'a self, f: &mut impl FnMut(Reference<'a, R>)) {
        self.on.visit(f);
        f(Reference::Expr(&self.initial));
        self.stages.iter().flat_map(Stage::exprs).for_each(|e| f(Reference::Expr(e)));
    }

    pub(super) fn map<W: Rewrite<R>>(&self, r: &mut W) -> ScanRows<W::To> {
        let (on, initial) = (self.on.map(r), r.expr(&self.initial));
        let stages = self.stages.iter().map(|stage| stage.map(r)).collect();
        let Self { reversed, states, next, kept, .. } = self;
        let (states, next, kept) = (states.clone(), next.clone(), kept.clone());
        ScanRows { on, initial, stages, reversed: *reversed, states, next, kept }
    }

    /// Numbers of register `k`.
    pub(crate) fn width(&self, k: u32) -> u32 {
        let k = k as usize;
        self.states.get(k).copied().unwrap_or_else(|| self.stages[k - self.states.len()].width)
    }

    /// Numbers of all states.
    pub(crate) fn state_numbers(&self) -> u32 {
        self.states.iter().sum()
    }

    /// The registers whose numbers are stored: those of the states after the element, and those kept.
    pub(crate) fn stored(&self) -> impl Iterator<Item = u32> {
        self.next.iter().chain(&self.kept).copied()
    }
}

impl Facts for ScanRows<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Rowless
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        let of_elements = |inner: u32| Positions { count: self.on.nvals.clone(), inner };
        let mut out = vec![Positions { count: self.on.nrows.clone(), inner: self.state_numbers() }];
        for stage in &self.stages {
            match &stage.value {
                StageValue::Map(_) => out.push(of_elements(stage.width)),
                StageValue::Product { terms, .. } => {
                    let matrix = Positions { count: planned::Extent::known(*terms), inner: stage.width };
                    out.extend([of_elements(*terms), matrix]);
                }
            }
        }
        out
    }
    /// Empty rows need no initial states.
    fn skips(&self) -> bool {
        true
    }
    fn domain(&self) -> Option<&RowDomain<InPlan>> {
        Some(&self.on)
    }
}

impl Recorder<'_> {
    /// The states after each element, and what is kept; see [`ScanRows`].
    pub(crate) fn scan_rows(self, scan: ScanRows, asserts: &[Node]) -> Result<Node> {
        let extent: Extent = self.times(&scan.on.nvals, scan.on.inner)?;
        let dtype = Expr::dtype(&scan.initial);
        let recipe = super::Recipe::ScanRows(scan);
        Ok(Node::recorded(self.backend, self.op, dtype, extent, asserts, recipe))
    }
}
