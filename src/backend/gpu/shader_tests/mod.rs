//! Tests of generated shaders.
//!
//! Every recipe with every operation and dtype (`cases`) is lowered, validated within core WebGPU's limits
//! (`validity`), also with arrays in windows (`windowed`), and checked for constructs that drivers treat differently
//! (`dialect`), translated to the languages of other interfaces (`translations`), checked for missing guards between float operations of inlined functions (`guards`), and for texts that depend
//! on sizes (`structure`). Every operation runs on every adapter, on edge cases of its operands, and must give the
//! CPU's bits (`opcodes`, `primitives`, `limits`).

mod cases;
mod dialect;
mod guards;
mod limits;
mod opcodes;
mod ops;
mod primitives;
#[cfg(target_os = "linux")]
mod radv;
mod structure;
mod translations;
pub(in crate::backend::gpu) mod twins;
mod validate;
mod validity;
mod windowed;

use crate::backend::gpu::codegen::StepModules;
use crate::backend::gpu::driver_limits::DriverLimits;
use crate::backend::gpu::launch::Lowering;
use crate::graph::plan::PlanOf;

/// Lowers a step of a plan.
fn lowering<'a>(plan: &'a PlanOf, first_slot: u32, modules: &'a StepModules) -> Lowering<'a> {
    Lowering { first_slot, sizes: plan.sizes(), modules, driver: DriverLimits::LoopIterations }
}
