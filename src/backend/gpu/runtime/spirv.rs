//! WGSL modules as SPIR-V, with the float behaviour that the CPU backend has.
//!
//! wgpu makes SPIR-V of a module too, by the same functions of naga, but cannot ask for the modes of
//! [`FloatControls`].

use naga::back::pipeline_constants::process_overrides;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

use super::execution_modes::with_modes;
use super::float_controls::FloatControls;
use super::interface;
use super::limits::DeviceLimits;
use super::pipeline::Access;
use super::runtime_checks::RuntimeChecks;

/// The SPIR-V of one entry point.
pub(super) struct Code {
    pub(super) words: Vec<u32>,
    pub(super) workgroup_size: (u32, u32, u32),
    /// The least bytes of each binding: see [`interface::check`].
    pub(super) least_bytes: Box<[u64]>,
}

/// A validated module.
#[derive(Debug)]
pub(super) struct Module {
    naga: naga::Module,
    info: ModuleInfo,
}

impl Module {
    /// `features` are those of the device.
    ///
    /// # Errors
    /// The messages of naga if the text is no valid module, or needs other features.
    pub(super) fn parse(wgsl: &str, features: wgpu::Features) -> Result<Self, String> {
        let naga = naga::front::wgsl::parse_str(wgsl).map_err(|e| e.emit_to_string(wgsl))?;
        let mut capabilities = Capabilities::default();
        capabilities.set(Capabilities::SHADER_INT64, features.contains(wgpu::Features::SHADER_INT64));
        capabilities.set(Capabilities::FLOAT64, features.contains(wgpu::Features::SHADER_F64));
        let validated = Validator::new(ValidationFlags::all(), capabilities).validate(&naga);
        let info = validated.map_err(|e| e.emit_to_string(wgsl))?;
        Ok(Self { naga, info })
    }

