//! Validation of a module, and the capabilities that a step needs.

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

use crate::dtype::DType;
use crate::graph::plan::{Float64Repr, Int64Repr, PlanLimits, Step};
use crate::graph::step::fusion::Fusion;

/// The limits of the smallest device, for kernels that compute all products that they can.
pub(super) const fn limits(longs: Int64Repr) -> PlanLimits {
    PlanLimits { fusion: Fusion::AllProducts, ..PlanLimits::of_core_webgpu(longs) }
}

/// Names of WGSL's built-in functions. A module must not give them another meaning, since functions of the user call them.
const BUILT_IN: &str = "abs acos acosh all any arrayLength asin asinh atan atan2 atanh bitcast ceil clamp cos cosh \
    countLeadingZeros countOneBits countTrailingZeros cross degrees determinant distance dot dot4I8Packed dot4U8Packed exp \
    exp2 extractBits faceForward firstLeadingBit firstTrailingBit floor fma fract frexp insertBits inverseSqrt ldexp \
    length log log2 max min mix modf normalize outerProduct pack2x16float pack2x16snorm pack2x16unorm pack4x8snorm \
    pack4x8unorm pack4xI8 pack4xI8Clamp pack4xU8 pack4xU8Clamp pow quantizeToF16 radians reflect refract reverseBits round \
    saturate select sign sin sinh smoothstep sqrt step tan tanh transpose trunc unpack2x16float unpack2x16snorm \
    unpack2x16unorm unpack4x8snorm unpack4x8unorm unpack4xI8 unpack4xU8 array bool f32 i32 u32 vec2 vec3 vec4 vec2f vec3f \
    vec4f vec2i vec3i vec4i vec2u vec3u vec4u ptr";

/// Checks that the module declares no name of a built-in function or type.
fn check_names(name: &str, module: &naga::Module) {
    let functions = module.functions.iter().filter_map(|(_, f)| f.name.as_deref());
    let globals = module.global_variables.iter().filter_map(|(_, g)| g.name.as_deref());
    let constants = module.constants.iter().filter_map(|(_, c)| c.name.as_deref());
    let entries = module.entry_points.iter().map(|e| e.name.as_str());
    for declared in functions.chain(globals).chain(constants).chain(entries) {
        assert!(!BUILT_IN.split_whitespace().any(|b| b == declared), "{name} declares {declared}");
    }
}

/// Parses and validates a module.
pub(super) fn validate(name: &str, text: &str, capabilities: Capabilities) -> (naga::Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(text)));
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(text)));
    check_names(name, &module);
    (module, info)
}

/// The 64-bit types that the step requires; none if its kernels use pairs.
pub(super) fn needed(step: &Step) -> Capabilities {
    let mut out = Capabilities::empty();
    for dtype in step.dtypes() {
        match (dtype, step.limits.int64, step.limits.float64) {
            (DType::I64 | DType::U64, Int64Repr::Native, _) if !step.emulates_doubles() => {
                out |= Capabilities::SHADER_INT64;
            }
            // Implemented by integer operations on the bits.
            (DType::F64, _, Float64Repr::Native) => out |= Capabilities::SHADER_INT64 | Capabilities::FLOAT64,
            _ => {}
        }
    }
    out
}
