//! The modules of all cases, compiled by AMD's driver in Mesa for GPUs that are not there; see `tests/radv`.

use super::cases::{Cases, Sizes};
use super::lowering;
use super::twins::unevaluated;
use super::validate::limits;
use crate::backend::gpu::codegen::StepModules;
use crate::backend::gpu::driver_limits::DriverLimits;
use crate::backend::gpu::launch::Lowering;
use crate::backend::gpu::primitive::lower;
use crate::graph::plan::{Int64Repr, PlanLimits, PlanOf, ProductRepr};

#[path = "../../../../tests/radv/compiler/mod.rs"]
mod compiler;

#[test]
fn every_operation_compiles_and_keeps_its_guards() {
    let Some(manifest) = compiler::manifest() else { return };
    let mut jobs = compiler::Jobs::new("shader-tests");
    let backend = unevaluated();
    for (name, node) in Cases::all(&backend, Sizes { values: 5000, rows: 300, number: 42 }) {
        let kinds = [Int64Repr::Native, Int64Repr::Pairs].map(|longs| (longs, limits(longs).products));
        for (longs, products) in kinds.into_iter().chain([(Int64Repr::Native, ProductRepr::Doubles)]) {
            let limits = PlanLimits { products, ..limits(longs) };
            let plan = PlanOf::new(std::slice::from_ref(&node), limits);
            for step in &plan.steps {
                let lowered = lower(
                    step,
                    Lowering { driver: DriverLimits::Timeout, ..lowering(&plan, 3, &StepModules::default()) },
                )
                .unwrap_or_else(|e| panic!("{name}: {e}"));
                let is_other = |text: &str| products != ProductRepr::Doubles || text.contains("fma_f32(");
                for launch in lowered.launches.iter().filter(|launch| is_other(launch.text())) {
                    jobs.add(&format!("{name}, {longs:?}, {products:?}"), launch.text(), compiler::On::One);
                }
            }
        }
    }
    println!("{} modules, {} different entry points", jobs.modules(), jobs.len());
    assert!(jobs.modules() > 500, "{} modules", jobs.modules());
    let child = "backend::gpu::shader_tests::radv::compile_in_this_process";
    compiler::compile_for_every_family(&jobs, &manifest, child);
}

#[test]
#[ignore = "a process per family, which the other test starts"]
fn compile_in_this_process() {
    compiler::compile_jobs();
}
