//! Validation of a module, and the capabilities that a step needs.

use std::collections::HashSet;

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

use crate::backend::gpu::driver_limits::DriverLimits;
use crate::backend::gpu::row_hash;
use crate::dtype::DType;
use crate::graph::node::Node;
use crate::graph::plan::{Int64Repr, PlanLimits, Step};
use crate::graph::walk::for_each_expr;

/// The limits of the smallest device.
pub(super) const fn limits(longs: Int64Repr) -> PlanLimits {
    let hash_state_bytes = row_hash::state_bytes(DriverLimits::LoopIterations);
    PlanLimits { hash_state_bytes, ..PlanLimits::of_core_webgpu(longs) }
}

/// Parses and validates a module.
pub(super) fn validate(name: &str, text: &str, capabilities: Capabilities) -> (naga::Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(text)));
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(text)));
    (module, info)
}

/// The dtypes in the step.
pub(super) fn dtypes(step: &Step) -> HashSet<DType> {
    let mut out = HashSet::from([step.out.dtype()]);
    out.extend(step.reads.iter().map(Node::dtype));
    let row_kernel = step.row_kernel.iter().flat_map(|kernel| {
        let finished = kernel.results.iter().filter_map(|r| r.epilogue.as_ref()).map(|f| &f.value);
        kernel.results.iter().map(|r| &r.value).chain(finished).chain(kernel.map.iter().map(|m| &m.value))
    });
    step.recipe.exprs().into_iter().chain(row_kernel).for_each(|e| {
        for_each_expr(e, &mut |e| {
            out.insert(e.dtype());
        });
    });
    out
}

/// The 64-bit types that the step requires; none if 64-bit integers are pairs.
pub(super) fn needed(step: &Step) -> Capabilities {
    let mut out = Capabilities::empty();
    for dtype in dtypes(step) {
        match (dtype, step.limits.int64) {
            (DType::I64 | DType::U64, Int64Repr::Native) => out |= Capabilities::SHADER_INT64,
            // Implemented by integer operations on the bits.
            (DType::F64, Int64Repr::Native) => out |= Capabilities::SHADER_INT64 | Capabilities::FLOAT64,
            _ => {}
        }
    }
    out
}