    /// The SPIR-V of one entry point for a layout, with the options that wgpu uses.
    ///
    /// # Errors
    /// The entry point is absent, does not fit the layout, or is beyond the limits; the message of naga if SPIR-V cannot
    /// express it.
    pub(super) fn entry(
        &self,
        entry: &str,
        (access, limits): (&[Access], &DeviceLimits),
        checks: RuntimeChecks,
        controls: &FloatControls,
    ) -> Result<Code, String> {
        let stage = naga::ShaderStage::Compute;
        let none = Default::default();
        let resolved = process_overrides(&self.naga, &self.info, Some((stage, entry)), &none);
        let (module, info) = resolved.map_err(|e| e.to_string())?;
        let least_bytes = interface::check(&module, &info, entry, access, limits)?;
        let policy = |needed| if needed { BoundsCheckPolicy::Restrict } else { BoundsCheckPolicy::Unchecked };
        let options = spv::Options {
            lang_version: controls.version,
            flags: spv::WriterFlags::LABEL_VARYINGS,
            bounds_check_policies: BoundsCheckPolicies {
                index: policy(checks.bounds()),
                buffer: policy(checks.bounds() && !controls.robust_buffers),
                ..Default::default()
            },
            // Every kernel writes workgroup memory before it reads it, as `compile` says.
            zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
            force_loop_bounding: checks.loops(),
            emit_int_div_checks: true,
            ..Default::default()
        };
        let pipeline = spv::PipelineOptions { shader_stage: stage, entry_point: entry.to_owned() };
        let code = spv::write_vec(&module, &info, &options, Some(&pipeline)).map_err(|e| e.to_string())?;
        let size = interface::find(&module, entry)?.1.workgroup_size;
        Ok(Code { words: with_modes(&code, &controls.modes), workgroup_size: size.into(), least_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::super::execution_modes::{Mode, OP_CAPABILITY, OP_ENTRY_POINT, OP_EXECUTION_MODE, instructions};
    use super::*;

    const KERNEL: &str = "
        @group(0) @binding(1) var<storage, read> x: array<f32>;
        @group(0) @binding(2) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = x[id.x] * 0.5; }
        @compute @workgroup_size(64) fn other(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = 2.0; }";

    const LIMITS: DeviceLimits = DeviceLimits {
        storage_buffers: 8,
        max_binding: 1 << 27,
        max_buffer: 1 << 28,
        max_params: 1 << 14,
        workgroups_per_dimension: 65_535,
        invocations: 256,
        workgroup_bytes: 1024,
    };

    fn parse(wgsl: &str) -> Result<Module, String> {
        Module::parse(wgsl, wgpu::Features::empty())
    }

    /// The entry point for a layout of these buffers.
    fn entry(wgsl: &str, name: &str, access: &[Access], modes: &[(Mode, u32)]) -> Result<Vec<u32>, String> {
        let controls =
            FloatControls { version: (1, 6), robust_buffers: false, modes: modes.to_vec(), is_unlisted: false };
        let code = parse(wgsl).expect("valid").entry(name, (access, &LIMITS), RuntimeChecks::ALL, &controls);
        code.map(|code| code.words)
    }

    #[test]
    fn modes_are_declared_and_set_in_the_order_of_sections() {
        let buffers = [Access::Read, Access::ReadWrite];
        let plain = entry(KERNEL, "main", &buffers, &[]).expect("written");
        let modes = [(Mode::DenormPreserve, 32), (Mode::SignedZeroInfNanPreserve, 32)];
        let code = entry(KERNEL, "main", &buffers, &modes).expect("written");
        let is_new = |words: &&[u32]| !instructions(&plain).any(|(_, w)| w == *words);
        let added: Vec<&[u32]> = instructions(&code).map(|(_, words)| words).filter(is_new).collect();
        let main = instructions(&code).find(|(op, _)| *op == OP_ENTRY_POINT).expect("an entry point").1[2];
        let [denorm, special] = [[0x4_0010, main, 4459, 32], [0x4_0010, main, 4461, 32]];
        assert_eq!(added, [&[0x2_0011, 4464][..], &[0x2_0011, 4466], &denorm, &special]);
        // Sections: capabilities, the memory model (14), entry points, modes, and types (19 and up) with the rest.
        let ops: Vec<u32> = instructions(&code).map(|(op, _)| op).collect();
        let last = |op| ops.iter().rposition(|&o| o == op).expect("present");
        let first = |op| ops.iter().position(|&o| o == op).expect("present");
        let types = ops.iter().position(|&o| (19..40).contains(&o)).expect("types");
        assert!(last(OP_CAPABILITY) < first(14) && first(14) < first(OP_ENTRY_POINT));
        assert!(last(OP_ENTRY_POINT) < first(OP_EXECUTION_MODE) && last(OP_EXECUTION_MODE) < types);
    }

    #[test]
    fn texts_that_are_no_modules_are_errors() {
        assert!(parse("fn f( {").expect_err("no module").contains("expected"));
        assert!(parse("fn f() -> f32 { return 1u; }").is_err());
        let doubles = "fn f() -> f64 { return 1lf; }";
        assert!(parse(doubles).is_err() && Module::parse(doubles, wgpu::Features::SHADER_F64).is_ok());
    }

    #[test]
    fn entry_points_fit_their_layout_and_the_limits() {
        use Access::{Read, ReadWrite};
        let error = |wgsl, name, access| entry(wgsl, name, access, &[]).expect_err("refused");
        assert!(error(KERNEL, "absent", &[Read, ReadWrite]).contains("absent"));
        for access in [&[Read][..], &[Read, Read], &[ReadWrite, ReadWrite], &[]] {
            assert!(error(KERNEL, "main", access).contains("no such buffer"), "{access:?}");
        }
        assert!(entry(KERNEL, "other", &[ReadWrite, ReadWrite], &[]).is_ok(), "it does not use the other buffer");
        assert!(error("@compute @workgroup_size(512) fn main() {}", "main", &[]).contains("512 invocations"));
        let large = "var<workgroup> a: array<u32, 257>; @compute @workgroup_size(1) fn main() { a[0] = 1u; }";
        assert!(error(large, "main", &[]).contains("1028 bytes"));
    }
}
