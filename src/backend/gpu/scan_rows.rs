//! The host side of `shaders/scan_rows.wgsl`.

use super::launch::{Lowered, Lowering};
use super::legalize::Legalizer;
use super::primitive::GpuPrimitive;
use crate::error::{Error, Result};
use crate::graph::plan::Step;
use crate::graph::planned::{InPlan, Node, Recipe};
use crate::graph::primitive::ScanRows;

impl GpuPrimitive for ScanRows<InPlan> {
    fn lower(&self, _: &Step, _: Lowering<'_>) -> Result<Lowered> {
        Err(Error::argument("scan_rows", "recurrences run on the CPU backend only"))
    }

    fn legalized(&self, _: &Node, _: &mut Legalizer<'_>) -> Recipe {
        Recipe::ScanRows(self.clone())
    }
}
