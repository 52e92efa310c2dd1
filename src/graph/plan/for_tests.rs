//! Plans of recorded arrays, for tests.

use std::sync::Arc;

use super::{PlanLimits, Step, plan};
use crate::graph::expr::Check;
use crate::graph::planned::{self, Arena, SizeView};
use crate::graph::program::{Bindings, CheckId, trace_on_device};
use crate::graph::{BackendRef, Expr, Extent, Node};

/// The plan of recorded arrays, with the sizes of a run.
pub(crate) struct PlanOf {
    pub(crate) steps: Vec<Step>,
    outputs: Vec<planned::Node>,
    bindings: Bindings,
    arena: Arena,
}

impl PlanOf {
    pub(crate) fn new(roots: &[Node], limits: PlanLimits) -> Self {
        let mut unplanned = Self::unplanned(roots);
        let sizes = SizeView::of(&unplanned.bindings.run);
        unplanned.steps = plan(&mut unplanned.arena, &unplanned.outputs, limits, sizes).steps;
        unplanned
    }

    /// The definitions of the arrays, without steps.
    fn unplanned(roots: &[Node]) -> Self {
        let (program, bindings) = trace_on_device(roots);
        let arena = Arena::new(&program, &bindings.locations);
        let outputs = program.outputs().iter().map(|&a| arena.node(a).clone()).collect();
        Self { steps: Vec::new(), outputs, bindings, arena }
    }

    /// The definitions of an expression.
    pub(crate) fn of_expr(backend: &BackendRef, e: &Expr) -> Self {
        Self::unplanned(&[Node::map(backend, "test", Extent::known(77_777), e.clone(), &[])])
    }

    /// The expression of [`Self::of_expr`].
    pub(crate) fn expr(&self) -> planned::Expr {
        self.outputs[0].recipe().and_then(|recipe| recipe.mapped().cloned()).expect("a map")
    }

    /// The sizes of the run.
    pub(crate) fn sizes(&self) -> SizeView<'_> {
        SizeView::of(&self.bindings.run)
    }

    /// The array of the plan that stands for a recorded one.
    pub(crate) fn array(&self, node: &Node) -> Option<&planned::Node> {
        self.arena.nodes_of_program().iter().find(|n| self.bindings.node(n.number()) == node)
    }

    /// The recorded check.
    pub(crate) fn check(&self, check: CheckId) -> Arc<Check> {
        self.bindings.locations.check(check)
    }
}
