//! Translates modules to the languages of other interfaces, with the options of wgpu: a literal or a feature that one of
//! them lacks is found without its devices.

use naga::back::{glsl, hlsl, msl};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::ModuleInfo;
use naga::{Module, ResourceBinding, ScalarKind};

/// The modules that each language took.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Translated {
    pub(super) metal: usize,
    pub(super) direct3d: usize,
    pub(super) open_gl: usize,
}

impl Translated {
    /// Translates a module, whose entry point is `entry`, to each language whose devices have its types.
    pub(super) fn add(&mut self, name: &str, (module, info): (&Module, &ModuleInfo), entry: &str) {
        let widths = of_64_bits(module, info);
        let has_doubles = widths.contains(&ScalarKind::Float);
        let has_longs = widths.contains(&ScalarKind::Uint) || widths.contains(&ScalarKind::Sint);
        // Metal has no doubles; OpenGL ES has neither.
        if !has_doubles {
            metal(name, module, info, entry);
            self.metal += 1;
        }
        direct3d(name, module, info, entry);
        self.direct3d += 1;
        if !has_doubles && !has_longs {
            open_gl(name, module, info, entry);
            self.open_gl += 1;
        }
    }
}

/// The kinds of the scalars of 64 bits that types and expressions have.
fn of_64_bits(module: &Module, info: &ModuleInfo) -> Vec<ScalarKind> {
    let entries = module.entry_points.iter().enumerate().map(|(k, entry)| (&entry.function, info.get_entry_point(k)));
    let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle])).chain(entries);
    let of_expressions = functions.flat_map(|(function, types)| {
        function.expressions.iter().map(|(e, _)| types[e].ty.inner_with(&module.types).scalar())
    });
    let of_types = module.types.iter().map(|(_, ty)| ty.inner.scalar());
    of_expressions.chain(of_types).flatten().filter(|scalar| scalar.width == 8).map(|scalar| scalar.kind).collect()
}

/// The bindings of a module, in order, and whether each is writable.
fn bindings(module: &Module) -> impl Iterator<Item = (ResourceBinding, bool)> {
    module.global_variables.iter().filter_map(|(_, global)| {
        let writes = match global.space {
            naga::AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE),
            _ => false,
        };
        Some((global.binding?, writes))
    })
}

/// To the language of macOS 12 and iOS 15 on; 64-bit integers need 2.3.
fn metal(name: &str, module: &Module, info: &ModuleInfo, entry: &str) {
    let targets = bindings(module).enumerate().map(|(k, (binding, mutable))| {
        (binding, msl::BindTarget { buffer: Some(k as u8), mutable, ..Default::default() })
    });
    let resources =
        msl::EntryPointResources { resources: targets.collect(), immediates_buffer: None, sizes_buffer: Some(30) };
    let unchecked = BoundsCheckPolicy::Unchecked;
    let options = msl::Options {
        lang_version: (2, 4),
        per_entry_point_map: msl::EntryPointResourceMap::from([(entry.to_owned(), resources)]),
        fake_missing_bindings: false,
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        force_loop_bounding: false,
        ..Default::default()
    };
    let pipeline = msl::PipelineOptions {
        entry_point: Some((naga::ShaderStage::Compute, entry.to_owned())),
        ..Default::default()
    };
    let (text, reflected) =
        msl::write_string(module, info, &options, &pipeline).unwrap_or_else(|e| panic!("{name} in Metal: {e}"));
    let failed = reflected.entry_point_names.into_iter().find_map(Result::err);
    assert!(failed.is_none() && text.contains("kernel void"), "{name} in Metal: {failed:?}");
}

/// To shader model 6.0, the least that wgpu compiles with DXC.
fn direct3d(name: &str, module: &Module, info: &ModuleInfo, entry: &str) {
    let mut options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_0,
        fake_missing_bindings: false,
        restrict_indexing: false,
        force_loop_bounding: false,
        ..Default::default()
    };
    for (register, (binding, _)) in (0..).zip(bindings(module)) {
        options.binding_map.insert(binding, hlsl::BindTarget { register, ..Default::default() });
    }
    let pipeline = hlsl::PipelineOptions { entry_point: Some((naga::ShaderStage::Compute, entry.to_owned())) };
    let mut text = String::new();
    let written = hlsl::Writer::new(&mut text, &options, &pipeline).write(module, info, None);
    let reflected = written.unwrap_or_else(|e| panic!("{name} in HLSL: {e}"));
    let failed = reflected.entry_point_names.into_iter().find_map(Result::err);
    assert!(failed.is_none() && text.contains("numthreads"), "{name} in HLSL: {failed:?}");
}

/// To OpenGL ES 3.1, the least with compute shaders.
fn open_gl(name: &str, module: &Module, info: &ModuleInfo, entry: &str) {
    let binding_map = bindings(module).zip(0..).map(|((binding, _), slot)| (binding, slot)).collect();
    let options = glsl::Options { binding_map, ..Default::default() };
    let pipeline = glsl::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: entry.to_owned(),
        multiview: None,
    };
    let mut text = String::new();
    let policies = BoundsCheckPolicies::default();
    let written = glsl::Writer::new(&mut text, module, info, &options, &pipeline, policies).and_then(|mut w| w.write());
    written.unwrap_or_else(|e| panic!("{name} in GLSL: {e}"));
    assert!(text.contains("local_size_x"), "{name} in GLSL");
}

#[test]
fn what_a_language_lacks_is_found() {
    use naga::valid::Capabilities;
    let text = |body: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n\
             @compute @workgroup_size(1) fn main() {{\n    {body}\n}}\n"
        )
    };
    let translated = |body: &str, capabilities: Capabilities| {
        let (module, info) = super::validate::validate("a text", &text(body), capabilities);
        std::panic::catch_unwind(move || {
            let mut all = Translated::default();
            all.add("a text", (&module, &info), "main");
            (all.metal, all.direct3d, all.open_gl)
        })
    };
    assert_eq!(translated("a[0] = a[1] + 1u;", Capabilities::empty()).ok(), Some((1, 1, 1)));
    let long = "a[0] = u32(u64(a[1]) * 3lu);";
    assert_eq!(translated(long, Capabilities::SHADER_INT64).ok(), Some((1, 1, 0)));
    let double = "a[0] = u32(f64(a[1]) * 3.0lf);";
    assert_eq!(translated(double, Capabilities::FLOAT64).ok(), Some((0, 1, 0)));
    // A binding that the options lack.
    let (module, info) = super::validate::validate("a text", &text("a[0] = 1u;"), Capabilities::empty());
    let wrong_entry = std::panic::catch_unwind(move || metal("a text", &module, &info, "none"));
    assert!(wrong_entry.is_err());
}
