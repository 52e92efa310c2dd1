//! Appended arrays, which the planner turns into maps that select from the parts.

use super::launch::{Lowered, Lowering};
use super::legalize::Legalizer;
use super::primitive::GpuPrimitive;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{InPlan, Node, Recipe};
use crate::graph::primitive::Append;

impl GpuPrimitive for Append<InPlan> {
    fn lower(&self, _: &Step, _: Lowering<'_>) -> Result<Lowered> {
        unreachable!("bug: parts that no map selects from")
    }
    fn legalized(&self, _: &Node, _: &mut Legalizer<'_>) -> Recipe {
        Recipe::Append(self.clone())
    }
}
